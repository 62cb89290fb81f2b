"""The paper's algorithms in `hyperboxes demo`: their counts, three searches, the picture."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from statistics import median
from textwrap import fill
from time import perf_counter
from typing import Any

import numpy as np

from hyperboxes._extras import need

# Khuat and Gabrys, "Accelerated learning algorithms of general fuzzy min-max neural network using a
# novel hyperbox selection rule", Information Sciences 547 (2021): mean number of candidates on
# balance scale with the original search; with the paper's lemma all four are 0.
PUBLISHED = {"Onln-GFMM": 20_880, "IOL-GFMM": 20_880, "AGGLO-2": 41_760, "AGGLO-SM": 18_032}
PUBLISHED_LEMMA = 0

SEARCHES = ("all", "lemma", "index")
_NAMES = dict(zip(SEARCHES, ("original", "lemma", "index"), strict=True))

# As in the paper's runs, see docs/reproduction.md.
_PAPER = {
    "theta": 0.1,
    "membership_function": "min",
    "scaling": None,
    "overlap": "paper",
    "shuffle": False,
    "calibrate": False,
}
_COMPARED = {"theta": 0.5, "membership_function": "min", "random_state": 0, "calibrate": False}

_N_FITS = 5  # of which the median time is shown
_AFTER = (15, 50, 150)  # samples of the iris data at which boxes are drawn
_COLOURS = ("#8C8C8C", "#E69F00", "#0072B2")


def show_published_counts() -> None:
    """Count candidates on one of the paper's datasets beside the published numbers."""
    X, y, is_first = make_balance_scale()
    print_paragraph(
        "Khuat and Gabrys (Information Sciences 547, 2021) count the boxes that each algorithm "
        f"tries to extend or merge. Balance scale is one of their datasets: {len(y)} samples, "
        "4 features, 3 classes, made here from its definition. "
        "Settings and data split are theirs. Each number is the mean of n_candidates_ over the two "
        "models, each trained on one half of the data."
    )
    print(
        "\n                 original search       with the lemma         index\n"
        "              published   counted   published   counted   counted"
    )
    for name, published in PUBLISHED.items():
        counts = {
            search: np.mean(
                [
                    make_algorithms(search, _PAPER)[name].fit(X[half], y[half]).n_candidates_
                    for half in (is_first, ~is_first)
                ]
            )
            for search in SEARCHES
        }
        print(
            f"  {name:11}{published:10,}{counts['all']:10,.0f}{PUBLISHED_LEMMA:12,}"
            f"{counts['lemma']:10,.0f}{counts['index']:10,.0f}",
            flush=True,
        )
    print()
    print_paragraph(
        "The paper's lemma skips boxes that cannot grow enough. The index, a spatial tree, is this "
        "package's own. In a checkout, `make reproduce` repeats all 480 counts of the paper."
    )


def make_balance_scale() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the samples, their classes, and whether they are in the first half of each class."""
    grid = np.array(list(product(range(1, 6), repeat=4)), float)
    y = np.sign(grid[:, 0] * grid[:, 1] - grid[:, 2] * grid[:, 3]).astype(int)
    is_first = np.zeros(len(y), bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        is_first[rows[: (len(rows) + 1) // 2]] = True
    return (grid - 1) / 4, y, is_first


def make_algorithms(search: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the paper's four algorithms, each with those of the settings that it has."""
    from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM

    algorithms = {
        "Onln-GFMM": OnlineGFMM(selection=search),
        "IOL-GFMM": ImprovedOnlineGFMM(selection=search),
        "AGGLO-2": AgglomerativeGFMM(selection=search, algorithm="agglo2"),
        "AGGLO-SM": AgglomerativeGFMM(selection=search, algorithm="agglo-sm"),
    }
    for algorithm in algorithms.values():
        known = algorithm.get_params()
        algorithm.set_params(**{key: settings[key] for key in settings if key in known})
    return algorithms


