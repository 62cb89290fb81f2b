"""Draw the images of the paper's algorithms: their boxes, their search, and the network."""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.preprocessing import minmax_scale

from hyperboxes import AgglomerativeGFMM, BoxesDisplay, ImprovedOnlineGFMM, OnlineGFMM

IDEAS = {
    "Onln-GFMM": "boxes grow; where classes\noverlap, boxes are contracted",
    "IOL-GFMM": "boxes grow only where\nno other class is in the way",
    "AGGLO-2": "each box in turn merges\nwith its most similar one",
    "AGGLO-SM": "the most similar pair\nof all merges first",
}
SEARCHES = {
    "all": "original algorithm",
    "lemma": "paper's lemma",
    "index": "our index (default)",
}
THETA = 0.3

Classifier = OnlineGFMM | ImprovedOnlineGFMM | AgglomerativeGFMM


def paper_classifiers(selection: str) -> dict[str, Classifier]:
    """Return the four algorithms in the paper's settings."""
    common = {"membership_function": "min", "scaling": None, "calibrate": False}
    online = {**common, "selection": selection, "shuffle": False}
    together = {**common, "selection": selection, "overlap": "paper"}
    return {
        "Onln-GFMM": OnlineGFMM(THETA, **online),
        "IOL-GFMM": ImprovedOnlineGFMM(THETA, **online, overlap="paper"),
        "AGGLO-2": AgglomerativeGFMM(THETA, **together, algorithm="agglo2"),
        "AGGLO-SM": AgglomerativeGFMM(THETA, **together, algorithm="agglo-sm"),
    }


def boxes() -> Figure:
    """Draw the same samples with the boxes of each algorithm."""
    X, y = make_moons(150, noise=0.17, random_state=3)
    X, y = minmax_scale(X), np.array(["class A", "class B"])[y]
    figure, axes = plt.subplots(
        1, 4, figsize=(12, 3.6), layout="constrained", sharex=True, sharey=True
    )
    for ax, (name, model) in zip(axes, paper_classifiers("index").items(), strict=True):
        BoxesDisplay.from_estimator(
            model.fit(X, y),
            X,
            y,
            max_boxes=None,
            ax=ax,
            regions=False,
            legend=False,
            scatter_kwargs={"s": 9},
        )
        ax.set(xlabel="feature 1", ylabel="feature 2")
        ax.set_title(f"{name}: {len(model.hyperboxes_)} boxes\n{IDEAS[name]}", fontsize=10)
        ax.label_outer()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def candidates() -> Figure:
    """Draw how many candidates each algorithm tries, by how they are searched."""
    X, y = load_breast_cancer(return_X_y=True)
    X = minmax_scale(X)
    figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
    ax.set_prop_cycle(color=["0.6", "#e69f00", "#0072b2"])
    for place, (selection, label) in enumerate(SEARCHES.items()):
        models = paper_classifiers(selection).values()
        tried = [model.fit(X, y).n_candidates_ for model in models]
        bars = ax.bar(np.arange(len(tried)) + 0.27 * (place - 1), tried, 0.25, label=label)
        ax.bar_label(bars, [f"{n:,}" for n in tried], fontsize=8)
    ax.set(yscale="log", ylabel="candidates tried (log scale)")
    ax.set_xticks(range(len(IDEAS)), IDEAS)
    ax.set_title(f"Same boxes, fewer candidates: breast cancer data, theta = {THETA}")
    ax.set_ylim(100, 80_000)
    ax.legend(title="search")
    return figure


def network() -> Figure:
    """Draw the network of the paper's Figure 1, for n features, m boxes and p classes."""
    layers: list[dict[str, float]] = [
        {"$x_1^l$": 5, "$x_n^l$": 3, "$x_1^u$": 2, "$x_n^u$": 0},
        {"$B_1$": 5, "$B_2$": 3.3, "$B_m$": 0},
        {"$c_0$": 5, "$c_1$": 3.3, "$c_p$": 0},
    ]
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    ax.set(xlim=(-0.5, 2.5), ylim=(-0.75, 6))
    ax.axis("off")
    for x, (layer, following) in enumerate(pairwise([*layers, {}])):
        for name, y in layer.items():
            for end in following.values():
                ax.plot([x, x + 1], [y, end], color="0.8", linewidth=0.8, zorder=0)
            circle = {"boxstyle": "circle,pad=0.35", "facecolor": "white"}
            ax.text(x, y, name, ha="center", va="center", bbox=circle)
    texts: list[tuple[float, float, str]] = [
        *[(0, 4, r"$\vdots$"), (0, 1, r"$\vdots$"), (1, 1.6, r"$\vdots$"), (2, 1.6, r"$\vdots$")],
        *[(0, 5.7, "input: $2n$ ends"), (1, 5.7, "boxes: $b_i(X)$")],
        *[(2, 5.7, r"output: $c_j = \max_i b_i u_{ij}$")],
        *[(0.5, -0.6, "faces $V$, $W$"), (1.5, -0.6, "labels $U$, 0 or 1")],
    ]
    for x, y, text in texts:
        ax.text(x, y, text, ha="center", va="center")
    return figure


def main() -> None:
    """Draw the images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for them")
    output = parser.parse_args().output
    for draw in (boxes, candidates, network):
        picture = output / f"paper-{draw.__name__}.png"
        figure = draw()
        figure.savefig(picture, dpi=100)
        plt.close(figure)
        print(picture)


if __name__ == "__main__":
    main()
