"""Categories in ONNX graphs: a second input, of strings, that becomes the columns it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._estimators.tables import known_categories
from hyperboxes._models.categories import Categories

_CATEGORIES_DOMAIN = "ai.onnx.ml"


def take_categories(onnx: Any, proto: Any, model: Any) -> None:
    """Have a graph take ``numbers`` and ``categories`` in place of ``X``, if there are any."""
    categories = known_categories(model)
    if not categories:
        return
    helper, graph = onnx.helper, proto.graph
    numeric = [j for j in range(model.n_features_in_) if j not in categories]
    constants = {"column_order": np.argsort([*numeric, *categories])}
    nodes = []
    for k, (j, known) in enumerate(categories.items()):
        nodes += _find_places(helper, j, known)
        constants[f"known_places_{j}"] = np.append(known.places, np.nan)
        constants[f"column_{j}"] = np.array([k])
    joined = ["numbers", *(f"places_{j}" for j in categories)]
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


def _find_places(helper: Any, j: int, known: Categories) -> list[Any]:
    """Return what makes places of a column of texts; those that are not known become NaN."""
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
        helper.make_node("Gather", [f"known_places_{j}", f"codes_{j}"], [f"places_{j}"]),
    ]
