"""Our speed-ups beside the published ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.reproduce import published
from benchmarks.reproduce.cells import Results
from benchmarks.reproduce.learners import ALGORITHMS, SELECTIONS, TITLES
from benchmarks.reproduce.tables import factor, markdown, seconds, write, write_csv
from benchmarks.reproduce.times import CALL

OURS = [f"seconds_{name}" for name in (*SELECTIONS, CALL)]


def compare(results: Results) -> pd.DataFrame:
    """Return a row for each run of the paper: seconds of a half, ours and published, and ratios."""
    ours = pd.DataFrame(
        [
            (
                cell.dataset,
                cell.arguments[-1].algorithm,
                cell.arguments[-1].similarity,
                *(result["seconds"][name] for name in (*SELECTIONS, CALL)),
            )
            for cell, result in results
        ],
        columns=[*published.RUN, *OURS],
    )
    frame = ours.merge(published.runs(), "left", published.RUN, suffixes=("", "_published"))
    frame = frame.rename(columns={"speedup": "lemma_over_all_published"})
    frame["lemma_over_all"] = frame["seconds_all"] / frame["seconds_lemma"]
    frame["index_over_lemma"] = frame["seconds_lemma"] / frame["seconds_index"]
    frame["index_over_all"] = frame["seconds_all"] / frame["seconds_index"]
    return frame.join(published.datasets()[["samples", "features"]], "dataset")


RATIOS = {
    "lemma over all, published": "lemma_over_all_published",
    "lemma over all, ours": "lemma_over_all",
    "index over lemma": "index_over_lemma",
    "index over all": "index_over_all",
}

NOTES = """\
Seconds are those of training on one half, medians of turns in one run with nothing else
running; published ones are from another machine. A speed-up divides the seconds of the slower
by those of the faster: "lemma over all" is the paper's speed-up, "index over all" that of the
package's default over the original algorithm. "Call" is training on a single sample: what a fit
costs before it learns. leaves_texture is the paper's mis-parsed file."""


def write_times(folder: Path, frame: pd.DataFrame, facts: str) -> None:
    """Write all seconds and speed-ups."""
    write_csv(folder / "times.csv", frame)
    tables = [
        table(frame[frame["algorithm"] == algorithm], TITLES[algorithm])
        for algorithm in ALGORITHMS
        if algorithm in set(frame["algorithm"])
    ]
    write(folder / "times.md", "# Training time", facts, NOTES, *tables)


def table(frame: pd.DataFrame, title: str) -> str:
    """Tabulate the seconds and speed-ups of an algorithm."""
    columns = {
        "published: all": "seconds_all_published",
        "lemma": "seconds_lemma_published",
        "ours: all": "seconds_all",
        "lemma ": "seconds_lemma",
        "index": "seconds_index",
        "call": "seconds_call",
    }
    return markdown(
        (title, "similarity", *columns, *RATIOS),
        (
            (
                row["dataset"],
                row["similarity"] or "-",
                *(seconds(row[name]) for name in columns.values()),
                *(factor(row[name]) for name in RATIOS.values()),
            )
            for _, row in frame.iterrows()
        ),
        left=2,
    )


def summarise(frame: pd.DataFrame) -> list[str]:
    """Return paragraphs: mean speed-ups, and where the lemma gains less than in the paper."""
    groups = frame.groupby(["algorithm", "similarity"], sort=False)
    return [
        "## Training time",
        "Geometric means over the data sets:",
        markdown(
            ("algorithm", "similarity", *RATIOS),
            (
                (
                    TITLES[algorithm],
                    similarity or "-",
                    *(factor(geometric_mean(part[name])) for name in RATIOS.values()),
                )
                for (algorithm, similarity), part in groups
            ),
            left=2,
        ),
        smaller_speedups(frame),
    ]


def smaller_speedups(frame: pd.DataFrame) -> str:
    """Say where the lemma's speed-up is smaller than the paper's, and what that comes from."""
    smaller = frame[frame["lemma_over_all"] < frame["lemma_over_all_published"]]
    if smaller.empty:
        return "Nowhere is the lemma's speed-up smaller than the paper's."
    names = ", ".join(
        f"{TITLES[algorithm]} {len(part)} of {sum(frame['algorithm'] == algorithm)}"
        for algorithm, part in smaller.groupby("algorithm", sort=False)
    )
    faster = (smaller["seconds_all_published"] / smaller["seconds_all"]).median()
    call = (smaller["seconds_call"] / smaller["seconds_lemma"]).median()
    ours, theirs = (1e6 * saved_per_candidate(smaller, whose) for whose in ("", "_published"))
    return (
        f"The lemma's speed-up is smaller than the paper's in {len(smaller)} of {len(frame)} runs "
        f"({names}), because our baseline is faster: there the original algorithm "
        f'(`selection="all"`) is {factor(faster)} as fast as the published one, on another '
        f"machine. A candidate that the lemma drops saves {ours:.3g} microseconds where it saved "
        f"the paper's code {theirs:.3g}, and what a call costs before it learns is {call:.0%} of "
        "the lemma's time (medians)."
    )


def saved_per_candidate(frame: pd.DataFrame, whose: str) -> float:
    """Return the median seconds that the lemma saves per candidate it drops."""
    seconds_saved = frame[f"seconds_all{whose}"] - frame[f"seconds_lemma{whose}"]
    return float((seconds_saved / (frame["candidates_all"] - frame["candidates_lemma"])).median())


def geometric_mean(values: pd.Series) -> float:
    """Return the mean of ratios."""
    return float(np.exp(np.log(values).mean()))
