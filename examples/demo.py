"""What `make demo` shows: accuracy beside other classifiers, boxes as rules, a stream, a picture.

The data is the breast cancer set that scikit-learn ships, with four of its measurements.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from hyperboxes import BoxesDisplay, GrowthDisplay, ImprovedOnlineGFMM, OnlineGFMM

FEATURES = ["worst radius", "worst texture", "worst smoothness", "worst concave points"]
IN_PICTURE = [0, 3]
THETA = 0.4  # large boxes: few rules
BATCH = 50


def load() -> tuple[np.ndarray, np.ndarray]:
    """Return the four measurements and the diagnoses."""
    data = load_breast_cancer()
    columns = [list(data.feature_names).index(name) for name in FEATURES]
    return data.data[:, columns], data.target_names[data.target]


def compare(X: np.ndarray, y: np.ndarray) -> None:
    """Print cross-validated accuracy beside two well-known classifiers."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    classifiers = {
        f"ImprovedOnlineGFMM(theta={THETA})": ImprovedOnlineGFMM(theta=THETA),
        f"OnlineGFMM(theta={THETA})": OnlineGFMM(theta=THETA),
        "1-nearest neighbour": make_pipeline(MinMaxScaler(), KNeighborsClassifier(1)),
        "decision tree": DecisionTreeClassifier(random_state=0),
    }
    print("\nAccuracy, 10-fold cross-validation")
    for name, classifier in classifiers.items():
        scores = cross_val_score(classifier, X, y, cv=folds)
        print(f"  {name:<30} {scores.mean():.3f} +- {scores.std():.3f}")


def print_rules(model: ImprovedOnlineGFMM, n_rules: int = 3) -> None:
    """Print the boxes that hold the most samples as rules in the data's units."""
    boxes = model.hyperboxes_
    largest = np.argsort(-boxes.counts, kind="stable")[:n_rules]
    print(f"\n{len(boxes)} boxes; the {n_rules} largest hold {boxes.counts[largest].sum()} samples")
    for box in largest:
        print(f"  {model.classes_[boxes.labels[box]]}, {boxes.counts[box]} samples, if")
        for name, low, high in zip(FEATURES, boxes.lower[box], boxes.upper[box], strict=True):
            print(f"    {name:<21} is {low:8.4g} to {high:.4g}")


def draw_boxes(X: np.ndarray, y: np.ndarray, ax: Axes) -> None:
    """Draw the boxes of a model of two measurements over its decision regions."""
    X = X[:, IN_PICTURE]
    model = ImprovedOnlineGFMM(theta=THETA).fit(X, y)
    BoxesDisplay.from_estimator(model, X, y, ax=ax, legend=False)
    ax.set(
        xlabel=FEATURES[IN_PICTURE[0]],
        ylabel=FEATURES[IN_PICTURE[1]],
        title=f"{len(model.hyperboxes_)} boxes learned from {len(y)} samples",
    )
    ax.legend(loc="lower right")


def learn_stream(X: np.ndarray, y: np.ndarray, ax: Axes) -> None:
    """Learn batch by batch, testing on each batch before learning it; print and draw that."""
    print(f"\nThe same model from a stream, {BATCH} samples at a time")
    print("  samples  boxes  accuracy on samples not yet learned")
    model = ImprovedOnlineGFMM(theta=THETA)
    display = GrowthDisplay.from_estimator(model, X, y, batch_size=BATCH, ax=ax, legend=False)
    n_boxes = display.n_boxes.sum(axis=1)
    for row in list(zip(display.n_samples, n_boxes, display.accuracy, strict=True))[1:]:
        print("  {:7d}  {:5d}  {:.3f}".format(*row))
    ax.set_title("Learning from a stream")
    ax.legend()
    display.axes_[1].legend(loc="upper left")


def main() -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo.png"), help="the figure")
    output = parser.parse_args().output

    X, y = load()
    print(f"Breast cancer: {len(y)} samples, {X.shape[1]} measurements, benign or malignant")
    compare(X, y)
    print_rules(ImprovedOnlineGFMM(theta=THETA).fit(X, y))

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    draw_boxes(X, y, left)
    learn_stream(X, y, right)
    figure.savefig(output, dpi=120)
    print(f"\nThe picture is in {output}")


if __name__ == "__main__":
    main()
