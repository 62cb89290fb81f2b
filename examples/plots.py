"""Draw the pictures of docs/plots.md, from datasets of scikit-learn and generated ones.

It needs pandas, for the names of the features.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from hyperboxes import (
    AdaptiveGFMM,
    BoostedHyperboxes,
    BoxesDisplay,
    ContributionsDisplay,
    GrowthDisplay,
    ImprovedOnlineGFMM,
    MemoryDisplay,
    ParallelCoordinatesDisplay,
    RulesDisplay,
    ThetaDisplay,
)


def load(loader: Callable[..., Any]) -> tuple[pd.DataFrame, pd.Series]:
    """Return the samples with names of features, and the names of their classes."""
    data = loader(as_frame=True)
    return data.data, data.target.map(lambda label: str(data.target_names[label]))


def boxes() -> BoxesDisplay:
    """Draw the boxes of a model of four features in two of them."""
    X, y = load(load_iris)
    model = ImprovedOnlineGFMM(theta=0.3, decision="nearest", random_state=0).fit(X, y)
    return BoxesDisplay.from_estimator(model, X, y)


def rules() -> RulesDisplay:
    """Draw the rules of boosted boxes of tumours."""
    X, y = load(load_breast_cancer)
    model = BoostedHyperboxes(max_boxes=10, random_state=0).fit(X, y)
    return RulesDisplay.from_estimator(model)


def parallel() -> ParallelCoordinatesDisplay:
    """Draw a benign sample and its boxes, in the features with the largest distances."""
    X, y = load(load_breast_cancer)
    model = ImprovedOnlineGFMM(theta=0.4, random_state=0).fit(X, y)
    return ParallelCoordinatesDisplay.from_estimator(model, X[20:21], max_features=12)


def growth() -> GrowthDisplay:
    """Draw the growth of a model of digits."""
    X, y = load(load_digits)
    return GrowthDisplay.from_estimator(ImprovedOnlineGFMM(theta=0.7), X, y)


def memory() -> MemoryDisplay:
    """Draw how weights move after a sudden concept drift at sample 1,500."""
    X = np.random.default_rng(0).random((2400, 2))
    is_bought = (X[:, 0] > X[:, 1]) ^ (np.arange(len(X)) >= 1500)
    y = np.where(is_bought, "buy", "sell")
    return MemoryDisplay.from_estimator(AdaptiveGFMM(), X, y, batch_size=25)


def theta() -> ThetaDisplay:
    """Draw accuracy and number of boxes over `theta`."""
    X, y = load(load_breast_cancer)
    features = ["worst radius", "worst texture", "worst concave points"]
    return ThetaDisplay.from_estimator(ImprovedOnlineGFMM(random_state=0), X[features], y)


def contributions() -> ContributionsDisplay:
    """Draw why boosted boxes predict that a sample is malignant."""
    X, y = load(load_breast_cancer)
    model = BoostedHyperboxes(max_boxes=15, random_state=0).fit(X, y)
    return ContributionsDisplay.from_estimator(model, X[40:41])


def cut() -> BoxesDisplay:
    """Draw boosted boxes in a cut through a sample, and the regions that they add up to."""
    X, y = load(load_breast_cancer)
    model = BoostedHyperboxes(max_boxes=15, random_state=0).fit(X, y)
    return BoxesDisplay.from_estimator(model, X, y, at=X[40:41])


TITLES: dict[Callable[[], Any], str] = {
    boxes: "Setosa is far from the others; versicolor and virginica meet",
    rules: "Ten rules that separate benign and malignant tumours",
    parallel: "A benign tumour lies in a benign box, in all features shown",
    growth: "Digits: boxes are added as samples arrive",
    memory: "After the drift at sample 1,500, recent boxes get the weight",
    theta: "Breast cancer: few boxes suffice from theta = 0.3 on",
    contributions: "A tumour on the edge: contributions almost cancel out",
    cut: "A cut through a malignant tumour",
}


def main() -> None:
    """Draw the images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for them")
    output = parser.parse_args().output
    for draw, title in TITLES.items():
        picture = output / f"plots-{draw.__name__}.png"
        display = draw()
        display.figure_.suptitle(title, fontsize="medium")
        display.figure_.savefig(picture, dpi=100)
        plt.close(display.figure_)
        print(picture)


if __name__ == "__main__":
    main()
