"""Parts of ONNX graphs for models that settle overlaps of classes: neurons that take, and levels.

They replace ranks of `onnx_nearest.py`, or what decides by them.
Square roots are rounded alike by all runtimes; powers of e are not, so there are no data cores.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._files.onnx_nearest import Gaps, Ranking
from hyperboxes._models.contention import ContentiousModel, Levels

# The network of the first region that holds a sample is asked, and no other. The gap is the root of
# the mean square.
_RANK = """closeness_{rank} = Sub (one, {gap})
    squared_{rank} = Mul (closeness_{rank}, closeness_{rank})
    fourth_{rank} = Mul (squared_{rank}, squared_{rank})
    degree_{rank} = Mul (fourth_{rank}, squared_{rank})
    is_within_{rank} = Less ({gap}, one)
    away_{rank} = Neg ({gap})
    {rank} = Where (is_within_{rank}, degree_{rank}, away_{rank})"""
_ROOT_OF_MEAN = """{total}
    mean = Div (total, n_features)
    gap = Sqrt (mean)"""
_ASK_A_NETWORK = """
    places = Concat <axis = 0> (n_rows, n_networks)
    nowhere = ConstantOfShape <value = int64[1] {{0}}> (places)
    n_outside = Scan <num_scan_inputs = 4, body = leave (
        int64[n_rows, {n_networks}] old_outside, double[n_rows, 1] xl,
        double[n_rows, 1] xu, double[{n_networks}] v, double[{n_networks}] w
    ) => (int64[n_rows, {n_networks}] new_outside) {{
        is_above = Greater (xu, w)
        is_below = Less (xl, v)
        is_beside = Or (is_above, is_below)
        beside = Cast <to = 7> (is_beside)
        new_outside = Add (old_outside, beside)
    }}> (nowhere, x_lower, x_upper, region_lower, region_upper)
    inside = Equal (n_outside, nobody)
    inside_number = Cast <to = 7> (inside)
    network = ArgMax <axis = 1, keepdims = 1> (inside_number)
    is_asked = Equal (network, networks)
    asked_gap = Where (is_asked, gap, infinity)"""
_TYING = """is_near_as_any = Equal (rank, top)
    is_open_asked = Compress <axis = 0> (is_asked, is_open)
    is_tied = And (is_near_as_any, is_open_asked)"""
BY_AGE = "tied_ages = Where (is_tied, ages, no_box) is_settled = Identity (always)"

# What is taken from each box that holds a sample with one of another class, then from each class.
# Ties are of classes: a box of a single sample, then samples of the boxes that speak for the class.
COMPENSATION = """holds = Equal (rank, one)
    held = Gather <axis = 1> (holds, contenders)
    held_number = Cast <to = 11> (held)
    n_contained = MatMul (held_number, contained)
    n_crossed = MatMul (held_number, crossed)
    contains = Greater (n_contained, zero)
    crosses = Greater (n_crossed, zero)
    neuron_pairs = Concat <axis = 0> (n_rows, n_contenders)
    no_ratio = ConstantOfShape <value = double[1] {{0.0}}> (neuron_pairs)
    ratios = Scan <num_scan_inputs = 3, body = face (
        double[n_rows, {n_contenders}] old_ratios, double[n_rows, 1] xs,
        double[{n_contenders}] v, double[{n_contenders}] w
    ) => (double[n_rows, {n_contenders}] new_ratios) {{
        no_upper = Equal (w, zero)
        upper_ratio = Div (xs, w)
        to_upper = Where (no_upper, one, upper_ratio)
        no_lower = Equal (xs, zero)
        lower_ratio = Div (v, xs)
        to_lower = Where (no_lower, one, lower_ratio)
        is_upper = Greater (to_upper, to_lower)
        ratio = Where (is_upper, to_upper, to_lower)
        unknown = Add (v, xs)
        is_unknown = IsNaN (unknown)
        known_ratio = Where (is_unknown, one, ratio)
        new_ratios = Add (old_ratios, known_ratio)
    }}> (no_ratio, x, contender_lower, contender_upper)
    mean_ratio = Div (ratios, n_features)
    is_far = Less (mean_ratio, one)
    nearness = Where (is_far, mean_ratio, one)
    part = Sub (one, nearness)
    crossed_part = Where (crosses, part, zero)
    taken_if_held = Where (contains, one, crossed_part)
    taken = Where (held, taken_if_held, zero)
    best, votes, single, loss = Scan <num_scan_inputs = 3, scan_output_axes = [1, 1, 1, 1],
        body = ask (int64[1] first, int64[1] stop, bool[{n_contenders}] is_own
    ) => (double[n_rows] class_best, double[n_rows] class_votes, int64[n_rows] class_single,
        double[n_rows] class_loss) {{
        class_rank = Slice (rank, first, stop, last)
        class_top = ReduceMax <axes = [1]> (class_rank)
        class_best = Squeeze (class_top, last)
        is_voter = Equal (class_rank, class_top)
        class_counts = Slice (counts, first, stop)
        ballots = Where (is_voter, class_counts, zero)
        class_votes = ReduceSum <keepdims = 0> (ballots, last)
        class_ages = Slice (single_ages, first, stop)
        voter_ages = Where (is_voter, class_ages, no_box)
        class_single = ReduceMin <axes = [1], keepdims = 0> (voter_ages)
        own_taken = Where (is_own, taken, zero)
        class_loss = ReduceMax <axes = [1], keepdims = 0> (own_taken)
    }}> (firsts, stops, own_contenders)

    is_partial = Less (loss, one)
    rest = Sub (one, loss)
    minus_loss = Neg (loss)
    left = Where (is_partial, rest, minus_loss)
    is_taken = Greater (loss, zero)
    settled = Where (is_taken, left, best)
    score = Where (has_boxes, settled, minus_infinity)
    is_positive = Greater (score, zero)
    chunk_membership = Where (is_positive, score, zero)
    top_score = ReduceMax <axes = [1]> (score)
    is_best_class = Equal (score, top_score)
    is_tied_class = And (is_best_class, has_boxes)
    tied_votes = Where (is_tied_class, votes, minus_one)
    most_votes = ArgMax <axis = 1, keepdims = 0> (tied_votes)
    tied_single = Where (is_tied_class, single, no_box)
    oldest = ReduceMin <axes = [1], keepdims = 0> (tied_single)
    is_single = Less (oldest, no_box)
    flat_top = Squeeze (top_score, last)
    is_held = Equal (flat_top, one)
    is_settled = And (is_single, is_held)
    oldest_class = Gather (classes_by_age, oldest)
    chunk_winner = Where (is_settled, oldest_class, most_votes)"""


def rank_by_levels(gaps: Gaps, levels: Levels) -> Ranking:
    """Return how classes and boxes of the network that is asked compare."""
    squaring = f"{gaps.at_least('slope', 'zero')} square = Mul (slope, slope)"
    total = gaps.loop("total", f"{squaring} new = Add (old, square)")
    pairs, compared = _ROOT_OF_MEAN.format(total=total), "gap"
    tying = {}
    if len(levels):
        pairs += _ASK_A_NETWORK.format(n_networks=len(levels) + 1)
        compared, tying = "asked_gap", {"tying": _TYING}
    open_rank = f"open_gap = Compress <axis = 0> ({compared}, is_open)\n    "
    return Ranking(
        pairs=pairs,
        compared=compared,
        extreme="ReduceMin",
        class_rank=_RANK.format(gap="best", rank="class_rank"),
        open_rank=open_rank + _RANK.format(gap="open_gap", rank="rank"),
        **tying,
    )


def list_networks(n_boxes: int, levels: Levels, order: np.ndarray) -> dict[str, np.ndarray]:
    """Return whose the boxes are, the root's first, and the regions, the last one everywhere."""
    of_regions = np.repeat(np.arange(len(levels)), np.diff(levels.starts))
    networks = {"networks": np.append(np.full(n_boxes, len(levels)), of_regions)[order]}
    if len(levels) == 0:
        return networks
    everywhere = np.full((1, levels.lower.shape[1]), np.inf)
    return {
        **networks,
        "region_lower": np.concatenate([levels.lower, -everywhere]).T.copy(),
        "region_upper": np.concatenate([levels.upper, everywhere]).T.copy(),
        "n_networks": np.array([len(levels) + 1]),
    }


