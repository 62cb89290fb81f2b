"""Count candidates as the runs behind the paper's tables did: the paper's algorithms, their ties.

The package settles what the paper leaves open, ties above all, in a way of its own. `count` settles
it as the authors' programs must have, since so all published counts come out. It shares no code
with the package, and counts the same where nothing ties. What differs:

- Equal memberships or similarities come as `numpy.argsort(values)[::-1]` gave them before NumPy
  1.25: in the order its quicksort, which is not stable, happens to leave. The package takes the
  older box first. That order depends on the whole list. Online and in AGGLO-2 it is all boxes of
  the class, by age and without the box itself, and the lemma cuts the list once it is sorted; in
  AGGLO-SM it is the pairs in rows of the similarity matrix, and the lemma cuts before the sort.
- AGGLO-SM does not sort again after each merge: first it tries all other pairs of exactly the same
  similarity, except those of a box just merged. The package sorts again, as Algorithm 2 says.
- Onln-GFMM leaves a gap between two boxes it has contracted. In the package, as in the paper, they
  touch.

The agglomerative tables print means of a million or more as whole numbers, rounded half up.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.reproduce.old_argsort import sorted_at, unsorted

MEASURES = ("longest", "shortest", "mid-max", "mid-min")
LONGEST, SHORTEST, MID_MAX, MID_MIN = range(4)

# How far apart contraction leaves two boxes. The counts are the same with 1e-5.
GAP = 1e-6

# What became of a box of AGGLO-SM since the similarities were last computed.
UNCHANGED, MERGED, GONE = range(3)


def count(
    X: np.ndarray,
    y: np.ndarray,
    algorithm: str,
    similarity: str | None = None,
    *,
    lemma: bool,
    theta: float = 0.1,
) -> int:
    """Return how many candidates are tried to learn samples in [0, 1], with gamma 1.

    The algorithm is "onln-gfmm", "iol-gfmm", "agglo2" or "agglo-sm"; the last two take one of the
    `MEASURES` of similarity. With `lemma`, candidates that Lemma 1 or 2 rules out do not count.
    """
    X = np.array(X, dtype=np.float64)
    labels = np.unique(y, return_inverse=True)[1].astype(np.int64)
    least = 1 - theta if lemma else 0.0
    if algorithm in ("onln-gfmm", "iol-gfmm"):
        return _online(X, labels, theta, least, algorithm == "onln-gfmm")
    agglomerate = {"agglo2": _agglo_2, "agglo-sm": _agglo_sm}[algorithm]
    return agglomerate(X, labels, theta, least, MEASURES.index(similarity))


# --- Geometry -------------------------------------------------------------------------------------


@njit(cache=True)
def _membership(V, W, h, x):
    gap = 0.0
    for j in range(x.size):
        gap = max(gap, x[j] - W[h, j], V[h, j] - x[j])
    return 1 - min(gap, 1.0)


@njit(cache=True)
def _similarity(V, W, i, k, measure):
    gap_ik = gap_ki = 0.0
    for j in range(V.shape[1]):
        vi, wi, vk, wk = V[i, j], W[i, j], V[k, j], W[k, j]
        if measure == LONGEST:
            gap_ik = max(gap_ik, wk - vi, wi - vk)
        elif measure == SHORTEST:
            gap_ik = max(gap_ik, vk - wi, vi - wk)
        else:
            gap_ik = max(gap_ik, wk - wi, vi - vk)
            gap_ki = max(gap_ki, wi - wk, vk - vi)
    if measure == MID_MAX:
        gap_ik = min(gap_ik, gap_ki)
    elif measure == MID_MIN:
        gap_ik = max(gap_ik, gap_ki)
    return 1 - min(gap_ik, 1.0)


@njit(cache=True)
def _grow(V, W, h, lower, upper, theta, vt, wt):
    """Write box h, grown over [lower, upper], to [vt, wt]; return whether that is small enough."""
    for j in range(lower.size):
        vt[j] = min(V[h, j], lower[j])
        wt[j] = max(W[h, j], upper[j])
        if wt[j] - vt[j] > theta:
            return False
    return True


@njit(cache=True)
def _overlaps(vi, wi, vk, wk):
    """Return whether two boxes overlap in every dimension by one of the paper's four cases."""
    for j in range(vi.size):
        if wi[j] <= wk[j] and vi[j] <= vk[j] and wi[j] <= vk[j]:
            return False
        if wi[j] > wk[j] and vi[j] > vk[j] and wk[j] <= vi[j]:
            return False
    return True


@njit(cache=True)
def _is_free(V, W, L, m, vt, wt, label):
    """Return whether [vt, wt] overlaps none of the first m boxes that is of another class."""
    for k in range(m):  # noqa: SIM110, Numba compiles no generators
        if L[k] != label and _overlaps(vt, wt, V[k], W[k]):
            return False
    return True


@njit(cache=True)
def _contract(vi, wi, vk, wk):
    """Part the boxes i, just grown, and k in the dimension where they overlap least."""
    d = np.argmin(np.minimum(wi - vk, wk - vi))
    is_i_above = wk[d] - vi[d] <= wi[d] - vk[d]
    if wi[d] <= wk[d] and vi[d] <= vk[d]:  # case 1
        wi[d] = (vk[d] + wi[d]) / 2
        vk[d] = wi[d] + GAP
    elif wi[d] > wk[d] and vi[d] > vk[d]:  # case 2
        vi[d] = (wk[d] + vi[d]) / 2
        wk[d] = vi[d] - GAP
    elif wi[d] > wk[d] and is_i_above:  # case 3: k within i
        vi[d] = wk[d] + GAP
    elif wi[d] > wk[d]:
        wi[d] = vk[d] - GAP
    elif is_i_above:  # case 4: i within k
        wk[d] = vi[d] - GAP
    else:
        vk[d] = wi[d] + GAP


