"""The learners that keep overlaps and settle them at prediction, in plain NumPy.

They are written from descriptions of the papers, as literally as these allow, and slow on purpose:
EIFMM (Bargiela, Pedrycz, Tanaka 2004), FMCN (Nandedkar, Biswas 2007), DCFMN (Zhang et al. 2011) and
MLF (Davtalab, Dezfoulian, Mansoorizadeh 2014). All grow boxes by one loop and record where boxes of
two classes meet; they differ in what they make of it.

NaN stands for what is not known, and samples and boxes may have no label, as in `reference`.
"""

from dataclasses import dataclass

import numpy as np

from tests.reference import (
    UNLABELLED,
    Array,
    Model,
    _Hyperboxes,
    _nearest,
    holds,
    hull,
    in_order,
    is_small,
    joint_label,
    lemma,
    membership,
    overlaps,
)
from tests.reference_family import has_small_sum, lemma_of_sums

# --- Growth ---------------------------------------------------------------------------------------


def grow(
    xl: Array,
    xu: Array,
    y: Array,
    *,
    theta: float,
    gamma: Array,
    function: str = "min",
    selection: str = "all",
    size: str = "max",
    locks: bool = False,
    by_centre: bool = False,
) -> tuple[Model, list[list[int]]]:
    """Learn boxes that only grow; return them and the samples that each has absorbed, in order.

    By `size` theta bounds the sides of a box or their mean. Candidates come by membership, or by
    the distance of the sample from their centres. With `locks` a box that meets another class grows
    no more.
    """
    H = _Hyperboxes([], [], [], [])
    absorbed: list[list[int]] = []
    fits = is_small if size == "max" else has_small_sum
    least = -np.inf
    if selection == "lemma":
        least = (lemma if size == "max" else lemma_of_sums)(theta, gamma, function)
    for s, (x_l, x_u, label) in enumerate(zip(xl, xu, y.tolist(), strict=True)):
        own = H.same_class(label)
        holder = next(
            (
                h
                for h in own
                if label in (H.L[h], UNLABELLED)
                and holds(H.V[h], H.W[h], x_l, x_u, gamma, function)
            ),
            None,
        )
        if holder is not None:
            H.counts[holder] += 1
            absorbed[holder].append(s)
            continue
        if by_centre:
            M = {h: -centre_distance(H.V[h], H.W[h], x_l, x_u) for h in own}
        else:
            M = {h: membership(H.V[h], H.W[h], x_l, x_u, gamma, function) for h in own}
        for h in sorted((h for h in own if M[h] >= least), key=lambda h: (-M[h], h)):
            H.n_candidates += 1
            v, w = hull(H.V[h], H.W[h], x_l, x_u)
            if fits(v, w, theta) and not (locks and is_locked(H, h)):
                H.V[h], H.W[h], H.L[h] = v, w, joint_label(H.L[h], label)
                H.counts[h] += 1
                absorbed[h].append(s)
                break
        else:
            H.append(x_l, x_u, label)
            absorbed.append([s])
    return H.model(xl.shape[1]), absorbed


def is_locked(H: _Hyperboxes, h: int) -> bool:
    """Return whether a labelled box is not isolated from a box of another class."""
    if H.L[h] == UNLABELLED:
        return False
    return any(overlaps(H.V[h], H.W[h], H.V[k], H.W[k], "closed") for k in H.other_classes(H.L[h]))


def centre_distance(v: Array, w: Array, xl: Array, xu: Array) -> float:
    """Return the squared distance of a sample's centre from that of a box, as far as is known."""
    apart = np.nan_to_num((v + w) / 2 - (xl + xu) / 2)
    return in_order(apart * apart)


# --- Regions --------------------------------------------------------------------------------------


@dataclass
class Region:
    """What two boxes of different classes share."""

    first: int
    second: int
    lower: Array
    upper: Array


def regions(model: Model) -> list[Region]:
    """Return the intersection of each pair of boxes of two classes that meet."""
    found = []
    for i in range(len(model.labels)):
        for k in range(i + 1, len(model.labels)):
            if UNLABELLED in (model.labels[i], model.labels[k]):
                continue
            v, w = model.lower, model.upper
            if model.labels[i] != model.labels[k] and overlaps(v[i], w[i], v[k], w[k], "closed"):
                found.append(Region(i, k, np.fmax(v[i], v[k]), np.fmin(w[i], w[k])))
    return found


