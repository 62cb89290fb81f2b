"""`matrix_gfmm`: online learning as array operations over all boxes, on any device."""

from __future__ import annotations

from typing import Any, NamedTuple

from hyperboxes._compat import array_api_compat

# Boxes for which there is room at first; there is twice as much whenever it is full.
_CAPACITY = 256

_ALGORITHMS = ("onln-gfmm", "iol-gfmm")
_SELECTIONS = ("all", "lemma")


class MatrixBoxes(NamedTuple):
    """Boxes as arrays of the library and on the device of the samples, and the candidates tried."""

    lower: Any
    upper: Any
    labels: Any
    counts: Any
    n_candidates: int


def matrix_gfmm(
    X: Any,
    y: Any,
    *,
    algorithm: str = "iol-gfmm",
    theta: float = 0.5,
    gamma: float = 1.0,
    selection: str = "all",
) -> MatrixBoxes:
    """Learn the boxes of Onln-GFMM or IOL-GFMM in matrix form [1]_, in the order of the samples.

    Each step for a sample is an array operation over all boxes and features. `X` and `y` may be
    arrays of any library with the Python array API, such as NumPy, PyTorch and CuPy.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The samples, real numbers in [0, 1].
    y : array of shape (n_samples,)
        Their classes, integers, of the same library and on the same device.
    algorithm : {"iol-gfmm", "onln-gfmm"}, default="iol-gfmm"
        ``"iol-gfmm"``: a box grows only where it shares no point with another class (Algorithm 4).
        ``"onln-gfmm"``: boxes grow, and are then contracted (Algorithm 1).
    theta : float, default=0.5
        The longest side of a box.
    gamma : float, default=1.0
        How fast memberships fall with the distance from a box.
    selection : {"all", "lemma"}, default="all"
        Whether all boxes of the class are candidates, or those that the paper's lemma allows. The
        boxes are the same.

    Returns
    -------
    boxes : MatrixBoxes
        Arrays `lower`, `upper`, `labels` and `counts` with a row for each box, and the number
        `n_candidates`.

    Notes
    -----
    In float64 the boxes are bit for bit those of :class:`~hyperboxes.ImprovedOnlineGFMM` and
    :class:`~hyperboxes.OnlineGFMM` with ``membership_function="min"``, ``shuffle=False`` and
    ``scaling=None``. In float32, for devices without float64, everything is computed and rounded in
    float32: where distances are nearly equal or sides nearly `theta`, boxes may differ.

    A sample is learned after the one before it, and each takes a number of small operations. The
    compiled estimators are faster unless there are thousands of features.

    References
    ----------
    .. [1] T. T. Khuat and B. Gabrys, "Accelerated training algorithms of general fuzzy min-max
       neural network using GPU for very high dimensional data", ICONIP 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperboxes.literature import matrix_gfmm
    >>> X = np.array([[0.1, 0.2], [0.3, 0.2], [0.8, 0.9], [0.7, 0.8]])
    >>> boxes = matrix_gfmm(X, np.array([0, 0, 1, 1]), theta=0.3)
    >>> boxes.lower, boxes.upper
    (array([[0.1, 0.2],
           [0.7, 0.8]]), array([[0.3, 0.2],
           [0.8, 0.9]]))
    """
    if algorithm not in _ALGORITHMS or selection not in _SELECTIONS:
        raise ValueError(
            f"algorithm is one of {_ALGORITHMS} and selection one of {_SELECTIONS}, not "
            f"{algorithm!r} and {selection!r}."
        )
    if not (theta > 0 and gamma > 0):
        raise ValueError(f"theta and gamma must be positive, got {theta!r} and {gamma!r}.")
    boxes = _MatrixBoxes(*_check_samples(X, y), theta=theta, gamma=gamma)
    threshold = 1 - theta * gamma if selection == "lemma" else 0.0
    for row in range(X.shape[0]):
        boxes.learn(X[row, :], y[row], threshold, contracts=algorithm == "onln-gfmm")
    return boxes.in_use()


