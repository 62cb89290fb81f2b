"""Boosted boxes in slow Python: sample by sample, with every interval tried.

It has every detail of `docs/definitions.md`. Sums are sums of Python's whole numbers. Samples hold
the ranks of their values (None where missing), so it is for data with at most 255 values a feature.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hyperboxes._learning.cells import between

ONE = 1 << 24
SHARES = 16
MISSING = 255
MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Sample:
    """A distinct sample: its bins, its class, its weight and that in whole numbers."""

    codes: tuple[int, ...]
    label: int
    copies: float
    weight: int

    @property
    def key(self) -> int:
        """A hash of bins and label."""
        key = mix(self.label)
        for code in self.codes:
            key = mix((key + code) & MASK)
        return key


@dataclass
class Path:
    """Boxes as conditions by feature, (first, last, with missing), and votes at each stage.

    `stages` has the boxes that vote after each.
    """

    boxes: list[dict]
    stages: list[list[dict]]
    votes: list[np.ndarray]
    intercepts: list[np.ndarray]


def mix(key: int) -> int:
    """Spread the bits of a number (splitmix64)."""
    key = ((key ^ (key >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) & MASK
    return key ^ (key >> 31)


def uniform(key: int) -> float:
    """Turn a random key into a number from 0 to 1."""
    return (key >> 11) * 2.0**-53


def rank(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the rank of each value among those of its feature in some rows, or between these."""
    codes = np.empty(X.shape, int)
    for feature, column in enumerate(X.T):
        known = np.unique(column[rows][~np.isnan(column[rows])])
        ends = between(known[:-1], known[1:])
        codes[:, feature] = np.where(np.isnan(column), MISSING, np.searchsorted(ends, column))
    return codes


def gather(codes: np.ndarray, y: np.ndarray, weights: np.ndarray, unit: float) -> dict[Sample, int]:
    """Make one sample of equal ones; return where the first is of each."""
    total: dict = {}
    first: dict = {}
    for place, (row, label) in enumerate(zip(codes.tolist(), y.tolist(), strict=True)):
        total[*row, label] = total.get((*row, label), 0.0) + weights[place]
        first.setdefault((*row, label), place)
    return {
        Sample(k[:-1], k[-1], float(w), int(np.rint(w * unit))): first[k] for k, w in total.items()
    }


def random_share(key: int, copies: float, share: float) -> int:
    """Return how many SHARES of many copies to draw."""
    spread = math.sqrt(share * (1.0 - share) / copies)
    wanted = SHARES * (share + spread * (key.bit_count() - 32) / 4.0)
    return min(max(math.floor(wanted + uniform(mix(key))), 0), SHARES)


def draw(sample: Sample, seed: int | None, share: float) -> tuple[int, int]:
    """Return how many SHARES of a sample are searched, and how many judge what is found.

    Without a seed, all are searched.
    """
    if seed is None:
        return SHARES, 0
    key = mix(sample.key ^ seed)
    if sample.copies < 8.0:
        place = uniform(key)
        return (SHARES, 0) if place < share else (0, SHARES if place < share + (1 - share) else 0)
    taken = random_share(key, sample.copies, share)
    wanted = random_share(mix((key + 1) & MASK), sample.copies, (1.0 - share) / (1.0 - share))
    return taken, (SHARES - taken) * wanted // SHARES


def holds(box: dict, codes: tuple[int, ...], but: int | None = None) -> bool:
    """Whether a box holds a sample, as far as conditions on other features than one go."""
    return all(
        missing if codes[feature] == MISSING else first <= codes[feature] <= last
        for feature, (first, last, missing) in box.items()
        if feature != but
    )


def score(g: int, h: int, l2: float) -> float:
    """Return what a box is worth to a search."""
    return float(g) * float(g) / (float(h) + l2) if g > 0 else 0.0


def largest_run(values: list[int]) -> tuple[int, int] | None:
    """Return the run with the largest sum above 0: of equals the first to end, the shortest."""
    runs = [
        (-sum(values[first : last + 1]), last, -first)
        for last in range(len(values))
        for first in range(last + 1)
    ]
    if not runs or min(runs)[0] >= 0:
        return None
    _, last, first = min(runs)
    return -first, last


