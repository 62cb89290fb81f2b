"""Published numbers of the fuzzy min-max family, where the data of their authors is at hand.

The tutorials of hyperbox-brain learn `dataset/syn_num_train.csv` of its repository (its releases at
PyPI do not have the folder) at theta 0.1, and predict `syn_num_test.csv`; those on mixed data
likewise `japanese_credit_train.csv` and `_test.csv`. The paper on IOL-GFMM
(Khuat, Chen and Gabrys, IJCNN 2020) has four folds of each set, `NAME_dps_1.dat` to `_4.dat`, in
UTS-AAi/IOL-GFMM and UTS-AAi/open-gfmm on GitHub; its results by fold are in the first of them.
Nothing of theirs is kept here but the numbers to compare with.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.harness import markdown, write
from hyperboxes.literature import FuzzyMinMax, MixedGFMM

THETA = 0.1
NAMES = ("syn_num_train.csv", "syn_num_test.csv")
MIXED_NAMES = ("japanese_credit_train.csv", "japanese_credit_test.csv")
MIXED_NUMBERS = (1, 2, 7, 10, 13, 14)  # columns; the others are categories, the last is the class


class Published(NamedTuple):
    """A learner as it was run, with its number of boxes and accuracy in percent."""

    title: str
    make: partial[Any]
    boxes: int
    accuracy: float


_AS_GIVEN = {"theta": THETA, "scaling": None, "shuffle": False, "calibrate": False}
PUBLISHED = (
    Published("FMNN", partial(FuzzyMinMax, "fmnn", n_candidates=1, **_AS_GIVEN), 91, 85.3),
    Published("EFMNN", partial(FuzzyMinMax, "efmnn", n_candidates=1, **_AS_GIVEN), 77, 85.8),
    Published("KNEFMNN, K = 5", partial(FuzzyMinMax, "knefmnn", **_AS_GIVEN), 51, 86.6),
    # It leaves gaps of 0.001 where boxes are split, and splits those of a single sample.
    Published("RFMNN", partial(FuzzyMinMax, "rfmnn", **_AS_GIVEN), 95, 86.2),
)
_MIXED = {**_AS_GIVEN, "delta": 0.6, "alpha": 0.5, "overlap": "frequencies"}
PUBLISHED_MIXED = (
    Published("EIOL, each", partial(MixedGFMM, entropy="each", **_MIXED), 378, 82.44),
    Published("EIOL, mean", partial(MixedGFMM, entropy="mean", **_MIXED), 159, 83.97),
)

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
    options = {**_AS_GIVEN, "theta": fold.theta, "n_candidates": fold.n_candidates}
    model = FuzzyMinMax(fold.variant, **options).fit(X, y)
    tries = f", K {fold.n_candidates}" if fold.n_candidates > 1 else ""
    title = f"{fold.variant.upper()}, theta {fold.theta:g}{tries}"
    ours = 100 * (1 - model.score(*parts[fold.fold - 1]))
    return (
        *(f"{fold.dataset} {fold.fold}", title, str(fold.boxes), str(len(model.hyperboxes_))),
        *(f"{fold.error:.3f}", f"{ours:.3f}"),
    )


def write_family(peer: Path | None, folder: Path) -> str:
    """Write our results and the published ones; return the page, or what data it needs."""
    rows = []
    for names, learners, reader in (
        (NAMES, PUBLISHED, read),
        (MIXED_NAMES, PUBLISHED_MIXED, read_mixed),
    ):
        if peer is None or not all((peer / name).exists() for name in names):
            continue
        train, test = (reader(peer / name) for name in names)
        for title, make, boxes, accuracy in learners:
            model = make().fit(*train)
            ours = f"{len(model.hyperboxes_)}", f"{accuracy:.2f}", f"{100 * model.score(*test):.2f}"
            rows.append((title, str(boxes), *ours))
    if not rows:
        return (
            "The published numbers of the FMNN family need the tutorials' data of hyperbox-brain: "
            f"name the folder of {' and '.join(NAMES)}, or {' and '.join(MIXED_NAMES)} "
            "(dataset in its repository) with --peer-data"
        )
    header = ("learner", "boxes, published", "ours", "accuracy in %, published", "ours")
    page = markdown(header, rows)
    write(folder / "family-published.md", "# The tutorials of hyperbox-brain", page)
    return page


def read(path: Path) -> Table:
    """Read features and the class, which comes last."""
    table = np.loadtxt(path, delimiter=",")
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)


def read_mixed(path: Path) -> Table:
    """Read a table with categories; all that is no number is one."""
    table = pd.read_csv(path, header=None, keep_default_na=False)
    y = table.pop(table.columns[-1]).to_numpy()
    categories = [column for column in table if column not in MIXED_NUMBERS]
    return table.astype(dict.fromkeys(categories, "category")), y
