"""`explain`: why a model predicts what it predicts, for one sample or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, assert_never, overload

import numpy as np

from hyperboxes._estimators.capabilities import Operation
from hyperboxes._models import executor, records
from hyperboxes._models.executor import Trace
from hyperboxes._readers import explanation_html
from hyperboxes._readers.explanation import ExplainedBox, ExplainedModel, Explanation
from hyperboxes._readers.fitted import FittedModel, read_fitted


def explain(
    model: Any,
    X: Any,
    *,
    X_upper: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
    fixed: Sequence[str | int] = (),
) -> Explanations:
    """Explain what a fitted classifier predicts for samples.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a fitted Pipeline that ends in one: samples are then those that the
        Pipeline takes, names those that its steps give, and values as transformed.
    X : array-like of shape (n_samples, n_features), or one sample
        The samples, or the lower ends of interval samples. A single sample may also be a flat list,
        a pandas Series, or a dictionary with the features by name; further keys are ignored.
    X_upper : array-like of shape (n_samples, n_features), default=None
        The upper ends of interval samples. Not for `BoostedHyperboxes`.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features. None: those of the training data, or x0, x1, ...
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes, in the order of ``classes_``. None: the labels.
    fixed : sequence of str or int, default=()
        Features, by name or index, that counterfactuals do not change, such as a person's age.

    Returns
    -------
    explanations : Explanations
        A sequence with an `Explanation` for each sample, which can be printed, is a table with
        bars in a notebook, and a dictionary for other programs. If the nearest box decides, it is a
        duel of two boxes. If several boxes of each class decide (``n_neighbors_ > 1``), and of
        `BoostedHyperboxes`, `AdaptiveGFMM` and `RandomHyperboxes`, it lists the boxes that
        contribute to the scores of the classes.

    See Also
    --------
    export_html : A page with the explanations of many samples.
    ParallelCoordinatesDisplay : A picture of a sample and the boxes nearest to it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM, explain
    >>> iris = load_iris(as_frame=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, decision="nearest", random_state=0)
    >>> model = model.fit(iris.data[::2], iris.target[::2])
    >>> explanations = explain(model, iris.data[1::2], class_names=iris.target_names)
    >>> print(explanations[59])
    versicolor: box 4 (8 training samples) is the closest.
    Memberships: versicolor 0.996, virginica 0.964, setosa 0.596.
    <BLANKLINE>
                          sample  box 4, versicolor      box 3, virginica
    *  sepal width (cm)   2.2     2.2 to 2.7  inside     2.5 to 2.7  0.3 below
       petal length (cm)  5.0     3.8 to 4.9  0.1 above  5.0 to 5.8  inside
    <BLANKLINE>
    * counts most for box 4 against box 3. Box 4 fits worst in petal length (cm).
        In 2 other features both boxes contain the sample.
    To get virginica: petal length (cm) 5.0 -> 5.8.
    """
    names = {"feature_names": feature_names, "class_names": class_names}
    fitted = read_fitted(model, Operation.EXPLAIN, **names)
    fixed = [fixed] if isinstance(fixed, str) else list(fixed)
    columns = [fitted.find_feature(feature) for feature in fixed]
    return explain_encoded(fitted, *fitted.encode(X, X_upper), fixed=columns)


def explain_encoded(
    fitted: FittedModel,
    lower: np.ndarray,
    upper: np.ndarray | None = None,
    fixed: Sequence[int] = (),
) -> Explanations:
    """Explain samples that are checked, with positions for categories; points have no `upper`."""
    upper = lower if upper is None else upper
    predictions, probabilities = (
        fitted.call(method, lower, upper) for method in ("predict", "predict_proba")
    )
    return Explanations(
        predictions, probabilities, lower, upper, ExplainedModel.of(fitted, lower, fixed)
    )


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Sequence[Explanation]):
    """The explanations of several samples: a sequence, with the main results as arrays.

    `explain` returns them. An item is computed when it is read.

    Attributes
    ----------
    predictions : ndarray of shape (n_samples,)
        What `predict` gives.
    probabilities : ndarray of shape (n_samples, n_classes)
        What `predict_proba` gives.

    See Also
    --------
    explain : Explain samples.

    Examples
    --------
    >>> from hyperboxes import ImprovedOnlineGFMM, explain
    >>> X, y = [[0.0], [1.0], [8.0], [10.0]], [0, 0, 1, 1]
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, y)
    >>> explanations = explain(model, [[2.0], [9.0]])
    >>> explanations
    Explanations(n_samples=2)
    >>> [explanation.class_name for explanation in explanations]
    ['class 0', 'class 1']
    """

    predictions: np.ndarray
    probabilities: np.ndarray
    _lower: np.ndarray
    _upper: np.ndarray
    _model: ExplainedModel

    def __len__(self) -> int:
        return len(self.predictions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_samples={len(self)})"

    def __str__(self) -> str:
        return str(self[0]) if len(self) == 1 else repr(self)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: int | slice) -> Explanation | Self:
        if isinstance(index, slice):
            by_sample = {name: part for name, part in vars(self).items() if name != "_model"}
            return replace(self, **{name: part[index] for name, part in by_sample.items()})
        try:
            row = range(len(self))[index]
        except IndexError:
            raise IndexError(f"no sample {index}: {len(self)} are explained") from None
        ends = self._lower[row : row + 1], self._upper[row : row + 1]
        return _explain_sample(self._model, self.predictions[row], self.probabilities[row], *ends)

    def _repr_html_(self) -> str:
        return explanation_html.write(self)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the dictionary of each explanation (its `to_dict`).

        Returns
        -------
        explanations : list of dict
            One per sample.
        """
        return [explanation.to_dict() for explanation in self]


