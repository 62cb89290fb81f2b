"""Data for the benchmarks: generated sets, and the shared real ones where they are at hand.

Every contender gets the same arrays of a `Split`: scaled to [0, 1], with class indices as labels.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

_BESIDE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "datasets"


@dataclass(frozen=True, eq=False)
class Split:
    """A data set, scaled and split for training and testing.

    `is_continuous` says that no two values tie, so that results hang on no order of equals.
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


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Let the user say where the shared data sets are."""
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=Path(os.environ.get("HYPERBOXES_DATA", _BESIDE_REPOSITORY)),
        help="folder of NAME.csv.gz (default: $HYPERBOXES_DATA, else ../shared/datasets)",
    )


def shared(name: str, folder: Path) -> Split | None:
    """Read, scale and split `NAME.csv.gz`; None where it is not there."""
    samples = in_file_order(name, folder)
    return None if samples is None else Split.of(name, *samples, is_continuous=False)


def in_file_order(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Read features and class indices of `NAME.csv.gz` (a header, features, then the class)."""
    path = folder / f"{name}.csv.gz"
    if not path.exists():
        return None
    table = pd.read_csv(path, dtype=str)  # Python reads numbers to the last digit
    classes = np.unique(table.pop("class").to_numpy(object), return_inverse=True)[1]
    return np.ascontiguousarray(table.to_numpy(object).astype(float)), classes


def names_in(folder: Path) -> list[str]:
    """List the data sets of a folder."""
    return sorted(path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz"))
