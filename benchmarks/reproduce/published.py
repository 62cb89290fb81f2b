"""The paper's tables: its data sets, and per run its candidate counts, seconds and speed-ups."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

_FOLDER = Path(__file__).parent / "published"

# What identifies a run of the paper.
RUN = ["dataset", "algorithm", "similarity"]

N_COUNTS = 480


@cache
def datasets() -> pd.DataFrame:
    """Return title, samples, features and classes of the data sets, by name."""
    return pd.read_csv(_FOLDER / "datasets.csv", index_col="dataset")


@cache
def runs() -> pd.DataFrame:
    """Return all runs in the paper's order; the similarity of online learners is ""."""
    online = pd.read_csv(_FOLDER / "online.csv").assign(similarity="")
    agglo2 = pd.read_csv(_FOLDER / "agglo2.csv").assign(algorithm="agglo2")
    agglo_sm = pd.read_csv(_FOLDER / "agglo_sm.csv").assign(algorithm="agglo-sm")
    return pd.concat([online, agglo2, agglo_sm], ignore_index=True)