def _check_samples(X: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return the library of samples and their classes, and both."""
    if array_api_compat is None:
        raise ImportError("matrix_gfmm needs scikit-learn 1.7: pip install 'scikit-learn>=1.7'")
    try:
        xp = array_api_compat.array_namespace(X, y)
    except TypeError as error:
        raise TypeError(
            "X and y must be arrays of one library with the Python array API, not "
            f"{type(X).__name__} and {type(y).__name__}."
        ) from error
    devices = [array_api_compat.device(array) for array in (X, y)]
    if devices[0] != devices[1]:
        raise ValueError(
            f"X is on {devices[0]} and y on {devices[1]}: move one to the other's device."
        )
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(
            "X must have the shape (n_samples, n_features) and y (n_samples,), got "
            f"{tuple(X.shape)} and {tuple(y.shape)}."
        )
    if not xp.isdtype(X.dtype, "real floating") or not xp.isdtype(y.dtype, "integral"):
        raise TypeError(
            f"X must have real numbers and y integers, got {X.dtype} and {y.dtype}: convert X to "
            "float64 and encode y with sklearn.preprocessing.LabelEncoder."
        )
    if not bool(xp.all(xp.isfinite(X))):
        raise ValueError("X has NaN or infinite numbers: impute them or leave out their samples.")
    return xp, X, y


class _MatrixBoxes:
    """Boxes that grow: arrays with room for more, of which the first `n_boxes` are in use."""

    def __init__(self, xp: Any, X: Any, y: Any, *, theta: float, gamma: float) -> None:
        self.xp, self.theta, self.gamma = xp, theta, gamma
        self.n_boxes = self.n_candidates = 0
        shape, on = (_CAPACITY, X.shape[1]), array_api_compat.device(X)
        self.lower = xp.empty(shape, dtype=X.dtype, device=on)
        self.upper = xp.empty(shape, dtype=X.dtype, device=on)
        self.labels = xp.empty(_CAPACITY, dtype=y.dtype, device=on)
        self.counts = xp.zeros(_CAPACITY, dtype=xp.int64, device=on)

    def in_use(self) -> MatrixBoxes:
        """Return the boxes without the room for more."""
        rows = self.lower, self.upper, self.labels, self.counts
        lower, upper, labels, counts = (array[: self.n_boxes, ...] for array in rows)
        return MatrixBoxes(lower, upper, labels, counts, self.n_candidates)

    def learn(self, x: Any, label: Any, threshold: float, *, contracts: bool) -> None:
        """Learn a sample."""
        xp = self.xp
        lower, upper, labels, _, _ = self.in_use()
        is_own = labels == label
        box = -1
        if bool(xp.any(is_own)):
            gaps = xp.max(xp.maximum(x - upper, lower - x) * self.gamma, axis=1)
            membership = 1 - xp.clip(gaps, 0.0, 1.0)
            is_full = is_own & (membership == 1)
            if bool(xp.any(is_full)):
                self.counts[int(xp.argmax(xp.astype(is_full, xp.int64)))] += 1
                return
            is_candidate = is_own & (membership >= threshold)
            box = self._grow(x, label, membership, is_candidate, contracts=contracts)
        if box < 0:
            box = self._add(x, label)
        self.counts[box] += 1

    def _grow(
        self, x: Any, label: Any, membership: Any, is_candidate: Any, *, contracts: bool
    ) -> int:
        """Grow the first candidate that may contain the sample; return it, -1 for none."""
        xp = self.xp
        lower, upper, labels, _, _ = self.in_use()
        sides = xp.maximum(upper, x) - xp.minimum(lower, x)
        may_grow = is_candidate & xp.all(sides <= self.theta, axis=1)
        # Those that are no candidates come last.
        rank = xp.where(is_candidate, -membership, xp.ones_like(membership))
        order = xp.argsort(rank, stable=True)
        is_other = labels != label
        for place in _indices(xp, xp.take(may_grow, order)):
            box = int(order[place])
            v, w = xp.minimum(lower[box, :], x), xp.maximum(upper[box, :], x)
            if not contracts and bool(xp.any(is_other & _share_points(xp, v, w, lower, upper))):
                continue
            self.lower[box, :], self.upper[box, :] = v, w
            self.n_candidates += place + 1
            if contracts:
                self._contract_all(box, is_other)
            return box
        self.n_candidates += int(xp.sum(xp.astype(is_candidate, xp.int64)))
        return -1

    def _contract_all(self, box: int, is_other: Any) -> None:
        """Contract a grown box and each box of another class that it overlaps, oldest first."""
        xp = self.xp
        lower, upper, *_ = self.in_use()
        for k in _indices(xp, is_other & _overlap(xp, lower[box, :], upper[box, :], lower, upper)):
            v, w, vk, wk = (a[row, :] for row in (box, k) for a in (self.lower, self.upper))
            # The box may have become smaller.
            if bool(_overlap(xp, v, w, vk[None, :], wk[None, :])[0]):
                j = int(xp.argmin(xp.minimum(wk - v, w - vk)))
                self._contract(box, k, j)

    def _contract(self, i: int, k: int, j: int) -> None:
        """Move the faces of two boxes apart in a feature: the paper's four cases."""
        lower, upper = self.lower, self.upper
        vi, wi, vk, wk = (float(a[row, j]) for row in (i, k) for a in (lower, upper))
        if vi <= vk and wi <= wk:
            upper[i, j] = lower[k, j] = (wi + vk) / 2
        elif vi > vk and wi > wk:
            lower[i, j] = upper[k, j] = (wk + vi) / 2
        elif wi > wk:
            if wk - vi <= wi - vk:
                lower[i, j] = wk
            else:
                upper[i, j] = vk
        elif wk - vi <= wi - vk:
            upper[k, j] = vi
        else:
            lower[k, j] = wi

    def _add(self, x: Any, label: Any) -> int:
        """Make the sample a box, and room for twice as many if there is none."""
        box = self.n_boxes
        if box == self.labels.shape[0]:
            for name in ("lower", "upper", "labels", "counts"):
                array = getattr(self, name)
                setattr(self, name, self.xp.concat([array, self.xp.zeros_like(array)]))
        self.lower[box, :] = self.upper[box, :] = x
        self.labels[box] = label
        self.n_boxes += 1
        return box


def _indices(xp: Any, mask: Any) -> list[int]:
    """Return the indices of what is true."""
    found = xp.nonzero(mask)[0]
    return [int(found[i]) for i in range(found.shape[0])]


def _share_points(xp: Any, v: Any, w: Any, lower: Any, upper: Any) -> Any:
    """Return which boxes share a point with [v, w]."""
    return xp.all((v <= upper) & (lower <= w), axis=1)


def _overlap(xp: Any, v: Any, w: Any, lower: Any, upper: Any) -> Any:
    """Return which boxes [v, w] overlaps in one of the paper's four cases in each feature."""
    is_before = (v <= lower) & (w <= upper) & (w <= lower)
    is_after = (v > lower) & (w > upper) & (upper <= v)
    return ~xp.any(is_before | is_after, axis=1)
