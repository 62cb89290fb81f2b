"""What `make demo` shows: accuracy beside other classifiers, boxes as rules, a stream, a picture.

The data is the breast cancer set that scikit-learn ships, with four of its measurements.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM

FEATURES = ["worst radius", "worst texture", "worst smoothness", "worst concave points"]
IN_PICTURE = [0, 3]
COLOURS = ["#0072B2", "#E69F00"]  # told apart with any kind of colour vision
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


def learn_stream(X: np.ndarray, y: np.ndarray) -> list[tuple[int, int, float]]:
    """Learn batch by batch, testing on each batch before learning it; return how it went."""
    model = ImprovedOnlineGFMM(theta=THETA)
    history = []
    n_right = 0
    print(f"\nThe same model from a stream, {BATCH} samples at a time")
    print("  samples  boxes  accuracy on samples not yet learned")
    for start in range(0, len(y), BATCH):
        batch = slice(start, start + BATCH)
        if start:
            n_right += (model.predict(X[batch]) == y[batch]).sum()
        model.partial_fit(X[batch], y[batch], classes=np.unique(y))
        n_seen = int(model.hyperboxes_.counts.sum())
        if start:
            history.append((n_seen, len(model.hyperboxes_), n_right / (n_seen - BATCH)))
            print("  {:7d}  {:5d}  {:.3f}".format(*history[-1]))
    return history


def draw_boxes(X: np.ndarray, y: np.ndarray, ax: Axes) -> None:
    """Draw the boxes of a model of two measurements over its decision regions."""
    X = X[:, IN_PICTURE]
    model = ImprovedOnlineGFMM(theta=THETA).fit(X, y)
    margin = 0.05 * np.ptp(X, axis=0)
    axes = np.linspace(X.min(axis=0) - margin, X.max(axis=0) + margin, 300).T
    plane = np.stack(np.meshgrid(*axes), axis=-1)
    regions = model.predict_proba(plane.reshape(-1, 2)).argmax(axis=1).reshape(300, 300)
    ax.pcolormesh(*axes, regions, alpha=0.15, cmap=ListedColormap(COLOURS), rasterized=True)
    for label, marker in enumerate("o^"):
        name = model.classes_[label]
        ax.scatter(*X[y == name].T, s=9, c=COLOURS[label], marker=marker, linewidths=0, label=name)
    boxes = model.hyperboxes_
    for low, high, label in zip(boxes.lower, boxes.upper, boxes.labels, strict=True):
        outline = Rectangle(low, *(high - low), fill=False, ec=COLOURS[label], lw=1.2)
        ax.add_patch(outline)
    ax.set(
        xlabel=FEATURES[IN_PICTURE[0]],
        ylabel=FEATURES[IN_PICTURE[1]],
        title=f"{len(boxes)} boxes learned from {len(y)} samples",
    )
    ax.legend(loc="lower right", frameon=True)


def draw_stream(history: list[tuple[int, int, float]], ax: Axes) -> None:
    """Draw accuracy and number of boxes over the stream."""
    n_seen, n_boxes, accuracy = zip(*history, strict=True)
    ax.plot(n_seen, accuracy, c="black", marker="o", ms=3)
    ax.set(
        xlabel="samples learned",
        ylabel="accuracy so far",
        ylim=(0.8, 1),
        title="Learning from a stream",
    )
    twin = ax.twinx()
    twin.plot(n_seen, n_boxes, c="#009E73", ls="--")
    twin.set_ylim(bottom=0)
    twin.set_ylabel("boxes (dashed)", color="#009E73")


def main() -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo.png"), help="the figure")
    output = parser.parse_args().output

    X, y = load()
    print(f"Breast cancer: {len(y)} samples, {X.shape[1]} measurements, benign or malignant")
    compare(X, y)
    print_rules(ImprovedOnlineGFMM(theta=THETA).fit(X, y))
    history = learn_stream(X, y)

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    draw_boxes(X, y, left)
    draw_stream(history, right)
    figure.savefig(output, dpi=120)
    print(f"\nThe picture is in {output}")


if __name__ == "__main__":
    main()
