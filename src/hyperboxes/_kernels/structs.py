"""The named tuples of arrays and numbers that kernels take.

Python makes them; kernels read their fields by name. Constants that go with a field are beside it.
"""

from __future__ import annotations

from collections import namedtuple

# The label of samples and boxes that have none.
NO_LABEL = -1

# The boxes of a model in order of age. Row by row: the corners `lower` and `upper` (v and w in the
# paper), `labels` (class indices or NO_LABEL), `counts` of samples absorbed, 0 where a box was
# merged into another, `confirmed`: which sample was absorbed last, by number from 0 on. `counters`
# are the kernels' own account, see below. `index` finds boxes.
Boxes = namedtuple("Boxes", "lower upper labels counts confirmed counters index")

# Trees over the boxes of each class, the last one over those without a label (`box_index.py`):
# `ends[block, feature, LOW or HIGH, lane]` in single precision; `links[block]`: the box or block in
# each lane (-1 for none), then the block's level (0 for leaves) and its place in its parent
# (`block * 16 + lane`, or -1); `places`: likewise of each box; `roots`: of each tree, or -1.
# `free_regions` are laid out like `ends`: where boxes may grow, as far as is known (`blocking.py`).
# Both they and `bitmaps` are None until there were so many more refusals as `rejections_left` says
# first; second, how many it takes after they were forgotten.
Index = namedtuple(
    "Index", "ends free_regions bitmaps rejections_left links places roots workspace"
)

# Which boxes reach up to some marks, a bit for each box, and room to compare (`bitmaps.py`).
Bitmaps = namedtuple("Bitmaps", "bin_edges bits classes state rows all_rows all_but_one")

# Room to divide the boxes of a tree or the lanes of a block: what is left to do, where pieces
# begin, and of the lanes their order, centres, keys and distances.
Workspace = namedtuple("Workspace", "todo cuts order centres keys gaps")

# Places of `counters`: boxes, blocks, lanes of a block that may be used (16, but for tests), boxes
# in the trees (and with how few of them, or after how many more were taken out, the trees are worth
# building anew), candidates tried, samples learned of a batch and in all, and the work done: blocks
# looked at.
BOXES, BLOCKS, WIDTH, ALIVE, FEW, REMOVABLE, CANDIDATES, SAMPLES, SEEN, WORK = range(10)
N_COUNTERS = 10

# How far a sample is from a box: the largest `gamma * gap` of its features or, if `mean`, their
# mean, each clipped at 1. The membership is 1 less that (`geometry.distance`).
Metric = namedtuple("Metric", "gamma mean")

# The pieces of a learner. SIZE: no side of a box is longer than `theta`, nor all of them together
# than `total`. ORDER of candidates: by `measure`, their membership or a similarity, of at least
# `floor`, in a `metric`; no more than `most` of them are tried. ACCEPT and RESOLVE: `overlap` is
# when boxes of two classes overlap, `resolution` what is done about it. MEMORY: `max_boxes`, beyond
# which online learners forget boxes. With `exhaustive` every box is looked at, as the paper's
# algorithms have it, not the trees.
GrowthParameters = namedtuple(
    "GrowthParameters",
    "theta total max_candidates floor exhaustive order_by overlap on_overlap max_boxes metric",
)

# Which ends of two intervals a gap is measured between: the membership of one in the other, or one
# of the paper's similarities of both. Or how near their centres are, which no tree knows.
MEMBERSHIP, LONGEST, SHORTEST, MID_MAX, MID_MIN, CENTRE = range(6)

# When boxes of two classes overlap: if they share a point, by the paper's four cases, by Simpson's
# four, which know no equal ends, or by the nine of EFMNN.
CLOSED, PAPER, FOUR, NINE = range(4)

# What is done about it. Overlaps are kept, for prediction to settle, in which case a box that
# overlaps others may grow on or not (LOCK). Or a box is refused to grow, and a new box may lie in
# one of another class, or it splits that one, or is parted from those that it meets. Or a box grows
# and is then contracted, from those of other classes in one feature each, or from all boxes in
# every feature.
ALLOW, FREEZE, REJECT, SPLIT, PART, CONTRACT, CONTRACT_EVERY = range(7)

# As many as there are.
EVERY = 2**63 - 1

# The working arrays of a search. The interval that it is about, [low, high]; blocks to visit and
# how near they are at least; the distances of 16 lanes; and, in single precision, how far the boxes
# to be found may reach, likewise the largest and the best of them, the interval itself, and what
# distances are measured from.
Search = namedtuple(
    "Search",
    "low high stack least gaps near far window_near window_far best_near best_far x_low x_high "
    "x1 x2 slopes",
)

# The working arrays of learning: candidates and their values, which of them may grow, rivals, a
# grown box [v, w].
Scratch = namedtuple("Scratch", "ids values growable conflicts v w search")

# What is left to do of AGGLO-SM (`agglomerative.py`), and the merges done so far.
Queue = namedtuple("Queue", "partners similarities lists frontier heads stamps tree witness")
MergeLog = namedtuple("MergeLog", "n_merged similarity earlier later")

# What boxes know of categories, in the given `features`. Values are numbered, those of all features
# together: `values[starts[k] : starts[k + 1]]` are those of the k-th. `counts[box, value]`: how
# many samples of a box have a value, `known[box, k]` how many have any. `codes` is room for those
# of one sample, -1 where one is missing.
CategoryCounts = namedtuple("CategoryCounts", "features values starts counts known codes")

# How they decide. A membership is `alpha` times that of the numbers, of which there are `n_numbers`
# features, and the rest that of the categories. A sample may raise the entropy of a box by `delta`,
# in `each` feature or on average. Boxes of two classes overlap where categories are common to both,
# or, with `frequencies`, equally frequent in both.
MixedMetric = namedtuple("MixedMetric", "alpha n_numbers delta each frequencies")

# What stands for a category in such samples is its number times this.
UNIT = 2.0**-20


# The conditions of finished boxes, one after the other: those of box i from `starts[i]` on.
Conditions = namedtuple("Conditions", "starts feature lower upper missing")
