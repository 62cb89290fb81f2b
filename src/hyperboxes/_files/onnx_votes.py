"""The ONNX graph of boxes that vote: which boxes hold a sample, and their votes, added up.

Votes are added box by box, in the order of the kernel, so that scores are the same bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperboxes._models.voting import VotingHyperboxes

# A first loop over the conditions, the first of each box, the second and so on, finds the boxes
# that hold a sample; a second one over the boxes adds their votes. Comparisons are false for NaN.
_GRAPH = """
hyperboxes (double[n_samples, {n_features}] X)
=> ({label_type}[n_samples] label, double[n_samples, {n_classes}] probability,
    double[{score_shape}] score)
{{
    rows = Shape (X)
    n_rows = Slice (rows, start, next)
    pairs = Concat <axis = 0> (n_rows, n_boxes)
    all = ConstantOfShape <value = bool[1] {{1}}> (pairs)
    held = Scan <num_scan_inputs = 4, body = meet (
        bool[n_samples, {n_boxes}] old_held, int64[{n_boxes}] feature,
        double[{n_boxes}] low, double[{n_boxes}] high, bool[{n_boxes}] missing
    ) => (bool[n_samples, {n_boxes}] new_held) {{
        x = Gather <axis = 1> (X, feature)
        is_above = GreaterOrEqual (x, low)
        is_below = LessOrEqual (x, high)
        is_inside = And (is_above, is_below)
        is_missing = IsNaN (x)
        may_be_missing = And (is_missing, missing)
        is_met = Or (is_inside, may_be_missing)
        new_held = And (old_held, is_met)
    }}> (all, features, lower, upper, missings)

    by_box = Transpose <perm = [1, 0]> (held)
    cells = Concat <axis = 0> (n_rows, n_classes)
    starts = Expand (intercept, cells)
    scores = Scan <num_scan_inputs = 2, body = vote (
        double[n_samples, {n_classes}] old_score, bool[n_samples] is_held,
        double[{n_classes}] votes
    ) => (double[n_samples, {n_classes}] new_score) {{
        is_voter = Unsqueeze (is_held, last)
        voted = Add (old_score, votes)
        new_score = Where (is_voter, voted, old_score)
    }}> (starts, by_box, weights)

    winner = ArgMax <axis = 1, keepdims = 0> (scores)
    label = Gather (labels, winner)
    probability = Softmax <axis = 1> (scores)
    {score}
}}
"""

# What `decision_function` gives.
_SCORE = "score = Identity (scores)"
_SCORE_OF_TWO = """of_first = Gather <axis = 1> (scores, first)
    of_second = Gather <axis = 1> (scores, second)
    score = Sub (of_second, of_first)"""


def write_graph(model: Any, label_type: str) -> str:
    """Return the graph of a fitted model in ONNX's own notation."""
    n_classes = len(model.classes_)
    return _GRAPH.format(
        label_type=label_type,
        n_features=model.n_features_in_,
        n_classes=n_classes,
        n_boxes=max(len(model.hyperboxes_), 1),
        score_shape="n_samples" if n_classes == 2 else f"n_samples, {n_classes}",
        score=_SCORE_OF_TWO if n_classes == 2 else _SCORE,
    )


def list_constants(model: Any) -> dict[str, np.ndarray]:
    """Return all that the graph refers to by name, but for the labels."""
    boxes, n_classes = model.hyperboxes_, len(model.classes_)
    weights = boxes.weights if len(boxes) else np.zeros((1, n_classes))
    constants = {
        **_conditions(boxes),
        "weights": np.ascontiguousarray(weights),
        "intercept": model.intercept_,
        "n_boxes": np.array([len(weights)]),
        "n_classes": np.array([n_classes]),
        "start": np.array([0]),
        "next": np.array([1]),
        "last": np.array([-1]),
    }
    if n_classes == 2:
        constants |= {"first": np.array(0), "second": np.array(1)}
    return constants


def _conditions(boxes: VotingHyperboxes) -> dict[str, np.ndarray]:
    """Return the conditions, a row for the first of each box, one for the second, and so on.

    Boxes with fewer have some that everything meets; so has the box of a model without any.
    """
    constrains = boxes.constrains
    most = int(constrains.sum(axis=1).max(initial=1))
    shape = most, max(len(boxes), 1)
    features = np.zeros(shape, np.int64)
    lower, upper = np.full(shape, -np.inf), np.full(shape, np.inf)
    missings = np.ones(shape, bool)
    of_box, feature = np.nonzero(constrains)
    place = np.arange(len(of_box)) - np.searchsorted(of_box, of_box)
    features[place, of_box] = feature
    lower[place, of_box] = boxes.lower[of_box, feature]
    upper[place, of_box] = boxes.upper[of_box, feature]
    missings[place, of_box] = boxes.missing[of_box, feature]
    return {"features": features, "lower": lower, "upper": upper, "missings": missings}