def contention(model: Model, xl: Array, xu: Array, gamma: Array, function: str = "min") -> Array:
    """Return e(x), the largest membership of each sample in a region; 0 if there is none."""
    found = regions(model)
    return np.array(
        [
            max((membership(r.lower, r.upper, *x, gamma, function) for r in found), default=0.0)
            for x in zip(xl, xu, strict=True)
        ]
    )


# --- Compensation: FMCN ---------------------------------------------------------------------------


def compensation(
    model: Model, xl: Array, xu: Array, gamma: Array, n_classes: int, function: str = "min"
) -> Array:
    """Return what overlap and containment neurons add to each class: 0 to -1."""
    added = np.zeros((len(xl), n_classes))
    for s, x in enumerate(zip(xl, xu, strict=True)):
        for region in regions(model):
            pair = region.first, region.second
            v, w = model.lower, model.upper
            if not all(membership(v[p], w[p], *x, gamma, function) == 1 for p in pair):
                continue
            for p, q in (pair, pair[::-1]):
                if ((v[p] < v[q]) & (w[q] < w[p])).all():
                    d = -1.0  # a containment neuron of the class of the containing box
                elif ((v[q] < v[p]) & (w[p] < w[q])).all():
                    d = 0.0
                else:
                    d = -1.0 + in_order(_closeness_to_faces(v[p], w[p], *x)) / len(v[p])
                c = model.labels[p]
                added[s, c] = min(added[s, c], d)
    return added


