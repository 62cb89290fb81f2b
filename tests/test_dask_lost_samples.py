"""Which samples merging has lost: those that no box of their class holds."""

import numpy as np
import pytest

from hyperboxes import ImprovedOnlineGFMM
from hyperboxes.dask._fit import Trained, refit_lost

N_SAMPLES = 300


def samples(missing, unlabelled, seed):
    """Return intervals on a coarse grid, so that many ends are equal, and labels."""
    rng = np.random.default_rng(seed)
    lower = rng.integers(0, 12, size=(N_SAMPLES, 3)) / 16
    upper = lower + rng.integers(0, 3, size=lower.shape) / 16
    gone = rng.random(lower.shape) < missing
    lower[gone] = upper[gone] = np.nan
    y = rng.integers(3, size=N_SAMPLES)
    y[rng.random(N_SAMPLES) < unlabelled] = -1
    return lower, upper, y


def is_lost(model, lower, upper, label):
    """Tell it by comparing with all boxes."""
    boxes = model._model.boxes
    for low, high, own in zip(boxes.lower, boxes.upper, boxes.labels, strict=True):
        known = ~np.isnan(lower)
        if (
            own == label
            and (low[known] <= lower[known]).all()
            and (upper[known] <= high[known]).all()
        ):
            return False
    return label != -1


@pytest.mark.parametrize("membership_function", ["min", "mean"])
@pytest.mark.parametrize(("missing", "unlabelled"), [(0.0, 0.0), (0.1, 0.2)])
def test_samples_are_lost_that_no_box_of_their_class_holds(
    missing, unlabelled, membership_function
):
    model = ImprovedOnlineGFMM(
        0.2,
        membership_function=membership_function,
        scaling=None,
        unlabeled=-1,
        calibrate=False,
        random_state=0,
    )
    lower, upper, y = samples(missing, unlabelled, seed=0)
    model.fit(lower, y, X_upper=upper)
    assert refit_lost(Trained(model), 0, lower, y, upper).model is None
    lower, upper, y = samples(missing, unlabelled, seed=1)
    n_lost = sum(is_lost(model, *sample) for sample in zip(lower, upper, y, strict=True))
    found = refit_lost(Trained(model), 0, lower, y, upper).model
    assert 0 < n_lost < (y >= 0).sum()
    assert found._model.boxes.counts.sum() == n_lost
    assert found._model.boxes.counts.min() == 1
    assert found._model.boxes.n_seen == n_lost
