"""`to_onnx`: models as ONNX graphs, with the encoding of categories before them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

import hyperboxes
from hyperboxes._estimators.capabilities import Operation, check_labels, read_record, require
from hyperboxes._estimators.categorical import known_categories
from hyperboxes._extras import need
from hyperboxes._files import onnx_additive, onnx_ensemble
from hyperboxes._files.onnx_additive import GraphParts, list_lengths, write_chunks
from hyperboxes._files.onnx_nearest import COLUMNS, Gaps, write_deciding
from hyperboxes._models.calibration import class_shares
from hyperboxes._models.categories import Categories
from hyperboxes._models.records import AdditiveBoxes, BoxEnsemble, NearestBoxes

if TYPE_CHECKING:
    from onnx import ModelProto

_CATEGORIES_DOMAIN = "ai.onnx.ml"


def take_categories(onnx: Any, proto: Any, model: Any) -> None:
    """Replace the input ``X`` by ``numbers`` and ``categories`` if there are categories."""
    categories = known_categories(model)
    if not categories:
        return
    helper, graph = onnx.helper, proto.graph
    numeric = [j for j in range(model.n_features_in_) if j not in categories]
    constants = {"column_order": np.argsort([*numeric, *categories])}
    nodes = []
    for k, (j, known) in enumerate(categories.items()):
        nodes += _find_positions(helper, j, known)
        constants[f"known_positions_{j}"] = np.append(known.positions, np.nan)
        constants[f"column_{j}"] = np.array([k])
    joined = ["numbers", *(f"positions_{j}" for j in categories)]
    nodes.append(helper.make_node("Concat", joined, ["unordered"], axis=1))
    nodes.append(helper.make_node("Gather", ["unordered", "column_order"], ["X"], axis=1))
    old = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *old])
    for name, value in constants.items():
        graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    del graph.input[:]
    doubles, strings = onnx.TensorProto.DOUBLE, onnx.TensorProto.STRING
    shapes = {
        "numbers": (doubles, ["n_samples", len(numeric)]),
        "categories": (strings, ["n_samples", len(categories)]),
    }
    graph.input.extend(helper.make_tensor_value_info(name, *kind) for name, kind in shapes.items())
    proto.opset_import.append(helper.make_opsetid(_CATEGORIES_DOMAIN, 2))


def _find_positions(helper: Any, j: int, known: Categories) -> list[Any]:
    """Return the nodes that encode a column of texts as positions, NaN if unknown."""
    texts = [str(value) for value in known.values]
    encode = helper.make_node(
        "LabelEncoder",
        [f"texts_{j}"],
        [f"codes_{j}"],
        domain=_CATEGORIES_DOMAIN,
        keys_strings=texts,
        values_int64s=list(range(len(texts))),
        default_int64=len(texts),
    )
    return [
        helper.make_node("Gather", ["categories", f"column_{j}"], [f"texts_{j}"], axis=1),
        encode,
        helper.make_node("Gather", [f"known_positions_{j}", f"codes_{j}"], [f"positions_{j}"]),
    ]


# The graph compares every sample with every box, in float64 and in the order of the kernels'
# arithmetic, so that the results, ties included, are the same bit for bit.

# The start of graphs in ONNX's own notation. Opset 13 is the lowest in which all operators take
# these types.
_HEADER = f"""
<ir_version: 7, opset_import: ["" : 13], producer_name: "hyperboxes",
 producer_version: "{hyperboxes.__version__}">