def _closeness_to_faces(v: Array, w: Array, xl: Array, xu: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        to_upper = np.where(w == 0, 1.0, xu / w)
        to_lower = np.where(xl == 0, 1.0, v / xl)
    ratio = np.fmax(to_upper, to_lower)
    return np.where(np.isnan(ratio), 1.0, ratio)


def outputs(
    model: Model, xl: Array, xu: Array, gamma: Array, n_classes: int, function: str
) -> Array:
    """Return the compensated class outputs; beyond the reach of a class, minus the distance."""
    best = class_closeness(model, xl, xu, gamma, n_classes, function)
    low = compensation(model, xl, xu, gamma, n_classes, function)
    mu = best + low
    return np.where(low < 0, np.where(mu > 0, mu, -1.0), best)


def class_closeness(
    model: Model, xl: Array, xu: Array, gamma: Array, n_classes: int, function: str
) -> Array:
    """Return the largest membership in a box of each class; where it is 0, minus the distance."""
    best = np.full((len(xl), n_classes), -np.inf)
    for s, x in enumerate(zip(xl, xu, strict=True)):
        for c in range(n_classes):
            own = np.flatnonzero(model.labels == c)
            if len(own):
                best[s, c] = _nearest(model, own, *x, gamma, function)[0]
    return best


def predict_compensated(
    model: Model, xl: Array, xu: Array, gamma: Array, n_classes: int, function: str = "min"
) -> Array:
    """Return the class of the largest output; ties as in GFMM, among the boxes nearest by b."""
    best = outputs(model, xl, xu, gamma, n_classes, function)
    classes = []
    for s, x in enumerate(zip(xl, xu, strict=True)):
        top = best[s].max()
        tied = np.flatnonzero(best[s] == top)
        voters = {
            c: _nearest(model, np.flatnonzero(model.labels == c), *x, gamma, function)[1]
            for c in tied
        }
        single = [i for boxes in voters.values() for i in boxes if model.counts[i] == 1]
        votes = [sum(int(model.counts[i]) for i in voters[c]) for c in tied]
        if top == 1 and single:
            classes.append(int(model.labels[min(single)]))
        else:
            classes.append(int(tied[np.argmax(votes)]))
    return np.array(classes, dtype=np.int64)


# --- Data cores: DCFMN ----------------------------------------------------------------------------


def cores(model: Model, absorbed: list[list[int]], xl: Array, xu: Array) -> Array:
    """Return the mean of the samples that each box has absorbed, added up in their order."""
    means = np.full(model.lower.shape, np.nan)
    centres = (xl + xu) / 2
    for box, samples in enumerate(absorbed):
        for j in range(xl.shape[1]):
            known = [x for x in centres[samples, j] if not np.isnan(x)]
            if known:
                means[box, j] = in_order(np.array(known)) / len(known)
    return means


def core_membership(v: Array, w: Array, core: Array, xl: Array, xu: Array, slope: Array) -> float:
    """Return b_i(x), which falls more steeply on the side away from the core."""
    c = (v + w) / 2 - core

    def f(r: Array, lean: Array) -> Array:
        exponents = np.where(r > 0, r, 0.0) ** 2 * (1 + lean) ** 2 * slope
        return np.nan_to_num(exponents, posinf=np.inf)

    fall = float(np.max(np.maximum(f(xu - w, c), f(v - xl, -c))))
    degree = float(np.exp(-fall))
    return degree if degree > 0 else -fall


def predict_by_core(
    model: Model,
    of_boxes: Array,
    xl: Array,
    xu: Array,
    gamma: Array,
    n_classes: int,
    function: str = "min",
) -> tuple[Array, Array, Array]:
    """Return for each sample the class outputs, the class, and the box that decides."""
    outputs, classes, boxes = [], [], []
    for x in zip(xl, xu, strict=True):
        known = [i for i in range(len(model.labels)) if model.labels[i] != UNLABELLED]
        v, w = model.lower, model.upper
        holders = [i for i in known if membership(v[i], w[i], *x, gamma, function) == 1]
        if len({model.labels[i] for i in holders}) > 1:
            away = {
                i: in_order(np.nan_to_num(np.abs((x[0] + x[1]) / 2 - of_boxes[i]))) / len(gamma)
                for i in holders
            }
            rank = {i: 1 - d if d < 1 else -d for i, d in away.items()}
        else:
            rank = {i: core_membership(v[i], w[i], of_boxes[i], *x, gamma) for i in known}
        c = np.zeros(n_classes)
        for i, value in rank.items():
            c[model.labels[i]] = max(c[model.labels[i]], value)
        box = max(rank, key=lambda i: (rank[i], -i))
        outputs.append(c)
        classes.append(int(model.labels[box]))
        boxes.append(box)
    return np.array(outputs), np.array(classes), np.array(boxes)


# --- Levels: MLF ----------------------------------------------------------------------------------


@dataclass
class Network:
    """The boxes of a region, those of the root of everywhere."""

    lower: Array
    upper: Array
    level: int
    model: Model


def levels(
    xl: Array,
    xu: Array,
    y: Array,
    *,
    theta: float,
    gamma: Array,
    function: str,
    n_levels: int,
    shrink: float,
) -> list[Network]:
    """Return the root, and the networks of regions in the order in which they are made."""
    everywhere = np.full(xl.shape[1], np.nan)
    grown = {"gamma": gamma, "function": function, "by_centre": True}
    root = Network(everywhere, everywhere, 0, grow(xl, xu, y, theta=theta, **grown)[0])
    networks, last = [root], [(root, np.arange(len(y)))]
    for level in range(1, n_levels):
        theta = theta * shrink
        children = []
        for parent, samples in last:
            for region in regions(parent.model):
                inside = np.array(
                    [s for s in samples if _is_inside(xl[s], xu[s], region.lower, region.upper)],
                    int,
                )
                if (y[inside] != UNLABELLED).any():
                    model, _ = grow(xl[inside], xu[inside], y[inside], theta=theta, **grown)
                    children.append((Network(region.lower, region.upper, level, model), inside))
        networks += [network for network, _ in children]
        last = children
    return networks


def _is_inside(xl: Array, xu: Array, lower: Array, upper: Array) -> bool:
    return not ((xu > upper) | (xl < lower)).any()


def predict_by_levels(
    networks: list[Network], xl: Array, xu: Array, n_classes: int
) -> tuple[Array, Array]:
    """Return for each sample the class outputs, and the class."""
    outputs, classes = [], []
    for x in zip(xl, xu, strict=True):
        holding = [n for n in networks if _is_inside(*x, n.lower, n.upper)]

        def size(network: Network) -> float:
            return in_order(np.nan_to_num(network.upper - network.lower))

        network = min(holding, key=lambda n: (-n.level, size(n)))
        model = network.model
        rank = {
            i: _mean_square_rank(model.lower[i], model.upper[i], *x)
            for i in range(len(model.labels))
            if model.labels[i] != UNLABELLED
        }
        c = np.zeros(n_classes)
        for i, value in rank.items():
            c[model.labels[i]] = max(c[model.labels[i]], value)
        outputs.append(c)
        classes.append(int(model.labels[max(rank, key=lambda i: (rank[i], -i))]))
    return np.array(outputs), np.array(classes)


def _mean_square_rank(v: Array, w: Array, xl: Array, xu: Array) -> float:
    """Return b_i(x), the sixth power; beyond its reach, minus the distance."""
    gaps = np.nan_to_num(np.maximum(0.0, np.maximum(xu - w, v - xl)))
    distance = float(np.sqrt(in_order(gaps * gaps) / len(v)))
    square = (1 - distance) * (1 - distance)
    return square * square * square if distance < 1 else -distance
