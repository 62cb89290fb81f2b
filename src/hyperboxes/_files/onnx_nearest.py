"""Parts of ONNX graphs of nearest-box models: classes, memberships and probabilities.

Distances are those of `_kernels/nearest.py` bit for bit, and so are the rules for the class of the
nearest box. Probabilities may differ in the last digits: runtimes have logarithms of their own.
Samples are the rows of a chunk, boxes are sorted by class.
"""

from dataclasses import dataclass

# A missing value becomes an interval turned inside out, infinitely far inside every box.
COLUMNS = """columns = Transpose <perm = [1, 0]> (chunk)
    all_x = Unsqueeze (columns, last)
    is_missing = IsNaN (all_x)
    x_upper = Where (is_missing, minus_infinity, all_x)
    x_lower = Where (is_missing, infinity, all_x)
    chunk_shape = Shape (chunk)
    n_rows = Slice (chunk_shape, start, next)
    pairs = Concat <axis = 0> (n_rows, n_boxes)
    together = ConstantOfShape <value = double[1] {0.0}> (pairs)"""

# A loop over the features combines their gaps, in their order, which `ReduceSum` need not do.
_LOOP = """{result} = Scan <num_scan_inputs = {n_inputs}, body = combine (
        double[{rows}, {n_boxes}] old, double[{rows}, 1] xl, double[{rows}, 1] xu,
        double[{n_boxes}] v, double[{n_boxes}] w{weight}
    ) => (double[{rows}, {n_boxes}] new) {{
        above = Sub (xu, w)
        below = Sub (v, xl)
        {apart}
        {combining}
    }}> ({prefix}together, {prefix}x_lower, {prefix}x_upper, lower, upper{weights})"""

# A mean is of gaps as they are where all are beyond the reach of membership.
_BEYOND_REACH = """{total}
    is_near = Less ({prefix}clipped, n_features)
    far = Max (total, n_features)
    sum = Where (is_near, {prefix}clipped, far)
    {prefix}gap = Div (sum, n_features)"""
_OPEN_MEAN = """open_clipped = Compress <axis = 0> (clipped, is_open)
    open_x_lower = Compress <axis = 1> (x_lower, is_open)
    open_x_upper = Compress <axis = 1> (x_upper, is_open)
    open_together = Compress <axis = 0> (together, is_open)
    {gap}"""
_OPEN_LARGEST = "open_gap = Compress <axis = 0> (gap, is_open)"

_RANK = """is_within_{rank} = Less ({gap}, one)
    degree_{rank} = Sub (one, {gap})
    away_{rank} = Neg ({gap})
    {rank} = Where (is_within_{rank}, degree_{rank}, away_{rank})"""

_BEST = """{pairs}
    best = Scan <num_scan_inputs = 2, scan_output_axes = [1], body = find_best (
        int64[1] first, int64[1] stop
    ) => (double[n_rows] class_best) {{
        of_class = Slice ({compared}, first, stop, last)
        class_best = ReduceMin <axes = [1], keepdims = 0> (of_class)
    }}> (firsts, stops)"""
_MEMBERSHIP = """{class_rank}
    class_score = Where (has_boxes, class_rank, minus_infinity)
    is_positive = Greater (class_score, zero)
    chunk_membership = Where (is_positive, class_score, zero)"""

# Several boxes of each class decide: the soft minimum of their distances. Those that a class lacks
# are farthest, as are distances that overflow.
_SOFT = """{pairs}
    shape_of_nearest = Concat <axis = 0> (n_rows, n_nearest)
    no_distances = Expand (farthest, shape_of_nearest)
    best, soft = Scan <num_scan_inputs = 2, scan_output_axes = [1, 1], body = find_several (
        int64[1] first, int64[1] stop
    ) => (double[n_rows] class_best, double[n_rows] class_soft) {{
        of_class = Slice (gap, first, stop, last)
        all_distances = Concat <axis = 1> (of_class, no_distances)
        nearest, places = TopK <axis = 1, largest = 0> (all_distances, n_nearest)
        distances = Min (nearest, farthest)
        least = ReduceMin <axes = [1]> (distances)
        behind = Sub (least, distances)
        exponent = Div (behind, width)
        nearness = Exp (exponent)
        mean_nearness = ReduceMean <axes = [1], keepdims = 0> (nearness)
        log_nearness = Log (mean_nearness)
        beyond_least = Mul (width, log_nearness)
        class_best = Squeeze (least, last)
        class_soft = Sub (class_best, beyond_least)
    }}> (firsts, stops)"""
