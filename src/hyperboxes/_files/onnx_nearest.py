"""Parts of ONNX graphs of nearest-box models: the class whose box is nearest to a sample.

Numbers are those of `_kernels/nearest.py` bit for bit, and so are the rules of the winner.
Samples are the rows of a chunk, boxes are sorted by class.
"""

from __future__ import annotations

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

# The nearest box of each class decides. Only where classes tie, the boxes that tie are found.
_CLASSES = """{pairs}
    best = Scan <num_scan_inputs = 2, scan_output_axes = [1], body = find_best (
        int64[1] first, int64[1] stop
    ) => (double[n_rows] class_best) {{
        of_class = Slice ({compared}, first, stop, last)
        class_best = ReduceMin <axes = [1], keepdims = 0> (of_class)
    }}> (firsts, stops)
    {class_rank}
    score = Where (has_boxes, class_rank, minus_infinity)
    is_positive = Greater (score, zero)
    chunk_membership = Where (is_positive, score, zero)

    top_score = ReduceMax <axes = [1]> (score)
    is_best = Equal (score, top_score)
    best_number = Cast <to = 7> (is_best)
    n_best = ReduceSum <keepdims = 0> (best_number, last)
    sole_winner = ArgMax <axis = 1, keepdims = 0> (best_number)
    is_open = Greater (n_best, one_class)
    open_number = Cast <to = 7> (is_open)
    n_open = ReduceSum <keepdims = 0> (open_number)
    is_any_open = Greater (n_open, no_row)
    chunk_winner = If <
        then_branch = resolve () => (int64[n_rows] resolved_winner) {{
            {resolving}
            open_places = NonZero (is_open)
            open_rows = Squeeze (open_places, start)
            resolved_winner = ScatterElements <axis = 0> (sole_winner, open_rows, open_winner)
        }},
        else_branch = keep () => (int64[n_rows] only_winner) {{
            only_winner = Identity (sole_winner)
        }}
    > (is_any_open)"""

# Training samples of the boxes that tie are counted as floats, which is quick, and exact below
# 2**53. The oldest box of a single training sample that contains the sample goes before them.
_TIES = """{open_rank}
    top = ReduceMax <axes = [1]> (rank)
    is_tied = Equal (rank, top)
    tie_counts = Scan <num_scan_inputs = 2, scan_output_axes = [1], body = count (
        int64[1] first_box, int64[1] stop_box
    ) => (double[n_open] class_count) {{
        is_tied_box = Slice (is_tied, first_box, stop_box, last)
        class_counts = Slice (counts, first_box, stop_box)
        tied_counts = Where (is_tied_box, class_counts, zero)
        class_count = ReduceSum <keepdims = 0> (tied_counts, last)
    }}> (firsts, stops)
    valid_counts = Where (has_boxes, tie_counts, zero)
    largest_class = ArgMax <axis = 1, keepdims = 0> (valid_counts)
    flat_top = Squeeze (top, last)
    {settling}
    tied_ages = Where (may_settle, single_ages, no_box)
    oldest_single = ReduceMin <axes = [1], keepdims = 0> (tied_ages)
    is_single = Less (oldest_single, no_box)
    is_contained = Equal (flat_top, one)
    is_resolved = And (is_single, is_contained)
    oldest_class = Gather (classes_by_age, oldest_single)
    open_winner = Where (is_resolved, oldest_class, largest_class)"""


# Boxes of a single sample settle ties of samples that lack values in the same features: the number
# of features in which only one of the two has a value is 0.
_SETTLING = """open_missing = Compress <axis = 1> (is_missing, is_open)
    missing_by_feature = Squeeze (open_missing, last)
    missing_by_row = Transpose <perm = [1, 0]> (missing_by_feature)
    missing_number = Cast <to = 11> (missing_by_row)
    n_more = MatMul (missing_number, missing_signs)
    n_different = Add (n_more, n_missing)
    is_same = Equal (n_different, zero)
    may_settle = And (is_tied, is_same)"""


@dataclass(frozen=True)
class Gaps:
    """Writes loops over the features, as simple as a model permits."""

    n_boxes: int
    is_mean: bool
    is_weighted: bool  # gamma is not 1 everywhere
    has_all_bounds: bool  # no bound of a box is NaN
    compares_missing: bool  # boxes of single samples must lack the same values

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

    def of_open_rows(self) -> str:
        """Return the nodes of `open_gap`, that of rows where classes tie."""
        return _OPEN_MEAN.format(gap=self._beyond_reach("open_")) if self.is_mean else _OPEN_LARGEST

    def _beyond_reach(self, prefix: str) -> str:
        adding = f"{self.at_least('slope', 'zero')} new = Add (old, slope)"
        return _BEYOND_REACH.format(total=self.loop("total", adding, prefix), prefix=prefix)


def _write_rank(gap: str, rank: str) -> str:
    """Return the nodes of ranks of distances, the largest for the nearest."""
    return _RANK.format(gap=gap, rank=rank)


def write_deciding(gaps: Gaps) -> str:
    """Return the nodes of `chunk_winner` and `chunk_membership`.

    Ranks fall with distances, so that of the nearest box of a class is the highest. In a mean, all
    that is beyond reach is equally far at first, so classes tie there.
    """
    best_gap = "best_gap = Div (best, n_features)\n    " if gaps.is_mean else ""
    open_rank = f"{gaps.of_open_rows()}\n    {_write_rank('open_gap', 'rank')}"
    return _CLASSES.format(
        pairs=gaps.within_reach(),
        compared="clipped" if gaps.is_mean else "gap",
        class_rank=best_gap + _write_rank("best_gap" if gaps.is_mean else "best", "class_rank"),
        resolving=_TIES.format(
            open_rank=open_rank,
            settling=_SETTLING if gaps.compares_missing else "may_settle = Identity (is_tied)",
        ),
    )
