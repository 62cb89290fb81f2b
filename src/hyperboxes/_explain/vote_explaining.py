"""Why boxes that vote say what they say about samples: which of them hold a sample, and the sums.

`explain` asks the model itself for scores; here they are taken apart.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from hyperboxes._estimators.base import NUMBERS
from hyperboxes._estimators.tables import known_categories
from hyperboxes._estimators.validation import checked, validate_samples
from hyperboxes._explain import vote_html
from hyperboxes._explain.pipelines import describe_units
from hyperboxes._explain.sequences import ExplanationSequence
from hyperboxes._explain.vote_changes import ChangeSearch
from hyperboxes._explain.vote_explanation import ExplainedVote, VoteExplanation
from hyperboxes._explain.wording import name_classes, name_features
from hyperboxes._models.voting import VotingHyperboxes


def explain_votes(
    model: Any, X: Any, X_upper: Any, feature_names: Any, class_names: Any
) -> VoteExplanations:
    """Explain what a fitted model of boxes that vote predicts for samples."""
    if X_upper is not None:
        raise ValueError(f"{type(model).__name__} takes no interval samples: no X_upper.")
    samples = validate_samples(model, X, reset=False, **NUMBERS)
    scores = model._scores(checked(samples))
    asked = copy(model)  # as it is now: it may be fitted again

    def ask(rows: np.ndarray) -> np.ndarray:
        return asked._scores(checked(rows))

    class_names = name_classes(model, class_names)
    context = _Context(
        model.hyperboxes_,
        model.intercept_.copy(),
        model.classes_,
        class_names,
        name_features(model, feature_names),
        ChangeSearch(model.hyperboxes_, ask, model.classes_, class_names, known_categories(model)),
        describe_units(model),
    )
    return VoteExplanations(
        model.classes_[scores.argmax(axis=1)],
        scores,
        softmax(scores, axis=1),
        context.boxes.contains(samples),
        samples,
        context,
    )


@dataclass(frozen=True, eq=False)
class _Context:
    """What the explanations of one model share."""

    boxes: VotingHyperboxes
    intercept: np.ndarray
    classes: np.ndarray
    class_names: list[str]
    feature_names: list[str]
    search: ChangeSearch
    units: str

    def vote(self, box: int) -> ExplainedVote:
        """Return a box with its votes."""
        boxes, label = self.boxes, self.boxes.labels[box]
        return ExplainedVote(
            box,
            self.classes[label],
            self.class_names[label],
            boxes.weights[box],
            int(boxes.counts[box]),
            boxes.class_counts[box],
            np.flatnonzero(boxes.constrains[box]),
            boxes.lower[box],
            boxes.upper[box],
            boxes.missing[box],
        )

    def votes(self, held: np.ndarray) -> list[ExplainedVote]:
        """Return the boxes that hold a sample, those with the largest votes first."""
        boxes = np.flatnonzero(held)
        largest = np.abs(self.boxes.weights[boxes]).max(axis=1, initial=0.0)
        return [self.vote(box) for box in boxes[np.argsort(-largest, kind="stable")].tolist()]


@dataclass(frozen=True, eq=False, repr=False)
class VoteExplanations(ExplanationSequence[VoteExplanation]):
    """The explanations of several samples by boxes that vote: a sequence, and arrays of them all.

    `explain` makes them of `BoostedHyperboxes`.

    Attributes
    ----------
    predictions : ndarray of shape (n_samples,)
        What `predict` gives.
    scores : ndarray of shape (n_samples, n_classes)
        The intercepts plus the votes. Of two classes their difference is `decision_function`.
    probabilities : ndarray of shape (n_samples, n_classes)
        What `predict_proba` gives.
    held : ndarray of bool, shape (n_samples, n_boxes)
        Which boxes of ``hyperboxes_`` hold which samples.

    See Also
    --------
    explain : Explain samples.

    Examples
    --------
    >>> from hyperboxes import BoostedHyperboxes, explain
    >>> X, y = [[0.0], [1.0], [8.0], [10.0]] * 10, ["low", "low", "high", "high"] * 10
    >>> model = BoostedHyperboxes(2, random_state=0).fit(X, y)
    >>> explanations = explain(model, [[2.0], [9.0]])
    >>> explanations
    VoteExplanations(n_samples=2)
    >>> explanations.predictions.tolist(), explanations.held.sum(axis=1).tolist()
    (['low', 'high'], [1, 1])
    """

    predictions: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray
    held: np.ndarray
    _samples: np.ndarray
    _context: _Context

    def _repr_html_(self) -> str:
        return vote_html.explanations_html(self)

    def _explanation(self, row: int) -> VoteExplanation:
        context = self._context
        return VoteExplanation(
            self.predictions[row],
            context.class_names[self.scores[row].argmax()],
            context.classes,
            context.class_names,
            context.feature_names,
            self._samples[row],
            context.intercept,
            context.votes(self.held[row]),
            self.scores[row],
            self.probabilities[row],
            len(context.boxes),
            context.search,
            context.units,
            context.search.categories,
        )
