"""Whether a box may grow to hold the interval, or what is in its way."""

from __future__ import annotations

from hyperboxes._kernels.geometry import are_known, copy_row, hull, overlaps
from hyperboxes._kernels.index import joint_label
from hyperboxes._kernels.jit import formula, subroutine
from hyperboxes._kernels.records import CLOSED, CONTRACT, KEEP, LOCK, NO_LABEL
from hyperboxes._kernels.rooms import wall_in
from hyperboxes._kernels.search import first_rival

# What an attempt to grow a box says: nothing is in its way; something is in the way of all boxes.
FREE, HOPELESS = -1, -2


@formula
def grows_freely(rule):
    """Whether nothing is in the way of a box, whatever becomes of it afterwards."""
    return rule.resolution == KEEP or rule.resolution >= CONTRACT


@subroutine
def try_growth(box, own, label, n_rivals, bottom, boxes, rule, scratch):
    """Try whether a box may grow to hold the interval, given rivals in the way of others.

    The interval may be that of a box, `own`. Returns `FREE`, or how many rivals are known then, or
    `HOPELESS` if no box may grow. The stack of the search is used from `bottom` on.
    """
    if grows_freely(rule):
        return FREE
    locks = rule.resolution == LOCK
    if locks and boxes.labels[box] == NO_LABEL:
        return FREE
    labels, rivals, search = boxes.labels, scratch.rivals, scratch.search
    v, w, low, high = scratch.v, scratch.w, search.low, search.high
    joint = joint_label(label, labels[box])
    is_labelled = label != NO_LABEL
    if locks:  # it must overlap nothing as it is
        copy_row(boxes.lower[box], v)
        copy_row(boxes.upper[box], w)
    else:
        hull(boxes.lower[box], boxes.upper[box], low, high, v, w)
    rival = -1
    for r in range(n_rivals):
        is_rival = is_labelled or labels[rivals[r]] != joint
        if is_rival and overlaps(v, w, boxes, rivals[r], rule.overlap):
            rival = rivals[r]
            rivals[r] = rivals[0]
            rivals[0] = rival
            break
    if rival < 0:
        rival = first_rival(v, w, joint, boxes, rule, search, bottom)
        if rival < 0:
            return FREE
        # What meets the interval itself meets every box that is grown to hold it.
        is_first = n_rivals == 0 and rule.overlap == CLOSED and is_labelled and are_known(low)
        if (
            is_first
            and not locks
            and first_rival(low, high, label, boxes, rule, search, bottom) >= 0
        ):
            return HOPELESS
        rivals[n_rivals] = rival
        n_rivals += 1
    wall_in(box, own, rival, boxes, boxes.index.rooms)
    return n_rivals
