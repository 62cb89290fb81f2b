"""`to_onnx`: a fitted model as an ONNX graph, whose labels are those of `predict`.

The graph compares every sample with every box, in float64 and in the order of the kernels'
arithmetic, so that the results, ties included, are the same bit for bit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import hyperboxes
from hyperboxes._estimators.boosted import BoostedHyperboxes
from hyperboxes._estimators.classifier import BaseGFMM
from hyperboxes._estimators.refusals import (
    refuse_levels,
    refuse_memory,
    refuse_powers,
)
from hyperboxes._extras import need
from hyperboxes._files import onnx_votes
from hyperboxes._files.onnx_categories import take_categories
from hyperboxes._files.onnx_mixed import list_shares, write_mixed_ranking
from hyperboxes._files.onnx_settled import (
    BY_AGE,
    COMPENSATION,
    RANK_BY_LEVELS,
    list_networks,
    list_neurons,
    write_asking,
)
from hyperboxes._models.contention import ContentiousModel, Levels
from hyperboxes._models.mixed import MixedModel

if TYPE_CHECKING:
    from onnx import ModelProto

# What graphs in ONNX's own notation begin with. Opset 13 is the lowest in which all operators take
# these types.
_HEADER = f"""
<ir_version: 7, opset_import: ["" : 13], producer_name: "hyperboxes",
 producer_version: "{hyperboxes.__version__}">
