"""The arrays and JSON of each type of model in files, and the checks of what a file has."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Set
from datetime import date
from types import NoneType
from typing import Any, ClassVar, Literal

import numpy as np

from hyperboxes._estimators.adaptive import AdaptiveModel
from hyperboxes._estimators.dates import FORMATS, PARTS, DateColumn, DateFeatures
from hyperboxes._estimators.streaming import StreamClasses
from hyperboxes._estimators.validation import HUGE
from hyperboxes._files.archive import ModelFileError
from hyperboxes._kernels.adaptive import N_BINS, Memory
from hyperboxes._models.adaptive_state import HORIZONS, NEIGHBORS, AdaptiveState
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.calibration import (
    DOUBLE_SLOPES,
    N_NEIGHBORS,
    NEVER,
    POWERS,
    PRIOR_WEIGHTS,
    SLOPES,
    WIDTHS,
    DistanceCalibration,
    VoteCalibration,
)
from hyperboxes._models.categories import Categories
from hyperboxes._models.ensemble import MOST_LEVELS, Codes, EnsembleModel, VoteSettings
from hyperboxes._models.model import FUNCTIONS, BoxModel, Membership, ThetaPath
from hyperboxes._models.records import AdditiveBoxes, EnsembleMember
from hyperboxes._models.samples import MinMaxScale

# A kind defines it all in one class, and `saving` does what is the same for all. The entry of a
# learner names its kind.

# Numbers of samples and candidates must fit into 64 bits.
TOO_MANY = 2**63

Arrays = dict[str, np.ndarray]

# What may be wrong with a model, and where it is so.
Problems = Iterator[tuple[str, Any]]

# The type of an array and the meaning of its dimensions, "boxes", "features", "classes" or one of
# the kind's own `sizes`, or what else it finds.
Layout = tuple[str, tuple[str, ...]]

ARRAYS_OF_ALL: Mapping[str, Layout] = {
    "lower": ("<f8", ("boxes", "features")),
    "upper": ("<f8", ("boxes", "features")),
    "labels": ("<i8", ("boxes",)),
    "counts": ("<i8", ("boxes",)),
}


class ModelSchema(ABC):
    """A kind of models.

    `header` has the types of its own keys of the header, `arrays` the layouts of its arrays but for
    the classes, which `saving` stores. Of each group of `optional` ones all are there or none.
    """

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {}
    arrays: ClassVar[Mapping[str, Layout]]
    optional: ClassVar[tuple[frozenset[str], ...]] = ()
    sizes: ClassVar[Mapping[str, int]] = {}

    def find_shape(self, arrays: Arrays) -> tuple[int, int]:
        """Return how many boxes and features there are."""
        shape = arrays["lower"].shape
        if len(shape) != 2:
            raise ModelFileError(f"lower.npy has the shape {shape}")
        return shape[0], shape[1]

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        """Return the sizes of its own dimensions, which may be those of arrays."""
        return self.sizes

    def has_all(self, names: Set[str]) -> bool:
        """Whether arrays of these names, but for the classes, make a model."""
        missing = self.arrays.keys() - names
        groups = [group for group in self.optional if group & missing]
        return names <= self.arrays.keys() and missing == frozenset().union(*groups)

    @abstractmethod
    def read_header(self, model: Any) -> dict[str, Any]:
        """Return its own keys of the header."""

    @abstractmethod
    def read_arrays(self, model: Any) -> Arrays:
        """Return the arrays of a fitted model, in any type that has their values."""

    @abstractmethod
    def problems(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Problems:
        """Yield what no learner can have learned; types and shapes are right already."""

    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        """Raise an error for the first problem that is found anywhere."""
        for problem, found in self.problems(header, arrays, n_classes):
            if np.any(found):
                raise ModelFileError(problem)

    @abstractmethod
    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        """Return the fitted model, in memory of its own."""


def bound_problems(what: str, lower: np.ndarray, upper: np.ndarray) -> Problems:
    """Yield where bounds are infinite, known on one side only, or in the wrong order."""
    yield f"{what} has an infinite bound", np.isinf(lower) | np.isinf(upper)
    yield f"{what} has one bound only", np.isnan(lower) != np.isnan(upper)
    yield f"{what} has a lower bound above the upper", lower > upper


_PLAIN = (str, bool, int, float)


def categories_to_json(categories: Mapping[int, Categories]) -> dict[str, Any]:
    """Return what the header has of categories: nothing if there are none."""
    if not categories:
        return {}
    return {"categories": {str(j): _to_json(known) for j, known in categories.items()}}


def _to_json(known: Categories) -> dict[str, Any]:
    return {
        "values": list(known.values),
        "places": known.positions.tolist(),
        "tendencies": known.target_means.tolist(),
        "scores": [list(pair) for pair in known.scores.items()],
        "mean": known.mean,
        "weight": known.weight,
    }


def categories_from_json(header: Mapping[str, Any], n_features: int) -> dict[int, Categories]:
    """Restore the categories of each feature, if they can be."""
    categories = {}
    for key, value in header.get("categories", {}).items():
        if not (key.isdecimal() and key.isascii() and int(key) < n_features):
            raise ModelFileError("there are categories of a feature that does not exist")
        categories[int(key)] = _from_json(value)
    return dict(sorted(categories.items()))  # JSON sorts "10" before "2"


def _from_json(value: Any) -> Categories:
    match value:
        case {
            "values": list(values),
            "places": list(positions),
            "tendencies": list(target_means),
            "scores": list(scores),
            "mean": float(mean),
            "weight": float(weight),
        } if len(value) == 6 and len(values) == len(positions) == len(target_means):
            pass
        case _:
            raise ModelFileError("its categories are not complete")
    is_plain = all(type(item) in _PLAIN for item in values)
    if not is_plain or len(set(values)) < len(values) or not all(map(_is_pair, scores)):
        raise ModelFileError("its categories are not distinct strings and numbers")
    if not all(type(number) is float for number in (*positions, *target_means)):
        raise ModelFileError("its categories have positions that are not numbers")
    ends = np.array(positions), np.array(target_means)
    is_ascending = all((np.diff(numbers) >= 0).all() for numbers in ends)
    is_possible = is_ascending and all(0.0 <= position <= 1.0 for position in positions)
    if not (is_possible and np.isfinite([mean, weight, *target_means]).all() and weight >= 0.0):
        raise ModelFileError("its categories have invalid positions")
    return Categories(tuple(values), *ends, dict(map(tuple, scores)), mean, weight)


def _is_pair(pair: Any) -> bool:
    match pair:
        case [label, float(score)]:
            return type(label) in _PLAIN and bool(np.isfinite(score))
    return False


def dates_to_json(step: DateFeatures) -> dict[str, Any]:
    """Return what the header has of dates: the columns before them, and what was learned."""
    return {
        "columns": [str(name) for name in step.feature_names_in_],
        "dates": {
            name: [column.origin.isoformat(), column.format, *column.parts]
            for name, column in step.dates_.items()
        },
    }


def dates_from_json(value: Mapping[str, Any], features: Any) -> DateFeatures:
    """Restore the transformer that makes some features, if it can be."""
    step = DateFeatures()
    try:
        names, dates = value["columns"], value["dates"]
        step.dates_ = {
            name: DateColumn(date.fromisoformat(origin), order, tuple(parts))
            for name, (origin, order, *parts) in dates.items()
        }
        is_possible = {type(name) for name in names} == {str} and step.dates_.keys() <= set(names)
        for column in step.dates_.values():
            is_possible &= column.format in FORMATS and "days" in column.parts
            is_possible &= column.parts == tuple(part for part in PARTS if part in column.parts)
        step.columns, step.n_features_in_ = list(dates), len(names)
        step.feature_names_in_ = np.array(names, object)
        is_possible &= step.get_feature_names_out().tolist() == features
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError("its dates are not complete") from error
    if not is_possible:
        raise ModelFileError("its dates do not make its features")
    return step


_ROWS = tuple(ARRAYS_OF_ALL)

# The logarithm of a distance is not larger.
_MOST = 700.0


class NearestSchema(ModelSchema):
    """Models whose boxes cover samples."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {
        "n_candidates": (int,),
        "n_learned": (int,),
        "membership_function": (str,),
        "calibration": (dict, NoneType),
    }
    arrays: ClassVar[Mapping[str, Layout]] = {
        **ARRAYS_OF_ALL,
        "confirmed": ("<i8", ("boxes",)),
        "gamma": ("<f8", ("features",)),
        "scale_low": ("<f8", ("features",)),
        "scale_high": ("<f8", ("features",)),
        "theta_path": ("<f8", ("scores", "thetas")),
    }
    optional: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset({"scale_low", "scale_high"}),
        frozenset({"theta_path"}),
    )

    def find_sizes(self, arrays: Arrays) -> Mapping[str, int]:
        path, n_scores = arrays.get("theta_path", np.empty(0)), len(ThetaPath._fields)
        return {"scores": n_scores, "thetas": path.size // n_scores}

    def read_header(self, model: Any) -> dict[str, Any]:
        return {
            "n_candidates": model.boxes.n_candidates,
            "n_learned": model.boxes.n_seen,
            "membership_function": model.membership.function,
            "calibration": _calibration_to_json(model.calibration),
        }

    def read_arrays(self, model: Any) -> Arrays:
        boxes, scale = model.boxes, model.scale
        arrays = {name: getattr(boxes, name) for name in (*_ROWS, "confirmed")}
        arrays["gamma"] = model.membership.gamma
        if scale is not None:
            arrays |= {"scale_low": scale.low, "scale_high": scale.high}
        if model.theta_path is not None:
            arrays["theta_path"] = np.array(model.theta_path)
        return arrays

    def problems(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Problems:
        lower, upper, labels, counts = (arrays[name] for name in _ROWS)
        yield "there is no box", len(labels) == 0
        yield from bound_problems("a box", lower, upper)
        yield "a box has a label that is no class", (labels < -1) | (labels >= n_classes)
        yield "a box holds no sample", counts < 1
        yield "there are too many samples", counts.sum(dtype=np.float64) >= TOO_MANY
        n_learned, confirmed, gamma = header["n_learned"], arrays["confirmed"], arrays["gamma"]
        yield "the number of samples is invalid", not int(counts.sum()) <= n_learned < TOO_MANY
        yield "a box was confirmed by no sample", (confirmed < 0) | (confirmed >= n_learned)
        yield "gamma is not positive and finite", ~((gamma > 0) & np.isfinite(gamma))
        if "scale_low" in arrays:
            with np.errstate(over="ignore", invalid="ignore"):
                span = arrays["scale_high"] - arrays["scale_low"]
                ends = [arrays["scale_low"] + span * arrays[name] for name in ("lower", "upper")]
            is_range = (span >= 0) & (span < np.inf)
            yield "the scale is not a finite range of each feature", ~is_range
            yield "a box has an infinite bound in data units", np.isinf(ends)
        if "theta_path" in arrays:
            thetas, *scores = arrays["theta_path"]
            is_possible = ((thetas > 0) & (thetas < np.inf)).all()
            is_score = not (np.isinf(scores).any() or np.less(scores, 0.0).any())
            yield "theta cannot have been chosen by its scores", not (is_possible and is_score)
        yield "its membership function is not known", header["membership_function"] not in FUNCTIONS
        yield "the number of candidates is invalid", not 0 <= header["n_candidates"] < TOO_MANY
        _calibration_from_json(header["calibration"])

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        scale = None
        if "scale_low" in arrays:
            ends = (arrays[name].astype(np.float64) for name in ("scale_low", "scale_high"))
            scale = MinMaxScale(*ends)
        boxes = _boxes(arrays, n_classes, header["n_learned"])
        boxes.n_candidates = header["n_candidates"]
        gamma = arrays["gamma"].astype(np.float64)
        membership = Membership(gamma, header["membership_function"])
        calibration = _calibration_from_json(header["calibration"])
        path = arrays.get("theta_path")
        theta_path = None if path is None else ThetaPath(*path.astype(np.float64))
        return BoxModel(boxes, scale, membership, calibration, theta_path)


_N_LOSSES = [len(POWERS)] + [len(PRIOR_WEIGHTS)] * len(SLOPES)
_DECISIONS = len(WIDTHS), len(N_NEIGHBORS), len(DOUBLE_SLOPES), len(PRIOR_WEIGHTS)


def _calibration_to_json(calibration: DistanceCalibration | None) -> dict[str, Any] | None:
    if calibration is None:
        return None
    decision_losses = calibration.decision_losses
    return {
        "losses": calibration.losses.tolist(),
        "decision_losses": None if decision_losses is None else decision_losses.ravel().tolist(),
        "log_gaps": calibration.log_gaps,
        "n_gaps": calibration.n_gaps,
        "next_update": calibration.next_update,
        "power_losses": calibration.power_losses.tolist(),
    }


def _calibration_from_json(value: dict[str, Any] | None) -> DistanceCalibration | None:
    """Restore it, if these are numbers that probabilities can be made of."""
    match value:
        case None:
            return None
        case {
            "losses": list(losses),
            "decision_losses": list(decisions) | (None as decisions),
            "log_gaps": float(log_gaps),
            "n_gaps": float(n_gaps),
            "next_update": int(question),
            "power_losses": list(powers),
        } if (
            len(value) == 6
            and _are_losses([powers, *losses], _N_LOSSES)
            and (decisions is None or _are_losses([decisions], [math.prod(_DECISIONS)]))
            and type(question) is int
        ):
            pass
        case _:
            raise ModelFileError("its probabilities are not known")
    table, of_powers = np.array(losses), np.array(powers)
    of_decisions = None if decisions is None else np.reshape(decisions, _DECISIONS)
    tables = [table, of_powers, *([] if of_decisions is None else [of_decisions])]
    is_finite = all(np.isfinite(values).all() for values in tables)
    is_possible = n_gaps > 0.0 and abs(log_gaps) < _MOST * n_gaps and is_finite
    if not (is_possible and NEVER <= question < TOO_MANY):
        raise ModelFileError("its probabilities are invalid")
    return DistanceCalibration(table, log_gaps, n_gaps, question, of_powers, of_decisions)


def _are_losses(rows: list[Any], n_columns: list[int]) -> bool:
    """Return whether rows are lists of numbers, each of its length."""
    return [type(row) is list and len(row) for row in rows] == n_columns and all(
        type(loss) is float for row in rows for loss in row
    )


def _boxes(arrays: Arrays, n_classes: int, n_learned: int) -> BoxStore:
    lower, upper, labels, counts = (arrays[name] for name in _ROWS)
    rows = lower, upper, labels, counts, arrays["confirmed"]
    try:
        return BoxStore.of_rows(*rows, n_classes=n_classes, n_seen=n_learned)
    except (MemoryError, ValueError) as error:
        raise ModelFileError(f"its boxes take more memory than there is ({error})") from error


# Where a class stands in the order of appearance, if it has not appeared.
_NOT_YET = -1

_OF_FEATURES = ("seen", "mean", "variance", "scale", "weight")
_LARGEST = {"lower": HUGE, "upper": HUGE, "mean": HUGE, "variance": 4.0 * HUGE**2}


class NeighborSchema(ModelSchema):
    """Models that remember recent boxes. Boxes are rows in files, and labels those of `classes`."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {"n_learned": (int,)}
    arrays: ClassVar[Mapping[str, Layout]] = {
        **ARRAYS_OF_ALL,
        "born": ("<i8", ("boxes",)),
        "confirmed": ("<i8", ("boxes",)),
        "seen": ("<i8", ("features",)),
        **dict.fromkeys(_OF_FEATURES[1:], ("<f8", ("features",))),
        "histograms": ("<f8", ("features", "bins", "classes")),
        "scores": ("<f8", ("horizons", "neighbors")),
        "appeared": ("<i8", ("classes",)),
    }
    sizes: ClassVar[Mapping[str, int]] = {
        "bins": N_BINS,
        "horizons": len(HORIZONS),
        "neighbors": len(NEIGHBORS),
    }

    def read_header(self, model: Any) -> dict[str, Any]:
        return {"n_learned": model.state.n_learned}

    def read_arrays(self, model: Any) -> Arrays:
        memory, positions = model.state, model.labels.positions
        arrays = memory.kept()
        del arrays["counters"], arrays["order"]
        for name in ("lower", "upper"):
            arrays[name] = np.ascontiguousarray(arrays[name].T)
        n_classes = len(model.labels.classes)
        histograms = np.zeros((*arrays["histograms"].shape[:2], n_classes))
        histograms[:, :, positions] = arrays["histograms"]
        appeared = np.full(n_classes, _NOT_YET)
        appeared[positions] = np.arange(len(positions))
        return arrays | {
            "labels": positions[arrays["labels"]],
            "histograms": histograms,
            "scores": memory.scores,
            "appeared": appeared,
        }

    def problems(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Problems:
        lower, upper, labels, counts = (arrays[name] for name in _ROWS)
        born, confirmed, n_learned = arrays["born"], arrays["confirmed"], header["n_learned"]
        yield "there is no box", len(labels) == 0
        yield from bound_problems("a box", lower, upper)
        yield "a box holds no sample", counts < 1
        yield "the number of samples is invalid", not 0 < n_learned < TOO_MANY
        yield "a box was confirmed before it was born", (born < 0) | (confirmed < born)
        yield "the last sample has confirmed no box", confirmed.max(initial=-1) != n_learned - 1
        yield "two boxes were confirmed at once", len(np.unique(confirmed)) < len(confirmed)
        numbers = {name: arrays[name] for name in (*_OF_FEATURES, "histograms")}
        positive, scores = numbers.keys() - {"mean"}, arrays["scores"]
        is_infinite = [not np.isfinite(array).all() for array in numbers.values()]
        is_large = [(np.abs(arrays[name]) > most).any() for name, most in _LARGEST.items()]
        yield "its statistics of features are not finite", is_infinite
        yield "its numbers are too large", is_large
        yield "its statistics of features are negative", [(arrays[n] < 0).any() for n in positive]
        yield "the scores of its experts are not shares", ~((scores >= 0) & (scores <= 1))
        appeared = arrays["appeared"]
        known = np.sort(appeared[appeared != _NOT_YET])
        yield (
            "the order of its classes is invalid",
            not np.array_equal(known, np.arange(len(known))),
        )
        yield "a box has a label that is no class", (labels < 0) | (labels >= n_classes)
        yield "a box has a label that has not appeared", appeared[labels] == _NOT_YET

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        own = {name: arrays[name].astype(self.arrays[name][0][1:]) for name in self.arrays}
        appeared = own.pop("appeared")
        positions = np.flatnonzero(appeared != _NOT_YET)
        positions = positions[np.argsort(appeared[positions])]
        for name in ("lower", "upper"):
            own[name] = np.ascontiguousarray(own[name].T)
        own |= {
            "labels": appeared[own["labels"]],
            "histograms": np.ascontiguousarray(own["histograms"][:, :, positions]),
            "scores": own["scores"].ravel(),
            "order": np.argsort(-own["confirmed"]),
            "counters": np.array([len(own["labels"]), header["n_learned"]]),
        }
        classes = arrays["classes"]
        classes = classes.astype(object if header["classes_are_objects"] else classes.dtype)
        labels = StreamClasses(classes, classes[positions].tolist())
        return AdaptiveModel(AdaptiveState.of_arrays(Memory(**own)), labels)


class EnsembleSchema(ModelSchema):
    """Models of many members. Their votes on training samples are not kept, but the accuracy is."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {
        "calibration": (list, NoneType),
        "oob_score": (float, NoneType),
        "temperature": (float,),
    }
    arrays: ClassVar[Mapping[str, Layout]] = {
        "thresholds": ("<f8", ("features", "levels")),
        "low": ("<f8", ("features",)),
        "high": ("<f8", ("features",)),
        "n_samples": ("<f8", ("classes",)),
        "importances": ("<f8", ("features",)),
        "member_sizes": ("<i8", ("members",)),
        "member_features": ("<i8", ("known features",)),
        "member_boxes": ("<i8", ("members",)),
        "member_means": ("|b1", ("members",)),
        "lower": ("|u1", ("ends",)),
        "upper": ("|u1", ("ends",)),
        "labels": ("<i8", ("boxes",)),
        "counts": ("<i8", ("boxes",)),
    }

    def find_shape(self, arrays: Arrays) -> tuple[int, int]:
        shape = arrays["thresholds"].shape
        if len(shape) != 2:
            raise ModelFileError(f"thresholds.npy has the shape {shape}")
        return arrays["labels"].size, shape[0]

    def find_sizes(self, arrays: Arrays) -> dict[str, int]:
        return {
            "levels": arrays["thresholds"].shape[1],
            "members": arrays["member_sizes"].size,
            "known features": arrays["member_features"].size,
            "ends": arrays["lower"].size,
        }

    def read_header(self, model: Any) -> dict[str, Any]:
        numbers = model.calibration
        return {
            "calibration": None
            if numbers is None
            else [numbers.power, numbers.share_power, numbers.prior_weight],
            "temperature": model.voting.temperature,
            "oob_score": None if math.isnan(model.oob_score) else model.oob_score,
        }

    def read_arrays(self, model: Any) -> Arrays:
        members = model.members
        joined = {
            name: np.concatenate([getattr(member, name).ravel() for member in members])
            for name in ("features", "lower", "upper", "labels", "counts")
        }
        return {
            "thresholds": model.codes.thresholds,
            "low": model.codes.low,
            "high": model.codes.high,
            "n_samples": model.n_samples,
            "importances": model.feature_importances,
            "member_sizes": np.array([len(member.features) for member in members]),
            "member_features": joined.pop("features"),
            "member_boxes": np.array([len(member.labels) for member in members]),
            "member_means": np.array([member.combine == "sum" for member in members]),
            **joined,
        }

    def problems(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Problems:
        yield from _number_problems(header, arrays)
        sizes, n_boxes = arrays["member_sizes"], arrays["member_boxes"]
        n_features, n_bins = arrays["thresholds"].shape
        yield "there is no member", len(sizes) == 0
        yield "a member has no feature, or too many", (sizes < 1) | (sizes > n_features)
        yield "a member has no box", n_boxes < 1
        labels, counts, features = arrays["labels"], arrays["counts"], arrays["member_features"]
        lengths = len(features), len(labels), len(arrays["lower"])
        sums = sizes.sum(), n_boxes.sum(), (sizes * n_boxes).sum()
        totals = [number.sum(dtype=np.float64) for number in (counts, arrays["n_samples"])]
        yield "its members do not add up", lengths != sums
        yield "a box has a label that is no class", (labels < 0) | (labels >= n_classes)
        yield "a box holds no sample", counts < 1
        yield "there are too many samples", max(totals) >= TOO_MANY
        yield "a box has a lower bound above the upper", arrays["lower"] > arrays["upper"]
        yield "a box has a bound beyond the codes", arrays["upper"] > n_bins
        yield "distances do not fit", sizes.max(initial=0) * n_bins >= 2**16
        members = np.repeat(np.arange(len(sizes)), n_boxes)
        pairs = np.unique(members * n_classes + labels)
        yield "a member has no box of a class", len(pairs) != len(sizes) * n_classes
        for own in np.split(features, np.cumsum(sizes)[:-1]):
            yield "a member has a feature that is none", (own < 0) | (own >= n_features)
            yield "the features of a member are not in order", np.diff(own) < 1

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        own = {name: arrays[name].astype(self.arrays[name][0][1:]) for name in self.arrays}
        numbers, score = header["calibration"], header["oob_score"]
        codes = Codes(own["thresholds"], own["low"], own["high"])
        return EnsembleModel(
            codes,
            list(_split(own)),
            VoteSettings(codes.n_bins, header["temperature"]),
            own["n_samples"],
            None if numbers is None else VoteCalibration(*numbers),
            own["importances"],
            math.nan if score is None else score,
        )


def _number_problems(header: Mapping[str, Any], arrays: Arrays) -> Problems:
    """Yield what does not belong to a member."""
    numbers, score = header["calibration"], header["oob_score"]
    if numbers is not None:
        are_numbers = len(numbers) == 3 and all(type(x) is float for x in numbers)
        if not (are_numbers and np.isfinite(numbers).all() and 0 <= numbers[2] <= 1):
            raise ModelFileError("its probabilities are not those of an ensemble")
    thresholds, importances = arrays["thresholds"], arrays["importances"]
    low, high = arrays["low"], arrays["high"]
    is_range = np.isfinite(low) & np.isfinite(high) & (low <= high)
    yield "there are too many codes", not 1 <= thresholds.shape[1] <= MOST_LEVELS
    yield "its codes are not in order", ~(thresholds[:, 1:] >= thresholds[:, :-1])
    yield "its codes are not known", np.isnan(thresholds)
    yield "a class has no sample", ~(arrays["n_samples"] > 0)
    yield "a feature has no range", ~is_range
    yield "its importances are not shares", ~((importances >= 0) & (importances <= 1))
    yield "its temperature is none", not 0 <= header["temperature"] < math.inf
    yield "its score is no share", score is not None and not 0 <= score <= 1


def _split(own: Arrays) -> Iterator[EnsembleMember]:
    """Yield the members."""
    offsets = {"feature": 0, "box": 0, "end": 0}
    sizes = zip(own["member_sizes"].tolist(), own["member_boxes"].tolist(), strict=True)
    for (n_features, n_boxes), is_mean in zip(sizes, own["member_means"].tolist(), strict=True):
        n_ends = n_features * n_boxes
        features = own["member_features"][offsets["feature"] :][:n_features]
        lower, upper = (
            own[name][offsets["end"] :][:n_ends].reshape(n_boxes, n_features)
            for name in ("lower", "upper")
        )
        labels, counts = (own[name][offsets["box"] :][:n_boxes] for name in ("labels", "counts"))
        combine: Literal["max", "sum"] = "sum" if is_mean else "max"
        yield EnsembleMember(features, lower, upper, labels, counts, combine)
        offsets["feature"] += n_features
        offsets["box"] += n_boxes
        offsets["end"] += n_ends


# The fields of records that files call otherwise.
_FIELDS = {"importances": "feature_importances"}


class AdditiveSchema(ModelSchema):
    """Models whose boxes vote. Their stages, tables for each number of boxes, are not kept."""

    arrays: ClassVar[Mapping[str, Layout]] = {
        **ARRAYS_OF_ALL,
        "weights": ("<f8", ("boxes", "classes")),
        "missing_shares": ("<f8", ("boxes", "features")),
        "class_counts": ("<i8", ("boxes", "classes")),
        "intercept": ("<f8", ("classes",)),
        "missing_scores": ("<f8", ("classes",)),
        "importances": ("<f8", ("features",)),
    }

    def read_header(self, model: Any) -> dict[str, Any]:
        return {}

    def read_arrays(self, model: Any) -> Arrays:
        return {name: getattr(model, _FIELDS.get(name, name)) for name in self.arrays}

    def problems(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Problems:
        lower, upper, labels, counts = (arrays[name] for name in _ROWS)
        importances, shares = arrays["importances"], arrays["missing_shares"]
        class_counts, is_share = arrays["class_counts"], (shares >= 0) & (shares <= 1)
        n_samples = class_counts.sum(axis=1, dtype=np.float64)
        yield "a box has a bound that is not known", np.isnan(lower) | np.isnan(upper)
        yield "a box has a bound that no value meets", np.isposinf(lower) | np.isneginf(upper)
        yield "a box has a lower bound above the upper", lower > upper
        yield "its votes and intercepts are not finite", not _adds_up(arrays)
        yield "missing values count for less than 0 or more than 1", ~is_share
        yield "its importances are not shares", ~((importances >= 0) & (importances <= 1))
        yield "a box holds no sample", counts < 1
        yield "a box holds fewer than no samples of a class", class_counts < 0
        yield "there are too many samples", n_samples >= TOO_MANY
        yield "the samples of the classes are not all", counts != class_counts.sum(axis=1)
        is_largest = labels == arrays["weights"].argmax(axis=1)
        yield "a box has another label than it votes for", ~is_largest

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> Any:
        own = {name: arrays[name].astype(self.arrays[name][0][1:]) for name in self.arrays}
        return AdditiveBoxes(**{_FIELDS.get(name, name): own[name] for name in self.arrays})


def _adds_up(arrays: Arrays) -> bool:
    """Whether every score is finite, whichever boxes contain a sample."""
    with np.errstate(over="ignore"):
        largest = np.abs(arrays["intercept"]) + np.abs(arrays["weights"]).sum(axis=0)
        return bool(np.isfinite(largest + np.abs(arrays["missing_scores"])).all())
