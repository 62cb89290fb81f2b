"""The picture of docs/choosing.md: what learner and similarity do to the boxes.

One small set of samples, learned online, in turns (AGGLO-2) and best pair first (AGGLO-SM).
"""

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
    ax.set(title=f"{title}: {n_boxes} boxes", xlabel="", ylabel="", xticks=[], yticks=[])


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("choosing.png"), help="the figure")
    output = parser.parse_args().output
    models = {"online": ImprovedOnlineGFMM(THETA, random_state=0)}
    models["AGGLO-2, longest"] = AgglomerativeGFMM(THETA, algorithm="agglo2")
    for similarity in ("longest", "shortest", "mid-max", "mid-min"):
        models[f"AGGLO-SM, {similarity}"] = AgglomerativeGFMM(
            THETA, algorithm="agglo-sm", similarity=similarity
        )
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.4), layout="constrained")
    for ax, (title, model) in zip(axes.flat, models.items(), strict=True):
        draw(ax, title, model)
    figure.savefig(output, dpi=110)
    print(f"The picture is in {output}")


if __name__ == "__main__":
    main()
