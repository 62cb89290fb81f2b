"""Algorithms 1 to 8 of Khuat & Gabrys (accelerated learning of GFMM) in plain NumPy.

Slow on purpose: it reads like the paper's pseudo-code, and the library is compared with it bit for
bit. Candidates come by membership or similarity, largest first, ties by lower index.

Where the paper's runs differ from its text, both are here. They differ in the overlap of boxes with
equal ends ("paper" as run, "printed" as written), in where AGGLO-2 leaves a merged box (`printed`
for Algorithm 3 as written), and in AGGLO-SM's pairs of similarity 0, which the runs leave out. Here
they are left out where the lemma shows that they cannot merge, so that no pair is left that can.

Beyond the paper, NaN stands for what is not known: a value that a sample lacks, the bounds of a box
in a feature that none of its samples had. It holds nothing back: membership and similarity are 1
there, any size will do, and the overlap is decided by the other features.

Beyond the paper too, samples and boxes may have no label. They join what has any label or none, and
take it on; a box without one must not grow over a labelled one.

Beyond the paper as well, online learners may have a budget of boxes. A sample confirms the box that
it joins or becomes. When there are `max_boxes`, a new box takes the place of the one that was
confirmed longest ago.

The membership of a pattern is the least of its features' (the paper, "min") or their mean (Simpson,
1993, "mean"), added up in the order of the features; similarities likewise.
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
    confirmed: Array | None = None  # (m,) int64, the last sample of each box, of online learners


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


def holds(v: Array, w: Array, xl: Array, xu: Array, gamma: Array, function: str) -> bool:
    """Return whether X is a full member of a box, and knows nothing that the box does not."""
    is_member = membership(v, w, xl, xu, gamma, function) == 1
    return is_member and not np.any(np.isnan(v) & ~np.isnan(xl))


def membership(
    v: Array, w: Array, xl: Array, xu: Array, gamma: Array, function: str = "min"
) -> float:
    """Return b_i(X), the membership of X = [xl, xu] in the hyperbox [v, w] (eq. membership)."""
    return degree(ramp(xu - w, gamma), ramp(v - xl, gamma), function)


def degree(above: Array, below: Array, function: str) -> float:
    """Return the membership of what misses a box by so much of its reach in each feature."""
    if function == "min":
        return float(np.min(np.minimum(1 - above, 1 - below)))
    return 1.0 - in_order(np.maximum(above, below)) / len(above)


def in_order(values: Array) -> float:
    """Return a sum, added up in the order of the features."""
    total = 0.0
    for value in values:
        total += value
    return float(total)


def _case(vi: float, wi: float, vk: float, wk: float, kind: str) -> tuple[int, float]:
    """Return which of the paper's four overlap cases holds in one dimension, and the overlap.

    The case is 0 if the two intervals do not overlap; i is the grown box. Where one of them is not
    known they overlap (5), but cannot be parted. Intervals with an equal end may overlap by `kind`
    "paper", but not by the inequalities as "printed", which are strict.
    """
    if np.isnan(vi) or np.isnan(vk):
        return 5, np.inf
    if kind == "printed" and (vi == vk or wi == wk):
        return 0, 0.0
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
    """Return whether the grown box i overlaps box k in every dimension.

    `kind` is "closed", "paper" or "printed".
    """
    if kind == "closed":
        return not np.any((vi > wk) | (vk > wi))
    if kind in ("paper", "printed"):
        return all(_case(*sides, kind)[0] != 0 for sides in zip(vi, wi, vk, wk, strict=True))
    raise ValueError(f"unknown overlap: {kind!r}")


def contract(vi: Array, wi: Array, vk: Array, wk: Array, kind: str = "paper") -> None:
    """Remove the overlap of boxes i and k in place, in the dimension where it is least."""
    if not overlaps(vi, wi, vk, wk, kind):
        return
    d = -1
    delta_old = np.inf  # the paper's 1 would fail on boxes with longer sides
    for j in range(len(vi)):
        case_j, delta_new = _case(vi[j], wi[j], vk[j], wk[j], kind)
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


def similarity(
    vi: Array, wi: Array, vk: Array, wk: Array, gamma: Array, measure: str, function: str = "min"
) -> float:
    """Return the similarity of two boxes: "longest", "shortest", "mid-max" or "mid-min"."""
    if measure == "shortest":
        return degree(ramp(vk - wi, gamma), ramp(vi - wk, gamma), function)
    if measure == "longest":
        return degree(ramp(wk - vi, gamma), ramp(wi - vk, gamma), function)
    # The middle distance is the membership of one box in the other, and not symmetric.
    s_ik = membership(vi, wi, vk, wk, gamma, function)
    s_ki = membership(vk, wk, vi, wi, gamma, function)
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
        self.confirmed: list[int] = []  # of online learners
        self.n_candidates = 0

    def append(self, xl: Array, xu: Array, label: int) -> None:
        """Add a box for one sample; it is never tested for overlap."""
        self.V.append(xl.copy())
        self.W.append(xu.copy())
        self.L.append(label)
        self.counts.append(1)

    def forget_one(self) -> None:
        """Let the newest box take the place of the one that was confirmed longest ago."""
        oldest = min(range(len(self.L) - 1), key=lambda i: (self.confirmed[i], i))
        for column in (self.V, self.W, self.L, self.counts, self.confirmed):
            column[oldest] = column.pop()

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

    def similarity(self, i: int, k: int, gamma: Array, measure: str, function: str) -> float:
        """Return the similarity of the boxes at two places."""
        return similarity(self.V[i], self.W[i], self.V[k], self.W[k], gamma, measure, function)

    def aggregate(self, i: int, k: int, theta: float, overlap: str) -> bool:
        """Try to merge box k into box i, at the place of i; return whether it is done.

        Algorithm 2, lines 9-16 and Algorithm 3, lines 11-18.
        """
        self.n_candidates += 1
        vt, wt = hull(self.V[i], self.W[i], self.V[k], self.W[k])
        label = joint_label(self.L[i], self.L[k])
        if not is_small(vt, wt, theta) or self.is_overlap(vt, wt, label, overlap):
            return False
        self.V[i], self.W[i], self.L[i] = vt, wt, label
        self.counts[i] += self.counts[k]
        for column in (self.V, self.W, self.L, self.counts):
            del column[k]
        return True

    def model(self, n: int) -> Model:
        """Return the boxes, of n dimensions, as arrays."""
        return Model(
            lower=np.array(self.V, dtype=np.float64).reshape(-1, n),
            upper=np.array(self.W, dtype=np.float64).reshape(-1, n),
            labels=np.array(self.L, dtype=np.int64),
            counts=np.array(self.counts, dtype=np.int64),
            n_candidates=self.n_candidates,
            confirmed=np.array(self.confirmed, dtype=np.int64),
        )


def lemma(theta: float, gamma: Array, function: str) -> float:
    """Return the least membership or similarity of what may fit (Lemmas 1 and 2).

    No feature is missed by more than theta. Added up like any other, that is not lost to rounding.
    """
    if function == "min":
        return float(1 - theta * np.max(gamma))
    missed = ramp(np.full(len(gamma), theta), gamma)
    return degree(missed, missed, function)


def _threshold(
    selection: str, theta: float, gamma: Array, function: str, sigma: float = 0.0
) -> float:
    """Return the least membership or similarity of a candidate."""
    return max(sigma, lemma(theta, gamma, function)) if selection == "lemma" else sigma


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
    overlap: str = "paper",
    membership_function: str = "min",
    max_boxes: int | None = None,
) -> Model:
    """Learn by Onln-GFMM, Algorithm 1 (selection "all") or 5 ("lemma")."""

    def expand(H: _Hyperboxes, h: int, vt: Array, wt: Array, label: int) -> bool:
        # Lines 18-25: the expanded box, as contracted so far, meets each box of another class.
        H.V[h], H.W[h], H.L[h] = vt, wt, label
        for i in H.other_classes(label):
            contract(H.V[h], H.W[h], H.V[i], H.W[i], overlap)
        return True

    return _learn_online(xl, xu, y, theta, gamma, membership_function, selection, max_boxes, expand)


def improved_online(
    xl: Array,
    xu: Array,
    y: Array,
    *,
    theta: float,
    gamma: Array,
    selection: str,
    overlap: str,
    membership_function: str = "min",
    max_boxes: int | None = None,
) -> Model:
    """Learn by IOL-GFMM, Algorithm 4 (selection "all") or 6 ("lemma")."""

    def expand(H: _Hyperboxes, h: int, vt: Array, wt: Array, label: int) -> bool:
        # Lines 10-12: only where the expanded box overlaps no box of another class.
        if H.is_overlap(vt, wt, label, overlap):
            return False
        H.V[h], H.W[h], H.L[h] = vt, wt, label
        return True

    return _learn_online(xl, xu, y, theta, gamma, membership_function, selection, max_boxes, expand)


def _learn_online(
    xl: Array,
    xu: Array,
    y: Array,
    theta: float,
    gamma: Array,
    function: str,
    selection: str,
    max_boxes: int | None,
    expand: Callable[[_Hyperboxes, int, Array, Array, int], bool],
) -> Model:
    """Run Algorithm 1; `expand` is what it does with a box that passes the size test."""
    H = _Hyperboxes([], [], [], [])
    threshold = _threshold(selection, theta, gamma, function)
    for sample, (x_l, x_u, label) in enumerate(zip(xl, xu, y.tolist(), strict=True)):
        H_1 = H.same_class(label)
        M = {h: membership(H.V[h], H.W[h], x_l, x_u, gamma, function) for h in H_1}
        holders = [
            h
            for h in H_1
            if label in (H.L[h], UNLABELLED) and holds(H.V[h], H.W[h], x_l, x_u, gamma, function)
        ]
        if holders:
            H.counts[holders[0]] += 1
            H.confirmed[holders[0]] = sample
            continue
        flag = False
        for h in _sort_by_descending(M, threshold):  # line 12
            H.n_candidates += 1
            vt, wt = hull(H.V[h], H.W[h], x_l, x_u)
            flag = is_small(vt, wt, theta) and expand(H, h, vt, wt, joint_label(H.L[h], label))
            if flag:
                H.counts[h] += 1
                H.confirmed[h] = sample
                break
        if not flag:  # lines 29-31
            H.append(x_l, x_u, label)
            H.confirmed.append(sample)
            if max_boxes is not None and len(H.L) > max_boxes:
                H.forget_one()
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
    membership_function: str = "min",
) -> Model:
    """Learn by AGGLO-SM, Algorithm 2 (selection "all") or 7 ("lemma")."""
    H = _Hyperboxes(xl, xu, y, np.ones(len(y)) if counts is None else counts)
    threshold = _threshold(selection, theta, gamma, membership_function, min_similarity)
    loop = True
    while loop:
        loop = False
        pairs = [(i, k) for i in range(len(H.L)) for k in H.same_class(H.L[i]) if i < k]
        function = membership_function
        S = {(i, k): H.similarity(i, k, gamma, similarity, function) for i, k in pairs}
        if lemma(theta, gamma, function) > 0:  # as the paper's counts have it
            S = {pair: s for pair, s in S.items() if s > 0}
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
    membership_function: str = "min",
    printed: bool = False,
) -> Model:
    """Learn by AGGLO-2, Algorithm 3 (selection "all") or 8 ("lemma").

    As `printed`, a merged box stays at the place of the visited box i. In the paper's runs it takes
    the earlier place of the two, so boxes tie and are visited in another order afterwards.
    """
    H = _Hyperboxes(xl, xu, y, np.ones(len(y)) if counts is None else counts)
    threshold = _threshold(selection, theta, gamma, membership_function, min_similarity)
    loop = True
    while loop:
        loop = False
        i = 0
        while i < len(H.L):
            H_1 = H.same_class(H.L[i])
            function = membership_function
            S = {k: H.similarity(i, k, gamma, similarity, function) for k in H_1 if k != i}
            for k in _sort_by_descending(S, threshold):
                earlier, later = (i, k) if printed else (min(i, k), max(i, k))
                if H.aggregate(earlier, later, theta, overlap):
                    loop = True
                    if i > k:
                        i = i - 1
                    break
            i = i + 1  # the box that followed B_i
    return H.model(xl.shape[1])


# --- Classification -------------------------------------------------------------------------------


def class_membership(
    model: Model, xl: Array, xu: Array, gamma: Array, n_classes: int, function: str = "min"
) -> Array:
    """Return c_j (eq. tranferfunc) for each sample and output node, 0 for one without boxes.

    There are p + 1 nodes for p classes; the first is that of the boxes without a label.
    """
    c = np.zeros((len(xl), 1 + n_classes))
    for s in range(len(xl)):
        for v, w, label in zip(model.lower, model.upper, model.labels, strict=True):
            j = 0 if label == UNLABELLED else 1 + label
            c[s, j] = max(c[s, j], membership(v, w, xl[s], xu[s], gamma, function))
    return c


def predict(
    model: Model,
    xl: Array,
    xu: Array,
    gamma: Array,
    n_classes: int,
    function: str = "min",
    *,
    calibrated: bool = False,
) -> Array:
    """Return the class index of each sample (subsection 3.4, "Classification phase").

    The package's calibrated models let a box of a single sample decide only if it and the sample
    have values in all features (not in the paper, which has complete samples).
    """
    settings = gamma, n_classes, function, calibrated
    classes = [_classify(model, *X, *settings) for X in zip(xl, xu, strict=True)]
    return np.array(classes, dtype=np.int64)


def _classify(
    model: Model,
    xl: Array,
    xu: Array,
    gamma: Array,
    n_classes: int,
    function: str,
    calibrated: bool,
) -> int:
    known = np.flatnonzero(model.labels != UNLABELLED)
    b_win, I_win = _nearest(model, known, xl, xu, gamma, function)
    # Boxes of one class only need no rule of their own: either rule below gives that class.
    if b_win == 1:
        for i in I_win:
            if _may_settle(model, i, xl, calibrated):
                return int(model.labels[i])
    # P(c_k | X), eq. probcard, without the factor b_win and the denominator, common to all classes.
    P = [sum(int(model.counts[i]) for i in I_win if model.labels[i] == k) for k in range(n_classes)]
    return P.index(max(P))


def _may_settle(model: Model, i: int, xl: Array, calibrated: bool) -> bool:
    features = ~np.isnan(model.lower[model.labels != UNLABELLED]).all(axis=0)
    is_missing = np.isnan(model.lower[i]) | np.isnan(xl)
    return bool(model.counts[i] == 1 and not (calibrated and is_missing[features].any()))


def _nearest(
    model: Model, places: Array, xl: Array, xu: Array, gamma: Array, function: str
) -> tuple[float, list[int]]:
    """Return the largest membership among the boxes at some places, and the boxes that have it."""
    boxes = [(model.lower[i], model.upper[i]) for i in places]
    b = [membership(v, w, xl, xu, gamma, function) for v, w in boxes]
    if max(b) == 0:  # far outside: the nearest box by unclipped distance
        gaps = [np.nan_to_num(gamma * np.maximum(xu - w, v - xl)) for v, w in boxes]
        if function == "min":
            b = [-float(gap.max()) for gap in gaps]
        else:
            b = [-in_order(gap) / len(gap) for gap in gaps]
    b_win = max(b)
    return b_win, [int(i) for i, b_i in zip(places, b, strict=True) if b_i == b_win]


def decider(
    model: Model,
    label: int,
    xl: Array,
    xu: Array,
    gamma: Array,
    function: str = "min",
    *,
    calibrated: bool = False,
) -> int:
    """Return the box of a class that decides for it (not in the paper)."""
    own = np.flatnonzero(model.labels == label)
    others = np.flatnonzero((model.labels != label) & (model.labels != UNLABELLED))
    b_win, I_win = _nearest(model, own, xl, xu, gamma, function)
    if b_win == 1 and len(others) and _nearest(model, others, xl, xu, gamma, function)[0] == 1:
        for i in I_win:
            if _may_settle(model, i, xl, calibrated):
                return i
    return max(I_win, key=lambda i: (model.counts[i], -i))
