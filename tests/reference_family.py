"""The relatives of GFMM that grow and part boxes, in plain NumPy and as literally as sources allow.

FMNN (Simpson, 1992 and, for clusters, 1993), EFMNN (Mohammed & Lim, 2015), KNEFMNN (2017) and RFMNN
(Al Sayaydeh et al., 2020). Where a paper is silent or contradicts its own examples, what is done
is said here. Missing values, samples without a label and intervals are taken as in `reference.py`.

Memberships are the mean over features (Simpson, 1993), 0 far from a box. That of 1992 is half of
it and a half, so it ranks boxes alike.
"""

from collections.abc import Callable

import numpy as np

from tests.reference import (
    UNLABELLED,
    Array,
    Model,
    _Hyperboxes,
    _nearest,
    _sort_by_descending,
    holds,
    hull,
    in_order,
    is_small,
    joint_label,
    lemma,
    membership,
    overlaps,
)

# The papers' own numbers of boxes that are tried, where not all of the class are.
N_CANDIDATES = {"knefmnn": 5, "rfmnn": 1}

# --- Pieces ---------------------------------------------------------------------------------------


def has_small_sum(v: Array, w: Array, theta: float) -> bool:
    """Return whether the known sides of a box are no longer than theta on average (1992, eq. 3)."""
    return in_order(np.nan_to_num(w - v)) <= len(v) * theta


def lemma_of_sums(theta: float, gamma: Array, function: str) -> float:
    """Return the least membership of what may fit, less what sums may lose by rounding."""
    if function == "min":
        return lemma(len(gamma) * theta, gamma, function)
    return float(1 - theta * np.max(gamma) * (1 + len(gamma) * 2.0**-50))


def four(vi: float, wi: float, vk: float, wk: float) -> int | None:
    """Return Simpson's case of two intervals that overlap; a flat one inside another counts."""
    if vi < vk < wi < wk:
        return 1
    if vk < vi < wk < wi:
        return 2
    if vi < vk <= wk < wi:
        return 3
    if vk < vi <= wi < wk:
        return 4
    return None


def nine(vi: float, wi: float, vk: float, wk: float) -> int | None:
    """Return which of EFMNN's nine cases two intervals are in."""
    cases = {
        1: vi < vk < wi < wk,
        2: vk < vi < wk < wi,
        3: vi == vk < wi < wk,
        4: vi < vk < wi == wk,
        5: vk == vi < wk < wi,
        6: vk < vi < wk == wi,
        7: vi < vk <= wk < wi,
        8: vk < vi <= wi < wk,
        9: vi == vk < wi == wk,
    }
    return next((case for case, holds_here in cases.items() if holds_here), None)


Cases = Callable[[float, float, float, float], int | None]


def find_cases(vi: Array, wi: Array, vk: Array, wk: Array, cases: Cases) -> list[int] | None:
    """Return the case of each feature, 0 where one side is not known; None if one has none."""
    found = [
        0 if np.isnan(sides[0]) or np.isnan(sides[2]) else cases(*sides)
        for sides in zip(vi, wi, vk, wk, strict=True)
    ]
    return None if None in found else found


def contract(vi: Array, wi: Array, vk: Array, wk: Array, x: Array, cases: Cases) -> None:
    """Part boxes i and k in the feature of least overlap, the first of equals; x made i grow.

    The paper's rule to stop at a feature whose overlap is not smaller finds none in its own
    example, so it only stops at a feature without a case.
    """
    found = find_cases(vi, wi, vk, wk, cases)
    if found is None:
        return
    depths = np.minimum(wi - vk, wk - vi)
    if not np.isnan(depths).all():
        d = int(np.nanargmin(depths))
        (cut_by_four if cases is four else cut_by_nine)(d, vi, wi, vk, wk, found[d], x)


def cut_by_four(d: int, vi: Array, wi: Array, vk: Array, wk: Array, case: int, x: Array) -> None:
    """Move a face, or two; of equal ways the first, which the paper leaves open."""
    part(d, vi, wi, vk, wk, case, wk[d] - vi[d] <= wi[d] - vk[d])


