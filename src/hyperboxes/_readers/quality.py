"""How good rules are on samples: coverage, precision, the conditions that matter, confusion."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.metrics import roc_auc_score

from hyperboxes._models.records import AdditiveBoxes, BoxEnsemble
from hyperboxes._readers.fitted import FittedModel


@dataclass(frozen=True, eq=False)
class GivenSamples:
    """The samples that rules are measured on, checked: both ends, and labels as codes if known."""

    lower: np.ndarray
    upper: np.ndarray
    codes: np.ndarray | None

    @classmethod
    def check(cls, fitted: FittedModel, X: Any, y: Any, X_upper: Any) -> Self | None:
        """Check the caller's samples; None if there are none."""
        if X is None:
            if y is not None or X_upper is not None:
                raise ValueError("y and X_upper describe samples: pass X as well.")
            return None
        lower, upper = fitted.encode(X, X_upper, order="F")
        return cls(lower, upper, None if y is None else fitted.encode_labels(y, len(lower))[0])

    def __len__(self) -> int:
        return len(self.lower)


@dataclass(frozen=True, eq=False)
class Quality:
    """Coverage and precision of each box, None where there was no data to measure them.

    `contained` is the share of the samples that any box with a label contains; None for ensembles.
    """

    coverage: np.ndarray | None = None
    precision: np.ndarray | None = None
    contained: float | None = None

    @classmethod
    def measure(cls, fitted: FittedModel, samples: GivenSamples | None) -> Self:
        """Measure the boxes of a model on samples; those of an ensemble member by member."""
        if samples is None:
            return cls()
        match fitted.record:
            case AdditiveBoxes():
                boxes_of_samples = fitted.estimator.hyperboxes_.contains(samples.lower)
                contained: Iterable[np.ndarray] = map(np.flatnonzero, boxes_of_samples.T)
            case BoxEnsemble():
                return cls._of_members(fitted.estimator, samples)
            case _:
                boxes, transform = fitted.hyperboxes, fitted.scale.transform
                first, last = transform(samples.upper), transform(samples.lower)
                bounds = zip(transform(boxes.lower), transform(boxes.upper), strict=True)
                contained = (rows_between(first, last, low, high) for low, high in bounds)
        return cls._of_rows(fitted.hyperboxes.labels, contained, samples)

    @classmethod
    def _of_rows(
        cls, labels: np.ndarray, contained: Iterable[np.ndarray], samples: GivenSamples
    ) -> Self:
        """Measure boxes by the rows that each contains."""
        codes = samples.codes
        coverage, precision = np.empty(len(labels)), np.full(len(labels), np.nan)
        is_contained = np.zeros(len(samples), bool)
        for box, rows in enumerate(contained):
            coverage[box] = len(rows) / len(samples)
            is_contained[rows] |= labels[box] >= 0
            if codes is not None and len(known := codes[rows][codes[rows] >= 0]):
                precision[box] = (known == labels[box]).mean()
        return cls(coverage, None if codes is None else precision, float(is_contained.mean()))

    @classmethod
    def _of_members(cls, ensemble: Any, samples: GivenSamples) -> Self:
        """Measure the boxes of all members, which are too many to take one by one."""
        coverage, precision = [], []
        for boxes, features in zip(ensemble.members_, ensemble.estimators_features_, strict=True):
            contains = np.ones((len(boxes), len(samples)), bool)
            for j, feature in enumerate(features):
                contains &= ~(samples.lower[:, feature] < boxes.lower[:, j, None])
                contains &= ~(samples.upper[:, feature] > boxes.upper[:, j, None])
            coverage.append(contains.mean(axis=1))
            if samples.codes is not None:
                contains &= samples.codes >= 0
                right = (contains & (samples.codes == boxes.labels[:, None])).sum(axis=1)
                n_known = contains.sum(axis=1)
                unknown = np.full(len(boxes), np.nan)
                precision.append(np.divide(right, n_known, out=unknown, where=n_known > 0))
        return cls(np.concatenate(coverage), np.concatenate(precision) if precision else None)

    def measured(self) -> dict[str, np.ndarray]:
        """Return what was measured of each box, by name."""
        both = {"coverage": self.coverage, "precision": self.precision}
        return {name: values for name, values in both.items() if values is not None}


