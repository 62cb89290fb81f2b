"""Boosting by partitions in slow Python: `docs/definitions.md`, "Many boxes", sample by sample."""

from __future__ import annotations

import math

import numpy as np

from tests.reference_boosting import MISSING, ONE, SHARES, gather, mix, random_share, rank, uniform

Node = dict[int, tuple[int, int, bool]]  # conditions by feature, as in `reference_boosting`


def score(g: int, h: int, l2: float) -> float:
    """Return how good a part of a node is."""
    return float(g) * float(g) / (float(h) + l2)


def holds(box: Node, codes: tuple[int, ...]) -> bool:
    """Whether a box contains a sample."""
    return all(
        missing if codes[feature] == MISSING else first <= codes[feature] <= last
        for feature, (first, last, missing) in box.items()
    )


class PartitionBooster:
    """The same run as that of the package's class of this name."""

    def __init__(self, X, y, weights, settings, n_classes, random, rows):
        self.unit = 2.0 ** (38 - math.ceil(math.log2(math.fsum(weights))))
        self.n_bins = [len(np.unique(column[~np.isnan(column)])) for column in X[rows].T]
        codes = rank(X, rows)[rows]
        self.samples = list(gather(codes, y[rows], weights[rows], self.unit))
        self.settings, self.n_classes, self.random = settings, n_classes, random
        masses = np.zeros(n_classes)  # of all samples
        np.add.at(masses, y, [float(np.rint(weight * self.unit)) for weight in weights])
        self.scale = 2.0 ** (26 - math.frexp(masses.sum())[1])
        self.p = np.tile(masses / masses.sum(), (len(self.samples), 1))
        self.has_missing = (codes == MISSING).any(axis=0)
        self.boxes: list[Node] = []
        self.votes: list[np.ndarray] = []
        self.n_boxes: list[int] = []  # after each partition

    def run(self):
        """Add partitions until there are enough boxes, or the sixth time that none helps."""
        settings, n_failures = self.settings, 0
        for _ in range(4 * math.ceil(settings.max_boxes / settings.n_leaves)):
            n_leaves = min(settings.n_leaves, settings.max_boxes - len(self.boxes))
            if n_leaves < 2 or n_failures == settings.max_failures:
                break
            n_failures += not self.add_boxes(*self.grow(n_leaves))
        return self

    def columns(self):
        """Draw features to look at."""
        n_features = len(self.n_bins)
        most = self.settings.max_searches // 16
        return sorted(self.random.permutation(n_features)[:most].tolist())

    def grow(self, n_leaves):
        """Return the boxes of a partition, and how many SHARES of each sample were drawn."""
        half = self.random.permutation(self.n_classes)[: math.ceil(self.n_classes / 2)]
        seed = int(self.random.randint(1 << 62, dtype=np.int64))
        columns, share = self.columns(), self.settings.subsample
        shares, drawn = [], []
        for sample, p in zip(self.samples, self.p, strict=True):
            key = mix(sample.key ^ seed)
            few = sample.weight < 8.0 * self.unit
            taken = (
                SHARES * (uniform(key) < share)
                if few
                else random_share(key, sample.weight / self.unit, share)
            )
            shares.append(taken)
            p = min(sum(p[label] for label in range(self.n_classes) if label in half), 1.0)
            weight = sample.weight * taken * self.scale
            g, h = weight * ((sample.label in half) - p), weight * p * (1.0 - p)
            drawn += [(sample.codes, int(np.rint(g)), int(np.rint(h)))] if taken else []
        self.l2 = self.settings.l2 * self.unit * SHARES * self.scale
        leaves = [({}, drawn, self.divisions(drawn, columns, {}))]
        n_nodes, names = 1, [0]
        while len(leaves) < n_leaves:
            best = [max([0.0, *(gain for gain, *_ in found)]) for *_, found in leaves]
            gain = max(best)
            if gain <= 0.0:
                break
            chosen = min((names[k], k) for k, value in enumerate(best) if value == gain)[1]
            box, rows, found = leaves.pop(chosen)
            names.pop(chosen)
            _, feature, end, to_first = next(some for some in found if some[0] == gain)
            for side in (True, False):
                first, last, missing = box.get(feature, (0, 254, bool(self.has_missing[feature])))
                first, last = (first, end) if side else (end + 1, last)
                part = box | {feature: (first, last, missing and to_first == side)}
                inside = [row for row in rows if self.is_first(row, feature, end, to_first) == side]
                leaves.append((part, inside, self.divisions(inside, columns, part)))
                names.append(n_nodes)
                n_nodes += 1
        order = sorted(range(len(leaves)), key=names.__getitem__)
        return [leaves[k][0] for k in order], shares

    @staticmethod
    def is_first(row, feature, end, to_first):
        """Whether a drawn sample is in the first part of a node."""
        code = row[0][feature]
        return to_first if code == MISSING else code <= end

    def divisions(self, rows, columns, box):
        """Return gains, features, ends and sides of NaN, in the order in which they are tried."""
        found = []
        total = score(sum(g for _, g, _ in rows), sum(h for *_, h in rows), self.l2)
        size = min(self.settings.max_conditions, len(self.n_bins))
        for feature in columns if len(box) < size else [k for k in columns if k in box]:
            unknown = [row for row in rows if row[0][feature] == MISSING]
            of_unknown = sum(g for _, g, _ in unknown), sum(h for *_, h in unknown)
            for to_first in (False, True) if of_unknown != (0, 0) else (False,):
                first, last, _ = box.get(feature, (0, MISSING, True))
                for end in range(first, min(last, self.n_bins[feature] - 1)):
                    part = [row for row in rows if self.is_first(row, feature, end, to_first)]
                    g, h = sum(g for _, g, _ in part), sum(h for *_, h in part)
                    all_g, all_h = sum(g for _, g, _ in rows), sum(h for *_, h in rows)
                    if 0 < h < all_h:
                        gain = score(g, h, self.l2) + score(all_g - g, all_h - h, self.l2) - total
                        found.append((gain, feature, end, to_first))
        return found

    def add_boxes(self, boxes, shares):
        """Weight boxes and add those that help; return whether any does."""
        settings, K = self.settings, self.n_classes
        sums = np.zeros((2, len(boxes), 2, K), dtype=object)
        places = []
        for sample, taken, p in zip(self.samples, shares, self.p, strict=True):
            place = next(k for k, box in enumerate(boxes) if holds(box, sample.codes))
            places.append(place)
            searched = sample.weight * taken // SHARES
            for label in range(K):
                whole = int(np.rint(p[label] * ONE))
                g = (ONE if sample.label == label else 0) - whole
                h = whole * (ONE - whole) // ONE
                for side, weight in enumerate((searched, sample.weight - searched)):
                    sums[0, place, side, label] += weight * g
                    sums[1, place, side, label] += weight * h
        g, h = sums.astype(np.int64) / (self.unit * ONE)
        found = g[:, 0] / (h[:, 0] + settings.l2)
        gains = (found * g[:, 1] - 0.5 * found**2 * h[:, 1]).sum(axis=1)
        rate = settings.learning_rate * (1.0 - 1.0 / K)
        weights = np.clip(rate * g.sum(axis=1) / (h.sum(axis=1) + settings.l2), -1.0, 1.0)
        weights[(gains <= 0.0) & settings.must_help] = 0.0
        if len(boxes) < 2 or not weights.any():
            return False
        self.p = self.p * np.exp(weights)[places]
        self.p /= np.array([sum(row) for row in self.p.tolist()])[:, np.newaxis]
        for box, row in zip(boxes, weights, strict=True):
            if row.any():
                self.boxes.append(box)
                self.votes.append(row)
        self.n_boxes.append(len(self.boxes))
        return True