# --- The algorithms -------------------------------------------------------------------------------


@njit(cache=True)
def _online(X, y, theta, least, contracts):
    """Learn by Onln-GFMM (Algorithms 1 and 5), or by IOL-GFMM (4 and 6); count candidates."""
    V, W, L = np.empty_like(X), np.empty_like(X), np.empty_like(y)
    vt, wt = np.empty_like(X[0]), np.empty_like(X[0])
    m = n_candidates = 0
    for x, label in zip(X, y):  # noqa: B905, Numba does not support strict=
        same = np.flatnonzero(L[:m] == label)
        b = np.array([_membership(V, W, h, x) for h in same])
        is_learned = False
        order, parts = unsorted(b)
        for place in range(b.size - 1, -1, -1):
            at = sorted_at(b, order, parts, place)
            h = same[at]
            is_learned = b[at] == 1
            if is_learned or b[at] < least:
                break
            n_candidates += 1
            if not _grow(V, W, h, x, x, theta, vt, wt):
                continue
            if contracts or _is_free(V, W, L, m, vt, wt, label):
                V[h], W[h] = vt, wt
                is_learned = True
                break
        if not is_learned:
            V[m], W[m], L[m] = x, x, label
            m += 1
        elif contracts and b[at] < 1:
            for k in np.flatnonzero(L[:m] != label):
                if _overlaps(V[h], W[h], V[k], W[k]):
                    _contract(V[h], W[h], V[k], W[k])
    return n_candidates


@njit(cache=True)
def _agglo_2(X, y, theta, least, measure):
    """Learn by AGGLO-2 (Algorithms 3 and 8); count candidates."""
    V, W, L = X.copy(), X.copy(), y.copy()
    vt, wt = np.empty_like(X[0]), np.empty_like(X[0])
    m, n_candidates = len(y), 0
    loop = True
    while loop:
        loop = False
        i = 0
        while i < m:
            same = np.array([k for k in range(m) if L[k] == L[i] and k != i])
            s = np.array([_similarity(V, W, i, k, measure) for k in same])
            order, parts = unsorted(s)
            for place in range(s.size - 1, -1, -1):
                at = sorted_at(s, order, parts, place)
                k = same[at]
                if s[at] < least:
                    break
                n_candidates += 1
                fits = _grow(V, W, i, V[k], W[k], theta, vt, wt)
                if fits and _is_free(V, W, L, m, vt, wt, L[i]):
                    earlier, later = min(i, k), max(i, k)
                    V[earlier], W[earlier] = vt, wt
                    m -= 1
                    for box in range(later, m):
                        V[box], W[box], L[box] = V[box + 1], W[box + 1], L[box + 1]
                    if i == later:
                        i -= 1
                    loop = True
                    break
            i += 1
    return n_candidates


@njit(cache=True)
def _agglo_sm(X, y, theta, least, measure):
    """Learn by AGGLO-SM (Algorithms 2 and 7); count candidates."""
    V, W = X.copy(), X.copy()
    vt, wt = np.empty_like(X[0]), np.empty_like(X[0])
    fate = np.full(len(y), MERGED, np.int8)
    pairs = np.argwhere(np.triu(y.reshape(-1, 1) == y, 1)).astype(np.int32)
    S, chosen, s_chosen = np.empty(len(pairs)), np.empty(len(pairs), np.int64), np.empty(len(pairs))
    n_pairs, n_candidates = len(pairs), 0
    loop = True
    while loop:
        loop = False
        n_pairs = _update(V, W, pairs[:n_pairs], S, fate, measure)
        fate[fate == MERGED] = UNCHANGED
        s = s_chosen[: _choose(S[:n_pairs], least, chosen, s_chosen)]
        order, parts = unsorted(s)
        s_merged = 0.0
        for place in range(s.size - 1, -1, -1):
            at = sorted_at(s, order, parts, place)
            if s[at] < s_merged:
                break
            i, k = pairs[chosen[at], 0], pairs[chosen[at], 1]
            if max(fate[i], fate[k]) > UNCHANGED:
                continue
            n_candidates += 1
            fits = _grow(V, W, i, V[k], W[k], theta, vt, wt)
            if fits and _is_free(V, W, y, len(y), vt, wt, y[i]):
                V[i], W[i], fate[i] = vt, wt, MERGED
                V[k], W[k], fate[k] = np.inf, np.inf, GONE  # there it overlaps nothing
                s_merged = s[at]
                loop = True
    return n_candidates


@njit(cache=True)
def _update(V, W, pairs, S, fate, measure):
    """Leave out pairs of boxes that are gone; compute similarities of merged ones; count pairs."""
    n_pairs = 0
    for p in range(len(pairs)):
        i, k = pairs[p, 0], pairs[p, 1]
        worst = max(fate[i], fate[k])
        if worst < GONE:
            pairs[n_pairs, 0], pairs[n_pairs, 1] = i, k
            S[n_pairs] = S[p] if worst == UNCHANGED else _similarity(V, W, i, k, measure)
            n_pairs += 1
    return n_pairs


@njit(cache=True)
def _choose(S, least, chosen, s_chosen):
    """Write down the similarities above 0 and no less than `least`; return how many there are."""
    n_chosen = 0
    for p in range(S.size):
        if S[p] > 0 and S[p] >= least:
            chosen[n_chosen], s_chosen[n_chosen] = p, S[p]
            n_chosen += 1
    return n_chosen