def compare_searches() -> dict[str, list[int]]:
    """Compare the three searches on two datasets; return the candidates tried on the last one."""
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.model_selection import train_test_split

    print_paragraph(
        "The search changes the training time, not the model: selection='all' is the original "
        "search, 'lemma' the paper's acceleration and 'index' the default. All use the same "
        "random_state. Accuracy is on held-out samples; times are medians of "
        f"{_N_FITS} fits after compiling."
    )
    tried = {}
    for title, bunch in (("Breast cancer", load_breast_cancer()), ("Digits", load_digits())):
        X, X_test, y, y_test = train_test_split(
            bunch.data, bunch.target, test_size=1 / 3, stratify=bunch.target, random_state=0
        )
        print(
            f"\n{title}: {len(y):,} samples to train, {len(y_test)} to test, "
            f"{X.shape[1]} features, {len(bunch.target_names)} classes\n"
            "                                 candidates tried         milliseconds to fit\n"
            "             boxes  accuracy  original   lemma   index  original   lemma   index"
            "  equal boxes"
        )
        for name in PUBLISHED:
            models = {s: make_algorithms(s, _COMPARED)[name].fit(X, y) for s in SEARCHES}
            seconds = _time_fits(models, X, y)
            first = models["all"]
            is_equal = all(have_equal_boxes(first, model) for model in models.values())
            tried[name] = [model.n_candidates_ for model in models.values()]
            print(
                f"  {name:10}{len(first.hyperboxes_):6}{first.score(X_test, y_test):10.3f}"
                + "".join(f"{n:{w},}" for n, w in zip(tried[name], (10, 8, 8), strict=True))
                + "".join(f"{1e3 * s:{w}.1f}" for s, w in zip(seconds, (10, 8, 8), strict=True))
                + f"  {'yes' if is_equal else 'NO'}",
                flush=True,
            )
    mean = _COMPARED | {"membership_function": "mean"}
    counts = [make_algorithms(s, mean)["IOL-GFMM"].fit(X, y).n_candidates_ for s in SEARCHES]
    print()
    print_paragraph(
        "These models use the paper's membership function, 'min'. With the default, 'mean', the "
        f"lemma skips fewer boxes: on the digits IOL-GFMM tries {counts[0]:,} with the original "
        f"search, {counts[1]:,} with the lemma and {counts[2]:,} with the index."
    )
    return tried


def have_equal_boxes(first: Any, second: Any) -> bool:
    """Whether two models have the same boxes to the last bit, in the same order."""
    return all(
        np.array_equal(getattr(first.hyperboxes_, name), getattr(second.hyperboxes_, name))
        for name in ("lower", "upper", "labels", "counts")
    )


def _time_fits(models: dict[str, Any], X: np.ndarray, y: np.ndarray) -> list[float]:
    """Return the median seconds of a fit, taking the models in turn: load changes over time."""
    seconds: dict[str, list[float]] = {search: [] for search in models}
    for _ in range(_N_FITS):
        for search, model in models.items():
            start = perf_counter()
            model.fit(X, y)
            seconds[search].append(perf_counter() - start)
    return [median(values) for values in seconds.values()]


def print_paragraph(text: str) -> None:
    """Print text in lines that are not too long."""
    print(fill(text, 90, break_long_words=False, break_on_hyphens=False), flush=True)


def draw(path: Path, tried: dict[str, list[int]]) -> None:
    """Draw boxes that grow, and the candidates that the three searches try."""
    figure = need("matplotlib.figure", "plot", "It").Figure((9, 6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.12, 1))
    _draw_growth(top)
    _draw_candidates(bottom.subplots(), tried)
    figure.savefig(path, dpi=140)


def _draw_growth(figure: Any) -> None:
    """Draw the boxes of an online model after some, more and all samples."""
    from sklearn.datasets import load_iris

    from hyperboxes import BoxesDisplay, ImprovedOnlineGFMM

    bunch = load_iris(as_frame=True)
    X = bunch.data[["petal length (cm)", "petal width (cm)"]].sample(frac=1, random_state=0)
    y = bunch.target_names[bunch.target[X.index]]
    model = ImprovedOnlineGFMM(theta=0.25, scaling=[X.min(), X.max()], calibrate=False)
    look: dict[str, Any] = {"box_kwargs": {"linewidths": 2}, "scatter_kwargs": {"s": 18}}
    n_before = 0
    for n, axes in zip(_AFTER, figure.subplots(1, len(_AFTER), sharey=True), strict=True):
        model.partial_fit(X[n_before:n], y[n_before:n], classes=bunch.target_names)
        BoxesDisplay.from_estimator(model, X[:n], y[:n], ax=axes, legend=False, **look)
        axes.set(xlim=(0.75, 7.15), ylim=(0, 2.6))
        axes.set_title(f"{n} samples: {len(model.hyperboxes_)} boxes", fontsize=12)
        axes.label_outer()
        n_before = n
    axes.legend(loc="upper left")
    figure.suptitle("Online learning: a sample joins, extends or starts a box", fontsize=14)


def _draw_candidates(axes: Any, tried: dict[str, list[int]]) -> None:
    """Draw how many candidates each algorithm tries, on a logarithmic axis."""
    width = 0.27
    for i, (search, colour) in enumerate(zip(SEARCHES, _COLOURS, strict=True)):
        counts = [counts[i] for counts in tried.values()]
        places = np.arange(len(counts)) + (i - 1) * width
        bars = axes.bar(places, counts, width, color=colour, label=_NAMES[search])
        axes.bar_label(bars, [f"{count:,}" for count in counts], fontsize=10, padding=1)
    axes.set_xticks(range(len(tried)), list(tried), fontsize=12)
    axes.set_yscale("log")
    axes.set(ylim=(50, 1e6), ylabel="candidates tried")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=3, loc="upper right", frameon=False, title="search for candidates")
    axes.set_title("The same boxes from fewer candidates (handwritten digits)", fontsize=14)
