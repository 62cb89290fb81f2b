"""Draw the image of docs/choosing.md: the same samples, fitted in six ways."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from sklearn.datasets import make_moons

from hyperboxes import AgglomerativeGFMM, BoxesDisplay, ImprovedOnlineGFMM

THETA = 0.35


def draw(ax: Axes, title: str, model: AgglomerativeGFMM | ImprovedOnlineGFMM) -> None:
    """Fit a model and draw its samples and boxes."""
    X, y = make_moons(240, noise=0.12, random_state=1)
    model.fit(X, y)
    BoxesDisplay.from_estimator(
        model, X, y, ax=ax, max_boxes=None, regions=False, legend=False, scatter_kwargs={"s": 6}
    )
    n_boxes = len(model.hyperboxes_)
    ax.set(title=f"{title}: {n_boxes} boxes", xlabel="feature 1", ylabel="feature 2")
    ax.label_outer()


def main() -> None:
    """Draw the image."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for it")
    picture = parser.parse_args().output / "choosing.png"
    models = {"IOL-GFMM": ImprovedOnlineGFMM(THETA, random_state=0)}
    models["AGGLO-2, longest"] = AgglomerativeGFMM(THETA, algorithm="agglo2")
    for similarity in ("longest", "shortest", "mid-max", "mid-min"):
        models[f"AGGLO-SM, {similarity}"] = AgglomerativeGFMM(
            THETA, algorithm="agglo-sm", similarity=similarity
        )
    figure, axes = plt.subplots(
        2, 3, figsize=(10, 6), layout="constrained", sharex=True, sharey=True
    )
    for ax, (title, model) in zip(axes.flat, models.items(), strict=True):
        draw(ax, title, model)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    names = [f"class {label}" for label in labels]
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    figure.suptitle(
        f"Algorithms and similarities build different boxes (240 samples, theta = {THETA})"
    )
    figure.savefig(picture, dpi=100)
    print(picture)


if __name__ == "__main__":
    main()
