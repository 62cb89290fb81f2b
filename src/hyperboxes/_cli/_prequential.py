"""Prequential evaluation: each row is predicted, then learned."""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import Any

from hyperboxes._compiling import compiling

# Recent rows, whose accuracy is shown beside that of all.
_RECENT = 1000


class PrequentialMetrics:
    """How predictions before learning agree with the labels."""

    def __init__(self) -> None:
        self.n_rows = 0  # with and without a label
        self.n_hits = self.n_repeats = 0
        self._labels: Counter[str] = Counter()
        self._predicted: Counter[str] = Counter()
        self._recent: deque[bool] = deque(maxlen=_RECENT)
        self._last = ""
        self.start_clock()

    def add(self, label: str, predicted: str) -> None:
        """Count a row; an empty label is none, an empty prediction never right."""
        self.n_rows += 1
        if label:
            self.n_hits += label == predicted
            self.n_repeats += label == self._last
            self._labels[label] += 1
            self._predicted[predicted] += 1
            self._recent.append(label == predicted)
            self._last = label

    def start_clock(self) -> None:
        """Measure speed from here on."""
        self._began, self._compiled_before = time.monotonic(), compiling.seconds
        self._n_before = self.n_rows

    @property
    def n_labels(self) -> int:
        """Rows with a label."""
        return self._labels.total()

    @property
    def accuracy(self) -> float:
        """The share of right predictions."""
        return self.n_hits / max(self.n_labels, 1)

    @property
    def recent_accuracy(self) -> float:
        """Likewise of recent rows."""
        return sum(self._recent) / max(len(self._recent), 1)

    @property
    def repeat_accuracy(self) -> float:
        """The accuracy of repeating the last label."""
        return self.n_repeats / max(self.n_labels, 1)

    @property
    def kappa(self) -> float:
        """Cohen's kappa: 0 for what chance would reach, 1 for no mistake."""
        products = (count * self._predicted[name] for name, count in self._labels.items())
        by_chance = sum(products) / max(self.n_labels, 1) ** 2
        return 0.0 if by_chance == 1.0 else (self.accuracy - by_chance) / (1.0 - by_chance)

    @property
    def seconds_compiling(self) -> float:
        """How long compiling took, which a machine does once."""
        return compiling.seconds - self._compiled_before

    @property
    def speed(self) -> float:
        """Rows per second, not counting the time to compile."""
        seconds = time.monotonic() - self._began - self.seconds_compiling
        return (self.n_rows - self._n_before) / max(seconds, 1e-9)

    def remark(self, n_boxes: int) -> str:
        """Return how it is going, for a progress bar."""
        return (
            f"{self.n_rows:,} rows, accuracy {self.accuracy:.1%} (last {len(self._recent):,}: "
            f"{self.recent_accuracy:.1%}), kappa {self.kappa:.3f}, {n_boxes:,} boxes, "
            f"{self.speed:,.0f} rows/s"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all figures for JSON."""
        return {
            "n_rows": self.n_rows,
            "n_labels": self.n_labels,
            "accuracy": round(self.accuracy, 6),
            "recent_accuracy": round(self.recent_accuracy, 6),
            "kappa": round(self.kappa, 6),
            "repeat_last_label_accuracy": round(self.repeat_accuracy, 6),
            "rows_per_second": round(self.speed, 1),
            "seconds_compiling": round(self.seconds_compiling, 3),
        }
