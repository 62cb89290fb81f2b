"""Samples in partitions that never meet in memory: each is drawn, or read, where it is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import shared

N_CLUSTERS, N_CLASSES = 15, 3
TEST_SEED = 1_000_000_000
N_TEST = 20_000

Samples = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Partitioned:
    """A set of `n_parts` partitions that `part` makes by number, and samples to test with."""

    name: str
    n_samples: int
    n_parts: int
    part: Callable[[int], Samples]
    test: Callable[[], Samples]


# The standard deviation of clusters: those of `benchmarks.data`, whose classes overlap, and others.
OVERLAPPING, APART = 0.2, 0.1


def draw(seed: int, n_samples: int, n_features: int, spread: float = OVERLAPPING) -> Samples:
    """Draw classes of five Gaussian clusters each, anywhere in the unit cube."""
    centres = np.random.default_rng(0).random((N_CLUSTERS, n_features))
    rng = np.random.default_rng([1, seed])
    cluster = rng.integers(N_CLUSTERS, size=n_samples)
    X = centres[cluster] + spread * rng.standard_normal((n_samples, n_features))
    return X, cluster % N_CLASSES


def generated(n_samples: int, n_features: int, n_parts: int, spread: float) -> Partitioned:
    """Return a set that workers draw part by part."""
    rows = n_samples // n_parts
    kind = {OVERLAPPING: "overlapping", APART: "apart"}[spread]
    return Partitioned(
        f"generated, classes {kind}, {n_samples:,} x {n_features}",
        rows * n_parts,
        n_parts,
        partial(draw, n_samples=rows, n_features=n_features, spread=spread),
        partial(draw, TEST_SEED, N_TEST, n_features, spread),
    )


def covertype(folder: Path, most: int, n_parts: int, scratch: Path) -> Partitioned | None:
    """Return the shared set in files of some rows each; None where it is not there."""
    data = shared("covertype", folder / "large")
    if data is None:
        return None
    data = data.head(most)
    for number in range(n_parts):
        rows = slice(number, None, n_parts)
        _write(scratch, number, data.X_train[rows], data.y_train[rows])
    _write(scratch, n_parts, data.X_test[:N_TEST], data.y_test[:N_TEST])
    return Partitioned(
        f"covertype {len(data.y_train):,} x {data.X_train.shape[1]}",
        len(data.y_train),
        n_parts,
        partial(_read, scratch),
        partial(_read, scratch, n_parts),
    )


def _write(folder: Path, number: int, X: np.ndarray, y: np.ndarray) -> None:
    np.savez(folder / f"part-{number}.npz", X=X, y=y)


def _read(folder: Path, number: int) -> Samples:
    with np.load(folder / f"part-{number}.npz") as file:
        return file["X"], file["y"]
