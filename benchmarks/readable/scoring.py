"""Accuracy and log-loss of the contenders on a set, and the file that keeps them."""

from __future__ import annotations

import hashlib
import json
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import hyperboxes
from benchmarks.readable.contenders import BY_THIS_PACKAGE, EBM, RULE_LEARNERS, contenders
from benchmarks.timing import progress

LEAST = 0.001  # probability, in log-losses

Scores = dict[tuple[str, int | None], tuple[float, float]]
Kept = dict[tuple[str, int | None], tuple[float, float] | None]  # None: it gave up


class Asked(NamedTuple):
    """What to measure: `only` some contenders if any are named, each fit for so many seconds."""

    sizes: tuple[int, ...]
    only: tuple[str, ...]
    seconds: float
    split: int  # seed of the cross-validation
    pieces: bool  # what those of ours earn, instead of others


class OutOfTimeError(Exception):
    """A fit took too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `OutOfTimeError` when so much processor time has gone, unless it is 0; needs Unix."""

    def give_up(*_: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def score(X: np.ndarray, y: np.ndarray, asked: Asked, known: Kept) -> Kept:
    """Return accuracy and log-loss on a set by contender and number of rules, but known ones."""
    found: Kept = {}
    folds = list(StratifiedKFold(2, shuffle=True, random_state=asked.split).split(X, y))
    gave_up = {name for (name, _), value in known.items() if value is None}
    for name, size, model in contenders(len(np.unique(y)), asked.sizes, asked.pieces):
        if name in gave_up or (name, size) in known or (asked.only and name not in asked.only):
            continue
        limit = asked.seconds if name in (*RULE_LEARNERS, EBM) else 0.0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores = [score_fold(model, X, y, train, test, limit) for train, test in folds]
            accuracy, loss = np.mean(scores, axis=0).tolist()
            found[name, size] = accuracy, loss
        except Exception as error:  # whatever a contender raises, the others go on
            progress(f"{name}, {size}: {type(error).__name__} {error}")
            gave_up.add(name)
            found[name, size] = None
    return found


def score_fold(
    model: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, seconds: float
) -> tuple[float, float]:
    """Return accuracy and log-loss on test samples."""
    with limited(seconds):
        p = model.fit(X[train], y[train]).predict_proba(X[test])
    p = np.clip(np.nan_to_num(p, nan=1 / p.shape[1]), LEAST, 1.0)
    p /= p.sum(axis=1, keepdims=True)
    accuracy = float(np.mean(p.argmax(axis=1) == y[test]))
    return accuracy, float(log_loss(y[test], p, labels=np.arange(p.shape[1])))


class Store:
    """Scores in a file, to which those of each finished set are added at once.

    Scores of this package's learners count as long as its sources are unchanged.
    """

    def __init__(self, path: Path | None, protocol: str) -> None:
        self._path = path
        self._protocol = protocol
        self._kept: dict[str, Kept] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                mark, title, name, size, value = json.loads(line)
                if mark == self._mark(name):
                    self._kept.setdefault(title, {})[name, size] = value and tuple(value)

    def known(self, title: str) -> Kept:
        """Return what is known about a set."""
        return self._kept.get(title, {})

    def add(self, title: str, found: Kept) -> None:
        """Keep scores on a set."""
        self._kept.setdefault(title, {}).update(found)
        if self._path is not None:
            lines = [
                json.dumps([self._mark(name), title, name, size, value]) + "\n"
                for (name, size), value in found.items()
            ]
            with self._path.open("a") as file:
                file.writelines(lines)

    def scores(self, title: str, asked: Asked) -> Scores:
        """Return the scores on a set that are asked for."""
        return {
            (name, size): value
            for (name, size), value in self.known(title).items()
            if value is not None
            and (size is None or size in asked.sizes)
            and (not asked.only or name in asked.only)
        }

    def _mark(self, name: str) -> str:
        return f"{self._protocol} {_digest() if name in BY_THIS_PACKAGE else ''}"


@cache
def _digest() -> str:
    """Return a digest of the package's sources."""
    folder = Path(hyperboxes.__file__).parent
    sources = b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))
    return hashlib.sha256(sources).hexdigest()[:16]