_SOFT_SCORE = """{soft_rank}
    score = Where (has_boxes, soft_rank, minus_infinity)"""

# Only where classes tie, or the distance in a mean is not yet known, boxes are compared again.
_OPEN = """top_score = ReduceMax <axes = [1]> ({score})
    is_best = Equal ({score}, top_score)
    best_number = Cast <to = 7> (is_best)
    n_best = ReduceSum <keepdims = 0> (best_number, last)
    sole_winner = ArgMax <axis = 1, keepdims = 0> (best_number)
    {opening}
    open_number = Cast <to = 7> (is_open)
    n_open = ReduceSum <keepdims = 0> (open_number)
    is_any_open = Greater (n_open, no_row)
    shape_of_counts = Concat <axis = 0> (n_rows, n_classes)
    uncounted = ConstantOfShape <value = double[1] {{1.0}}> (shape_of_counts)
    nearest_winner, counted, {found_score} = If <
        then_branch = resolve () => (
            int64[n_rows] resolved_winner, double[n_rows, {n_classes}] resolved_counts,
            double[n_rows, {n_classes}] resolved_score
        ) {{
            {resolving}
            open_places = NonZero (is_open)
            open_rows = Squeeze (open_places, start)
            resolved_winner = ScatterElements <axis = 0> (sole_winner, open_rows, open_winner)
            each_open_row = Unsqueeze (open_rows, last)
            resolved_counts = ScatterND (uncounted, each_open_row, tie_counts)
            resolved_score = ScatterND ({score}, each_open_row, open_score)
        }},
        else_branch = keep () => (
            int64[n_rows] only_winner, double[n_rows, {n_classes}] only_counts,
            double[n_rows, {n_classes}] only_score
        ) {{
            only_winner = Identity (sole_winner)
            only_counts = Identity (uncounted)
            only_score = Identity ({score})
        }}
    > (is_any_open)"""
_OPEN_IF_TIED = "is_open = Greater (n_best, one_class)"
_OPEN_IF_BEYOND = """is_beyond_or_none = LessOrEqual ({score}, minus_one)
    is_beyond = And (is_beyond_or_none, has_boxes)
    beyond_number = Cast <to = 7> (is_beyond)
    n_beyond = ReduceSum <keepdims = 0> (beyond_number, last)
    n_undecided = Add (n_best, n_beyond)
    is_open = Greater (n_undecided, one_class)"""

# Training samples of the boxes that tie are counted as floats, which is quick, and exact below
# 2**53. The oldest box of a single training sample that contains the sample goes before them.
_TIES = """{open_rank}
    tie_counts, class_tops = Scan <num_scan_inputs = 2, scan_output_axes = [1, 1], body = count (
        int64[1] first_box, int64[1] stop_box
    ) => (double[n_open] class_count, double[n_open] class_top) {{
        rank_of_class = Slice (rank, first_box, stop_box, last)
        top_of_class = ReduceMax <axes = [1]> (rank_of_class)
        is_tied_box = Equal (rank_of_class, top_of_class)
        class_counts = Slice (counts, first_box, stop_box)
        tied_counts = Where (is_tied_box, class_counts, zero)
        class_count = ReduceSum <keepdims = 0> (tied_counts, last)
        class_top = Squeeze (top_of_class, last)
    }}> (firsts, stops)
    open_score = Where (has_boxes, class_tops, minus_infinity)
    open_top = ReduceMax <axes = [1]> (open_score)
    open_best_or_none = Equal (open_score, open_top)
    open_best = And (open_best_or_none, has_boxes)
    valid_counts = Where (open_best, tie_counts, zero)
    largest_class = ArgMax <axis = 1, keepdims = 0> (valid_counts)
    is_tied = Equal (rank, open_top)
    flat_top = Squeeze (open_top, last)
    tied_ages = Where (is_tied, single_ages, no_box)
    oldest_single = ReduceMin <axes = [1], keepdims = 0> (tied_ages)
    is_single = Less (oldest_single, no_box)
    is_contained = Equal (flat_top, one)
    is_candidate = And (is_single, is_contained)
    {resolved}
    oldest_class = Gather (classes_by_age, oldest_single)
    open_winner = Where (is_resolved, oldest_class, largest_class)"""