def best_interval(g: list[int], h: list[int], n_bins: int, l2: float) -> tuple | None:
    """Return score, first and last bin, whether NaN belongs, and the sums of g and h."""
    best, c = None, 0.0
    for _ in range(6):
        gain = [a - int(np.rint(c * b)) for a, b in zip(g, h, strict=True)]
        run = largest_run(gain[:n_bins])
        if run is None:
            break
        bins = [*range(run[0], run[1] + 1), *([MISSING] if gain[MISSING] > 0 else [])]
        sums = sum(g[b] for b in bins), sum(h[b] for b in bins)
        if score(*sums, l2) <= (best[0] if best else 0.0):
            break
        best = (score(*sums, l2), *run, gain[MISSING] > 0, *sums)
        c = min(0.5 * float(sums[0]) / (float(sums[1]) + l2), 64.0)
    return best


def sums_by_bin(rows: list, feature: int, box: dict) -> tuple[list[int], list[int]]:
    """Add up g and h of the samples that meet all conditions but that on a feature."""
    g, h = [0] * 256, [0] * 256
    for sample, a, b in rows:
        if holds(box, sample.codes, but=feature):
            g[sample.codes[feature]] += a
            h[sample.codes[feature]] += b
    return g, h


def grow(
    rows: list, columns: list[int], n_bins: list[int], l2: float, size: int, box: dict
) -> tuple:
    """Take the condition that raises the score most until none does.

    Returns the box, its g and h, and the score of the first condition on each column.
    """
    box = dict(box)
    inside = [(g, h) for sample, g, h in rows if holds(box, sample.codes)]
    total = sum(g for g, _ in inside), sum(h for _, h in inside)
    best = score(*total, l2)
    firsts: dict[int, float] = {}
    while True:
        change = None
        for feature in columns:
            if feature in box or len(box) < size:
                found = best_interval(*sums_by_bin(rows, feature, box), n_bins[feature], l2)
                firsts.setdefault(feature, found[0] if found else 0.0)
                if found and found[0] > best:
                    best, change, total = found[0], (feature, found[1:4]), found[4:]
        if change is None:
            return box, *total, firsts
        box[change[0]] = change[1]


def widen(box: dict, rows: list, n_bins: list[int]) -> dict:
    """Move ends midway to the next samples kept out; drop conditions that keep out none.

    Conditions come in the order in which they were found; the last one takes a dropped one's turn.
    """
    waiting = list(box)
    done = []
    box = dict(box)
    while waiting:
        feature = waiting.pop(0)
        first, last, missing = box[feature]
        alone = [
            sample.codes[feature]
            for sample, _, _ in rows
            if holds(box, sample.codes, but=feature) and not holds(box, sample.codes)
        ]
        below = max([code for code in alone if code < first], default=-1)
        above = min([c for c in alone if last < c != MISSING], default=n_bins[feature])
        first = 0 if below < 0 else (below + 1 + first) // 2
        last = above - 1 if above == n_bins[feature] else (last + above) // 2
        box[feature] = first, last, missing
        if alone:
            done.append(feature)
        else:
            del box[feature]
            waiting = waiting[-1:] + waiting[:-1]
    return {feature: box[feature] for feature in done}


