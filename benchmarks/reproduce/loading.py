"""The data of the paper: from a folder where it is at hand, else from OpenML.

The folder contains `authors/NAME.csv.gz`, the very files that the paper's runs read, and
`NAME.csv.gz`, the raw values from UCI.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.preprocessing import minmax_scale

from benchmarks.data import in_file_order
from benchmarks.reproduce.learners import datasets

Samples = tuple[np.ndarray, np.ndarray]

# The paper's runs read a mis-parsed file of this set; under the second name it is read rightly.
MISPARSED, RIGHTLY_PARSED = "leaves_texture", "leaves_texture, rightly parsed"

# Columns that the paper's files do not have: run numbers, and constants.
_DROPPED = {"climate_crashes": [0, 1], "ionosphere": [1], "optical_digits": [0, 39]}
_MISSING = 1.0  # in breast_cancer_wisconsin, as in the paper's file


class NoDataError(Exception):
    """There is neither a folder of the data nor a way to OpenML."""


@dataclass(frozen=True)
class Source:
    """Where the data comes from: a folder, or OpenML for None."""

    folder: Path | None

    @classmethod
    def at(cls, folder: Path) -> Source:
        """Take the folder if it contains the paper's files."""
        return cls(folder if any((folder / "authors").glob("*.csv.gz")) else None)

    def __str__(self) -> str:
        if self.folder:
            return "the paper's own input files"
        return "OpenML: row order, rounding and hence counts may differ from the paper's"

    def paper_input(self, name: str) -> Samples:
        """Return a set as the paper's runs read it, scaled to [0, 1]."""
        if self.folder and name != RIGHTLY_PARSED:
            return _read(self.folder / "authors", name)
        X, y = self.true_data(MISPARSED if name == RIGHTLY_PARSED else name)
        return minmax_scale(X), y

    def true_data(self, name: str) -> Samples:
        """Return a set as it is at UCI, its missing values as in the paper's file."""
        if self.folder:
            is_incomplete = name == "breast_cancer_wisconsin"
            return _read(self.folder, f"{name}_imputed" if is_incomplete else name)
        return _fetch(name)


@cache
def _read(folder: Path, name: str) -> Samples:
    samples = in_file_order(name, folder)
    if samples is None:
        raise NoDataError(f"{folder} does not contain {name}.csv.gz")
    return samples


@cache
def _fetch(name: str) -> Samples:
    openml = datasets().loc[name, "openml"]
    try:
        fetched = fetch_openml(openml, version=1, as_frame=True, parser="auto")
    except (OSError, ValueError) as error:
        raise NoDataError(
            f"There is no data: OpenML does not answer for {openml} ({error}), and no folder "
            "of the paper's data was found. Name one with --data or HYPERBOXES_DATA (it contains "
            "authors/NAME.csv.gz and NAME.csv.gz), or go online once: scikit-learn keeps what it "
            "fetches."
        ) from error
    X = np.delete(fetched.data.to_numpy(float), _DROPPED.get(name, []), axis=1)
    classes = np.unique(fetched.target.to_numpy(str), return_inverse=True)[1]
    return np.nan_to_num(X, nan=_MISSING), classes
