"""The pictures of docs/plots.md: one of each display, of data that scikit-learn ships.

It needs pandas, for the names of the features.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from hyperboxes import (
    BoxesDisplay,
    BoxSizesDisplay,
    GrowthDisplay,
    ImprovedOnlineGFMM,
    ParallelCoordinatesDisplay,
)


def load(loader: Callable[..., Any]) -> tuple[pd.DataFrame, pd.Series]:
    """Return the samples with names of features, and the names of their classes."""
    data = loader(as_frame=True)
    return data.data, data.target.map(lambda label: str(data.target_names[label]))


def boxes() -> BoxesDisplay:
    """Draw boxes of a model of four features in two of them."""
    X, y = load(load_iris)
    model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, y)
    return BoxesDisplay.from_estimator(
        model, X, y, features=["petal length (cm)", "petal width (cm)"]
    )


def parallel() -> ParallelCoordinatesDisplay:
    """Draw why a sample is benign, with the features that tell the most."""
    X, y = load(load_breast_cancer)
    model = ImprovedOnlineGFMM(theta=0.4, random_state=0).fit(X, y)
    return ParallelCoordinatesDisplay.from_estimator(model, X[20:21], max_features=12)


def growth() -> GrowthDisplay:
    """Draw how a model learns digits."""
    X, y = load(load_digits)
    return GrowthDisplay.from_estimator(ImprovedOnlineGFMM(theta=0.7), X, y)


def sizes() -> BoxSizesDisplay:
    """Draw how many samples boxes hold."""
    X, y = load(load_breast_cancer)
    return BoxSizesDisplay.from_estimator(ImprovedOnlineGFMM(theta=0.4, random_state=0).fit(X, y))


def main() -> None:
    """Draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for them")
    output = parser.parse_args().output
    for draw in (boxes, parallel, growth, sizes):
        picture = output / f"plots-{draw.__name__}.png"
        display = draw()
        display.figure_.savefig(picture, dpi=100)
        plt.close(display.figure_)
        print(f"A picture is in {picture}")


if __name__ == "__main__":
    main()