"""

# A first loop over the features finds the distance of each sample and box, a second one over the
# classes (boxes are sorted by class) finds what each class says. A missing value becomes
# an interval turned inside out, infinitely far inside every box. The rules of the winner are those
# of `_kernels/prediction.py`.
_GRAPH = """
hyperboxes (double[n_samples, {n_features}] X)
=> ({label_type}[n_samples] label, double[n_samples, {n_classes}] membership)
{{
    {scaling}
    columns = Transpose <perm = [1, 0]> (scaled)
    x = Unsqueeze (columns, last)
    is_missing = IsNaN (x)
    x_upper = Where (is_missing, minus_infinity, x)
    x_lower = Where (is_missing, infinity, x)
    rows = Shape (X)
    n_rows = Slice (rows, start, next)
    pairs = Concat <axis = 0> (n_rows, n_boxes)
    together = ConstantOfShape <value = double[1] {{0.0}}> (pairs)
    {ranking}

    {deciding}
}}
"""

# Ranks, the largest for the nearest box, and what is decided by them.
_RANKING = """{distance}

    is_within = Less (gap, one)
    degree = Sub (one, gap)
    away = Neg (gap)
    rank = Where (is_within, degree, away)
    top = ReduceMax <axes = [1]> (rank)
    is_tied = Equal (rank, top)"""
_DECIDING = """best, votes = Scan <num_scan_inputs = 2, scan_output_axes = [1, 1], body = ask (
        int64[1] first, int64[1] stop
    ) => (double[n_samples] class_best, int64[n_samples] class_votes) {{
        class_rank = Slice (rank, first, stop, last)
        class_best = ReduceMax <axes = [1], keepdims = 0> (class_rank)
        is_voter = Slice (is_tied, first, stop, last)
        class_counts = Slice (counts, first, stop)
        ballots = Where (is_voter, class_counts, nobody)
        class_votes = ReduceSum <keepdims = 0> (ballots, last)
    }}> (firsts, stops)

    is_positive = Greater (best, zero)
    is_member = And (is_positive, has_boxes)
    membership = Where (is_member, best, zero)

    valid_votes = Where (has_boxes, votes, nobody)
    most_votes = ArgMax <axis = 1, keepdims = 0> (valid_votes)
    flat_top = Squeeze (top, last)
    {settling}
    oldest = ReduceMin <axes = [1], keepdims = 0> (tied_ages)
    oldest_class = Gather (classes_by_age, oldest)
    winner = Where (is_settled, oldest_class, most_votes)
    label = Gather (labels, winner)"""

# What settles ties before votes do: the oldest box that holds a single sample, and the sample asked
# about; or, within reach, the oldest of those with the nearest centre or corners.
_BY_COUNTS = """tied_ages = Where (is_tied, single_ages, no_box)
    oldest_single = ReduceMin <axes = [1], keepdims = 0> (tied_ages)
    is_single = Less (oldest_single, no_box)
    is_held = Equal (flat_top, one)
    is_settled = And (is_single, is_held)"""
_BY_PLACE = """apart_in_all = Scan <num_scan_inputs = 3, body = go (
        double[n_samples, {n_boxes}] old_away,
        double[n_samples, 1] xs, double[{n_boxes}] v, double[{n_boxes}] w
    ) => (double[n_samples, {n_boxes}] new_away) {{
        {away}
        is_unknown = IsNaN (away_alone)
        known_away = Where (is_unknown, zero, away_alone)
        new_away = Add (old_away, known_away)
    }}> (together, x, lower, upper)
    tied_away = Where (is_tied, apart_in_all, infinity)
    least_away = ReduceMin <axes = [1]> (tied_away)
    is_least = Equal (tied_away, least_away)
    is_nearest = And (is_tied, is_least)
    tied_ages = Where (is_nearest, ages, no_box)
    is_settled = Greater (flat_top, zero)"""
_AWAY = {
    "centre": """ends = Add (v, w)
        centre = Div (ends, two)
        beside = Sub (centre, xs)
        away_alone = Abs (beside)""",
    "corners": """from_low = Sub (xs, v)
        from_high = Sub (xs, w)
        low_away = Abs (from_low)
        high_away = Abs (from_high)
        away_alone = Add (low_away, high_away)""",
}

_SCALING = "shifted = Sub (X, low) scaled = Div (shifted, span)"
_NO_SCALING = "scaled = Identity (X)"

# The distance is the largest gap of the features, or their mean: added up in their order, which
# `ReduceSum` need not do, and of the gaps as they are where all are beyond the reach of membership.
_LARGEST = """gap = Scan <num_scan_inputs = 5, body = widen (
        double[n_samples, {n_boxes}] old_gap, {scanned}
    ) => (double[n_samples, {n_boxes}] new_gap) {{
        {apart}
        {new_gap}
    }}> (together, x_lower, x_upper, lower, upper, gamma)"""
_MEAN = """clipped, total = Scan <num_scan_inputs = 5, body = add (
        double[n_samples, {n_boxes}] old_clipped, double[n_samples, {n_boxes}] old_total, {scanned}
    ) => (double[n_samples, {n_boxes}] new_clipped, double[n_samples, {n_boxes}] new_total) {{
        {apart}
        {slope}
        in_reach = Min (slope, one)
        new_clipped = Add (old_clipped, in_reach)
        new_total = Add (old_total, slope)
    }}> (together, together, x_lower, x_upper, lower, upper, gamma)
    is_near = Less (clipped, n_features)
    far = Max (total, n_features)
    sum = Where (is_near, clipped, far)
    gap = Div (sum, n_features)"""
_SCANNED = """double[n_samples, 1] xl, double[n_samples, 1] xu,
        double[{n_boxes}] v, double[{n_boxes}] w, double g"""
_APART = """above = Sub (xu, w)
        below = Sub (v, xl)
        beyond = Max (above, below)
        apart = Mul (beyond, g)"""

# Protocol buffers end at 2 GiB.
_MAX_BYTES = 2**31 - 2**20


def to_onnx(model: Any) -> ModelProto:
    """Turn a fitted model into an ONNX graph, to predict where there is no Python.

    Parameters
    ----------
    model : ImprovedOnlineGFMM, OnlineGFMM, FuzzyMinMax, AgglomerativeGFMM or BoostedHyperboxes
        The fitted model; also ContentiousFuzzyMinMax, unless with ``resolution="core"``, and
        MultiGranularGFMM with one level, and MixedGFMM.

    Returns
    -------
    onnx_model : onnx.ModelProto
        A graph that takes ``X``, float64 of shape (n_samples, n_features), NaN where a value is
        missing, and gives ``label``, what `predict` says, and ``membership``, float64 of shape
        (n_samples, n_classes), what `membership` says. Both are the same bit for bit. Labels are
        int64 for integers, otherwise of the type of ``classes_``.

        If the model has categories, the graph takes ``numbers``, the other features in their order,
        and ``categories``, strings of shape (n_samples, n_categorical): ``str`` of the values, any
        other string where one is missing.

        Of `BoostedHyperboxes` it gives ``label``, ``probability``, float64 of shape (n_samples,
        n_classes), and ``score``, what `decision_function` says. Labels and scores are the same bit
        for bit, probabilities but for the last digits: runtimes differ in how they take powers.

    See Also
    --------
    export_sql : A model as a query, to predict in a database.
    save : A model as a file, from which Python can go on learning.

    Notes
    -----
    Every sample is compared with every box: a call takes time in proportion to ``n_samples *
    n_boxes * n_features`` and up to a hundred bytes of memory for each pair of a sample and a box.
    Predict in batches.

    Examples
    --------
    >>> import hyperboxes
    >>> X, y = [[1.0], [2.0], [8.0]], ["a", "a", "b"]
    >>> model = hyperboxes.ImprovedOnlineGFMM(random_state=0).fit(X, y)
    >>> graph = hyperboxes.to_onnx(model)
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> label, membership = session.run(None, {"X": [[1.5], [9.0]]})
    >>> print(*label)
    a b
    """
    onnx = need("onnx", "onnx", "to_onnx")
    text, constants = _graph(model)
    proto = onnx.parser.parse_model(_HEADER + text)
    for name, value in constants.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    take_categories(onnx, proto, model)
    onnx.helper.set_model_props(proto, _metadata(model))
    return proto


def _graph(model: Any) -> tuple[str, dict[str, np.ndarray]]:
    """Return the graph of a fitted model, and all that it refers to by name."""
    if isinstance(model, BoostedHyperboxes):
        check_is_fitted(model)
        labels = _labels(model.classes_)
        text = onnx_votes.write_graph(model, _label_type(labels))
        return text, {**onnx_votes.list_constants(model), "labels": labels}
    refuse_memory(model, "to_onnx")
    if not isinstance(model, BaseGFMM):
        raise TypeError(
            f"to_onnx takes a fitted learner of hyperboxes, not {type(model).__name__}. Of a "
            "pipeline or a search take the model in it, such as pipeline[-1]."
        )
    model._check_can_predict()
    refuse_powers(model, "to_onnx")
    refuse_levels(model, "to_onnx")
    if 2 * model._model.boxes.lower.nbytes > _MAX_BYTES:
        raise ValueError("The boxes take more than 2 GiB, for which an ONNX file has no room.")
    constants = _constants(model)
    return _text(model, constants), constants


def _text(model: BaseGFMM, constants: dict[str, np.ndarray]) -> str:
    """Fill in the graph's sizes and types."""
    return _GRAPH.format(
        n_features=model.n_features_in_,
        n_boxes=constants["n_boxes"][0],
        n_classes=len(model.classes_),
        label_type=_label_type(constants["labels"]),
        scaling=_NO_SCALING if model._model.scale is None else _SCALING,
        ranking=_ranking(model, constants),
        deciding=_deciding(model, constants),
    )


