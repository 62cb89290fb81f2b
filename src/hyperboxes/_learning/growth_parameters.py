"""The pieces of a learner by the names that users give them, as the rule that kernels follow."""

import sys

import numpy as np

from hyperboxes._kernels import structs
from hyperboxes._kernels.structs import EVERY, GrowthParameters
from hyperboxes._models.model import Membership

SIMILARITIES = {
    "longest": structs.LONGEST,
    "shortest": structs.SHORTEST,
    "mid-max": structs.MID_MAX,
    "mid-min": structs.MID_MIN,
}
# The four cases that the paper prints are Simpson's.
OVERLAPS = {
    "closed": structs.CLOSED,
    "paper": structs.PAPER,
    "printed": structs.FOUR,
    "nine": structs.NINE,
}
RESOLUTIONS = {
    "keep": structs.ALLOW,
    "lock": structs.FREEZE,
    "refuse": structs.REJECT,
    "split": structs.SPLIT,
    "part": structs.PART,
    "contract": structs.CONTRACT,
    "contract every": structs.CONTRACT_EVERY,
}
# How candidates are sorted: by membership, by the distance of centres, or by a similarity.
_MEASURES = {"membership": structs.MEMBERSHIP, "centre": structs.CENTRE, **SIMILARITIES}
SELECTIONS = ("all", "lemma", "index")


def tracks_free_regions(growth: GrowthParameters) -> bool:
    """Whether boxes only grow and must not meet others, so that what is in their way remains so."""
    return growth.overlap == structs.CLOSED and growth.on_overlap == structs.REJECT


def make_growth_parameters(
    membership: Membership,
    *,
    theta: float,
    selection: str,
    size: str = "max",
    n_candidates: int | None = None,
    overlap: str = "closed",
    resolution: str = "refuse",
    max_boxes: int | None = None,
    similarity: str | None = None,
    min_similarity: float = 0.0,
) -> GrowthParameters:
    """Return the rule of a learner; candidates come by membership unless by a similarity.

    Or by "centre", the distance of centres: the nearest of all first, whatever the selection.

    `theta` bounds the sides of boxes (`size` "max") or their mean ("sum"). There may be any number
    of boxes unless `max_boxes` limits them.
    """
    floor = float(min_similarity)
    if similarity == "centre":
        floor, selection = -np.inf, "all"
    # Where no window bounds the search of the index, the lemma does.
    if selection == "lemma" or (selection == "index" and (size == "sum" or n_candidates)):
        floor = max(floor, membership.floor(theta, size))
    total = np.inf
    if size == "sum":
        theta = total = len(membership.gamma) * float(theta)
    return GrowthParameters(
        theta=float(theta),
        total=total,
        max_candidates=n_candidates or EVERY,
        floor=floor,
        exhaustive=selection != "index",
        order_by=_MEASURES[similarity or "membership"],
        overlap=OVERLAPS[overlap],
        on_overlap=RESOLUTIONS[resolution],
        max_boxes=sys.maxsize if max_boxes is None else int(max_boxes),
        metric=membership.metric,
    )
