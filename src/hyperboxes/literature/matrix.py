"""`matrix_gfmm`: online learning as array operations over all boxes, on any device."""

from numbers import Real
from typing import Any, NamedTuple

from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from hyperboxes._compat import array_api_compat

# Boxes for which there is room at first; there is twice as much whenever it is full.
_CAPACITY = 256


class MatrixBoxes(NamedTuple):
    """Boxes as arrays of the library and on the device of the samples, and the candidates tried."""

    lower: Any
    upper: Any
    labels: Any
    counts: Any
    n_candidates: int


@validate_params(
    {
        "algorithm": [StrOptions({"iol-gfmm", "onln-gfmm"})],
        "theta": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "selection": [StrOptions({"all", "lemma"})],
    },
    prefer_skip_nested_validation=True,
)
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
    ``scaling=None``. With float32, for devices without float64, memberships and sides are rounded
    to float32: boxes may differ where memberships are nearly equal or sides nearly `theta`.

    Samples are learned one after the other, each by some operations on arrays, so on a processor
    the compiled estimators are faster.

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
    xp, on = _check_samples(X, y)
    contracts = algorithm == "onln-gfmm"
    threshold = 1 - theta * gamma if selection == "lemma" else 0.0
    lower = upper = xp.empty((0, X.shape[1]), dtype=X.dtype, device=on)
    labels = xp.empty(0, dtype=y.dtype, device=on)
    counts = xp.empty(0, dtype=xp.int64, device=on)
    n_boxes = n_candidates = 0
    for row in range(X.shape[0]):
        if n_boxes == labels.shape[0]:
            arrays, n_more = (lower, upper, labels, counts), max(n_boxes, _CAPACITY)
            lower, upper, labels, counts = (
                xp.concat([old, xp.zeros((n_more, *old.shape[1:]), dtype=old.dtype, device=on)])
                for old in arrays
            )
        x, label = X[row, :], y[row]
        V, W = lower[:n_boxes, :], upper[:n_boxes, :]
        is_own = labels[:n_boxes] == label
        gaps = xp.max(xp.maximum(x - W, V - x) * gamma, axis=1)
        membership = 1 - xp.clip(gaps, 0.0, 1.0)
        if found := _indices(xp, is_own & (membership == 1)):
            counts[found[0]] += 1
            continue
        is_candidate = is_own & (membership >= threshold)
        sides = xp.maximum(W, x) - xp.minimum(V, x)
        may_grow = is_candidate & xp.all(sides <= theta, axis=1)
        # Those that are no candidates come last.
        ranks = xp.where(is_candidate, -membership, xp.ones_like(membership))
        order = xp.argsort(ranks, stable=True)
        for place in _indices(xp, xp.take(may_grow, order)):
            box = int(order[place])
            v, w = xp.minimum(V[box, :], x), xp.maximum(W[box, :], x)
            if contracts:
                rivals = _indices(xp, ~is_own & _overlap(xp, v, w, V, W))
            elif bool(xp.any(~is_own & xp.all((v <= W) & (w >= V), axis=1))):
                continue
            lower[box, :], upper[box, :] = v, w
            for rival in rivals if contracts else []:
                _contract(xp, lower, upper, box, rival)
            n_candidates += place + 1
            break
        else:
            n_candidates += int(xp.sum(xp.astype(is_candidate, xp.int64)))
            box, n_boxes = n_boxes, n_boxes + 1
            lower[box, :] = upper[box, :] = x
            labels[box] = label
        counts[box] += 1
    rows = [array[:n_boxes, ...] for array in (lower, upper, labels, counts)]
    return MatrixBoxes._make([*rows, n_candidates])


def _check_samples(X: Any, y: Any) -> tuple[Any, Any]:
    """Return the library and the device of samples and their classes."""
    if array_api_compat is None:
        raise ImportError("matrix_gfmm needs scikit-learn 1.7: pip install 'scikit-learn>=1.7'")
    try:
        xp = array_api_compat.array_namespace(X, y)
    except TypeError as error:
        raise TypeError(
            "X and y must be arrays of one library with the Python array API, not "
            f"{type(X).__name__} and {type(y).__name__}."
        ) from error
    on, of_labels = map(array_api_compat.device, (X, y))
    if on != of_labels:
        raise ValueError(f"X is on {on} and y on {of_labels}: move one to the other's device.")
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
    return xp, on


def _indices(xp: Any, mask: Any) -> list[int]:
    """Return the indices of what is true."""
    found = xp.nonzero(mask)[0]
    return [int(found[i]) for i in range(found.shape[0])]


def _overlap(xp: Any, v: Any, w: Any, lower: Any, upper: Any) -> Any:
    """Return which boxes [v, w] overlaps in one of the paper's four cases in each feature."""
    is_before = (v <= lower) & (w <= upper) & (w <= lower)
    is_after = (v > lower) & (w > upper) & (upper <= v)
    return ~xp.any(is_before | is_after, axis=1)


def _contract(xp: Any, lower: Any, upper: Any, i: int, k: int) -> None:
    """Part two boxes where they overlap least, if they do: the paper's four cases."""
    v, w = lower[i, :], upper[i, :]
    if not bool(_overlap(xp, v, w, lower[k : k + 1, :], upper[k : k + 1, :])[0]):
        return  # an earlier contraction has parted them
    j = int(xp.argmin(xp.minimum(upper[k, :] - v, w - lower[k, :])))
    vi, wi, vk, wk = (float(ends[box, j]) for box in (i, k) for ends in (lower, upper))
    is_upper = wk - vi <= wi - vk
    if vi <= vk and wi <= wk:
        upper[i, j] = lower[k, j] = (wi + vk) / 2
    elif vi > vk and wi > wk:
        lower[i, j] = upper[k, j] = (wk + vi) / 2
    elif wi > wk:
        ends, end = (lower, wk) if is_upper else (upper, vk)
        ends[i, j] = end
    else:
        ends, end = (upper, vi) if is_upper else (lower, wi)
        ends[k, j] = end