def part(d: int, vi: Array, wi: Array, vk: Array, wk: Array, case: int, i_goes_up: bool) -> None:
    """Move a face, or two, by one of the four cases."""
    if case == 1:
        wi[d] = vk[d] = (wi[d] + vk[d]) / 2
    elif case == 2:
        wk[d] = vi[d] = (wk[d] + vi[d]) / 2
    elif case == 3 and i_goes_up:
        vi[d] = wk[d]
    elif case == 3:
        wi[d] = vk[d]
    elif i_goes_up:
        wk[d] = vi[d]
    else:
        vk[d] = wi[d]


def cut_by_nine(d: int, vi: Array, wi: Array, vk: Array, wk: Array, case: int, x: Array) -> None:
    """Move a face, or two: equation by equation of EFMNN's paper."""
    if case == 3:
        vk[d] = wi[d]
    elif case == 4:
        wi[d] = vk[d]
    elif case == 5:
        vi[d] = wk[d]
    elif case == 6:
        wk[d] = vi[d]
    elif case == 9:
        # Whether the upper end has just grown, as far as can be seen.
        cut_by_four(d, vi, wi, vk, wk, 1 if wi[d] == x[d] else 2, x)
    else:
        cut_by_four(d, vi, wi, vk, wk, {7: 3, 8: 4}.get(case, case), x)


def split(H: _Hyperboxes, p: int, xl: Array, xu: Array, gap: float | None) -> None:
    """Split box p around a sample, where the smaller rest is smallest but there is one.

    Between the sample and each rest is a gap, of one rounding step if None: a wider one would
    drop samples of the box. Its samples are divided by length, at least one each; a box of a single
    sample, which the paper does not know of, stays as it is, unless there is a gap, as published.
    """
    v, w = H.V[p], H.W[p]
    depths = np.minimum(w - xu, xl - v)
    if not (depths > 0).any() or (H.counts[p] == 1 and gap is None):
        return
    d = int(np.argmin(np.where(depths > 0, depths, np.inf)))
    below, above = xl[d] - v[d], w[d] - xu[d]
    end = np.nextafter(xl[d], -np.inf) if gap is None else xl[d] - gap
    start = np.nextafter(xu[d], np.inf) if gap is None else xu[d] + gap
    n = H.counts[p]
    new = v.copy()
    new[d] = start
    H.append(new, w, H.L[p])
    w[d] = end
    if n > 1:
        H.counts[p] = min(max(int(np.floor(n * (below / (below + above)) + 0.5)), 1), n - 1)
        H.counts[-1] = n - H.counts[p]


# --- Classification -------------------------------------------------------------------------------


def fuzzy_min_max(
    xl: Array,
    xu: Array,
    y: Array,
    *,
    variant: str,
    theta: float,
    gamma: Array,
    selection: str = "all",
    n_candidates: int | None = None,
    gap: float | None = None,
) -> Model:
    """Learn by FMNN, EFMNN, KNEFMNN or RFMNN."""
    H = _Hyperboxes([], [], [], [])
    most = n_candidates or N_CANDIDATES.get(variant)
    fits = has_small_sum if variant == "fmnn" else is_small
    threshold = 0.0
    if selection == "lemma":
        find_least = lemma_of_sums if variant == "fmnn" else lemma
        threshold = max(0.0, find_least(theta, gamma, "mean"))
    for x_l, x_u, label in zip(xl, xu, y.tolist(), strict=True):
        same = H.same_class(label)
        holders = [
            h
            for h in same
            if label in (H.L[h], UNLABELLED) and holds(H.V[h], H.W[h], x_l, x_u, gamma, "mean")
        ]
        if holders:
            H.counts[holders[0]] += 1
            continue
        b = {h: membership(H.V[h], H.W[h], x_l, x_u, gamma, "mean") for h in same}
        grown = None
        for h in _sort_by_descending(b, threshold)[:most]:
            H.n_candidates += 1
            v, w = hull(H.V[h], H.W[h], x_l, x_u)
            joint = joint_label(H.L[h], label)
            if not fits(v, w, theta):
                continue
            if variant == "rfmnn" and H.is_overlap(v, w, joint, "closed"):
                continue
            H.V[h], H.W[h], H.L[h], grown = v, w, joint, h
            break
        if grown is not None:
            H.counts[grown] += 1
            if variant != "rfmnn":
                cases = four if variant == "fmnn" else nine
                for k in H.other_classes(H.L[grown]):
                    contract(H.V[grown], H.W[grown], H.V[k], H.W[k], x_u, cases)
            continue
        others = H.other_classes(label)
        H.append(x_l, x_u, label)
        if variant == "rfmnn" and label != UNLABELLED:
            for k in others:
                if overlaps(x_l, x_u, H.V[k], H.W[k], "closed"):
                    split(H, k, x_l, x_u, gap)
    return H.model(xl.shape[1])


