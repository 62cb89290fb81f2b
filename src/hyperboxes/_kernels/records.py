"""The records that kernels are given: named tuples of arrays and numbers, made by Python.

What one learner needs and others do not, a column of the boxes, say, is a field more here.
"""

from __future__ import annotations

from collections import namedtuple

# The label of samples and boxes that have none.
NO_LABEL = -1

# The boxes of a model in order of age. Row by row: the corners `lower` and `upper` (v and w in the
# paper), `labels` (class indices or NO_LABEL), `counts` of samples absorbed, 0 where a box was
# merged into another. `counters` are the kernels' own account, see below. `index` finds boxes.
Boxes = namedtuple("Boxes", "lower upper labels counts counters index")

# Trees over the boxes of each class, the last one over those without a label (`index.py`):
# `ends[block, feature, LOW or HIGH, lane]` in single precision; `links[block]`: the box or block in
# each lane (-1 for none), then the block's level (0 for leaves) and its place in its parent
# (`block * 16 + lane`, or -1); `places`: likewise of each box; `roots`: of each tree, or -1.
# `rooms` are laid out like `ends`, or have no blocks: where boxes may grow, as far as is known
# (`rooms.py`), which is kept after so many more refusals as `patience` says.
Index = namedtuple("Index", "ends rooms patience links places roots workspace")

# Room to divide the boxes of a tree or the lanes of a block: what is left to do, where pieces
# begin, and of the lanes their order, centres, keys and distances.
Workspace = namedtuple("Workspace", "todo cuts order centres keys gaps")

# Places of `counters`: boxes, blocks, lanes of a block that may be used (16, but for tests), boxes
# in the trees (and with how few of them the trees are worth building anew), candidates tried,
# samples learned, and the work done: blocks looked at.
BOXES, BLOCKS, WIDTH, ALIVE, FEW, CANDIDATES, SAMPLES, WORK = range(8)
N_COUNTERS = 8

# How far a sample is from a box: the largest `gamma * gap` of its features or, if `mean`, their
# mean, each clipped at 1. The membership is 1 less that (`geometry.distance`).
Metric = namedtuple("Metric", "gamma mean")

# The pieces of a learner. SIZE: no side of a box is longer than `theta`. ORDER of candidates: by
# `measure`, their membership or a similarity, of at least `floor`, in a `metric`. ACCEPT and
# RESOLVE: `overlap` is when boxes of two classes overlap, `resolution` what is done about it.
# With `everywhere` every box is looked at, as the paper's algorithms have it, not the trees.
Rule = namedtuple("Rule", "theta floor everywhere measure overlap resolution metric")

# Which ends of two intervals a gap is measured between: the membership of one in the other, or one
# of the paper's similarities of both.
MEMBERSHIP, LONGEST, SHORTEST, MID_MAX, MID_MIN = range(5)

# When boxes of two classes overlap: if they share a point, or by the paper's four cases.
CLOSED, PAPER = range(2)

# What is done about it: a box is refused to grow, or grows and is then contracted.
REFUSE, CONTRACT = range(2)

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
Scratch = namedtuple("Scratch", "ids values growable rivals v w search")

# What is left to do of AGGLO-SM (`pair_queue.py`), and the merges done so far.
Queue = namedtuple("Queue", "todo partners similarities lists frontier stamps tree witness")
MergeLog = namedtuple("MergeLog", "n_merged similarity earlier later")
