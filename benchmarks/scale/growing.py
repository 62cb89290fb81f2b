"""Growth: seconds to fit over samples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.data import Split, generated_for_training
from benchmarks.scale.common import (
    AGGLO_2,
    AGGLO_SM,
    IOL,
    LEMMA_LIMIT,
    ONLN,
    THETA,
    Goal,
    Run,
    time_fits,
)
from benchmarks.timing import progress, table

GROWTH_SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
GROWTH_LINES = (
    (IOL, "index", 1_000_000),
    (ONLN, "index", 1_000_000),
    (IOL, "lemma", LEMMA_LIMIT),
    (AGGLO_2, "index", 100_000),
    (AGGLO_SM, "index", 100_000),
)
COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#009E73", "#D55E00")  # told apart by any eye
MARKERS = "osv^D"

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "scale.png"

# Slopes that are wanted, at most.
WANTED_SLOPES = {f"{IOL}, index": 1.3}


@dataclass(frozen=True)
class Line:
    """How seconds and boxes of one learner grow with the number of samples."""

    name: str
    n_samples: list[int]
    seconds: list[float]
    n_boxes: list[int]

    def slope(self, values: list[float] | list[int]) -> float:
        """Fit a straight line to values over samples, both as logarithms."""
        return float(np.polyfit(np.log(self.n_samples), np.log(values), 1)[0])


def bench_growth(run: Run) -> list[Goal]:
    """Fit ever more samples of one set."""
    data = generated_for_training(run.size(max(GROWTH_SIZES)), 8)
    lines = [grow(run, data, *line) for line in GROWTH_LINES]
    print(growth_table(lines), slope_table(lines), sep="\n\n", end="\n\n")
    if run.picture:
        draw(lines, run.picture)
    return [slope_goal(line) for line in lines if line.name in WANTED_SLOPES]


def grow(run: Run, data: Split, learner: str, selection: str, limit: int) -> Line:
    """Fit the first samples of a set, more and more of them."""
    line = Line(f"{learner}, {selection}", [], [], [])
    for n_samples in (run.size(size) for size in GROWTH_SIZES if size <= limit):
        progress(f"{line.name} on {n_samples:,} samples")
        X, y = data.X_train[:n_samples], data.y_train[:n_samples]
        timing = time_fits(run, learner, THETA, X, y, [selection])[selection]
        line.n_samples.append(n_samples)
        line.seconds.append(timing.seconds)
        line.n_boxes.append(len(timing.result.hyperboxes_))
    return line


def growth_table(lines: list[Line]) -> str:
    """Tabulate seconds, in all and per sample, and boxes."""
    return table(
        (f"growth, 8 features, theta {THETA}", "train", "seconds", "us per sample", "boxes"),
        (
            (line.name, f"{n:,}", f"{seconds:.3f}", f"{1e6 * seconds / n:.1f}", f"{n_boxes:,}")
            for line in lines
            for n, seconds, n_boxes in zip(line.n_samples, line.seconds, line.n_boxes, strict=True)
        ),
    )


def slope_table(lines: list[Line]) -> str:
    """Tabulate the exponents of growth."""
    return table(
        ("slope on log-log axes", "seconds", "wanted", "boxes"),
        (
            (
                line.name,
                f"{line.slope(line.seconds):.2f}",
                f"<= {WANTED_SLOPES[line.name]}" if line.name in WANTED_SLOPES else "-",
                f"{line.slope(line.n_boxes):.2f}",
            )
            for line in lines
        ),
    )


def slope_goal(line: Line) -> Goal:
    """Set the exponent of a line's seconds against what is wanted."""
    slope, wanted = line.slope(line.seconds), WANTED_SLOPES[line.name]
    name = f"{line.name}, growth of seconds with samples"
    return Goal(name, f"slope <= {wanted}", f"{slope:.2f}", slope <= wanted)


def draw(lines: list[Line], path: Path) -> None:
    """Draw seconds over samples, with the legend in the order of the lines."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    last = min(len(line.seconds) for line in lines) - 1
    styled = zip(lines, COLOURS, MARKERS, strict=True)
    for line, colour, marker in sorted(styled, key=lambda style: -style[0].seconds[last]):
        label = f"{line.name}: slope {line.slope(line.seconds):.2f}"
        ax.loglog(line.n_samples, line.seconds, color=colour, marker=marker, label=label)
    ax.set(xlabel="training samples", ylabel="seconds to fit")
    ax.set_title(f"Fit of generated data, 8 features, 3 classes, theta {THETA}")
    ax.grid(color="0.9")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    figure.savefig(path, dpi=150)
    print(f"The picture is in {path.name}\n")