def _explain_sample(
    model: ExplainedModel,
    prediction: Any,
    probabilities: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> Explanation:
    """Explain a single sample, of shape (1, n_features)."""
    fitted, record = model.fitted, model.fitted.record
    trace = executor.trace(record, lower, upper)
    scores = trace.evaluation.scores[0]
    n_classes = len(fitted.class_names)
    code = int(np.searchsorted(fitted.labels, prediction))
    boxes, baseline = list(range(len(trace.boxes))), np.zeros(n_classes)
    notes: list[str] = []
    is_duel = isinstance(record, records.NearestBoxes) and record.n_neighbors == 1
    match record:
        case records.NearestBoxes() if is_duel:
            scores = np.maximum(scores, 0.0)
            boxes = boxes[:2]
        case records.NearestBoxes():
            scores = probabilities
            baseline = probabilities - trace.contributions.sum(axis=0)
        case records.AdditiveBoxes():
            baseline = record.intercept
            if record.unknown_weights(lower)[0]:
                baseline = scores - trace.contributions.sum(axis=0)
                n_unknown = np.isnan(lower[0, record.used]).sum()
                notes = [
                    f"Unknown are {n_unknown} of the {len(record.used)} features in conditions: "
                    "the intercept includes a move of the scores towards the classes' shares."
                ]
        case records.NeighborBoxes():
            notes = [_describe_experts(record)]
        case records.BoxEnsemble():
            notes = [_describe_members(record, trace, code, fitted.class_names[code])]
        case _:
            assert_never(record)
    return Explanation(
        prediction,
        fitted.class_names[code],
        fitted.labels,
        fitted.class_names,
        scores,
        probabilities,
        "duel" if is_duel else "sum",
        [_explain_box(model, trace, i, lower[0], upper[0]) for i in boxes],
        baseline,
        trace.feature_contributions,
        [*notes, *filter(None, [fitted.remarks])],
        fitted.feature_names,
        lower[0],
        upper[0],
        model.n_boxes,
        model,
    )


def _explain_box(
    model: ExplainedModel, trace: Trace, i: int, lower: np.ndarray, upper: np.ndarray
) -> ExplainedBox:
    """Return the box at a position of a trace."""
    fitted, record, box = model.fitted, model.fitted.record, trace.boxes[i]
    contributions, fraction, member = trace.contributions[i], trace.gaps[i], None
    if isinstance(record, records.BoxEnsemble):
        member, box = box.tolist()
        boxes = record.members[member]
        low, high = np.full((2, fitted.n_features), [[-np.inf], [np.inf]])
        ends = boxes.lower[box : box + 1], boxes.upper[box : box + 1]
        low[boxes.features], high[boxes.features] = record.quantizer.decode(*ends, boxes.features)
    else:
        boxes = record
        assert model.hyperboxes is not None
        low, high = model.hyperboxes.lower[box], model.hyperboxes.upper[box]
    with np.errstate(over="ignore"):
        distance = np.maximum(upper - high, low - lower)
    if isinstance(record, records.NearestBoxes):
        contributions = np.maximum(contributions, 0.0)
        # Scaling may take away a rounding error outside of the bounds.
        distance = np.where(fraction > 0, distance, np.minimum(distance, 0.0))
        fraction = distance / record.scale.span
        if record.n_neighbors > 1:
            fraction = np.maximum(fraction, 0.0)
    code = int(boxes.labels[box])
    additive = record if isinstance(record, records.AdditiveBoxes) else None
    return ExplainedBox(
        int(box),
        member,
        fitted.labels[code],
        fitted.class_names[code],
        int(boxes.counts[box]),
        None if additive is None else additive.class_counts[box],
        int(record.age[box]) if isinstance(record, records.NeighborBoxes) else None,
        contributions,
        low,
        high,
        None if additive is None else additive.missing_shares[box],
        1.0 if additive is None else float(additive.missing_shares[box, np.isnan(lower)].prod()),
        distance,
        fraction,
    )


def _describe_experts(record: records.NeighborBoxes) -> str:
    """Write which expert has the largest weight, and how often it was right."""
    best = np.unravel_index(record.expert_scores.argmax(), record.expert_scores.shape)
    horizon, n_neighbors = record.horizons[best[0]], record.neighbors[best[1]]
    boxes = (
        "all boxes"
        if best[0] == len(record.horizons) - 1
        else (f"the boxes matched within the last {horizon} samples")
    )
    nearest = "nearest" if n_neighbors == 1 else f"{n_neighbors} nearest"
    return (
        f"The expert with the largest weight takes the {nearest} of {boxes}; "
        f"{record.expert_scores[best]:.0%} of its recent predictions were right."
    )


def _describe_members(record: records.BoxEnsemble, trace: Trace, code: int, name: str) -> str:
    """Write for how many members a class is the nearest, and its share of the votes."""
    n_members = len(record.members)
    shares = np.zeros((n_members, len(record.class_counts)))
    np.add.at(shares, trace.boxes[:, 0], trace.contributions)
    n_nearest = int((shares[:, code] == shares.max(axis=1)).sum())
    return (
        f"{name} is the nearest class for {n_nearest} of {n_members} members, and has "
        f"{trace.evaluation.scores[0, code]:.0%} of the votes."
    )