def from_centre(v: Array, w: Array, xl: Array, xu: Array) -> float:
    """Return how far the middle of a sample is from that of a box, added up over the features."""
    return in_order(np.nan_to_num(np.abs((v + w) / 2 - (xl + xu) / 2)))


def from_corners(v: Array, w: Array, xl: Array, xu: Array) -> float:
    """Return how far a sample is from both corners of a box, added up over the features."""
    return in_order(np.nan_to_num(np.abs(xl - v) + np.abs(xu - w)))


def winner(model: Model, xl: Array, xu: Array, gamma: Array, variant: str) -> int | None:
    """Return the box that settles a tie of classes; None if there is none, or beyond all reach."""
    known = np.flatnonzero(model.labels != UNLABELLED)
    b, boxes = _nearest(model, known, xl, xu, gamma, "mean")
    if b <= 0 or len({int(model.labels[i]) for i in boxes}) == 1:
        return None
    away = from_corners if variant == "rfmnn" else from_centre
    return min(boxes, key=lambda i: (away(model.lower[i], model.upper[i], xl, xu), i))


# --- Clustering -----------------------------------------------------------------------------------


def contract_every(vi: Array, wi: Array, vk: Array, wk: Array) -> None:
    """Part boxes i and k in every feature (1993): of equal ways the second."""
    found = find_cases(vi, wi, vk, wk, four)
    for d, case in enumerate(found or []):
        if case:
            part(d, vi, wi, vk, wk, case, wk[d] - vi[d] < wi[d] - vk[d])


def cluster(
    xl: Array, xu: Array, *, theta: float, gamma: Array, max_iter: int
) -> tuple[Model, int, bool]:
    """Find clusters (Simpson, 1993); return them, the number of passes, and whether they rest.

    The size test of the paper lacks the factor n, which its own Fig. 6 needs. Boxes that absorb no
    sample in the last pass are left out.
    """
    H = _Hyperboxes([], [], [], [])
    n_iter, is_stable = 0, False
    while n_iter < max_iter and not is_stable:
        before = [corner.tolist() for corner in (*H.V, *H.W)]
        H.counts = [0] * len(H.counts)
        for x_l, x_u in zip(xl, xu, strict=True):
            _take_in(H, x_l, x_u, theta, gamma)
        after = [corner.tolist() for corner in (*H.V, *H.W)]
        is_stable = str(before) == str(after)
        n_iter += 1
    model = H.model(xl.shape[1])
    kept = model.counts > 0
    rows = (getattr(model, name)[kept] for name in ("lower", "upper", "labels", "counts"))
    return Model(*rows, model.n_candidates), n_iter, is_stable


def _take_in(H: _Hyperboxes, x_l: Array, x_u: Array, theta: float, gamma: Array) -> None:
    """Let a sample join a box, which is then parted from all others, or become one."""
    places = range(len(H.L))
    holders = [h for h in places if holds(H.V[h], H.W[h], x_l, x_u, gamma, "mean")]
    if holders:
        H.counts[holders[0]] += 1
        return
    b = {h: membership(H.V[h], H.W[h], x_l, x_u, gamma, "mean") for h in places}
    for h in _sort_by_descending(b, 0.0):
        H.n_candidates += 1
        v, w = hull(H.V[h], H.W[h], x_l, x_u)
        if has_small_sum(v, w, theta):
            H.V[h], H.W[h] = v, w
            H.counts[h] += 1
            for k in places:
                if k != h:
                    contract_every(H.V[h], H.W[h], H.V[k], H.W[k])
            return
    H.append(x_l, x_u, UNLABELLED)