class Booster:
    """Boosting over samples, each with the scores of the classes."""

    def __init__(self, X, y, weights, settings, n_classes, random, rows=None):
        """Votes are fitted to all samples, boxes are found on `rows`, None for all."""
        codes = rank(X, np.arange(len(X)) if rows is None else rows)
        self.unit = 2.0 ** (38 - math.ceil(math.log2(math.fsum(weights))))
        if rows is None:
            self.samples = list(gather(codes, y, weights, self.unit))
            self.searched = {sample: place for place, sample in enumerate(self.samples)}
        else:
            self.samples = [
                Sample(tuple(row), label, weight, int(np.rint(weight * self.unit)))
                for row, label, weight in zip(codes.tolist(), y.tolist(), weights, strict=True)
            ]
            some = gather(codes[rows], y[rows], weights[rows], self.unit)
            self.searched = {sample: rows[place] for sample, place in some.items()}
        self.settings = settings
        self.random = random
        self.n_classes = n_classes
        of_features = [set(column) - {MISSING} for column in codes.T.tolist()]
        self.n_bins = [max(values, default=0) + 1 for values in of_features]
        masses = np.zeros(n_classes, np.int64)
        for sample in self.samples:
            masses[sample.label] += sample.weight
        self.intercepts = np.log(masses / masses.sum())
        self.scores = np.tile(self.intercepts, (len(self.samples), 1))
        self.path = Path([], [], [], [self.intercepts.copy()])
        self.n_found: list[int] = []
        self.worth_of_features: dict[int, float] = {}

    def run(self) -> Path:
        """Find boxes until there are enough or no more help."""
        n_failures = 0
        for _ in range(4 * self.settings.max_boxes):
            worth, vote, box, group = max(self.search(), key=lambda found: found[0])
            helps = worth > 0.0 or not self.settings.must_help
            if helps and self.settings.n_sweeps:
                _, vote, box, group = self.find(None, sorted(box), group, box)
            known = self.path.boxes if self.settings.n_sweeps else []
            if not helps or vote <= 0.0:
                n_failures += 1
                if n_failures == self.settings.max_failures:
                    break
            elif box in known:
                self.n_found[known.index(box)] += 1
                self.path.votes[-1] = self.correct(self.path.votes[-1].copy())
                self.path.intercepts[-1] = self.intercepts.copy()
            elif len(self.path.boxes) == self.settings.max_boxes:
                break
            else:
                self.append(box, group, vote)
                if self.settings.n_sweeps and len(self.intercepts) > 2:
                    self.change(len(self.path.boxes) - 2)
                self.path.stages.append(list(self.path.boxes))
        return self.path

    def search(self) -> list[tuple]:
        """Look for boxes of groups of classes, then of the groups that gain in these boxes."""
        n_features, n_classes = len(self.n_bins), self.n_classes
        n_draws = self.settings.n_draws
        seeds = [int(self.random.randint(1 << 62, dtype=np.int64)) for _ in range(n_draws)]
        columns, groups = [], []
        n_groups = n_classes + (self.settings.n_groups if n_classes > 2 else 0)
        for _ in seeds:
            wanted = round(self.settings.column_share * n_features)
            n_columns = max(4, min(wanted, self.settings.max_searches // n_groups))
            if n_columns >= n_features:
                columns.append(list(range(n_features)))
            else:
                order = self.random.permutation(n_features).tolist()
                if n_columns < wanted:
                    order = list(dict.fromkeys(self.best_features(n_columns // 2) + order))
                columns.append(sorted(order[:n_columns]))
        for _ in seeds:
            groups.append([(label,) for label in range(n_classes)])
            for _ in range(self.settings.n_groups if n_classes > 2 else 0):
                half = self.random.permutation(n_classes)[: math.ceil(n_classes / 2)].tolist()
                if tuple(sorted(half)) not in groups[-1]:
                    groups[-1].append(tuple(sorted(half)))
        self.seen = {}
        firsts, seconds = [], []
        for seed, some, starts in zip(seeds, columns, groups, strict=True):
            found = [self.find(seed, some, group, {}) for group in starts]
            again = [self.gaining(seed, box) for _, vote, box, _ in found if vote > 0]
            firsts += found
            if n_classes > 2:
                for group in dict.fromkeys(again):
                    if group and group not in starts:
                        seconds.append(self.find(seed, some, group, {}))
        self.worth_of_features |= self.seen
        return firsts + seconds

    def best_features(self, number: int) -> list[int]:
        """Return the features that were worth most when they were looked at last."""
        worth = self.worth_of_features
        order = sorted(worth, key=lambda feature: (-worth[feature], feature))
        return [feature for feature in order[:number] if worth[feature] > 0]

    def draw(self, seed: int | None) -> tuple[list[tuple[float, float]], float]:
        """Return the weights to search and to judge with, and what they were multiplied with.

        It makes the sum of all at most 2^6, so that sums of them times ONE fit into 32 bits.
        """
        share = self.settings.subsample
        drawn = [
            [sample.weight * shares for shares in draw(sample, seed, share)]
            for sample in self.searched
        ]
        scale = 2.0 ** (6 - math.frexp(float(sum(map(sum, drawn))))[1])
        return [(float(a) * scale, float(b) * scale) for a, b in drawn], scale

    def weigh(self, seed: int | None, group: tuple) -> tuple[list, list, float]:
        """Return samples with their g and h, those to search and those to judge by."""
        parts: tuple[list, list] = ([], [])
        weights, scale = self.draw(seed)
        for (sample, place), both in zip(self.searched.items(), weights, strict=True):
            every = [whole(p) for p in softmax(self.scores[place])]
            p = min(sum(every[label] for label in group), ONE)
            g, h = (ONE if sample.label in group else 0) - p, p * (ONE - p) // ONE
            for part, weight in zip(parts, both, strict=True):
                if weight:
                    part.append((sample, int(np.rint(weight * g)), int(np.rint(weight * h))))
        return *parts, scale

    def gaining(self, seed: int, box: dict) -> tuple[int, ...]:
        """Return the classes that lack probability among the drawn samples in a box."""
        lacking = [0] * self.n_classes
        weights, _ = self.draw(seed)
        for (sample, place), (weight, _) in zip(self.searched.items(), weights, strict=True):
            if holds(box, sample.codes):
                for label, p in enumerate(softmax(self.scores[place])):
                    missing = (ONE if sample.label == label else 0) - whole(p)
                    lacking[label] += int(np.rint(weight * ONE)) * missing
        return tuple(label for label in range(self.n_classes) if lacking[label] > 0)

    def find(self, seed: int | None, columns: list[int], group: tuple, box: dict) -> tuple:
        """Return worth, vote, box and group of what is found on a draw, or on all samples."""
        rows, others, scale = self.weigh(seed, group)
        l2 = self.settings.l2 * self.unit * ONE * SHARES * scale
        size = self.settings.max_conditions
        box, g, h, firsts = grow(rows, columns, self.n_bins, l2, size, box)
        for feature, value in firsts.items() if seed is not None else ():
            self.seen[feature] = max(self.seen.get(feature, 0.0), value / scale)
        box = widen(box, rows, self.n_bins)
        if not box or g <= 0:
            return 0.0, 0.0, box, group
        vote = float(g) / (float(h) + l2)
        held = [(g, h) for sample, g, h in others if holds(box, sample.codes)]
        g, h = sum(a for a, _ in held), sum(b for _, b in held)
        return (vote * float(g) - 0.5 * vote * vote * float(h)) / scale, vote, box, group

    def append(self, box: dict, group: tuple, vote: float) -> None:
        """Let the box vote, and correct what all boxes vote."""
        self.path.boxes.append(box)
        if self.settings.n_sweeps:
            self.n_found.append(1)
            new = [vote * self.settings.learning_rate * (k in group) for k in range(self.n_classes)]
            if self.n_classes == 2:
                new = [0.0, new[1] - new[0]]
            self.scores[self.inside(box)] += new
            before = self.path.votes[-1].tolist() if self.path.votes else []
            self.path.votes.append(self.correct(np.array([*before, new])))
        else:
            self.path.votes.append(self.vote_for_all(box))
        self.path.intercepts.append(self.intercepts.copy())

    def change(self, place: int) -> None:
        """Find the ends of a box anew by what the others leave to explain."""
        votes, boxes = self.path.votes[-1], self.path.boxes
        group = tuple(label for label, vote in enumerate(votes[place].tolist()) if vote > 0)
        if place < 0 or len(group) in (0, self.n_classes):
            return
        before = self.scores
        self.scores = self.add_up(votes, [other for other in range(len(boxes)) if other != place])
        _, vote, box, _ = self.find(None, sorted(boxes[place]), group, boxes[place])
        self.scores = before
        if vote > 0 and box not in boxes:
            boxes[place] = box
            self.scores = self.add_up(votes, range(len(boxes)))
            self.path.votes[-1] = self.correct(votes.copy())
            self.path.intercepts[-1] = self.intercepts.copy()

    def add_up(self, votes: np.ndarray, places: Iterable[int]) -> np.ndarray:
        """Return the scores of the samples that some boxes make, from nothing."""
        scores = np.tile(self.intercepts, (len(self.samples), 1))
        for place in places:
            scores[self.inside(self.path.boxes[place])] += votes[place]
        return scores

    def inside(self, box: dict) -> np.ndarray:
        """Return which samples a box holds."""
        return np.array([holds(box, sample.codes) for sample in self.samples])

    def sums(self, p: np.ndarray, label: int, inside: np.ndarray) -> tuple[int, int]:
        """Add up g and h of a class over samples."""
        g = h = 0
        for sample, probability, is_in in zip(
            self.samples, p[:, label].tolist(), inside, strict=True
        ):
            if is_in:
                missing = ONE if sample.label == label else 0
                g += sample.weight * (missing - whole(probability))
                h += sample.weight * whole(probability * (1.0 - probability))
        return g, h

    def correct(self, votes: np.ndarray) -> np.ndarray:
        """Make Newton steps in all votes and in the intercepts."""
        p = np.array([softmax(scores) for scores in self.scores])
        for _ in range(self.settings.n_sweeps):
            for place, box in enumerate(self.path.boxes):
                self.correct_box(p, self.inside(box), place, votes)
            self.correct_intercepts(p)
        return votes

    def correct_box(self, p: np.ndarray, inside: np.ndarray, place: int, votes: np.ndarray) -> None:
        """Make shortened Newton steps in a box's votes; the first of two classes has none."""
        one = self.unit * ONE
        ridge = self.settings.ridge * one / self.n_found[place]
        steps = np.zeros(self.n_classes)
        for label in range(1 if self.n_classes == 2 else 0, self.n_classes):
            g, h = self.sums(p, label, inside)
            vote = votes[place, label]
            wanted = float(g) + float(h) * vote
            size = max(abs(wanted) - self.settings.threshold * one, 0.0)
            wanted = math.copysign(size, wanted) / (float(h) + ridge)
            wanted = vote + min(max(wanted - vote, -1.0), 1.0)
            share = 1.0 if self.n_classes == 2 or wanted == 0.0 else 1.0 - 1.0 / self.n_classes
            steps[label] = (wanted - vote) * share
        votes[place] += steps
        self.scores[inside] += steps
        factors = [math.exp(step) for step in steps]
        for row in np.flatnonzero(inside):
            new = [a * b for a, b in zip(p[row].tolist(), factors, strict=True)]
            p[row] = [value / sum(new) for value in new]

    def vote_for_all(self, box: dict) -> np.ndarray:
        """Let a box vote for every class, and make a Newton step in the intercepts."""
        p = np.array([softmax(scores) for scores in self.scores])
        inside = self.inside(box)
        l2 = self.settings.l2 * self.unit * ONE
        sums = [self.sums(p, label, inside) for label in range(self.n_classes)]
        votes = np.array(
            [self.settings.learning_rate * newton_step(g, h, 0.0, l2) for g, h in sums]
        )
        self.scores[inside] += votes
        p[inside] = [softmax(scores) for scores in self.scores[inside]]
        self.correct_intercepts(p)
        return votes

    def correct_intercepts(self, p: np.ndarray) -> None:
        """Make a Newton step in the intercept of each class."""
        everywhere = np.ones(len(p), bool)
        for label in range(self.n_classes):
            step = newton_step(*self.sums(p, label, everywhere), 0.0, float(ONE))
            self.intercepts[label] += step
            self.shift(p, everywhere, label, step)

    def shift(self, p: np.ndarray, inside: np.ndarray, label: int, step: float) -> None:
        """Add a step to the scores of a class, and change its probabilities to match."""
        factor = math.exp(step)
        self.scores[inside, label] += step
        p[inside] *= (1.0 / (1.0 + p[inside, label] * (factor - 1.0)))[:, np.newaxis]
        p[inside, label] *= factor


def softmax(scores: np.ndarray) -> list[float]:
    """Return the probabilities of classes."""
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def whole(probability: float) -> int:
    """Return a probability in units of 1 / ONE."""
    return int(np.rint(probability * ONE))


def newton_step(g: int, h: int, vote: float, ridge: float) -> float:
    """Return by how much to change a vote, 1 at most."""
    return min(max((float(g) - ridge * vote) / (float(h) + ridge), -1.0), 1.0)
