"""What is done with learned boxes beyond the paper, slowly: clusters of them, models made one."""

import numpy as np

from tests.reference import UNLABELLED, Array, Model, in_order, overlaps

# --- Clusters of boxes (not in the paper) ---------------------------------------------------------


def gap(model: Model, i: int, k: int, gamma: Array, function: str) -> float:
    """Return how far apart two boxes are in the feature where that is most, or on average."""
    apart = np.maximum(model.lower[k] - model.upper[i], model.lower[i] - model.upper[k])
    gaps = gamma * np.where(np.isnan(apart), 0.0, np.maximum(apart, 0.0))
    if function == "min":
        return float(np.max(gaps))
    return in_order(gaps if (gaps >= 1).all() else np.minimum(gaps, 1.0)) / len(gaps)


def clusters(
    model: Model, gamma: Array, max_gap: float, min_samples: int, function: str = "min"
) -> Array:
    """Return the cluster of each box, -1 for noise."""
    n_boxes = len(model.labels)
    found = np.full(n_boxes, -1)
    dense = [i for i in range(n_boxes) if model.counts[i] >= min_samples]
    for i in dense:
        if found[i] < 0:
            found[i] = max(found) + 1
            reached = [i]
            for j in reached:
                near = [
                    k
                    for k in dense
                    if found[k] < 0 and gap(model, j, k, gamma, function) <= max_gap
                ]
                found[near] = found[i]
                reached.extend(near)
    for i in set(range(n_boxes)) - set(dense):
        gaps = [(gap(model, i, k, gamma, function), k) for k in dense]
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
