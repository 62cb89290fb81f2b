"""All learners of the package on the paper's sets, and hyperbox-brain's: `make bench-family`.

Accuracy, boxes for each training sample and mean ranks, by 2-fold cross-validation as in `make
reproduce`, with a diagram of which differences of ranks mean anything. Each learner's
theta for a set is the best on the half of the sets that it is not in. What is finished is kept: the
same command goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import studentized_range
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.data import draw, generated
from benchmarks.harness import KEPT, command, machine, markdown, progress
from benchmarks.reproduce.experiments import BASELINES, guess
from benchmarks.reproduce.jobs import Cell, Result, Store, run
from benchmarks.reproduce.learners import Peer, count_boxes, datasets
from benchmarks.reproduce.loading import NoDataError, Source
from hyperboxes import (
    AdaptiveGFMM,
    AgglomerativeGFMM,
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    RandomHyperboxes,
)
from hyperboxes.literature import FuzzyMinMax, MultiGranularGFMM, OverlappingFuzzyMinMax

QUICK_LIMIT = 300  # samples
THETAS = (0.1, 0.3, 0.5)
BUDGET = 300.0  # seconds: where the folds of a learner would take longer, it is left out

_BOXES_ALONE = {"calibrate": False}
_SEEDED = {**_BOXES_ALONE, "random_state": 0}
VARIANTS = ("fmnn", "efmnn", "knefmnn", "rfmnn")
RESOLUTIONS = {"exclude": "EIFMM", "compensate": "FMCN", "core": "DCFMN", "levels": "MLF"}

# Names in the picture, where they differ.
_TITLES = {
    "two-phase": "MRHGRC",
    "boosted": "boosted boxes",
    "1-nn": "nearest neighbor",
    "decision-tree": "decision tree",
    "random-forest": "random forest",
}


class Contender(NamedTuple):
    """A learner: how it is made, with a theta where it has one."""

    make: Callable[..., Any]
    thetas: tuple[float | None, ...] = THETAS
    is_ours: bool = True


CONTENDERS = {
    **{v.upper(): Contender(partial(FuzzyMinMax, v, **_SEEDED)) for v in VARIANTS},
    **{
        title: Contender(partial(OverlappingFuzzyMinMax, resolution=name, **_SEEDED))
        for name, title in RESOLUTIONS.items()
    },
    "Onln-GFMM": Contender(partial(OnlineGFMM, **_SEEDED)),
    "IOL-GFMM": Contender(partial(ImprovedOnlineGFMM, **_SEEDED)),
    "AGGLO-2": Contender(partial(AgglomerativeGFMM, algorithm="agglo2", **_BOXES_ALONE)),
    "AGGLO-SM": Contender(partial(AgglomerativeGFMM, **_BOXES_ALONE)),
    "AdaptiveGFMM": Contender(AdaptiveGFMM, (None,)),
    "two-phase": Contender(partial(MultiGranularGFMM, **_SEEDED), (None,)),
    "random hyperboxes": Contender(partial(RandomHyperboxes, random_state=0), (None,)),
    "boosted": Contender(partial(BoostedHyperboxes, random_state=0), (None,)),
    **{name: Contender(make, (None,), is_ours=False) for name, make in BASELINES.items()},
    **{
        f"{v.upper()}, hyperbox-brain": Contender(
            partial(Peer, v, f"{v.upper()}Classifier"), is_ours=False
        )
        for v in VARIANTS
    },
}


def main() -> None:
    """Run from the command line."""
    options = parse()
    facts = machine("numpy", "numba", "scikit-learn", "hyperbox-brain")
    try:
        pages = compare(options)
    except NoDataError as error:
        sys.exit(str(error))
    print("\n\n".join((facts, *pages)))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = command("bench-family", __doc__, quick="small sets, one repeat")
    parser.add_argument("--most", type=int, help="samples of a set, drawn at random")
    options = parser.parse_args()
    samples = datasets()["samples"]
    options.sets = list(samples.index[samples <= QUICK_LIMIT] if options.quick else samples.index)
    options.repeats = 1 if options.quick else 5
    return options


def compare(options: argparse.Namespace) -> list[str]:
    """Compute what is not kept; return tables."""
    source = Source.at(options.data)
    how = options.repeats, options.most
    cells = [
        Cell(
            "family",
            dataset,
            f"{name} ({options.repeats} x 2, {options.most or 'all'} samples)",
            evaluate,
            (source, dataset, name, theta, *how),
            guess(dataset) * (1 if CONTENDERS[name].is_ours else 20),
            theta,
            CONTENDERS[name].is_ours,
        )
        for dataset in options.sets
        for name in CONTENDERS
        for theta in CONTENDERS[name].thetas
    ]
    store = Store(KEPT / "family.jsonl", str(source))
    for dataset in options.sets:
        part = [cell for cell in cells if cell.dataset == dataset and cell not in store]
        if part:
            for failure in run(part, store, dataset):
                progress(f"FAILED {failure}")
    unfinished = {cell.dataset for cell in cells if cell not in store}
    frame = pd.DataFrame(
        {
            "dataset": cell.dataset,
            "learner": cell.learner.rpartition(" (")[0],
            "theta": cell.theta,
            **store[cell],
        }
        for cell in cells
        if cell.dataset not in unfinished
    )
    if frame.empty:
        return ["No set is finished yet."]
    return report(frame, options)


def evaluate(
    source: Source, dataset: str, name: str, theta: float | None, n_repeats: int, most: int | None
) -> Result:
    """Return means over the folds: accuracy, and boxes for each sample.

    Training samples come in a random order, the same for all: many sets are sorted by class. A
    learner that would take more than the budget is left out.
    """
    X, y = draw(*source.true_data(dataset), most)
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=n_repeats, random_state=0)
    make = partial(CONTENDERS[name].make, **({} if theta is None else {"theta": theta}))
    if CONTENDERS[name].is_ours:
        data = generated(200, 4)
        make().fit(data.X_train, data.y_train).predict(data.X_test)  # compiles
    rows: list[tuple[float, float]] = []
    start = time.perf_counter()
    for fold, (train, test) in enumerate(folds.split(X, y)):
        train = np.random.default_rng(fold).permutation(train)
        model = make().fit(X[train], y[train])
        accuracy = float(np.mean(model.predict(X[test]) == y[test]))
        rows.append((accuracy, count_boxes(model) / len(train)))
        if (time.perf_counter() - start) / len(rows) * folds.get_n_splits() > BUDGET:
            return {"left_out": True}
    accuracy, share = np.mean(rows, axis=0).tolist()
    return {"accuracy": accuracy, "boxes_per_sample": share}


def report(frame: pd.DataFrame, options: argparse.Namespace) -> list[str]:
    """Return the tables, and draw the ranks."""
    complete = frame.groupby(["learner", "theta"], dropna=False)["dataset"].transform("nunique")
    n_sets = frame["dataset"].nunique()
    whole = frame[(complete == n_sets) & frame["accuracy"].notna()]
    lacking = sorted(set(frame["learner"]) - set(whole["learner"]))
    pages = [
        f"{options.repeats} x 2-fold cross-validation, {n_sets} sets"
        + (f", at most {options.most:,} samples of each" if options.most else ""),
    ]
    if lacking:
        pages.append(f"Left out, too slow on a set: {', '.join(lacking)}.")
    if n_sets > 1:
        pages += rank(at_thetas_of_others(whole))
    return pages


def rank(chosen: pd.DataFrame) -> list[str]:
    """Return the table of mean ranks, and draw it."""
    ranks = chosen.pivot(index="dataset", columns="learner", values="accuracy").rank(
        axis=1, ascending=False
    )
    draw_ranks(ranks, KEPT / "results" / "family-ranks.png")
    values = ["accuracy", "boxes_per_sample"]
    by_learner = chosen.groupby("learner", sort=False)
    means = by_learner[values].mean().assign(rank=ranks.mean(), theta=by_learner["theta"].unique())
    rows = []
    for name, row in means.sort_values("rank").iterrows():
        thetas = ", ".join(f"{theta:g}" for theta in sorted(row["theta"])).replace("nan", "-")
        cells = f"{row['accuracy']:.3f}", f"{row['rank']:.2f}"
        share = "-" if pd.isna(row["boxes_per_sample"]) else f"{row['boxes_per_sample']:.3f}"
        rows.append((str(name), thetas, *cells, share))
    header = ("learner", "theta", "accuracy", "rank", "boxes/sample")
    return [
        "Each at the theta that is best on half of the sets, for the sets of the other half; means "
        "and ranks over all sets:",
        markdown(header, rows),
        f"Ranks that differ by less than {critical_difference(*ranks.shape):.2f} may do so by "
        "chance (Nemenyi, 5 %).",
    ]


def at_thetas_of_others(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep each learner, for every other set, at the theta that is best on the sets between."""
    sets, parts = sorted(frame["dataset"].unique()), []
    for own, others in ((sets[::2], sets[1::2]), (sets[1::2], sets[::2])):
        choosing = frame[frame["dataset"].isin(others)]
        groups = choosing.groupby(["learner", "theta"], dropna=False, sort=False)
        means = groups["accuracy"].mean().reset_index()
        best = means.loc[means.groupby("learner", sort=False)["accuracy"].idxmax()]
        part = frame[frame["dataset"].isin(own)]
        parts.append(part.merge(best[["learner", "theta"]], on=["learner", "theta"]))
    return pd.concat(parts)


