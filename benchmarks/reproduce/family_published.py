"""Published numbers of the fuzzy min-max family, where the data of hyperbox-brain is at hand.

Its tutorials learn `dataset/syn_num_train.csv` of its repository (its releases at PyPI do not have
the folder) at theta 0.1, and predict `syn_num_test.csv`. Nothing of it is kept here.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.reproduce.tables import markdown, write
from hyperboxes import FuzzyMinMax

THETA = 0.1
NAMES = ("syn_num_train.csv", "syn_num_test.csv")


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


def write_family(peer: Path | None, folder: Path) -> str:
    """Write ours beside the published numbers, and return the page; say so if there is no data."""
    tables = None if peer is None else [read(peer, name) for name in NAMES]
    if tables is None or any(table is None for table in tables):
        return (
            "The published numbers of the FMNN family need the tutorials' data of hyperbox-brain: "
            f"name the folder that holds {' and '.join(NAMES)} (dataset in its repository) with "
            "--peer-data"
        )
    (X, y), (X_test, y_test) = tables
    rows = []
    for published in PUBLISHED:
        model = published.make().fit(X, y)
        rows.append(
            (
                published.title,
                str(published.boxes),
                str(len(model.hyperboxes_)),
                f"{published.accuracy:.2f}",
                f"{100 * model.score(X_test, y_test):.2f}",
            )
        )
    header = ("learner", "boxes, published", "ours", "accuracy in %, published", "ours")
    page = markdown(header, rows)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "family-published.md", "# The tutorials of hyperbox-brain", page)
    return page


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Read features and the class, which comes last; None if there is no such file."""
    path = folder / name
    if not path.exists():
        return None
    table = np.loadtxt(path, delimiter=",")
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)
