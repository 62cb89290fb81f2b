"""The two-phase learner of Khuat, Chen and Gabrys (2021) in plain NumPy.

Phase 1 makes small boxes on parts of the samples; phase 2 joins them level by level. Counts are
added up rightly, unlike in the authors' code, and boxes that are parted end a floating-point
step before each other instead of 1e-5. NaN and samples without a label are as in `reference`.
"""

import numpy as np

from tests.reference import (
    UNLABELLED,
    Array,
    Model,
    _Hyperboxes,
    _sort_by_descending,
    holds,
    hull,
    is_small,
    joint_label,
    lemma,
    membership,
    overlaps,
)
from tests.reference_overlapping import grow


def levels(
    xl: Array,
    xu: Array,
    y: Array,
    *,
    thetas: list[float],
    gamma: Array,
    function: str,
    n_parts: int,
    sigma: float,
) -> list[Model]:
    """Return the boxes of each level."""
    parts = []
    for rows in divide(y, n_parts):
        model, _ = grow(
            xl[rows], xu[rows], y[rows], theta=thetas[0], gamma=gamma, function=function
        )
        parts.append(model)
    below = put_together(parts)
    found = []
    for theta in thetas:
        below = join(below, theta, gamma, function, sigma)
        found.append(below)
    return found


def divide(y: Array, n_parts: int) -> list[list[int]]:
    """Return the samples of each part: those of a class go to one after the other in turn."""
    parts: list[list[int]] = [[] for _ in range(n_parts)]
    n_seen: dict[int, int] = {}
    for s, label in enumerate(y.tolist()):
        n_before = n_seen.get(label, 0)
        parts[n_before % n_parts].append(s)
        n_seen[label] = n_before + 1
    return [part for part in parts if part]


def put_together(parts: list[Model]) -> Model:
    """Return the boxes of all parts without those that another of their class holds."""
    V, W, L, counts = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("lower", "upper", "labels", "counts")
    )

    def is_in(i: int, k: int) -> bool:
        known = ~np.isnan(V[i])
        return bool(((V[k] <= V[i]) & (W[i] <= W[k]))[known].all())

    def is_dropped(i: int) -> bool:
        own = [k for k in range(len(L)) if L[k] == L[i] and k != i]
        return any(is_in(i, k) and (not is_in(k, i) or k < i) for k in own)

    kept = [i for i in range(len(L)) if not is_dropped(i)]
    totals = counts.copy()
    for i in set(range(len(L))) - set(kept):
        totals[min(k for k in kept if L[k] == L[i] and is_in(i, k))] += counts[i]
    n_candidates = sum(part.n_candidates for part in parts)
    return Model(V[kept], W[kept], L[kept], totals[kept], n_candidates)


def join(below: Model, theta: float, gamma: Array, function: str, sigma: float) -> Model:
    """Return a level, learned from the boxes of the one below."""
    H = _Hyperboxes([], [], [], [])
    H.n_candidates = below.n_candidates
    least = max(sigma, lemma(theta, gamma, function))
    rows = zip(below.lower, below.upper, below.labels.tolist(), below.counts.tolist(), strict=True)
    for xl, xu, label, count in rows:
        own = H.same_class(label)
        holders = [
            h
            for h in own
            if label in (H.L[h], UNLABELLED) and holds(H.V[h], H.W[h], xl, xu, gamma, function)
        ]
        if holders:
            H.counts[holders[0]] += count
            continue
        M = {h: membership(H.V[h], H.W[h], xl, xu, gamma, function) for h in own}
        for h in _sort_by_descending(M, least):
            H.n_candidates += 1
            v, w = hull(H.V[h], H.W[h], xl, xu)
            joint = joint_label(H.L[h], label)
            if is_small(v, w, theta) and not H.is_overlap(v, w, joint, "closed"):
                H.V[h], H.W[h], H.L[h] = v, w, joint
                H.counts[h] += count
                break
        else:
            others = H.other_classes(label) if label != UNLABELLED else []
            H.append(xl, xu, label)
            H.counts[-1] = count
            for k in others:
                if overlaps(H.V[-1], H.W[-1], H.V[k], H.W[k], "closed"):
                    part(H.V[-1], H.W[-1], H.V[k], H.W[k])
    return H.model(below.lower.shape[1])


def part(vi: Array, wi: Array, vk: Array, wk: Array) -> None:
    """Part two boxes that share a point where they overlap least, as contraction does."""
    depths = [_depth(*sides) for sides in zip(vi, wi, vk, wk, strict=True)]
    j = int(np.argmin(depths))
    if depths[j] == np.inf:
        return
    above, below = (lambda x: np.nextafter(x, np.inf)), (lambda x: np.nextafter(x, -np.inf))
    i_goes_up = wk[j] - vi[j] <= wi[j] - vk[j]
    if vi[j] <= vk[j] and wi[j] <= wk[j]:  # i is below
        middle = (wi[j] + vk[j]) / 2
        if middle == wk[j]:  # k is flat
            wi[j] = below(vk[j])
        else:
            wi[j], vk[j] = middle, above(middle)
    elif vi[j] > vk[j] and wi[j] > wk[j]:  # i is above
        middle = (wk[j] + vi[j]) / 2
        vi[j], wk[j] = middle, below(middle)
    elif wi[j] > wk[j]:  # i contains k
        if i_goes_up:
            vi[j] = above(wk[j])
        else:
            wi[j] = below(vk[j])
    elif i_goes_up:  # k contains i
        wk[j] = below(vi[j])
    else:
        vk[j] = above(wi[j])


def _depth(vi: float, wi: float, vk: float, wk: float) -> float:
    """Return how much two sides overlap; infinity if they are not known, or the same point."""
    if np.isnan(vi) or np.isnan(vk) or vi == wi == vk == wk:
        return np.inf
    if vi <= vk and wi <= wk:
        return wi - vk
    if vi > vk and wi > wk:
        return wk - vi
    return min(wk - vi, wi - vk)