def _ranking(model: BaseGFMM, constants: dict[str, np.ndarray]) -> str:
    """Return the part of the graph that ranks boxes."""
    levels = _levels(model)
    if isinstance(model._model, MixedModel) and len(model._model.features):
        return write_mixed_ranking(model._model, _distance(model, constants), constants)
    if levels is None:
        return _RANKING.format(distance=_distance(model, constants))
    return RANK_BY_LEVELS.format(asking=write_asking(levels), **_gaps(constants))


def _deciding(model: BaseGFMM, constants: dict[str, np.ndarray]) -> str:
    """Return the part of the graph that decides by the ranks."""
    if "contenders" in constants:
        return COMPENSATION.format(n_contenders=constants["n_contenders"][0])
    return _DECIDING.format(settling=_settling(model, constants))


def _levels(model: BaseGFMM) -> Levels | None:
    """Return the networks for regions, where a model has any."""
    contention = model._model
    return contention.levels if isinstance(contention, ContentiousModel) else None


def _settling(model: BaseGFMM, constants: dict[str, np.ndarray]) -> str:
    """Return the part of the graph that settles ties."""
    ties = model._model.membership.ties
    if _levels(model) is not None:
        return BY_AGE
    if ties == "counts":
        return _BY_COUNTS
    return _BY_PLACE.format(n_boxes=constants["n_boxes"][0], away=_AWAY[ties])


def _label_type(labels: np.ndarray) -> str:
    """Return what ONNX calls the type of the labels."""
    label_types = {"i": "int64", "b": "bool", "O": "string"}
    float_types = {2: "float16", 4: "float", 8: "double"}
    return label_types.get(labels.dtype.kind) or float_types[labels.dtype.itemsize]


def _distance(model: BaseGFMM, constants: dict[str, np.ndarray]) -> str:
    """Return the part of the graph that combines the features."""
    knows_all = not np.isnan(constants["lower"]).any()
    new_gap = _at_least("new_gap", "old_gap", knows_all)
    text = _MEAN if model._model.membership.is_mean else _LARGEST
    return text.format(new_gap=new_gap, **_gaps(constants))