# Boxes of a single sample settle ties of samples that lack no value.
_RESOLVED = """chunk_missing = IsNaN (chunk)
    missing_number = Cast <to = 11> (chunk_missing)
    n_missing_of_rows = MatMul (missing_number, compared)
    n_missing = Compress <axis = 0> (n_missing_of_rows, is_open)
    is_complete = Equal (n_missing, zero)
    is_resolved = And (is_candidate, is_complete)"""

# Classes that tie share their probability by counts if the sample lacks a value.
_PROBABILITY = """away = Neg (score)
    less_than_one = Sub (one, score)
    is_within = Greater (score, zero)
    any_distance = Where (is_within, less_than_one, away)
    distance = Min (any_distance, farthest)
    raised_distance = Add (distance, offset)
    log_distance = Log (raised_distance)
    log_odds = Mul (minus_slope, log_distance)
    of_distance = Softmax <axis = 1> (log_odds)
    is_missing_value = IsNaN (chunk)
    missing_value = Cast <to = 11> (is_missing_value)
    unknown = MatMul (missing_value, each_compared)
    is_unknown = Greater (unknown, zero)
    best_score = ReduceMax <axes = [1]> (score)
    is_first = Equal (score, best_score)
    is_divided = And (is_first, is_unknown)
    pooled = Where (is_first, of_distance, zero)
    pool = ReduceSum (pooled, last)
    first_counted = Where (is_first, counted, zero)
    n_counted = ReduceSum (first_counted, last)
    part_of_pool = Div (first_counted, n_counted)
    divided = Mul (pool, part_of_pool)
    likely = Where (is_divided, divided, of_distance)
    raised = Pow (unknown, power)
    weighted = Mul (rest_weight, raised)
    part = Add (prior_weight, weighted)
    rest = Sub (one, part)
    of_nearest = Mul (rest, likely)
    of_shares = Mul (part, shares)
    probability = Add (of_nearest, of_shares)"""
# What others have more than the class of the nearest box is divided: the largest mean of its
# probability and the largest of the others.
_LEVEL = """winner_column = Unsqueeze (chunk_winner, last)
    is_winner = Equal (winner_column, every_class)
    winners_own = Where (is_winner, probability, zero)
    own = ReduceSum (winners_own, last)
    others = Where (is_winner, zero, probability)
    descending, descending_places = TopK <axis = 1> (others, n_classes)
    sums = CumSum (descending, by_class)
    sums_with_own = Add (sums, own)
    means = Div (sums_with_own, n_in_means)
    largest_mean = ReduceMax <axes = [1]> (means)
    level = Max (own, largest_mean)
    limited = Min (probability, level)
    chunk_probability = Where (is_winner, level, limited)"""


