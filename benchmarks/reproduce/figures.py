"""Pictures of speed-ups and accuracies."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from benchmarks.reproduce.experiments import BASELINES, PEER_NAME, THETAS
from benchmarks.reproduce.learners import AGGLO_2, AGGLO_SM, SIMILARITIES, TITLES

# Told apart by any eye.
BLUE, ORANGE, GREEN, RED, PINK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
GREY = "0.45"

SPEEDUPS = {
    "lemma over all, published": "lemma_over_all_published",
    "lemma over all, ours": "lemma_over_all",
    "index over all, ours": "index_over_all",
}
BASELINE_LABELS = {
    "1-nn": "nearest neighbor",
    "decision-tree": "decision tree",
    "random-forest": "random forest",
}
FACTORS = (1, 3, 10, 30, 100, 300)
DEFAULT_SIMILARITY = "longest"


def draw_times(folder: Path, frame: pd.DataFrame) -> None:
    """Draw the speed-ups of the agglomerative learners over samples and features."""
    frame = frame[frame["similarity"] == DEFAULT_SIMILARITY]
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    algorithms = (AGGLO_2, AGGLO_SM)
    axes = figure.subplots(2, len(SPEEDUPS), sharex=True, sharey=True)
    norm = LogNorm(1, frame[[*SPEEDUPS.values()]].to_numpy().max())
    for row, algorithm in zip(axes, algorithms, strict=True):
        part = frame[frame["algorithm"] == algorithm]
        for ax, (title, column) in zip(row, SPEEDUPS.items(), strict=True):
            area = 25 + 60 * np.log10(part[column].clip(lower=1))
            dots = ax.scatter(
                part["samples"], part["features"], area, part[column],
                norm=norm, cmap="viridis", edgecolors="0.3", linewidths=0.5,
            )  # fmt: skip
            ax.set(xscale="log", yscale="log")
            ax.set_title(f"{TITLES[algorithm]}: {title}", fontsize=10.5)
            plain_ticks(ax.xaxis, (100, 300, 1_000, 3_000, 10_000))
            plain_ticks(ax.yaxis, (3, 10, 30, 100))
            tidy(ax)
    for ax in axes[-1]:
        ax.set_xlabel("samples")
    for ax in axes[:, 0]:
        ax.set_ylabel("features")
    bar = figure.colorbar(dots, ax=axes, label="speed-up (times faster)", shrink=0.8)
    plain_ticks(bar.ax.yaxis, [tick for tick in FACTORS if tick <= norm.vmax])
    n_sets = frame["dataset"].nunique()
    figure.suptitle(
        f'Larger datasets gain more speed ({n_sets} datasets, similarity "{DEFAULT_SIMILARITY}")'
    )
    figure.savefig(folder / "reproduce-speedup.png", dpi=150)


def draw_accuracy(folder: Path, means: pd.DataFrame, frame: pd.DataFrame) -> None:
    """Draw accuracy and number of boxes over theta."""
    n_sets = frame["dataset"].nunique()
    over_learners(means, n_sets).savefig(folder / "reproduce-accuracy.png", dpi=150)
    over_similarities(means, n_sets).savefig(folder / "reproduce-similarity.png", dpi=150)


def over_learners(means: pd.DataFrame, n_sets: int) -> Figure:
    """Draw the learners, the agglomerative ones with the default similarity."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.subplots(1, 2)
    lines = {
        "Onln-GFMM": (RED, "v-"),
        "IOL-GFMM": (BLUE, "o-"),
        "IOL-GFMM, paper's overlap": (BLUE, "o:"),
        f"AGGLO-2, {DEFAULT_SIMILARITY}": (ORANGE, "s-"),
        f"AGGLO-SM, {DEFAULT_SIMILARITY}": (GREEN, "^-"),
        PEER_NAME: (PINK, "x--"),
    }
    draw_lines(axes, means, lines)
    for name, style in zip(BASELINES, (":", "--", "-."), strict=True):
        accuracy = means.loc[name, "accuracy"].iloc[0]
        axes[0].axhline(accuracy, color=GREY, linestyle=style, label=BASELINE_LABELS[name])
    title = "Larger boxes: online algorithms lose accuracy, agglomerative ones gain"
    figure.suptitle(f"{title} (means over {n_sets} datasets, 5 x 2-fold cross-validation)")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False
    )
    return figure


def over_similarities(means: pd.DataFrame, n_sets: int) -> Figure:
    """Draw the similarities of the agglomerative learners."""
    figure = Figure(figsize=(11, 8), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey="col")
    styles = zip(SIMILARITIES, (BLUE, ORANGE, GREEN, RED), ("o-", "s-", "^-", "v-"), strict=True)
    looks = {similarity: (colour, style) for similarity, colour, style in styles}
    for row, algorithm in zip(axes, ("AGGLO-2", "AGGLO-SM"), strict=True):
        lines = {f"{algorithm}, {similarity}": look for similarity, look in looks.items()}
        draw_lines(row, means, lines, prefix=f"{algorithm}: ")
    for ax in axes[0]:
        ax.set_xlabel("")
    handles = axes[0, 0].get_legend_handles_labels()[0]
    figure.legend(handles, SIMILARITIES, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(f"The similarities differ little (means over {n_sets} datasets)")
    return figure


def draw_lines(
    axes: Iterable[Axes], means: pd.DataFrame, lines: dict[str, tuple[str, str]], prefix: str = ""
) -> None:
    """Draw accuracy and boxes of some learners over theta."""
    kinds = (("accuracy", "mean accuracy"), ("boxes_per_sample", "boxes per training sample"))
    for ax, (column, title) in zip(axes, kinds, strict=True):
        for name, (colour, style) in lines.items():
            if name in means.index:  # hyperbox-brain may have been too slow
                values = means.loc[name, column]
                ax.plot(values.index, values, style, color=colour, label=name)
        ax.set(xscale="log", xlabel="theta", title=f"{prefix}{title}")
        plain_ticks(ax.xaxis, THETAS)
        ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=1 if column == "accuracy" else 0))
        tidy(ax)


def plain_ticks(axis: Axis, values: Iterable[float]) -> None:
    """Mark these values of a logarithmic axis, and print them as they are."""
    axis.set_major_locator(FixedLocator([*values]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:,g}")


def tidy(ax: Axes) -> None:
    """Keep the frame and grid in the background."""
    ax.grid(color="0.9")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
