"""Published numbers of the fuzzy min-max family, where the data of hyperbox-brain is at hand.

Its tutorials learn `dataset/syn_num_train.csv` of its repository (its releases at PyPI do not have
the folder) at theta 0.1, and predict `syn_num_test.csv`; those on mixed data likewise
`japanese_credit_train.csv` and `_test.csv`. Nothing of it is kept here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.reproduce.tables import markdown, write
from hyperboxes import FuzzyMinMax, MixedGFMM

THETA = 0.1
NAMES = ("syn_num_train.csv", "syn_num_test.csv")
MIXED_NAMES = ("japanese_credit_train.csv", "japanese_credit_test.csv")
MIXED_NUMBERS = (1, 2, 7, 10, 13, 14)  # columns; the others hold categories, the last the class


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


def write_family(peer: Path | None, folder: Path) -> str:
    """Write ours beside the published numbers, and return the page; say so if there is no data."""
    rows = []
    for names, learners, reader in (
        (NAMES, PUBLISHED, read),
        (MIXED_NAMES, PUBLISHED_MIXED, read_mixed),
    ):
        if peer is not None and all((peer / name).exists() for name in names):
            rows += compare(learners, *(reader(peer / name) for name in names))
    if not rows:
        return (
            "The published numbers of the FMNN family need the tutorials' data of hyperbox-brain: "
            f"name the folder that holds {' and '.join(NAMES)}, or {' and '.join(MIXED_NAMES)} "
            "(dataset in its repository) with --peer-data"
        )
    header = ("learner", "boxes, published", "ours", "accuracy in %, published", "ours")
    page = markdown(header, rows)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "family-published.md", "# The tutorials of hyperbox-brain", page)
    return page


def compare(learners: Iterable[Published], train: Table, test: Table) -> list[tuple[str, ...]]:
    """Fit learners, and return their numbers beside the published ones."""
    rows = []
    for published in learners:
        model = published.make().fit(*train)
        rows.append(
            (
                published.title,
                str(published.boxes),
                str(len(model.hyperboxes_)),
                f"{published.accuracy:.2f}",
                f"{100 * model.score(*test):.2f}",
            )
        )
    return rows


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
