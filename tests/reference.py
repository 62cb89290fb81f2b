"""Algorithms 1 to 8 of Khuat & Gabrys (accelerated learning of GFMM) in plain NumPy.

Slow on purpose: it reads like the paper's pseudo-code, and the library is compared with it bit for
bit. Candidates come by membership or similarity, largest first, ties by lower index.

Beyond the paper, NaN stands for what is not known: a value that a sample lacks, the bounds of a box
in a feature that none of its samples had. It holds nothing back: membership and similarity are 1
there, any size will do, and the overlap is decided by the other features.

Beyond the paper too, samples and boxes may have no label. They join what has any label or none, and
take it on; a box without one must not grow over a labelled one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

# The label of what has none.
UNLABELLED = -1


@dataclass
class Model:
    """Hyperboxes in order of age (place), and how many candidates learning them took."""

    lower: Array  # (m, n) float64, the paper's V
    upper: Array  # (m, n) float64, the paper's W
    labels: Array  # (m,) int64, class indices or UNLABELLED
    counts: Array  # (m,) int64, samples absorbed by each box
    n_candidates: int


# --- Geometry: one hyperbox and a pattern, or two hyperboxes --------------------------------------


def ramp(z: Array, gamma: Array) -> Array:
    """Return f(z, gamma): z * gamma, at least 0 and at most 1; 0 for what is not known."""
    return np.where(np.isnan(z), 0.0, np.clip(z * gamma, 0.0, 1.0))


def hull(vi: Array, wi: Array, vk: Array, wk: Array) -> tuple[Array, Array]:
    """Return the smallest box that holds two: known where one of them is."""
    return np.fmin(vi, vk), np.fmax(wi, wk)


def is_small(v: Array, w: Array, theta: float) -> bool:
    """Return whether no known side of a box is longer than theta."""
    return not np.any(w - v > theta)


def holds(v: Array, w: Array, xl: Array, xu: Array, gamma: Array) -> bool:
    """Return whether X is a full member of a box, and knows nothing that the box does not."""
    return membership(v, w, xl, xu, gamma) == 1 and not np.any(np.isnan(v) & ~np.isnan(xl))


def membership(v: Array, w: Array, xl: Array, xu: Array, gamma: Array) -> float:
    """Return b_i(X), the membership of X = [xl, xu] in the hyperbox [v, w] (eq. membership)."""
    return float(np.min(np.minimum(1 - ramp(xu - w, gamma), 1 - ramp(v - xl, gamma))))


def _case(vi: float, wi: float, vk: float, wk: float) -> tuple[int, float]:
    """Return which of the paper's four overlap cases holds in one dimension, and the overlap.

    The case is 0 if the two intervals do not overlap; i is the grown box. Where one of them is not
    known they overlap (5), but cannot be parted.
    """
    if np.isnan(vi) or np.isnan(vk):
        return 5, np.inf
    if wi <= wk and vi <= vk and wi > vk:
        return 1, wi - vk
    if wi > wk and vi > vk and wk > vi:
        return 2, wk - vi
    if wi > wk and vi <= vk:
        return 3, min(wk - vi, wi - vk)
    if wi <= wk and vi > vk:
        return 4, min(wi - vk, wk - vi)
    return 0, 0.0


def overlaps(vi: Array, wi: Array, vk: Array, wk: Array, kind: str) -> bool:
    """Return whether the grown box i overlaps box k in every dimension ("closed" or "paper")."""
    if kind == "closed":
        return not np.any((vi > wk) | (vk > wi))
    if kind == "paper":
        return all(_case(*sides)[0] != 0 for sides in zip(vi, wi, vk, wk, strict=True))
    raise ValueError(f"unknown overlap: {kind!r}")


def contract(vi: Array, wi: Array, vk: Array, wk: Array) -> None:
    """Remove the overlap of boxes i and k in place, in the dimension where it is least."""
    if not overlaps(vi, wi, vk, wk, "paper"):
        return
    d = -1
    delta_old = np.inf  # the paper's 1 would fail on boxes with longer sides
    for j in range(len(vi)):
        case_j, delta_new = _case(vi[j], wi[j], vk[j], wk[j])
        if delta_new < delta_old:
            d, case, delta_old = j, case_j, delta_new
    if d < 0:  # they know no feature in common
        return
    i_above_k = wk[d] - vi[d] <= wi[d] - vk[d]  # cases 3 and 4: i goes to the upper side of k
    if case == 1:
        wi[d] = vk[d] = (wi[d] + vk[d]) / 2
    elif case == 2:
        wk[d] = vi[d] = (wk[d] + vi[d]) / 2
    elif case == 3 and i_above_k:
        vi[d] = wk[d]
    elif case == 3:
        wi[d] = vk[d]
    elif i_above_k:
        wk[d] = vi[d]
    else:
        vk[d] = wi[d]


def similarity(vi: Array, wi: Array, vk: Array, wk: Array, gamma: Array, measure: str) -> float:
    """Return the similarity of two boxes: "longest", "shortest", "mid-max" or "mid-min"."""
    if measure == "shortest":
        return float(np.min(np.minimum(1 - ramp(vk - wi, gamma), 1 - ramp(vi - wk, gamma))))
    if measure == "longest":
        return float(np.min(np.minimum(1 - ramp(wk - vi, gamma), 1 - ramp(wi - vk, gamma))))
    # The middle distance is the membership of one box in the other, and not symmetric.
    s_ik = membership(vi, wi, vk, wk, gamma)
    s_ki = membership(vk, wk, vi, wi, gamma)
    return {"mid-max": max, "mid-min": min}[measure](s_ik, s_ki)


def joint_label(label: int, other: int) -> int:
    """Return the label of what is joined of two: of the one that has one."""
    return other if label == UNLABELLED else label


# --- What the algorithms share --------------------------------------------------------------------


class _Hyperboxes:
    """The list H = [V, W, L] while it is learned, with the samples in each box."""

    def __init__(self, V: Iterable, W: Iterable, L: Iterable, counts: Iterable) -> None:
        self.V = [np.array(v, dtype=np.float64) for v in V]  # copies: contraction writes to them
        self.W = [np.array(w, dtype=np.float64) for w in W]
        self.L = [int(label) for label in L]
        self.counts = [int(count) for count in counts]
        self.n_candidates = 0

    def append(self, xl: Array, xu: Array, label: int) -> None:
        """Add a box for one sample; it is never tested for overlap."""
        self.V.append(xl.copy())
        self.W.append(xu.copy())
        self.L.append(label)
        self.counts.append(1)

    def same_class(self, label: int) -> list[int]:
        """Return the places of H_1, the boxes of this class and those that may become so."""
        return [
            i for i, other in enumerate(self.L) if other == label or UNLABELLED in (label, other)
        ]

    def other_classes(self, label: int) -> list[int]:
        """Return the places of the labelled boxes that are not of this class."""
        return [i for i, other in enumerate(self.L) if other not in (label, UNLABELLED)]

    def is_overlap(self, vt: Array, wt: Array, label: int, kind: str) -> bool:
        """Return whether a grown box of class `label` overlaps any box of another class."""
        return any(overlaps(vt, wt, self.V[k], self.W[k], kind) for k in self.other_classes(label))

    def similarity(self, i: int, k: int, gamma: Array, measure: str) -> float:
        """Return the similarity of the boxes at two places."""
        return similarity(self.V[i], self.W[i], self.V[k], self.W[k], gamma, measure)

    def aggregate(self, i: int, k: int, theta: float, overlap: str) -> bool:
        """Try to merge boxes i and k into the earlier of their places; return whether it is done.

        Algorithm 2, lines 9-16 and Algorithm 3, lines 11-18.
        """
        self.n_candidates += 1
        vt, wt = hull(self.V[i], self.W[i], self.V[k], self.W[k])
        label = joint_label(self.L[i], self.L[k])
        if not is_small(vt, wt, theta) or self.is_overlap(vt, wt, label, overlap):
            return False
        earlier, later = min(i, k), max(i, k)
        self.V[earlier], self.W[earlier], self.L[earlier] = vt, wt, label
        self.counts[earlier] += self.counts[later]
        for column in (self.V, self.W, self.L, self.counts):
            del column[later]
        return True

    def model(self, n: int) -> Model:
        """Return the boxes, of n dimensions, as arrays."""
        return Model(
            lower=np.array(self.V, dtype=np.float64).reshape(-1, n),
            upper=np.array(self.W, dtype=np.float64).reshape(-1, n),
            labels=np.array(self.L, dtype=np.int64),
            counts=np.array(self.counts, dtype=np.int64),
            n_candidates=self.n_candidates,
        )


def _threshold(selection: str, theta: float, gamma: Array, sigma: float = 0.0) -> float:
    """Return the least membership or similarity of a candidate ("lemma": Lemmas 1 and 2)."""
    return {"all": sigma, "lemma": max(sigma, 1 - theta * np.max(gamma))}[selection]


def _sort_by_descending(values: dict, threshold: float) -> list:
    """Return the keys whose value reaches the threshold, largest value first, ties by lower key."""
    kept = [key for key, value in values.items() if value >= threshold]
    return sorted(kept, key=lambda key: (-values[key], key))


# --- Online learning ------------------------------------------------------------------------------


def online(
    xl: Array,
    xu: Array,
    y: Array,
    *,
    theta: float,
    gamma: Array,
    selection: str,
) -> Model:
    """Learn by Onln-GFMM, Algorithm 1 (selection "all") or 5 ("lemma")."""

    def expand(H: _Hyperboxes, h: int, vt: Array, wt: Array, label: int) -> bool:
        # Lines 18-25: the expanded box, as contracted so far, meets each box of another class.
        H.V[h], H.W[h], H.L[h] = vt, wt, label
        for i in H.other_classes(label):
            contract(H.V[h], H.W[h], H.V[i], H.W[i])
        return True

    return _learn_online(xl, xu, y, theta, gamma, selection, expand)


def improved_online(
    xl: Array,
    xu: Array,
    y: Array,
    *,
    theta: float,
    gamma: Array,
    selection: str,
    overlap: str,
) -> Model:
    """Learn by IOL-GFMM, Algorithm 4 (selection "all") or 6 ("lemma")."""

    def expand(H: _Hyperboxes, h: int, vt: Array, wt: Array, label: int) -> bool:
        # Lines 10-12: only where the expanded box overlaps no box of another class.
        if H.is_overlap(vt, wt, label, overlap):
            return False
        H.V[h], H.W[h], H.L[h] = vt, wt, label
        return True

    return _learn_online(xl, xu, y, theta, gamma, selection, expand)


def _learn_online(
    xl: Array,
    xu: Array,
    y: Array,
    theta: float,
    gamma: Array,
    selection: str,
    expand: Callable[[_Hyperboxes, int, Array, Array, int], bool],
) -> Model:
    """Run Algorithm 1; `expand` is what it does with a box that passes the size test."""
    H = _Hyperboxes([], [], [], [])
    threshold = _threshold(selection, theta, gamma)
    for x_l, x_u, label in zip(xl, xu, y.tolist(), strict=True):
        H_1 = H.same_class(label)
        M = {h: membership(H.V[h], H.W[h], x_l, x_u, gamma) for h in H_1}
        holders = [
            h
            for h in H_1
            if label in (H.L[h], UNLABELLED) and holds(H.V[h], H.W[h], x_l, x_u, gamma)
        ]
        if holders:
            H.counts[holders[0]] += 1
            continue
        flag = False
        for h in _sort_by_descending(M, threshold):  # line 12
            H.n_candidates += 1
            vt, wt = hull(H.V[h], H.W[h], x_l, x_u)
            flag = is_small(vt, wt, theta) and expand(H, h, vt, wt, joint_label(H.L[h], label))
            if flag:
                H.counts[h] += 1
                break
        if not flag:  # lines 29-31
            H.append(x_l, x_u, label)
    return H.model(xl.shape[1])


# --- Agglomerative learning -----------------------------------------------------------------------


def agglo_sm(
    xl: Array,
    xu: Array,
    y: Array,
    *,
    theta: float,
    gamma: Array,
    similarity: str,
    min_similarity: float,
    selection: str,
    overlap: str,
    counts: Array | None = None,
) -> Model:
    """Learn by AGGLO-SM, Algorithm 2 (selection "all") or 7 ("lemma")."""
    H = _Hyperboxes(xl, xu, y, np.ones(len(y)) if counts is None else counts)
    threshold = _threshold(selection, theta, gamma, min_similarity)
    loop = True
    while loop:
        loop = False
        pairs = [(i, k) for i in range(len(H.L)) for k in H.same_class(H.L[i]) if i < k]
        S = {(i, k): H.similarity(i, k, gamma, similarity) for i, k in pairs}
        S = {pair: s for pair, s in S.items() if s > 0}  # not in the paper, but in its counts
        for i, k in _sort_by_descending(S, threshold):
            if H.aggregate(i, k, theta, overlap):
                loop = True
                break
    return H.model(xl.shape[1])


def agglo2(
    xl: Array,
    xu: Array,
    y: Array,
    *,
    theta: float,
    gamma: Array,
    similarity: str,
    min_similarity: float,
    selection: str,
    overlap: str,
    counts: Array | None = None,
) -> Model:
    """Learn by AGGLO-2, Algorithm 3 (selection "all") or 8 ("lemma")."""
    H = _Hyperboxes(xl, xu, y, np.ones(len(y)) if counts is None else counts)
    threshold = _threshold(selection, theta, gamma, min_similarity)
    loop = True
    while loop:
        loop = False
        i = 0
        while i < len(H.L):
            H_1 = H.same_class(H.L[i])
            S = {k: H.similarity(i, k, gamma, similarity) for k in H_1 if k != i}
            for k in _sort_by_descending(S, threshold):
                if H.aggregate(i, k, theta, overlap):
                    loop = True
                    if i > k:
                        i = i - 1
                    break
            i = i + 1  # the box that followed B_i
    return H.model(xl.shape[1])


# --- Classification -------------------------------------------------------------------------------


def class_membership(model: Model, xl: Array, xu: Array, gamma: Array, n_classes: int) -> Array:
    """Return c_j (eq. tranferfunc) for each sample and class, 0 for a class without boxes."""
    c = np.zeros((len(xl), n_classes))
    for s in range(len(xl)):
        for v, w, j in zip(model.lower, model.upper, model.labels, strict=True):
            if j == UNLABELLED:
                continue
            c[s, j] = max(c[s, j], membership(v, w, xl[s], xu[s], gamma))
    return c


def predict(model: Model, xl: Array, xu: Array, gamma: Array, n_classes: int) -> Array:
    """Return the class index of each sample (subsection 3.4, "Classification phase")."""
    classes = [_classify(model, *X, gamma, n_classes) for X in zip(xl, xu, strict=True)]
    return np.array(classes, dtype=np.int64)


def _classify(model: Model, xl: Array, xu: Array, gamma: Array, n_classes: int) -> int:
    known = np.flatnonzero(model.labels != UNLABELLED)
    b_win, I_win = _nearest(model, known, xl, xu, gamma)
    # Boxes of one class only need no rule of their own: either rule below gives that class.
    if b_win == 1:
        for i in I_win:
            if model.counts[i] == 1:
                return int(model.labels[i])
    # P(c_k | X), eq. probcard, without the factor b_win and the denominator, common to all classes.
    P = [sum(int(model.counts[i]) for i in I_win if model.labels[i] == k) for k in range(n_classes)]
    return P.index(max(P))


def _nearest(
    model: Model, places: Array, xl: Array, xu: Array, gamma: Array
) -> tuple[float, list[int]]:
    """Return the largest membership among the boxes at some places, and the boxes that have it."""
    boxes = [(model.lower[i], model.upper[i]) for i in places]
    b = [membership(v, w, xl, xu, gamma) for v, w in boxes]
    if max(b) == 0:  # far outside: the nearest box by unclipped distance
        b = [-float(np.nanmax(gamma * np.maximum(xu - w, v - xl))) for v, w in boxes]
    b_win = max(b)
    return b_win, [int(i) for i, b_i in zip(places, b, strict=True) if b_i == b_win]


def decider(model: Model, label: int, xl: Array, xu: Array, gamma: Array) -> int:
    """Return the box of a class that decides for it (not in the paper)."""
    b_win, I_win = _nearest(model, np.flatnonzero(model.labels == label), xl, xu, gamma)
    others = np.flatnonzero((model.labels != label) & (model.labels != UNLABELLED))
    if b_win == 1 and len(others) and _nearest(model, others, xl, xu, gamma)[0] == 1:
        for i in I_win:
            if model.counts[i] == 1:
                return i
    return max(I_win, key=lambda i: (model.counts[i], -i))


# --- Clusters of boxes (not in the paper) ---------------------------------------------------------


def gap(model: Model, i: int, k: int, gamma: Array) -> float:
    """Return how far apart two boxes are in the feature where that is most."""
    apart = np.maximum(model.lower[k] - model.upper[i], model.lower[i] - model.upper[k])
    return float(np.max(gamma * np.where(np.isnan(apart), 0.0, np.maximum(apart, 0.0))))


def clusters(model: Model, gamma: Array, max_gap: float, min_samples: int) -> Array:
    """Return the cluster of each box, -1 for noise."""
    n_boxes = len(model.labels)
    found = np.full(n_boxes, -1)
    dense = [i for i in range(n_boxes) if model.counts[i] >= min_samples]
    for i in dense:
        if found[i] < 0:
            found[i] = max(found) + 1
            reached = [i]
            for j in reached:
                near = [k for k in dense if found[k] < 0 and gap(model, j, k, gamma) <= max_gap]
                found[near] = found[i]
                reached.extend(near)
    for i in set(range(n_boxes)) - set(dense):
        gaps = [(gap(model, i, k, gamma), k) for k in dense]
        if gaps and min(gaps)[0] <= max_gap:
            found[i] = found[min(gaps)[1]]
    return found


# --- Merging models (not in the paper) ------------------------------------------------------------


def parted(models: list[Model], overlap: str) -> Model:
    """Return the boxes of all models, most samples first, those of several classes cut apart."""
    V, W, L, counts = (
        np.concatenate([getattr(model, name) for model in models])
        for name in ("lower", "upper", "labels", "counts")
    )

    def key(i: int) -> list[float]:
        label = np.nan if L[i] == UNLABELLED else L[i]
        return [np.inf if np.isnan(x) else x for x in (-counts[i], label, *V[i], *W[i])]

    order = sorted(range(len(L)), key=key)
    V, W, L, counts = V[order], W[order], L[order], counts[order]
    for i in range(len(L)):
        for k in range(i + 1, len(L)):
            are_rivals = L[i] != L[k] and UNLABELLED not in (L[i], L[k])
            can_be_cut = are_rivals and counts[i] > 1 and counts[k] > 1
            if can_be_cut and overlaps(V[i], W[i], V[k], W[k], overlap):
                _cut_apart(V, W, counts, i, k, overlap)
    return Model(V, W, L, counts, 0)


def _cut_apart(V: Array, W: Array, counts: Array, i: int, k: int, overlap: str) -> None:
    """Cut one of two boxes where that costs the fewest samples, were they spread evenly."""
    cuts = []
    for box, other in ((i, k), (k, i)):
        for j in range(V.shape[1]):
            side = W[box, j] - V[box, j]
            if V[other, j] > V[box, j]:
                cost = counts[box] * ((W[box, j] - V[other, j]) / side)
                cuts.append((cost, len(cuts), W, box, j, V[other, j], -np.inf))
            if W[other, j] < W[box, j]:
                cost = counts[box] * ((W[other, j] - V[box, j]) / side)
                cuts.append((cost, len(cuts), V, box, j, W[other, j], np.inf))
    if cuts:
        _, _, ends, box, j, face, away = min(cuts)
        ends[box, j] = np.nextafter(face, away) if overlap == "closed" else face