def rows_between(
    first: np.ndarray, last: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the rows with `first <= high` and `last >= low` in every feature; NaN lets pass.

    With lower and upper ends of boxes these are the boxes that share a point with [low, high];
    with upper and lower ends of samples the samples that [low, high] contains.
    """
    rows = np.arange(len(first))
    for j in range(first.shape[1]):
        if not np.isnan(low[j]):
            rows = rows[~((first[rows, j] > high[j]) | (last[rows, j] < low[j]))]
    return rows


# Short rules are found greedily. Boxes keep their other conditions, but on the given samples these
# keep out no other class.


def find_short_rules(fitted: FittedModel, samples: GivenSamples) -> list[np.ndarray]:
    """Return for each box the features whose conditions are needed, those that do most first.

    They keep out all samples of other classes that all conditions keep out, where bounds at the
    ends of the learned range are none. Each time the feature is taken that keeps out most of the
    rest; in the end features are dropped that others have made superfluous. For a box without a
    label, samples of all classes are kept out.
    """
    assert samples.codes is not None
    boxes, scale = fitted.hyperboxes, fitted.scale
    smallest, largest = fitted.learned_range
    first, last = scale.transform(samples.upper), scale.transform(samples.lower)
    low = np.where(boxes.lower <= smallest, -np.inf, scale.transform(boxes.lower))
    high = np.where(boxes.upper >= largest, np.inf, scale.transform(boxes.upper))
    return [
        _find_needed(first[others], last[others], low[box], high[box])
        for box, label in enumerate(boxes.labels)
        for others in [(samples.codes >= 0) & (samples.codes != label)]
    ]


def _find_needed(
    first: np.ndarray, last: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the features that keep samples out of [low, high]; NaN keeps nothing out."""
    is_out = (first > high) | (last < low)
    is_out = is_out[is_out.any(axis=1)]
    needed: list[int] = []
    left = is_out
    while len(left):
        feature = int(left.sum(axis=0).argmax())
        needed.append(feature)
        left = left[~left[:, feature]]
    for feature in needed[::-1]:
        others = [other for other in needed if other != feature]
        if is_out[:, others].any(axis=1).all():
            needed = others
    return np.array(needed, int)


def overall_scores(matrix: np.ndarray) -> tuple[float, float]:
    """Return accuracy and balanced accuracy, the mean recall of the classes that occur."""
    right, support = np.diag(matrix), matrix.sum(axis=1)
    occurs = support > 0
    return float(right.sum() / matrix.sum()), float((right[occurs] / support[occurs]).mean())


def class_scores(matrix: np.ndarray) -> list[dict[str, Any]]:
    """Return precision, recall, F1 and support of each class; the true class is in rows."""
    right, support, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    return [
        {
            "precision": _ratio(right[i], predicted[i]),
            "recall": _ratio(right[i], support[i]),
            "f1": _ratio(2 * right[i], support[i] + predicted[i]),
            "support": int(support[i]),
        }
        for i in range(len(matrix))
    ]


def probability_scores(
    true: np.ndarray, predicted: np.ndarray, proba: np.ndarray
) -> dict[str, Any]:
    """Return the area under the ROC curve, log-loss and calibration, of known classes.

    The area is the mean of those of each class against the others. Labels are columns of `proba`,
    or numbers beyond them and below 0, which are left out.
    """
    is_known = (true >= 0) & (true < proba.shape[1])
    if not is_known.any():
        return {}
    true, predicted, proba = true[is_known], predicted[is_known], proba[is_known]
    rows, classes = np.arange(len(true)), np.unique(true).tolist()
    areas = [roc_auc_score(true == i, proba[:, i]) for i in classes if len(classes) > 1]
    of_true = np.maximum(proba[rows, true], np.finfo(float).eps)
    of_predicted, is_right = proba[rows, predicted], true == predicted
    tenths = np.minimum((10 * of_predicted).astype(int), 9)
    calibration = [
        {
            "from": tenth / 10,
            "to": (tenth + 1) / 10,
            "n_samples": int((tenths == tenth).sum()),
            "mean_probability": float(of_predicted[tenths == tenth].mean()),
            "accuracy": float(is_right[tenths == tenth].mean()),
        }
        for tenth in np.unique(tenths).tolist()
    ]
    auc = {"auc": float(np.mean(areas))} if areas else {}
    return auc | {"log_loss": float(-np.log(of_true).mean()), "calibration": calibration}


def warn_of_scores(names: list[str], matrix: np.ndarray) -> Iterator[str]:
    """Yield what makes a model useless, whatever its other scores."""
    right, support, predicted = np.trace(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    if right <= support.max() < matrix.sum():
        yield (
            "The model does not beat the majority: always predicting "
            f"{names[support.argmax()]} is right at least as often."
        )
    if never := [names[i] for i in np.flatnonzero((support > 0) & (predicted == 0))]:
        more = f" and {len(never) - 20} more" if len(never) > 20 else ""
        yield f"Never predicted: {', '.join(never[:20])}{more}."


def _ratio(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None
