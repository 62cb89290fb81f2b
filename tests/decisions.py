"""Nearest-box models that decide by a chosen number of boxes of each class."""

from dataclasses import replace

from hypothesis import strategies as st

from hyperboxes._models.calibration import N_NEIGHBORS, WIDTHS, DistanceCalibration
from tests.learners import models_and_samples


def decide_by(model, n_neighbors, width=1):
    """Let a fitted model decide by so many boxes; `width` is an index into those compared.

    Its loss table makes this the best way by far; slopes and prior weights stay as learned.
    """
    if model.n_neighbors_ == n_neighbors == 1:
        return model
    found = model._model.calibration or DistanceCalibration.start(0)
    losses = found.decision_losses
    if losses is None:
        losses = DistanceCalibration.start(0, learns_decision=True).decision_losses
    losses = losses.copy()
    chosen = losses[0 if n_neighbors == 1 else width, N_NEIGHBORS.tolist().index(n_neighbors)]
    chosen -= chosen.max() - losses.min() + 100
    model._model.calibration = replace(found, decision_losses=losses)
    assert model.n_neighbors_ == n_neighbors
    return model


@st.composite
def deciding_models(draw, n_neighbors=(2, 5, 10)):
    """Draw what `models_and_samples` gives, of models that decide by several boxes."""
    cases = models_and_samples().filter(lambda case: "decision" in case[0].get_params())
    model, *rest = draw(cases)
    width = draw(st.integers(0, len(WIDTHS) - 1))
    return decide_by(model, draw(st.sampled_from(n_neighbors)), width), *rest
