"""The sets of samples, by what they were used for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from river.datasets import Bananas, Phishing
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from benchmarks.data import in_file_order, names_in
from benchmarks.validating import load

FEW_PER_CLASS = 20  # samples, in both folds; sets with fewer are shown apart

CHOSEN_ON = {
    "balance_scale",
    "blood_transfusion",
    "breast_cancer_coimbra",
    "glass",
    "haberman",
    "heart",
    "landsat",
    "optical_digits",
    "ringnorm",
    "segmentation",
    "sonar",
}
OWN = {
    "breast_cancer (scikit-learn)": load_breast_cancer,
    "digits (scikit-learn)": load_digits,
    "iris (scikit-learn)": load_iris,
    "wine (scikit-learn)": load_wine,
}

UNSEEN = ("others of the paper", "not of the paper")  # groups on which nothing was chosen
RIVERS = {"bananas (river)": Bananas, "phishing (river)": Phishing}
LARGE = ("covertype", "electricity", "ijcnn1", "skin_segmentation")

Data = tuple[np.ndarray, np.ndarray]


def sample(X: np.ndarray, y: np.ndarray, limit: int) -> Data:
    """Draw as many samples as the limit allows, and leave out classes with fewer than four."""
    rows = np.random.RandomState(0).permutation(len(y))[:limit]
    X, y = X[rows], y[rows]
    often = np.isin(y, np.flatnonzero(np.bincount(y) >= 4))
    return X[often], np.unique(y[often], return_inverse=True)[1]


def groups(folder: Path, limit: int) -> dict[str, dict[str, Data]]:
    """Read the sets, by group, with so many samples at most."""
    paper = {name: sample(*load(name, folder), limit) for name in names_in(folder / "authors")}
    rare = {n for n, (_, y) in paper.items() if len(y) < FEW_PER_CLASS * len(np.unique(y))}
    others = paper.keys() - CHOSEN_ON - rare
    return {
        "defaults chosen on": {n: data for n, data in paper.items() if n in CHOSEN_ON},
        "others of the paper": {n: data for n, data in paper.items() if n in others},
        "with few samples a class": {n: data for n, data in paper.items() if n in rare},
        "not of the paper": {**dict(of_packages(limit)), **dict(large(folder, limit))},
    }


def of_packages(limit: int) -> Iterator[tuple[str, Data]]:
    """Read the sets of installed packages."""
    for name, read in OWN.items():
        yield name, sample(*read(return_X_y=True), limit)
    for name, stream in RIVERS.items():
        rows, labels = zip(*stream(), strict=True)
        X = np.array([list(row.values()) for row in rows], float)
        yield name, sample(X, np.unique(labels, return_inverse=True)[1], limit)


def large(folder: Path, limit: int) -> Iterator[tuple[str, Data]]:
    """Read large sets, as far as they are there."""
    for name in LARGE:
        samples = in_file_order(name, folder / "large")
        if samples is not None:
            X, y = samples
            yield name, sample(X, np.unique(y, return_inverse=True)[1], limit)
