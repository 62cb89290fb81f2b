"""The memory that adapts, as docs/algorithms.md defines it, slow and literal."""

import math
from dataclasses import dataclass, field

import numpy as np

NAN = float("nan")


@dataclass
class Box:
    """A box, and when it was born and last confirmed."""

    lower: list
    upper: list
    label: int
    born: int
    confirmed: int
    count: int = 1


@dataclass
class Feature:
    """What is known of a feature."""

    seen: int = 0
    mean: float = 0.0
    variance: float = 0.0
    scale: float = 0.0
    weight: float = 1.0
    counts: dict = field(default_factory=dict)  # (bin, label) -> faded number of samples

    def observe(self, value, label):
        """Update scale and counts."""
        deviation = value - self.mean
        if self.seen >= 30 and self.variance > 0:
            limit = 4 * math.sqrt(self.variance)
            deviation = min(max(deviation, -limit), limit)
        self.seen += 1
        rate = max(1 / self.seen, 0.002)
        self.mean += rate * deviation
        self.variance = (1 - rate) * (self.variance + rate * deviation * deviation)
        self.scale = 1 / math.sqrt(12 * self.variance) if self.variance > 0 else 0.0
        place = 8 * ((value - self.mean) * self.scale + 0.5)
        key = int(min(max(place, 0), 7)), label
        self.counts[key] = self.counts.get(key, 0.0) + 1

    def information(self, n_labels):
        """Return the mutual information of bins and classes, less its bias."""

        def count(place, label):
            return self.counts.get((place, label), 0.0)

        rows = [add(count(place, label) for label in range(n_labels)) for place in range(8)]
        columns = [add(count(place, label) for place in range(8)) for label in range(n_labels)]
        total = add(columns)
        shared = 0.0
        for label in range(n_labels):
            for place in range(8):
                if n := count(place, label):
                    shared += n / total * math.log(n * total / (rows[place] * columns[label]))
        if total:
            n_rows, n_columns = (sum(n > 0 for n in sums) for sums in (rows, columns))
            shared -= (n_rows - 1) * (n_columns - 1) / (2 * total)
        return max(shared, 0.0)


