"""Accuracy, ranks and numbers of boxes over theta."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.reproduce.accuracy import BASELINES, BUDGET, PEER_NAME, THETAS
from benchmarks.reproduce.cells import Results
from benchmarks.reproduce.tables import markdown, number, write, write_csv

VALUES = ("accuracy", "rank", "boxes_per_sample")

# Mean accuracy that fewer boxes may cost: the package's defaults of theta were chosen so.
COST = 0.015


def collect(results: Results) -> pd.DataFrame:
    """Return a row for each set, learner and theta, means over the folds."""
    return pd.DataFrame(
        {
            "dataset": cell.dataset,
            "learner": cell.learner,
            "theta": cell.theta,
            "accuracy": np.mean(result.get("accuracies", np.nan)),
            "standard_deviation": np.std(result.get("accuracies", np.nan)),
            "boxes": result.get("boxes"),
            "boxes_per_sample": result.get("boxes_per_sample"),
            "left_out_at_seconds": result.get("left_out"),
        }
        for cell, result in results
    )


def over_theta(frame: pd.DataFrame) -> pd.DataFrame:
    """Return means over the data sets by learner and theta; who lacks a set has no mean.

    What knows no theta is the same for all. Ranks are among the learners at one theta, 1 the best.
    """
    is_baseline = frame["learner"].isin(BASELINES)
    repeated = [frame[is_baseline].assign(theta=theta) for theta in THETAS]
    full = pd.concat([frame[~is_baseline], *repeated], ignore_index=True)
    return ranked(full, ["learner", "theta"], ["dataset", "theta"])


def at_best_theta(frame: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """Return means over the data sets by learner, each at the theta where its mean is best."""
    best = means["accuracy"].unstack("theta").dropna(how="all").idxmax(axis=1)
    theta = frame["learner"].map(best)
    chosen = frame[(frame["theta"] == theta) | frame["learner"].isin(BASELINES)]
    return ranked(chosen, ["learner", "theta"], ["dataset"]).sort_values("rank")


def ranked(frame: pd.DataFrame, group: list[str], contest: list[str]) -> pd.DataFrame:
    """Rank accuracies within each contest, and return the means by group.

    A group that lacks a set takes no part.
    """
    groups = frame.groupby(group, sort=False, dropna=False)["accuracy"]
    complete = frame[groups.transform(lambda values: values.notna().all())]
    ranks = complete.groupby(contest)["accuracy"].rank(ascending=False)
    complete = complete.assign(rank=ranks)
    return complete.groupby(group, sort=False, dropna=False)[[*VALUES]].mean()


NOTES = """\
5 x 2-fold cross-validation, shuffled with a fixed seed, stratified, the same folds for all; the
data as at UCI (not the paper's mis-parsed file). Our learners with the package's defaults
(`overlap="closed"` unless said, `scaling="minmax"`, `selection="index"`). 1-NN is
scikit-learn's `KNeighborsClassifier(1, metric="chebyshev")` on data scaled in the same way,
tree and forest have scikit-learn's defaults. hyperbox-brain gets data scaled likewise and
clipped to [0, 1]."""


def write_accuracy(folder: Path, frame: pd.DataFrame, facts: str) -> None:
    """Write all accuracies, and those of each set at the best theta."""
    write_csv(folder / "accuracy.csv", frame)
    write(
        folder / "accuracy.md",
        "# Accuracy and number of boxes",
        facts,
        NOTES,
        *theta_tables(frame),
        "Per data set, each learner at the theta that is best for it on average:",
        dataset_table(frame),
    )


def theta_tables(frame: pd.DataFrame) -> list[str]:
    """Return the means over the data sets, a table for each kind of value."""
    means = over_theta(frame)
    titles = ("Mean accuracy", "Mean rank", "Mean number of boxes, per training sample")
    tables = []
    for value, title in zip(VALUES, titles, strict=True):
        wide = means[value].unstack("theta").reindex(frame["learner"].unique()).dropna(how="all")
        tables += [
            f"{title}, over {frame['dataset'].nunique()} data sets, by theta:",
            markdown(
                ("learner", *map(str, THETAS)),
                (
                    (str(learner), *(printed(row[theta], value) for theta in THETAS))
                    for learner, row in wide.iterrows()
                ),
            ),
        ]
    return [*tables, left_out(frame)]


def printed(value: float, kind: str) -> str:
    """Print a mean."""
    if pd.isna(value):
        return "-"
    return f"{value:.2f}" if kind == "rank" else f"{value:.3f}"


def left_out(frame: pd.DataFrame) -> str:
    """Say where hyperbox-brain was too slow to take part."""
    slow = frame[frame["left_out_at_seconds"].notna()]
    if slow.empty:
        return f"{PEER_NAME} was left out nowhere." if PEER_NAME in set(frame["learner"]) else ""
    cells = ", ".join(f"{row.dataset} at theta {row.theta}" for row in slow.itertuples())
    return (
        f"{PEER_NAME} was left out where its ten fits and predictions would have taken more than "
        f"{BUDGET:.0f} s: {cells}. Where it lacks a set it has no mean."
    )


def dataset_table(frame: pd.DataFrame) -> str:
    """Tabulate the accuracy of each learner at its best theta, a row for each set."""
    best = at_best_theta(frame, over_theta(frame)).reset_index()
    names = [
        (row.learner, row.theta, row.learner + ("" if pd.isna(row.theta) else f" ({row.theta})"))
        for row in best.itertuples()
    ]
    values = frame.set_index(["dataset", "learner", "theta"])["accuracy"]
    return markdown(
        ("data set", *(title for *_, title in names)),
        (
            (
                dataset,
                *(
                    printed(values[dataset, learner, theta], "accuracy")
                    for learner, theta, _ in names
                ),
            )
            for dataset in frame["dataset"].unique()
        ),
    )


def summarise(frame: pd.DataFrame) -> list[str]:
    """Return paragraphs: means by theta, and at the best theta of each learner."""
    best = at_best_theta(frame, over_theta(frame)).reset_index()
    return [
        "## Accuracy and number of boxes",
        NOTES,
        *theta_tables(frame),
        "Each learner at the theta that is best for it on average (in hindsight), by mean rank "
        "among these:",
        markdown(
            ("learner", "theta", "mean accuracy", "mean rank", "boxes per training sample"),
            (
                (
                    row.learner,
                    number(row.theta) if pd.isna(row.theta) else str(row.theta),
                    printed(row.accuracy, "accuracy"),
                    printed(row.rank, "rank"),
                    printed(row.boxes_per_sample, "boxes_per_sample"),
                )
                for row in best.itertuples()
            ),
        ),
        f"The largest theta that costs at most {100 * COST:g} points of mean accuracy: fewer boxes "
        "make a model that can be read. The package's defaults are these, and of the similarities "
        "and agglomerative algorithms the most accurate:",
        largest_thetas(frame),
    ]


def largest_thetas(frame: pd.DataFrame) -> str:
    """Tabulate the largest theta of each learner that costs little accuracy."""
    means = over_theta(frame[~frame["learner"].isin(BASELINES)])
    rows = []
    for learner, part in means.groupby(level="learner", sort=False):
        good = part[part["accuracy"] >= part["accuracy"].max() - COST]
        theta = good.index.get_level_values("theta").max()
        chosen = good.loc[(learner, theta)]
        rows.append(
            (
                str(learner),
                str(theta),
                printed(chosen["accuracy"], "accuracy"),
                printed(chosen["boxes_per_sample"], "boxes_per_sample"),
            )
        )
    return markdown(("learner", "theta", "mean accuracy", "boxes per training sample"), rows)
