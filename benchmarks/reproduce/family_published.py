"""Published results of the fuzzy min-max family by fold, where the folds are at hand.

The paper on IOL-GFMM (Khuat, Chen and Gabrys, IJCNN 2020) has four folds of each set,
`NAME_dps_1.dat` to `_4.dat`, in UTS-AAi/IOL-GFMM and UTS-AAi/open-gfmm on GitHub; its results by
fold are in the first of them. Nothing of theirs is kept here but the numbers to compare with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import markdown, write
from hyperboxes.literature import FuzzyMinMax

Table = tuple[Any, np.ndarray]

# Boxes, errors in percent and parameters of each fold, from
# https://github.com/UTS-AAi/IOL-GFMM, Experiment/modified_online_gfmm/compare.
FOLDS = Path(__file__).parent / "published" / "family_folds.csv"


def write_folds(data: Path | None, folder: Path) -> str:
    """Write our results and the published ones by fold, and return the page."""
    rows = []
    for name, published in pd.read_csv(FOLDS).groupby("dataset"):
        paths = [] if data is None else [data / f"{name}_dps_{fold}.dat" for fold in range(1, 5)]
        if paths and all(path.exists() for path in paths):
            parts = [read(path) for path in paths]
            rows += [row_of_fold(fold, parts) for fold in published.itertuples()]
    if not rows:
        return (
            "The FMNN family's published results by fold need the folds of the IOL-GFMM paper: "
            "name the folder of heart_dps_1.dat and its like (Dataset/train_test/dps of "
            "UTS-AAi/IOL-GFMM on GitHub, DPS/dps_train_test of UTS-AAi/open-gfmm) with --fold-data"
        )
    header = ("set, fold", "learner", "boxes, published", "ours", "errors in %, published", "ours")
    page = markdown(header, rows, left=2)
    n_same = sum(row[2] == row[3] and row[4] == row[5] for row in rows)
    page += f"\n\n{n_same} of {len(rows)} are the same."
    write(folder / "family-folds.md", "# The folds of the IOL-GFMM paper", page)
    return page


def row_of_fold(fold: Any, parts: list[Table]) -> tuple[str, ...]:
    """Learn the three folds after the one to test on, in this order; return a row."""
    training = [parts[(fold.fold - 1 + after) % 4] for after in (1, 2, 3)]
    X, y = np.vstack([X for X, _ in training]), np.concatenate([y for _, y in training])
    options = {"theta": fold.theta, "n_candidates": fold.n_candidates}
    options |= {"scaling": None, "shuffle": False, "calibrate": False}
    model = FuzzyMinMax(fold.variant, **options).fit(X, y)
    tries = f", K {fold.n_candidates}" if fold.n_candidates > 1 else ""
    title = f"{fold.variant.upper()}, theta {fold.theta:g}{tries}"
    ours = 100 * (1 - model.score(*parts[fold.fold - 1]))
    return (
        *(f"{fold.dataset} {fold.fold}", title, str(fold.boxes), str(len(model.hyperboxes_))),
        *(f"{fold.error:.3f}", f"{ours:.3f}"),
    )


def read(path: Path) -> Table:
    """Read features and the class, which comes last."""
    table = np.loadtxt(path, delimiter=",")
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)