class AdaptiveMemory:
    """Boxes, features and experts after the samples learned so far."""

    horizons = (32, 128, 512, math.inf)
    neighbors = (1, 3, 7, 15)

    def __init__(self, n_features, n_labels, theta=0.05, max_boxes=1000):
        self.theta, self.max_boxes, self.n_labels = theta, max_boxes, n_labels
        self.boxes = []
        self.features = [Feature() for _ in range(n_features)]
        self.scores = {(h, k): 0.5 for h in self.horizons for k in self.neighbors}
        self.n_learned = 0

    def age(self, box):
        """Return how many samples ago a box was confirmed."""
        return self.n_learned - 1 - box.confirmed

    def distance(self, box, xl, xu):
        """Return the weighted sum of the gaps."""
        total = 0.0
        for j, feature in enumerate(self.features):
            gap = max(0.0, box.lower[j] - xu[j], xl[j] - box.upper[j])
            part = min(gap * feature.scale, 1.0)
            if math.isnan(xl[j]) or math.isnan(box.lower[j]):
                part = 1 / 3 if feature.scale > 0.0 else 0.0
            total += feature.weight * part
        return total

    def votes(self, xl, xu):
        """Return each expert's votes by class."""
        ordered = sorted(
            (self.distance(box, xl, xu), -box.confirmed, box.label, self.age(box))
            for box in self.boxes
        )
        votes = {}
        for h, k in self.scores:
            within = [near for near in ordered if near[3] < h][:k]
            sums = [0.0] * self.n_labels
            total = 0.0
            for gap, _, label, _ in within:
                sums[label] += 1 / (gap + 0.01)
                total += 1 / (gap + 0.01)
            votes[h, k] = sums, total
        return votes

    def shares(self, xl, xu):
        """Return the shares of the classes in the vote of all experts."""
        votes = self.votes(xl, xu)
        best = max(self.scores.values())
        weights = {e: math.exp(50.0 * (score - best)) for e, score in self.scores.items()}
        shares = [
            add(weights[e] * (votes[e][0][label] / votes[e][1]) for e in votes)
            for label in range(self.n_labels)
        ]
        return [share / add(weights.values()) for share in shares]

    def probabilities(self, xl, xu):
        """Return the shares of the vote, moved to those of the classes if values are missing."""
        features = ~np.isnan([box.lower for box in self.boxes]).all(axis=0)
        part = (np.isnan(xl)[features].sum() / max(features.sum(), 1)) ** 2
        if part == 0.0:
            return self.shares(xl, xu)
        counts = np.zeros(self.n_labels)
        for box in self.boxes:
            counts[box.label] += box.count
        return (
            (1.0 - part) * np.array(self.shares(xl, xu)) + part * (counts / counts.sum())
        ).tolist()

    def learn(self, xl, xu, label):
        """Learn a sample."""
        self.judge(xl, xu, label)
        distances = {id(box): self.distance(box, xl, xu) for box in self.boxes}
        for j, feature in enumerate(self.features):
            if not math.isnan(xl[j]):
                feature.observe(xl[j] + (xu[j] - xl[j]) * 0.5, label)
        own = sorted(
            (box for box in self.boxes if box.label == label),
            key=lambda box: (distances[id(box)], -box.confirmed),
        )
        horizon = max(self.scores, key=self.scores.get)[0]  # the first of equals
        for box in own[:3]:
            if self.may_grow(box, xl, xu, horizon):
                box.lower, box.upper = hull(box, xl, xu)
                box.count += 1
                box.confirmed = self.n_learned
                break
        else:
            if len(self.boxes) == self.max_boxes:
                self.boxes.remove(min(self.boxes, key=lambda box: box.confirmed))
            self.boxes.append(Box(list(xl), list(xu), label, self.n_learned, self.n_learned))
        self.n_learned += 1
        if self.n_learned % 100 == 0:
            self.weigh()

    def judge(self, xl, xu, label):
        """Update the scores of the experts."""
        if self.boxes:
            rate = 1 / min(200.0, self.n_learned + 1)
            for expert, (sums, _) in self.votes(xl, xu).items():
                hit = sums.index(max(sums)) == label
                self.scores[expert] += (hit - self.scores[expert]) * rate

    def may_grow(self, box, xl, xu, horizon):
        """Whether a box may grow to hold a sample."""
        if self.n_learned - box.born >= horizon:
            return False
        lower, upper = hull(box, xl, xu)
        sides = zip(lower, upper, self.features, strict=True)
        if any((high - low) * feature.scale > self.theta for low, high, feature in sides):
            return False
        return not any(
            other.label != box.label and self.age(other) < horizon and meet(lower, upper, other)
            for other in self.boxes
        )

    def weigh(self):
        """Weigh the features, and fade what was counted."""
        roots = [math.sqrt(feature.information(self.n_labels)) for feature in self.features]
        for feature, root in zip(self.features, roots, strict=True):
            feature.weight = 0.1 + (1 - 0.1) * root / max(roots) if max(roots) else 1.0
            feature.counts = {key: n * 0.93 for key, n in feature.counts.items()}


def hull(box, xl, xu):
    """Return the smallest box that holds both; NaN is not known."""

    def choose(choice, a, b):
        return b if math.isnan(a) else a if math.isnan(b) else choice(a, b)

    lower = [choose(min, a, b) for a, b in zip(box.lower, xl, strict=True)]
    upper = [choose(max, a, b) for a, b in zip(box.upper, xu, strict=True)]
    return lower, upper


def meet(lower, upper, other):
    """Whether two boxes share a point, as far as is known."""
    ends = zip(lower, upper, other.lower, other.upper, strict=True)
    return not any(v2 > w1 or w2 < v1 for v1, w1, v2, w2 in ends)


def add(numbers):
    """Add up in order, without the compensation of newer Pythons' `sum`."""
    total = 0.0
    for number in numbers:
        total += number
    return total