"""

_GRAPH = """
hyperboxes (double[n_samples, {n_features}] X)
=> ({label_type}[n_samples] label, {outputs})
{{
    {nodes}
    label = Gather (labels, winner)
    {more_nodes}
}}
"""
_SCALING = "shifted = Sub (X, low) scaled = Div (shifted, span)\n    "

# Larger distances are the same for probabilities.
_FARTHEST = 1e300

# Protocol buffers end at 2 GiB.
_MAX_BYTES = 2**31 - 2**20


def to_onnx(model: Any) -> ModelProto:
    """Convert a fitted model to an ONNX graph, to predict without Python.

    Parameters
    ----------
    model : ImprovedOnlineGFMM, OnlineGFMM, AgglomerativeGFMM, BoostedHyperboxes or RandomHyperboxes
        The fitted model.

    Returns
    -------
    onnx_model : onnx.ModelProto
        A graph that takes ``X``, float64 of shape (n_samples, n_features), NaN where a value is
        missing, and gives ``label``, as `predict` returns it, and ``membership``, float64 of shape
        (n_samples, n_classes), as `membership` returns it. Both are the same bit for bit. Labels
        are int64 for integers, otherwise of the type of ``classes_``. With ``calibrate=True`` there
        is ``probability``, as `predict_proba` except for the last digits. If several boxes of each
        class decide (``n_neighbors_ > 1``), labels are the same wherever one probability is larger
        by more than 1e-9.

        If the model has categories, the graph takes ``numbers``, the other features in their order,
        and ``categories``, strings of shape (n_samples, n_categorical): ``str`` of the values, any
        other string where one is missing.

        Of `BoostedHyperboxes` it gives ``label``, ``probability``, float64 of shape (n_samples,
        n_classes), and ``score``, as `decision_function` returns it. Labels and scores are the same
        bit for bit, probabilities except for the last digits: runtimes compute powers differently.

        Of `RandomHyperboxes` it gives ``label`` and ``probability``. Votes are equal except for the
        last digits, so labels may differ where two probabilities are nearly equal.

    See Also
    --------
    export_sql : A model as a query, to predict in a database.
    save : A model as a file, which Python can load and update.

    Notes
    -----
    Every sample is compared with every box: a call takes time in proportion to ``n_samples *
    n_boxes * n_features``. Rows are compared in chunks, so memory grows with the input and output
    only.

    Examples
    --------
    >>> import hyperboxes
    >>> X, y = [[1.0], [2.0], [8.0]], ["a", "a", "b"]
    >>> model = hyperboxes.ImprovedOnlineGFMM(random_state=0).fit(X, y)
    >>> graph = hyperboxes.to_onnx(model)
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> label, membership, probability = session.run(None, {"X": [[1.5], [9.0]]})
    >>> print(*label)
    a b
    """
    onnx = need("onnx", "onnx", "to_onnx")
    require(model, Operation.ONNX)
    record, labels = read_record(model), _labels(model.classes_)
    match record:
        case AdditiveBoxes():
            parts = onnx_additive.write_graph(record)
        case BoxEnsemble():
            parts = onnx_ensemble.write_graph(record)
        case NearestBoxes():
            parts = _write_nearest_graph(record)
        case _:
            raise AssertionError(record.kind)
    text = _GRAPH.format(
        n_features=model.n_features_in_,
        label_type=_label_type(labels),
        outputs=parts.outputs,
        nodes=parts.nodes,
        more_nodes=parts.more_nodes,
    )
    constants = parts.constants | {"labels": labels}
    named = set(re.findall(r"\w+", text))  # runtimes warn of constants without a use
    proto = onnx.parser.parse_model(_HEADER + text)
    for name, value in constants.items():
        if name in named:
            proto.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    take_categories(onnx, proto, model)
    onnx.helper.set_model_props(proto, _metadata(model))
    return proto


def _write_nearest_graph(record: NearestBoxes) -> GraphParts:
    """Return the graph of nearest boxes."""
    check_labels(record)
    if 2 * record.lower.nbytes > _MAX_BYTES:
        raise ValueError("The boxes take more than the 2 GiB that an ONNX file can store.")
    constants = _list_constants(record)
    gaps = Gaps(
        n_boxes=constants["n_boxes"][0],
        is_mean=record.is_mean,
        is_weighted=not (record.gamma == 1.0).all(),
        has_all_bounds=not np.isnan(constants["lower"]).any(),
        compares_missing=bool(record.compared.any()),
        n_classes=record.n_classes,
        n_neighbors=record.n_neighbors,
    )
    n_features, of_classes = len(record.gamma), f"double[n_rows, {record.n_classes}]"
    answers = {"winner": "int64[n_rows]", "membership": of_classes}
    names, is_calibrated = ["membership"], record.calibration is not None
    if is_calibrated:
        names.append("probability")
        answers["probability"] = of_classes
    is_scaled = (record.scale.low != 0.0).any() or (record.scale.span != 1.0).any()
    body = f"{COLUMNS}\n    {write_deciding(gaps, is_calibrated=is_calibrated)}"
    chunks = write_chunks("scaled" if is_scaled else "X", n_features, body, answers)
    outputs = ", ".join(f"double[n_samples, {record.n_classes}] {name}" for name in names)
    return GraphParts(outputs, f"{_SCALING if is_scaled else ''}{chunks}", constants)


def _label_type(labels: np.ndarray) -> str:
    """Return what ONNX calls the type of the labels."""
    label_types = {"i": "int64", "b": "bool", "O": "string"}
    float_types = {2: "float16", 4: "float", 8: "double"}
    return label_types.get(labels.dtype.kind) or float_types[labels.dtype.itemsize]


def _list_constants(record: NearestBoxes) -> dict[str, np.ndarray]:
    """Return the constants of the graph by name, with the labelled boxes sorted by class."""
    labels, counts = record.labels, record.counts
    order = np.argsort(labels, kind="stable")
    order = order[labels[order] >= 0]
    n_features, n_classes = len(record.gamma), record.n_classes
    ends = np.searchsorted(labels[order], np.arange(n_classes + 1))
    firsts, stops = ends[:-1], ends[1:]
    return {
        **list_lengths(
            n_features, len(order), winner=[], membership=[n_classes], probability=[n_classes]
        ),
        **_list_calibration(record),
        "low": record.scale.low,
        "span": record.scale.span,
        "lower": np.ascontiguousarray(record.lower[order].T),
        "upper": np.ascontiguousarray(record.upper[order].T),
        "gamma": record.gamma,
        "compared": record.compared.astype(float),
        "counts": counts[order].astype(float),
        "single_ages": np.where(record.may_settle[order], order, len(labels)),
        "n_boxes": np.array([len(order)]),
        "no_box": np.array([len(labels)]),
        "classes_by_age": np.append(labels, 0),
        # A class without boxes borrows one, and is then ignored.
        "firsts": np.where(firsts < stops, firsts, 0)[:, None],
        "stops": np.where(firsts < stops, stops, 1)[:, None],
        "has_boxes": firsts < stops,
        "zero": np.array(0.0),
        "one": np.array(1.0),
        "minus_one": np.array(-1.0),
        "n_classes": np.array([n_classes]),
        "n_features": np.array(float(n_features)),
        "infinity": np.array(np.inf),
        "minus_infinity": np.array(-np.inf),
        "no_row": np.array(0),
        "one_class": np.array(1),
    }


def _list_calibration(record: NearestBoxes) -> dict[str, np.ndarray]:
    """Return the constants of probabilities, if they are calibrated."""
    calibration, n_classes = record.calibration, record.n_classes
    if calibration is None:
        return {}
    n_compared = max(np.count_nonzero(record.compared), 1)
    return {
        "n_nearest": np.array([calibration.n_neighbors]),
        "width": np.array(calibration.width),
        "farthest": np.array(_FARTHEST),
        "offset": np.array(calibration.offset),
        "minus_slope": np.array(-calibration.slope),
        "each_compared": record.compared.astype(float)[:, None] / n_compared,
        "power": np.array(calibration.power),
        "prior_weight": np.array(calibration.prior_weight),
        "rest_weight": np.array(1.0 - calibration.prior_weight),
        "shares": class_shares(record.labels, record.counts, n_classes),
        "every_class": np.arange(n_classes),
        "by_class": np.array(1),
        "n_in_means": np.arange(2.0, n_classes + 2),
    }


def _labels(classes: np.ndarray) -> np.ndarray:
    """Return the class labels as an array of a type that ONNX and its runtimes support."""
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


def _metadata(model: Any) -> dict[str, str]:
    """Return the estimator, the version, the classes and the feature names."""
    metadata = {
        "estimator": type(model).__name__,
        "hyperboxes_version": hyperboxes.__version__,
        "classes": json.dumps(model.classes_.tolist()),
    }
    if hasattr(model, "feature_names_in_"):
        metadata["feature_names"] = json.dumps(model.feature_names_in_.tolist())
    return metadata
