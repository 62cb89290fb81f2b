"""All learners of the package on the paper's sets, beside hyperbox-brain's: `make bench-family`.

Accuracy, boxes for each training sample, processor time and mean ranks, by 2-fold cross-validation
as in `make reproduce`, with a diagram of which differences of ranks mean anything. Each learner's
theta for a set is the best on the half of the sets that it is not in. `--only speed` times the
learners that both packages have. What is finished is kept: the same command goes on.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import studentized_range

from benchmarks.data import Split, add_data_option, generated
from benchmarks.reproduce import family, published
from benchmarks.reproduce.cells import Cell, Result
from benchmarks.reproduce.family import CONTENDERS, PEERS, VARIANTS, Peer
from benchmarks.reproduce.loading import NoDataError, Source
from benchmarks.reproduce.running import run
from benchmarks.reproduce.store import Store
from benchmarks.reproduce.tables import factor, markdown, seconds, write, write_csv
from benchmarks.timing import machine, medians, progress
from hyperboxes.literature import FuzzyMinMax

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / ".reproduce"
NAMES = [contender.name for contender in CONTENDERS]
QUICK_LIMIT = 300  # samples

# Sizes of generated data on which both packages are timed.
SIZES = ((2_000, 8), (2_000, 16))
QUICK_SIZE = (1_000, 8)
# The quickest of the peer's, for which it takes more samples to tell them apart.
LARGE_SIZES = {"rfmnn": ((5_000, 8), (10_000, 8))}
SPEED_THETAS = (0.3,)
WANTED = 100  # times faster, from 2,000 samples on


def main() -> None:
    """Run from the command line."""
    options = parse()
    facts = machine("numpy", "numba", "scikit-learn", "hyperbox-brain")
    pages = []
    if options.only in (None, "accuracy"):
        try:
            pages += compare(options)
        except NoDataError as error:
            sys.exit(str(error))
    if options.only in (None, "speed"):
        pages += time_both(options)
    print("\n\n".join((facts, *pages)))
    options.results.mkdir(parents=True, exist_ok=True)
    name = "family" if options.only is None else f"family-{options.only}"
    write(options.results / f"{name}.md", "# The family", facts, *pages)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench-family", description=__doc__)
    add_data_option(parser)
    sets = list(published.datasets().index)
    several: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--sets", choices=sets, default=sets, help="some data sets", **several)
    parser.add_argument("--learners", choices=NAMES, default=NAMES, help="some of them", **several)
    parser.add_argument("--only", choices=("accuracy", "speed"), help="one of the two")
    parser.add_argument("--repeats", type=int, default=5, help="of 2-fold validation")
    parser.add_argument("--most", type=int, help="samples of a set, drawn at random")
    parser.add_argument("--quick", action="store_true", help="small sets, one repeat")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--limit", type=float, help="seconds after which to show what is finished")
    parser.add_argument(
        "--results", type=Path, default=KEPT / "results", metavar="DIR", help="folder of the tables"
    )
    options = parser.parse_args()
    if options.quick:
        samples = published.datasets()["samples"]
        options.sets = [name for name in options.sets if samples[name] <= QUICK_LIMIT]
        options.repeats = 1
    return options


# --- Accuracy -------------------------------------------------------------------------------------


def compare(options: argparse.Namespace) -> list[str]:
    """Compute what is not kept; return tables."""
    source = Source.at(options.data)
    how = options.repeats, options.most
    cells = family.cells(source, options.sets, options.learners, *how)
    store = Store(KEPT / "family.jsonl", str(source))
    stop = time.perf_counter() + (options.limit or np.inf)
    for dataset in options.sets:
        part = [cell for cell in cells if cell.dataset == dataset and cell not in store]
        if part and time.perf_counter() < stop:
            for failure in run(part, store, options.jobs, dataset):
                progress(f"FAILED {failure}")
    unfinished = {cell.dataset for cell in cells if cell not in store}
    done = [(cell, store[cell]) for cell in cells if cell.dataset not in unfinished]
    frame = pd.DataFrame(row_of(cell, result) for cell, result in done)
    if frame.empty:
        return ["No set is finished yet."]
    options.results.mkdir(parents=True, exist_ok=True)
    write_csv(options.results / "family.csv", frame)
    return report(frame, options)


def row_of(cell: Cell, result: Result) -> dict[str, Any]:
    """Return a row of the table behind all others."""
    learner = cell.learner.rpartition(" (")[0]
    return {"dataset": cell.dataset, "learner": learner, "theta": cell.theta, **result}


def report(frame: pd.DataFrame, options: argparse.Namespace) -> list[str]:
    """Return the tables, and draw the ranks."""
    complete = frame.groupby(["learner", "theta"], dropna=False)["dataset"].transform("nunique")
    n_sets = frame["dataset"].nunique()
    whole = frame[(complete == n_sets) & frame["accuracy"].notna()]
    lacking = sorted(set(frame["learner"]) - set(whole["learner"]))
    pages = [
        f"{options.repeats} x 2-fold cross-validation, {n_sets} sets"
        + (f", at most {options.most:,} samples of each" if options.most else ""),
        "Mean accuracy, and boxes for each training sample, at the same theta for all sets "
        "(theta bounds the mean side for FMNN and FMCN, and the longest for all others):",
        theta_table(whole),
    ]
    if lacking:
        pages.append(f"Left out, too slow on a set: {', '.join(lacking)}.")
    if n_sets > 1:
        pages += rank(at_thetas_of_others(whole), options.results / "family-ranks.png")
    return pages


def rank(chosen: pd.DataFrame, picture: Path) -> list[str]:
    """Return the table of mean ranks, and draw it."""
    ranks = chosen.pivot(index="dataset", columns="learner", values="accuracy").rank(
        axis=1, ascending=False
    )
    draw_ranks(ranks, picture)
    by_learner = chosen.groupby("learner", sort=False)
    means = by_learner[["accuracy", "boxes_per_sample", "fit_seconds", "predict_seconds"]].mean()
    means["rank"] = ranks.mean()
    thetas = by_learner["theta"].unique()
    return [
        "Each at the theta that is best on half of the sets, for the sets of the other half; means "
        "and ranks over all sets, seconds of processor time for a fold:",
        markdown(
            ("learner", "theta", "accuracy", "rank", "boxes/sample", "fit s", "predict s"),
            (
                (
                    str(name),
                    ", ".join(f"{theta:g}" for theta in sorted(thetas[name])).replace("nan", "-"),
                    f"{row['accuracy']:.3f}",
                    f"{row['rank']:.2f}",
                    "-" if pd.isna(row["boxes_per_sample"]) else f"{row['boxes_per_sample']:.3f}",
                    seconds(row["fit_seconds"]),
                    seconds(row["predict_seconds"]),
                )
                for name, row in means.sort_values("rank").iterrows()
            ),
        ),
        f"Ranks that differ by less than {critical_difference(*ranks.shape):.2f} may do so by "
        "chance (Nemenyi, 5 %).",
    ]


def at_thetas_of_others(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep each learner, for every other set, at the theta that is best on the sets between."""
    sets = sorted(frame["dataset"].unique())
    parts = [
        at_chosen_theta(frame, others)[lambda part, own=own: part["dataset"].isin(own)]
        for own, others in ((sets[::2], sets[1::2]), (sets[1::2], sets[::2]))
    ]
    return pd.concat(parts)


