"""The pieces of a learner by the names that users give them, as the rule that kernels follow."""

from __future__ import annotations

from hyperboxes._kernels.records import (
    CLOSED,
    CONTRACT,
    LONGEST,
    MEMBERSHIP,
    MID_MAX,
    MID_MIN,
    PAPER,
    REFUSE,
    SHORTEST,
    Rule,
)
from hyperboxes._models.membership import Membership

SIMILARITIES = {
    "longest": LONGEST,
    "shortest": SHORTEST,
    "mid-max": MID_MAX,
    "mid-min": MID_MIN,
}
OVERLAPS = {"closed": CLOSED, "paper": PAPER}
SELECTIONS = ("all", "lemma", "index")


def has_walls(rule: Rule) -> bool:
    """Whether boxes only grow and must not meet others, so that what is in their way remains so."""
    return rule.overlap == CLOSED and rule.resolution == REFUSE


def make_rule(
    membership: Membership,
    *,
    theta: float,
    selection: str,
    overlap: str = "closed",
    contracts: bool = False,
    similarity: str | None = None,
    min_similarity: float = 0.0,
) -> Rule:
    """Return the rule of a learner; candidates come by membership unless by a similarity."""
    floor = float(min_similarity)
    if selection == "lemma":
        floor = max(floor, membership.floor(theta))
    return Rule(
        theta=float(theta),
        floor=floor,
        everywhere=selection != "index",
        measure=MEMBERSHIP if similarity is None else SIMILARITIES[similarity],
        overlap=OVERLAPS[overlap],
        resolution=CONTRACT if contracts else REFUSE,
        metric=membership.metric,
    )