def list_neurons(
    model: ContentiousModel, order: np.ndarray, max_bytes: int
) -> dict[str, np.ndarray]:
    """Return boxes that share points with another class, and which contain or cross which."""
    boxes, pairs = model.boxes, model.pairs()
    contenders = np.unique(pairs)
    if len(contenders) == 0:
        return {}
    if 16 * len(contenders) ** 2 > max_bytes:
        raise ValueError(
            f"{len(contenders)} boxes overlap those of another class: a table of which do takes "
            "more than 2 GiB, for which an ONNX file has no room. Fit with another theta."
        )
    first, second = np.searchsorted(contenders, np.concatenate([pairs, pairs[:, ::-1]])).T
    lower, upper = boxes.lower[contenders], boxes.upper[contenders]
    is_inside = ((lower[first] < lower[second]) & (upper[second] < upper[first])).all(axis=1)
    is_around = ((lower[second] < lower[first]) & (upper[first] < upper[second])).all(axis=1)
    contained, crossed = np.zeros((2, len(contenders), len(contenders)))
    contained[second[is_inside], first[is_inside]] = 1.0
    is_crossing = ~(is_inside | is_around)
    crossed[second[is_crossing], first[is_crossing]] = 1.0
    places = np.empty(len(boxes), np.int64)
    places[order] = np.arange(len(order))
    labels = boxes.labels[contenders]
    return {
        "contenders": places[contenders],
        "contender_lower": lower.T.copy(),
        "contender_upper": upper.T.copy(),
        "contained": contained,
        "crossed": crossed,
        "own_contenders": labels == np.arange(boxes.n_classes)[:, None],
        "n_contenders": np.array([len(contenders)]),
    }