def at_chosen_theta(frame: pd.DataFrame, choosing: list[str]) -> pd.DataFrame:
    """Keep each learner at the theta that is best on the sets for choosing."""
    means = (
        frame[frame["dataset"].isin(choosing)]
        .groupby(["learner", "theta"], dropna=False, sort=False)["accuracy"]
        .mean()
        .reset_index()
    )
    best = means.loc[means.groupby("learner", sort=False)["accuracy"].idxmax()]
    return frame.merge(best[["learner", "theta"]], on=["learner", "theta"])


def theta_table(frame: pd.DataFrame) -> str:
    """Tabulate accuracies and boxes over theta."""
    with_theta = frame[frame["theta"].notna()]
    means = with_theta.groupby(["learner", "theta"], sort=False)[
        ["accuracy", "boxes_per_sample"]
    ].mean()
    thetas = sorted(with_theta["theta"].unique())
    return markdown(
        ("learner", *(f"{theta:g}" for theta in thetas)),
        (
            (
                str(learner),
                *(
                    "{:.3f} ({:.2f})".format(*means.loc[(learner, theta)])
                    if (learner, theta) in means.index
                    else "-"
                    for theta in thetas
                ),
            )
            for learner in with_theta["learner"].unique()
        ),
    )


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
        ax.annotate(f"{name}  {rank:.2f}", (rank, place), (6, -3), textcoords="offset points")
    bar = -0.6
    end = -np.inf
    for rank in means:
        same = means[(means >= rank) & (means <= rank + width)]
        if len(same) > 1 and same.max() > end:
            end = same.max()
            ax.plot([rank, end], [bar, bar], color="#D55E00", lw=3)
            bar -= 0.35
    ax.set(xlabel="mean rank (1: the most accurate)", ylim=(len(means) - 0.4, bar - 0.2))
    ax.set_title(f"{len(ranks)} sets, critical difference {width:.2f} (bars)", size="medium")
    ax.yaxis.set_visible(False)
    ax.spines[["left", "right", "top"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


# --- Speed ----------------------------------------------------------------------------------------


def time_both(options: argparse.Namespace) -> list[str]:
    """Time the fits and predictions of both packages, with the same pieces."""
    cases = [(size, variant) for size in SIZES for variant in VARIANTS]
    cases += [(size, variant) for variant, sizes in LARGE_SIZES.items() for size in sizes]
    if options.quick:
        cases = [(QUICK_SIZE, variant) for variant in VARIANTS]
    warm_up()
    rows = [
        time_one(generated(-(-4 * size // 3), n_features), variant, theta)
        for (size, n_features), variant in cases
        for theta in SPEED_THETAS
    ]
    return [
        "Processor time beside hyperbox-brain, median of up to three turns, the same candidates, "
        f"no shuffling (wanted: {WANTED}x for fits from 2,000 samples on):",
        markdown(
            ("learner", "data", "theta", "boxes", "peer's", "fit s", "peer's", "faster",
             "predict s", "peer's", "faster"),
            rows,
            left=2,
        ),
    ]  # fmt: skip


def warm_up() -> None:
    """Compile what is timed."""
    data = generated(200, 4)
    for variant in VARIANTS:
        ours(variant, 0.3).fit(data.X_train, data.y_train).predict(data.X_test)


def ours(variant: str, theta: float) -> FuzzyMinMax:
    """Return the learner with the pieces of the peer's."""
    n_candidates = None if variant in ("knefmnn", "rfmnn") else 1
    return FuzzyMinMax(
        variant, theta, n_candidates=n_candidates, scaling=None, shuffle=False, calibrate=False
    )


def time_one(data: Split, variant: str, theta: float) -> tuple[str, ...]:
    """Return a row of the table."""
    progress(f"{variant}, theta {theta}, {data.name}")
    name = f"{variant.upper()}, hyperbox-brain"
    clock = partial(medians, clock=time.process_time, budget=20.0)

    def peer_fit() -> Any:
        with redirect_stdout(io.StringIO()):
            return Peer(*PEERS[name], theta=theta).fit(data.X_train, data.y_train)

    fits = clock(
        {
            "ours": lambda: ours(variant, theta).fit(data.X_train, data.y_train),
            "peer": peer_fit,
        }
    )
    models = {who: timing.result for who, timing in fits.items()}
    predictions = clock({who: partial(model.predict, data.X_test) for who, model in models.items()})
    return (
        variant.upper(),
        f"{len(data.X_train):,} x {data.X_train.shape[1]}",
        f"{theta:g}",
        *(str(len(model.hyperboxes_)) for model in models.values()),
        *(seconds(timing.seconds) for timing in fits.values()),
        factor(fits["peer"].seconds / fits["ours"].seconds),
        *(seconds(timing.seconds) for timing in predictions.values()),
        factor(predictions["peer"].seconds / predictions["ours"].seconds),
    )


if __name__ == "__main__":
    main()
