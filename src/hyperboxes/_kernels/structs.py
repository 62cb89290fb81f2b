"""The named tuples of arrays and numbers that kernels take.

Python makes them; kernels read their fields by name. Constants of a field follow it.
"""

from collections import namedtuple

# The label of samples and boxes that have none.
NO_LABEL = -1

# The boxes of a model in order of age. Row by row: the corners `lower` and `upper` (v and w in the
# paper), `labels` (class indices or NO_LABEL), `counts` of samples absorbed, 0 where a box was
# merged into another, `confirmed`: the last sample absorbed, numbered from 0. `counters` are below.
# `index` finds boxes.
Boxes = namedtuple("Boxes", "lower upper labels counts confirmed counters index")

# Trees over the boxes of each class, the last one over those without a label (`box_index.py`):
# `ends[block, feature, LOW or HIGH, lane]` in single precision; `links[block]`: the box or block in
# each lane (-1 for none), then the block's level (0 for leaves) and its position in its parent
# (`block * 16 + lane`, or -1); `slots`: the same for each box; `roots`: of each tree, or -1.
# `free_regions` are laid out like `ends`: how far boxes may grow (`blocking.py`). They and
# `bitmaps` are empty until `rejections_left[0]` more candidates are rejected; `rejections_left[1]`
# is the count to start from after they were dropped. Both are None where they are never used.
Index = namedtuple("Index", "ends free_regions bitmaps rejections_left links slots roots workspace")

# The bitmap index of the boxes, and its working arrays (`bitmaps.py`).
Bitmaps = namedtuple("Bitmaps", "bin_edges bits classes state rows all_rows all_but_one")

# Working arrays that divide the boxes of a tree or the lanes of a block: what is left to do, where
# pieces begin, and for the lanes their order, centres, keys and distances.
Workspace = namedtuple("Workspace", "todo cuts order centres keys gaps")

# Indices of `counters`: boxes; blocks; usable lanes of a block (16, fewer in tests); boxes in the
# trees; with how few of them, or after how many more removals, the trees are rebuilt; candidates
# tried; samples learned of a batch and in all; and the work done, in blocks visited.
BOXES, BLOCKS, WIDTH, ALIVE, FEW, REMOVABLE, CANDIDATES, SAMPLES, SEEN, WORK = range(10)
N_COUNTERS = 10

# How far a sample is from a box: the largest `gamma * gap` of its features or, if `mean`, their
# mean, each clipped at 1. The membership is 1 less that (`geometry.distance`).
Metric = namedtuple("Metric", "gamma mean")

# What an algorithm consists of. Size: no side of a box is longer than `theta`, nor their sum than
# `total`. Order of candidates: by membership or a similarity of at least `floor`, in a `metric`; at
# most so many are tried. `overlap`: when boxes of two classes overlap; `on_overlap`: what follows.
# `max_boxes`: the limit beyond which online learners evict boxes. With `exhaustive`, every box is
# visited, as in the original algorithms, instead of the trees.
GrowthParameters = namedtuple(
    "GrowthParameters",
    "theta total max_candidates floor exhaustive order_by overlap on_overlap max_boxes metric",
)

# Which ends of two intervals a gap is measured between: the membership of one in the other, or one
# of the paper's similarities of both. Or how near their centres are, which no tree bounds.
MEMBERSHIP, LONGEST, SHORTEST, MID_MAX, MID_MIN, CENTRE = range(6)

# When boxes of two classes overlap: if they share a point, by the paper's four cases, by Simpson's
# four, which have none for equal ends, or by the nine of EFMNN.
CLOSED, PAPER, FOUR, NINE = range(4)

# What follows from an overlap. Overlaps are allowed and resolved in prediction; boxes that overlap
# may then grow further or not (FREEZE). Or the candidate is rejected, and a new box may lie in one
# of another class, or it splits that box, or is parted from those that it meets. Or the box grows
# and is then contracted: from boxes of other classes in one feature each, or from all boxes in
# every one.
ALLOW, FREEZE, REJECT, SPLIT, PART, CONTRACT, CONTRACT_EVERY = range(7)

# No limit.
EVERY = 2**63 - 1

# The working arrays of a search. The interval that it is about, [low, high]; blocks to visit and
# how near they are at least; the distances of 16 lanes and the 16 smallest of all, in single and in
# double precision; and, in single precision, how far the boxes to be found may reach, likewise the
# largest and the best of them, the interval itself, and what distances are measured from.
Search = namedtuple(
    "Search",
    "low high stack least gaps smallest in_order near far window_near window_far "
    "best_near best_far x_low x_high x1 x2 slopes",
)

# The working arrays of learning: candidates and their values, which of them may grow, conflicting
# boxes, a grown box [v, w].
Scratch = namedtuple("Scratch", "ids values growable conflicts v w search")

# What is left to do of AGGLO-SM (`agglomerative.py`), and the merges done so far.
Queue = namedtuple("Queue", "partners similarities lists frontier heads stamps tree witness")
MergeLog = namedtuple("MergeLog", "n_merged similarity earlier later")

# Counts of categories in boxes, for the given `features`. Values of all features are numbered
# together: `values[starts[k] : starts[k + 1]]` are those of the k-th. `counts[box, value]`: how
# many samples of a box have a value, `known[box, k]` how many have any. `codes` is a working array
# for one sample, -1 where a value is missing.
CategoryCounts = namedtuple("CategoryCounts", "features values starts counts known codes")

# How they decide. A membership is `alpha` times that of the numbers, of which there are `n_numbers`
# features, and the rest that of the categories. A sample may raise the entropy of a box by `delta`,
# in `each` feature or on average. Boxes of two classes overlap where categories are common to both,
# or, with `frequencies`, equally frequent in both.
MixedMetric = namedtuple("MixedMetric", "alpha n_numbers delta each frequencies")

# What stands for a category in such samples is its number times this.
UNIT = 2.0**-20


# The conditions of finished boxes, one after the other: those of box i from `starts[i]` on.
Conditions = namedtuple("Conditions", "starts feature lower upper missing_shares")
