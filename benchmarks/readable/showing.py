"""Tables and the picture of scores."""

from __future__ import annotations

from itertools import cycle

import numpy as np
from matplotlib.figure import Figure

from benchmarks.readable.contenders import OURS
from benchmarks.readable.scoring import Scores
from benchmarks.timing import table

STYLES = ("-", "--", ":", "-.", (0, (8, 3)), (0, (1, 4)))  # of lines across the picture


def mean_table(scores: list[Scores], sizes: tuple[int, ...]) -> str:
    """Tabulate means over the sets that a contender finished, and how many it did with most rules.

    Sets on which it finished some sizes only do not count.
    """
    rows = []
    for name in names_of(scores):
        finished = finished_by(name, scores)
        cells = [name]
        for size in (*sizes, None):
            values = [found[name, size] for found in finished if (name, size) in found]
            cells.append("{:.3f}/{:.3f}".format(*np.mean(values, axis=0)) if values else "")
        rows.append([*cells, f"{len(finished)}"])
    return table(["rules", *map(str, sizes), "any", "sets"], rows)


def names_of(scores: list[Scores]) -> list[str]:
    """Return the contenders."""
    return list(dict.fromkeys(name for found in scores for name, _ in found))


def finished_by(name: str, scores: list[Scores]) -> list[Scores]:
    """Return the scores on the sets on which a contender finished all sizes."""
    sizes = {size for found in scores for other, size in found if other == name}
    return [found for found in scores if all((name, size) in found for size in sizes)]


def difference_table(scores: list[Scores], sizes: tuple[int, ...]) -> str:
    """Tabulate by how many points boxes are above each learner of as many rules."""
    rows = []
    for name in names_of(scores):
        finished = finished_by(name, scores)
        cells = []
        for size in sizes:
            gains = [
                found[OURS, size][0] - found[name, size][0]
                for found in finished
                if (name, size) in found and (OURS, size) in found
            ]
            cells.append(f"{100 * np.mean(gains):+.1f}" if gains else "")
        if name != OURS and any(cells):
            rows.append([name, *cells, f"{len(finished)}"])
    return table(["rules", *map(str, sizes), "sets"], rows)


def frontier(scores: list[Scores], sizes: tuple[int, ...], protocol: str) -> Figure:
    """Draw mean accuracy over the number of rules, of contenders that finished all sets."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    means = {
        name: {
            size: float(np.mean([score[name, size][0] for score in scores]))
            for size in (*sizes, None)
            if (name, size) in scores[0]
        }
        for name in names_of(scores)
        if len(finished_by(name, scores)) == len(scores)
    }
    for name, found in means.items():
        if None not in found:
            width = 2.5 if name == OURS else 1.2
            axes.plot(list(found), list(found.values()), marker="o", linewidth=width, label=name)
    others = {name: found[None] for name, found in means.items() if None in found}
    ranked = sorted(others.items(), key=lambda item: -item[1])
    for (name, accuracy), style in zip(ranked, cycle(STYLES)):
        axes.axhline(accuracy, color="gray", linewidth=1, linestyle=style, label=name)
    axes.set(xscale="log", xlabel="rules (of a tree: leaves)", ylabel="mean accuracy")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_title(
        f"{len(scores)} sets on which no default was chosen: {protocol}", fontsize=9, loc="left"
    )
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