def critical_difference(n_sets: int, n_learners: int) -> float:
    """Return the difference of mean ranks that means something (Nemenyi, 5 %)."""
    q = studentized_range.ppf(0.95, n_learners, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_learners * (n_learners + 1) / (6 * n_sets)))


def draw_ranks(ranks: pd.DataFrame, path: Path) -> None:
    """Draw mean ranks on a line; bars join what does not differ."""
    means = ranks.mean().sort_values()
    width = critical_difference(*ranks.shape)
    figure = Figure(figsize=(8, 1.2 + 0.24 * len(means)), layout="constrained")
    ax = figure.subplots()
    for place, (name, rank) in enumerate(means.items()):
        ax.plot([rank, rank], [place, -1], color="0.8", lw=0.8, zorder=0)
        ax.plot(rank, place, "o", color="#0072B2")
        ax.annotate(
            f"{_TITLES.get(name, name)}  {rank:.2f}",
            (rank, place),
            (6, -3),
            textcoords="offset points",
        )
    bar = -0.6
    end = -np.inf
    for rank in means:
        same = means[(means >= rank) & (means <= rank + width)]
        if len(same) > 1 and same.max() > end:
            end = same.max()
            ax.plot([rank, end], [bar, bar], color="#D55E00", lw=3)
            bar -= 0.35
    ax.set(xlabel="mean rank (1: the most accurate)", ylim=(len(means) - 0.4, bar - 0.2))
    title = (
        f"Mean ranks over {len(ranks)} datasets; bars join those that do not differ significantly"
    )
    ax.set_title(title, size="medium", loc="left")
    ax.yaxis.set_visible(False)
    ax.spines[["left", "right", "top"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