@dataclass(frozen=True)
class Gaps:
    """Writes loops over the features, as simple as a model permits."""

    n_boxes: int
    is_mean: bool
    is_weighted: bool  # gamma is not 1 everywhere
    has_all_bounds: bool  # no bound of a box is NaN
    compares_missing: bool  # ties of samples that lack values are settled by counts
    n_classes: int
    n_neighbors: int

    def loop(self, result: str, combining: str, prefix: str = "") -> str:
        """Return a loop that combines `apart`, the gaps of samples and boxes, of all features."""
        beyond = "beyond = Max (above, below) apart = Mul (beyond, g)"
        return _LOOP.format(
            result=result,
            n_inputs=5 if self.is_weighted else 4,
            rows=f"n_{prefix or 'rows'}".rstrip("_"),
            n_boxes=self.n_boxes,
            weight=", double g" if self.is_weighted else "",
            apart=beyond if self.is_weighted else "apart = Max (above, below)",
            combining=combining,
            prefix=prefix,
            weights=", gamma" if self.is_weighted else "",
        )

    def at_least(self, result: str, least: str) -> str:
        """Return the nodes of the larger of `apart` and another number.

        NaN is never greater, so unknown bounds rule nothing out; `Max` takes a third of the time,
        but runtimes may differ in what it makes of NaN.
        """
        if self.has_all_bounds:
            return f"{result} = Max (apart, {least})"
        return f"is_wider = Greater (apart, {least}) {result} = Where (is_wider, apart, {least})"

    def within_reach(self) -> str:
        """Return the nodes of `gap` or, for a mean, of the sum of gaps `clipped` at 1."""
        if not self.is_mean:
            return self.loop("gap", self.at_least("new", "old"))
        slope = "in_reach = Clip (apart, zero, one)"
        if not self.has_all_bounds:
            slope = f"{self.at_least('slope', 'zero')} in_reach = Min (slope, one)"
        return self.loop("clipped", f"{slope} new = Add (old, in_reach)")

    def classes(self) -> str:
        """Return the nodes of `score`, by which classes are compared, and `chunk_membership`."""
        if self.n_neighbors > 1:
            pairs = self.within_reach()
            if self.is_mean:
                pairs = f"{pairs}\n    {self._beyond_reach('')}"
            membership = _MEMBERSHIP.format(class_rank=_write_rank("best", "class_rank"))
            soft = _SOFT_SCORE.format(soft_rank=_write_rank("soft", "soft_rank"))
            return "\n    ".join([_SOFT.format(pairs=pairs), membership, soft])
        best_gap = "best_gap = Div (best, n_features)\n    " if self.is_mean else ""
        class_rank = best_gap + _write_rank("best_gap" if self.is_mean else "best", "class_rank")
        compared = "clipped" if self.is_mean else "gap"
        best = _BEST.format(pairs=self.within_reach(), compared=compared)
        return f"{best}\n    {_MEMBERSHIP.format(class_rank=class_rank)}"

    def of_open_rows(self) -> str:
        """Return the nodes of `open_gap`, that of rows where classes tie."""
        if self.is_mean and self.n_neighbors == 1:
            return _OPEN_MEAN.format(gap=self._beyond_reach("open_"))
        return _OPEN_LARGEST

    def _beyond_reach(self, prefix: str) -> str:
        adding = f"{self.at_least('slope', 'zero')} new = Add (old, slope)"
        return _BEYOND_REACH.format(total=self.loop("total", adding, prefix), prefix=prefix)


def _write_rank(gap: str, rank: str) -> str:
    """Return the nodes of ranks of distances, the largest for the nearest."""
    return _RANK.format(gap=gap, rank=rank)


def write_deciding(gaps: Gaps, *, is_calibrated: bool) -> str:
    """Return the nodes of `chunk_winner`, `chunk_membership` and maybe `chunk_probability`.

    Ranks fall with distances, so that of the nearest box of a class is the highest. In a mean, all
    that is beyond reach is equally far at first, so classes tie there.
    """
    resolved = _RESOLVED if gaps.compares_missing else "is_resolved = Identity (is_candidate)"
    open_rank = f"{gaps.of_open_rows()}\n    {_write_rank('open_gap', 'rank')}"
    is_single = gaps.n_neighbors == 1
    score, found_score = ("class_score", "score") if is_single else ("score", "nearest_score")
    opening = _OPEN_IF_BEYOND if gaps.is_mean and is_single and is_calibrated else _OPEN_IF_TIED
    comparing = _OPEN.format(
        score=score,
        found_score=found_score,
        n_classes=gaps.n_classes,
        opening=opening.format(score=score),
        resolving=_TIES.format(open_rank=open_rank, resolved=resolved),
    )
    winner = "chunk_winner = Identity (nearest_winner)"
    last = [winner, _PROBABILITY, _LEVEL] if is_calibrated else [winner]
    if not is_single:
        winner = "chunk_winner = ArgMax <axis = 1, keepdims = 0> (probability)"
        last = [_PROBABILITY, "chunk_probability = Identity (probability)", winner]
    return "\n    ".join([gaps.classes(), comparing, *last])