def _gaps(constants: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the pieces of a loop over the features that finds gaps."""
    n_boxes = constants["n_boxes"][0]
    knows_all = not np.isnan(constants["lower"]).any()
    return {
        "n_boxes": n_boxes,
        "scanned": _SCANNED.format(n_boxes=n_boxes),
        "apart": _APART,
        "slope": _at_least("slope", "zero", knows_all),
    }


def _at_least(result: str, least: str, knows_all: bool) -> str:
    """Return what makes the larger of `apart` and another number a result.

    NaN is never greater, so unknown bounds rule nothing out; `Max` takes an eighth of the time,
    but runtimes may differ in what it makes of NaN.
    """
    if knows_all:
        return f"{result} = Max (apart, {least})"
    return f"is_wider = Greater (apart, {least}) {result} = Where (is_wider, apart, {least})"


def _constants(model: BaseGFMM) -> dict[str, np.ndarray]:
    """Return all that the graph refers to by name, with the labelled boxes sorted by class."""
    lower, upper, labels, counts = _rows(model)
    order = np.argsort(labels, kind="stable")
    order = order[labels[order] >= 0]
    firsts, stops = _ranges(labels[order], len(model.classes_))
    constants = {
        "lower": np.ascontiguousarray(lower[order].T),
        "upper": np.ascontiguousarray(upper[order].T),
        "gamma": model._model.membership.gamma,
        "counts": counts[order],
        "n_boxes": np.array([len(order)]),
        "no_box": np.array([len(labels)]),
        "classes_by_age": np.append(labels, 0),
        # A class without boxes borrows one, and is then ignored.
        "firsts": np.where(firsts < stops, firsts, 0)[:, None],
        "stops": np.where(firsts < stops, stops, 1)[:, None],
        "has_boxes": firsts < stops,
        "labels": _labels(model.classes_),
        "zero": np.array(0.0),
        "one": np.array(1.0),
        "infinity": np.array(np.inf),
        "minus_infinity": np.array(-np.inf),
        "nobody": np.array(0),
        "start": np.array([0]),
        "next": np.array([1]),
        "last": np.array([-1]),
    }
    if _levels(model) is not None:
        constants["always"] = np.array(True)
        constants["ages"] = order
    elif model._model.membership.ties == "counts":
        constants["single_ages"] = np.where(counts[order] == 1, order, len(labels))
    else:
        constants["ages"] = order
    if model._model.membership.ties == "centre":
        constants["two"] = np.array(2.0)
    if model._model.membership.is_mean:
        constants["n_features"] = np.array(float(model.n_features_in_))
    if model._model.scale is not None:
        constants |= {"low": model._model.scale.low, "span": model._model.scale.span}
    return constants | _settling_constants(model, order)


def _rows(model: BaseGFMM) -> tuple[np.ndarray, ...]:
    """Return the corners, labels and counts of all boxes, those of networks for regions last."""
    rows, levels = model._model.boxes.rows, _levels(model)
    if levels is None:
        return rows
    more = levels.box_lower, levels.box_upper, levels.box_labels, levels.box_counts
    return tuple(np.concatenate(both) for both in zip(rows, more, strict=True))


def _settling_constants(model: BaseGFMM, order: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is needed to settle overlaps of classes, or to rank by categories, too."""
    contention = model._model
    if isinstance(contention, MixedModel) and len(contention.features):
        return list_shares(contention, order, _MAX_BYTES)
    if not isinstance(contention, ContentiousModel) or contention.resolution == "exclude":
        return {}
    n_features = np.array(float(model.n_features_in_))
    if contention.levels is None:
        neurons = list_neurons(contention, order, _MAX_BYTES)
        return {**neurons, "n_features": n_features} if neurons else {}
    networks = list_networks(len(contention.boxes), contention.levels, order)
    return {**networks, "gamma": np.ones(model.n_features_in_), "n_features": n_features}


def _ranges(labels: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the boxes of each class begin and end in a sorted list."""
    ends = np.searchsorted(labels, np.arange(n_classes + 1))
    return ends[:-1], ends[1:]


def _labels(classes: np.ndarray) -> np.ndarray:
    """Return the class labels as an array of a type that ONNX and its runtimes know well."""
    classes = classes.astype(classes.dtype.newbyteorder("="))
    if classes.dtype.kind in "iu" and classes.max() <= np.iinfo(np.int64).max:
        return classes.astype(np.int64)
    if classes.dtype in (np.bool_, np.float16, np.float32, np.float64):
        return classes
    if all(isinstance(label, str) for label in classes):
        return classes.astype(object)
    raise ValueError(
        f"Class labels of type {classes.dtype} have no counterpart in ONNX: use Booleans, integers "
        "up to 63 bits, floats or strings."
    )


def _metadata(model: BaseGFMM | BoostedHyperboxes) -> dict[str, str]:
    """Return what users of the graph may want to know."""
    metadata = {
        "estimator": type(model).__name__,
        "hyperboxes_version": hyperboxes.__version__,
        "classes": json.dumps(model.classes_.tolist()),
    }
    if hasattr(model, "feature_names_in_"):
        metadata["feature_names"] = json.dumps(model.feature_names_in_.tolist())
    return metadata
