"""Data for the benchmarks: generated sets, and the shared real ones where they are at hand.

Every contender gets the same arrays of a `Split`: scaled to [0, 1], with class indices as labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.model_selection import train_test_split

Samples = tuple[np.ndarray, np.ndarray]

OWN = (load_breast_cancer, load_digits, load_iris, load_wine)  # of scikit-learn


@dataclass(frozen=True, eq=False)
class Split:
    """A data set, scaled and split for training and testing.

    `is_continuous`: no two values tie, so that results do not depend on the order of equal values.
    """

    name: str
    is_continuous: bool
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @classmethod
    def of(cls, name: str, X: np.ndarray, y: np.ndarray, *, is_continuous: bool) -> Self:
        """Hold out a stratified quarter and map the training samples' ranges to [0, 1].

        Test samples beyond them are clipped: hyperbox-brain prints a line for each, in its time.
        """
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.25, stratify=y, random_state=0
        )
        low, high = X_train.min(axis=0), X_train.max(axis=0)
        span = np.where(high > low, high - low, 1.0)
        X_test = np.clip((X_test - low) / span, 0.0, 1.0)
        return cls(name, is_continuous, (X_train - low) / span, y_train, X_test, y_test)

    def head(self, n_samples: int | None) -> Self:
        """Keep the first training samples only; all of them for None."""
        return replace(self, X_train=self.X_train[:n_samples], y_train=self.y_train[:n_samples])


def generated(n_samples: int, n_features: int, *, n_classes: int = 3) -> Split:
    """Draw classes of five Gaussian clusters each, which overlap."""
    n_clusters, spread = 5 * n_classes, 0.2
    rng = np.random.default_rng(0)
    centres = rng.random((n_clusters, n_features))
    cluster = rng.integers(n_clusters, size=n_samples)
    X = centres[cluster] + spread * rng.standard_normal((n_samples, n_features))
    name = f"generated {n_samples:,} x {n_features}"
    return Split.of(name, X, cluster % n_classes, is_continuous=True)


def generated_for_training(n_training: int, n_features: int, *, n_classes: int = 3) -> Split:
    """Generate so many samples that `n_training` of them are training samples; name them so."""
    data = generated(-(-4 * n_training // 3), n_features, n_classes=n_classes)
    return replace(data, name=f"generated {n_training:,} x {n_features}")


def tangled(
    n_training: int,
    n_features: int,
    *,
    n_informative: int = 15,
    n_classes: int = 5,
    overlap: bool = True,
) -> Split:
    """Draw classes of two clusters each that lie in each other's way, or far apart."""
    X, y = make_classification(
        -(-4 * n_training // 3),
        n_features,
        n_informative=n_informative,
        n_classes=n_classes,
        class_sep=1.0 if overlap else 4.0,
        flip_y=0.01 if overlap else 0.0,
        random_state=0,
    )
    name = f"{'tangled' if overlap else 'clean'} {n_training:,} x {n_features}"
    return Split.of(name, X, y, is_continuous=True)


def uniform(n_training: int, n_features: int, *, n_test: int, n_classes: int = 3) -> Split:
    """Draw points anywhere in [0, 1], with classes at random."""
    rng = np.random.default_rng(0)
    X = rng.random((n_training + n_test, n_features))
    y = rng.integers(n_classes, size=len(X))
    name = f"uniform {n_training:,} x {n_features}"
    return Split(name, True, X[:n_training], y[:n_training], X[n_training:], y[n_training:])


def shared(name: str, folder: Path) -> Split | None:
    """Read, scale and split `NAME.csv.gz`; None where it is not there."""
    samples = in_file_order(name, folder)
    return None if samples is None else Split.of(name, *samples, is_continuous=False)


def in_file_order(name: str, folder: Path) -> Samples | None:
    """Read features and class indices of `NAME.csv.gz` (a header, features, then the class)."""
    path = folder / f"{name}.csv.gz"
    if not path.exists():
        return None
    table = pd.read_csv(path, dtype=str)  # Python reads numbers to the last digit
    classes = np.unique(table.pop("class").to_numpy(object), return_inverse=True)[1]
    return np.ascontiguousarray(table.to_numpy(object).astype(float)), classes


def read_stream(stream: Iterable[Any]) -> Samples:
    """Return the samples of a stream of river, whose features are numbers."""
    rows, labels = zip(*stream, strict=True)
    return np.array([list(row.values()) for row in rows], float), np.array(labels)


def names_in(folder: Path) -> list[str]:
    """List the data sets of a folder."""
    return sorted(path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz"))


def load(name: str, folder: Path) -> Samples:
    """Read the true data of a set of the paper, without missing values of its own."""
    samples = in_file_order(f"{name}_imputed", folder) or in_file_order(name, folder)
    if samples is None:
        raise SystemExit(f"{folder} does not contain {name}.csv.gz")
    return samples


def paper_sets(folder: Path) -> list[str]:
    """List the paper's sets; end the program if they are not there."""
    names = names_in(folder / "authors")
    if not names:
        raise SystemExit(f"{folder} does not contain the paper's data; name a folder with --data")
    return names


def draw(X: np.ndarray, y: np.ndarray, most: int | None) -> Samples:
    """Return some of the samples, all of them for None; of a class at least two."""
    if most is None or len(y) <= most:
        return X, y
    order = np.random.default_rng(0).permutation(len(y))
    ranks = np.zeros(len(y), int)
    for label in np.unique(y):
        of_class = order[y[order] == label]
        ranks[of_class] = np.arange(len(of_class))
    first = np.argsort(ranks[order] >= 2, kind="stable")  # two of each class come first
    chosen = np.sort(order[first][:most])
    return X[chosen], y[chosen]


def all_sets(folder: Path, large: Iterable[str]) -> dict[str, tuple[bool, Callable[[], Any]]]:
    """Return readers of the paper's sets, scikit-learn's and some large ones, by name.

    The flag is whether the paper has the set.
    """
    found: dict[str, tuple[bool, Callable[[], Any]]] = {}
    for name in names_in(folder / "authors"):
        found[name] = True, partial(load, name, folder)
    for own in OWN:
        found[own.__name__.removeprefix("load_")] = False, partial(own, return_X_y=True)
    for name in large:
        if (folder / "large" / f"{name}.csv.gz").exists():
            found[name] = False, partial(in_file_order, name, folder / "large")
    return found
