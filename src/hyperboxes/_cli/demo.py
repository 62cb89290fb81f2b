"""Show the paper's algorithms and the commands at work on real data.

It compares candidate counts with the paper's and runs the four algorithms with three searches that
give equal boxes. Then it shows rules, an explanation, updates, merging and a report of one model;
short rules compared with a tree and a forest; and a stream with concept drift. All files are kept.
"""

import argparse
import runpy
import shlex
import shutil
import sys
from itertools import product
from pathlib import Path
from statistics import median
from textwrap import fill
from time import perf_counter
from typing import Any

import numpy as np

from hyperboxes._cli.common import note
from hyperboxes._compiling import compiling
from hyperboxes._extras import need

HELP = "show the paper's algorithms and the commands at work on real data"
EXAMPLES = """\
  hyperboxes demo
  hyperboxes demo -o somewhere
"""

# Khuat and Gabrys, "Accelerated learning algorithms of general fuzzy min-max neural network using a
# novel hyperbox selection rule", Information Sciences 547 (2021): mean number of candidates on
# balance scale with the original search; with the paper's lemma all four are 0.
PUBLISHED = {"Onln-GFMM": 20_880, "IOL-GFMM": 20_880, "AGGLO-2": 41_760, "AGGLO-SM": 18_032}
PUBLISHED_LEMMA = 0

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

TARGET = "diagnosis"
FEATURES = ["worst radius", "worst texture", "worst concave points"]
THETA = 0.3
SIZES = (10, 20)  # numbers of short rules to compare; 20 is the default
N_SPLITS = 10
N_ROWS = 2000  # of the stream, between two changes
EVERY, LAST = 100, 500  # how often the forest is retrained, and on how many rows

# Weights of the readings in each part of the stream, and beyond which sum the machine fails.
_READINGS = ("load", "heat", "vibration")
_LIMITS = (((1, 1, 0), 1.0), ((0, 1, 1), 1.2), ((1, 0, 1), 0.8), ((1, 1, 1), 1.6))

_AFTER = (15, 50, 150)  # samples of the iris data at which boxes are drawn
_COLOURS = {"original": "#8C8C8C", "lemma": "#E69F00", "index": "#0072B2"}

SCRIPT = f"""\
from pathlib import Path
import pandas as pd
from hyperboxes import ImprovedOnlineGFMM, merge

folder = Path(__file__).parent
features = {FEATURES}
train, test = pd.read_csv(folder / "train.csv"), pd.read_csv(folder / "test.csv")
X, y, X_test, y_test = train[features], train.{TARGET}, test[features], test.{TARGET}

def make():  # with fixed ranges, so that all models scale the features alike
    return ImprovedOnlineGFMM(theta={THETA}, scaling=[X.min(), X.max()], shuffle=False)

def show(name, model):
    accuracy = model.score(X_test, y_test)
    print(f"{{name:27}} {{len(model.hyperboxes_):2}} boxes, accuracy {{accuracy:.3f}}")

model = make()
for start in range(0, len(X), 100):
    rows = slice(start, start + 100)
    model.partial_fit(X[rows], y[rows], classes=["benign", "malignant"])
    show(f"partial_fit, {{model.n_samples_seen_}} samples", model)
show("fit, all samples at once", make().fit(X, y))

parts = [make().fit(X[i::3], y[i::3]) for i in range(3)]
for part in parts:
    show("fit, a third of the samples", part)
show("merge of the three", merge(parts))
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("hyperboxes-demo"),
        metavar="FOLDER",
        help="folder to write to; default: hyperboxes-demo",
    )


def run(args: argparse.Namespace) -> None:
    """Run the demonstration."""
    start = perf_counter()
    data = _load()
    args.output.mkdir(parents=True, exist_ok=True)
    _print_paragraph(
        "General fuzzy min-max (GFMM) networks: each box belongs to one class, and a new sample "
        "gets the class of the nearest box. The demo takes about a minute. The first run "
        "takes a minute or two longer: each algorithm is compiled before its first use, once on "
        "this machine."
    )
    _show_published_counts()
    tried = _compare_searches()
    _show_model(args, data)
    _compare_rules(data)
    _follow_stream(args)
    _draw(args, tried)
    _print_next_steps(args)
    seconds = perf_counter() - start
    print(f"\nThe demo took {seconds:.0f} seconds, {compiling.seconds:.0f} of them for compiling.")


def _title(text: str) -> None:
    print(f"\n== {text}", flush=True)


def _print_paragraph(text: str) -> None:
    """Print text in lines that are not too long."""
    print(fill(text, 90, break_long_words=False, break_on_hyphens=False), flush=True)


def _show_published_counts() -> None:
    """Count candidates on one of the paper's datasets, with the published numbers."""
    _title("1. The paper's experiment: candidates tried on balance scale")
    X, y, is_first = _make_balance_scale()
    _print_paragraph(
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
        in_all, with_lemma, with_index = (
            np.mean([model.fit(X[half], y[half]).n_candidates_ for half in (is_first, ~is_first)])
            for model in _make_models(name, _PAPER)
        )
        print(
            f"  {name:11}{published:10,}{in_all:10,.0f}{PUBLISHED_LEMMA:12,}{with_lemma:10,.0f}"
            f"{with_index:10,.0f}",
            flush=True,
        )
    print()
    _print_paragraph(
        "The paper's lemma skips boxes that cannot grow enough: here all of them, because any two "
        "samples differ by at least 0.25 in some feature, and theta is 0.1. The index, a spatial "
        "tree, is this package's own. In a checkout, `make reproduce` repeats all 480 counts of "
        "the paper."
    )


def _make_balance_scale() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the samples, their classes, and whether they are in the first half of each class."""
    grid = np.array(list(product(range(1, 6), repeat=4)), float)
    y = np.sign(grid[:, 0] * grid[:, 1] - grid[:, 2] * grid[:, 3]).astype(int)
    is_first = np.zeros(len(y), bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        is_first[rows[: (len(rows) + 1) // 2]] = True
    return (grid - 1) / 4, y, is_first


def _make_models(name: str, settings: dict[str, Any]) -> list[Any]:
    """Return one of the paper's algorithms with each search, and the settings that it has."""
    from hyperboxes._cli.fit import learner_name
    from hyperboxes._estimators.registry import commands

    command = learner_name(name)
    entry = commands()[command]
    known = entry.estimator().get_params()
    given = {key: value for key, value in settings.items() if key in known}
    return [
        entry.estimator(**{**entry.commands[command], **given}, selection=search)
        for search in ("all", "lemma", "index")
    ]


def _compare_searches() -> dict[str, list[int]]:
    """Compare the three searches on two datasets; return the candidates tried on the last one."""
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.model_selection import train_test_split

    _title("2. The paper's four algorithms: three searches, the same boxes")
    _print_paragraph(
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
            models = [model.fit(X, y) for model in _make_models(name, _COMPARED)]
            first, tried[name] = models[0], [model.n_candidates_ for model in models]
            is_equal = all(_have_equal_boxes(first, model) for model in models)
            print(
                f"  {name:10}{len(first.hyperboxes_):6}{first.score(X_test, y_test):10.3f}"
                + "{:10,}{:8,}{:8,}".format(*tried[name])
                + "{:10.1f}{:8.1f}{:8.1f}".format(*_time_fits(models, X, y))
                + f"  {'yes' if is_equal else 'NO'}",
                flush=True,
            )
    by_mean = _make_models("IOL-GFMM", _COMPARED | {"membership_function": "mean"})
    counts = [model.fit(X, y).n_candidates_ for model in by_mean]
    print()
    _print_paragraph(
        "These models use the paper's membership function, 'min'. With the default, 'mean', the "
        f"lemma skips fewer boxes: on the digits IOL-GFMM tries {counts[0]:,} with the original "
        f"search, {counts[1]:,} with the lemma and {counts[2]:,} with the index."
    )
    return tried


def _have_equal_boxes(first: Any, second: Any) -> bool:
    """Whether two models have the same boxes to the last bit, in the same order."""
    names = ("lower", "upper", "labels", "counts")
    pairs = ((getattr(model.hyperboxes_, name) for model in (first, second)) for name in names)
    return all(np.array_equal(*pair) for pair in pairs)


def _time_fits(models: list[Any], X: np.ndarray, y: np.ndarray) -> list[float]:
    """Return the median milliseconds of a fit, taking models in turn: load changes over time."""
    seconds: list[list[float]] = [[] for _ in models]
    for _ in range(_N_FITS):
        for times, model in zip(seconds, models, strict=True):
            start = perf_counter()
            model.fit(X, y)
            times.append(perf_counter() - start)
    return [1e3 * median(times) for times in seconds]


def _load() -> Any:
    """Return the measurements and the diagnoses as a table."""
    need("pandas", "cli", "The command line")
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer(as_frame=True)
    return bunch.data.assign(**{TARGET: bunch.target_names[bunch.target]})


def _split(data: Any, *paths: str) -> None:
    from sklearn.model_selection import train_test_split

    parts = train_test_split(data, test_size=1 / 3, stratify=data[TARGET], random_state=0)
    for part, path in zip(parts, paths, strict=True):
        part.to_csv(path, index=False)


def _files(args: argparse.Namespace, *names: str) -> list[str]:
    return [str(args.output / name) for name in names]


def _show_model(args: argparse.Namespace, data: Any) -> None:
    """Train a model with the commands, read it, update it and merge models in Python."""
    train, test, model, report, script = _files(
        args, "train.csv", "test.csv", "model.hyperboxes", "report.html", "update.py"
    )
    _split(data, train, test)
    _title("3. Train and evaluate a model: IOL-GFMM")
    _print_paragraph(
        f"Breast cancer again: {len(data)} patients, benign or malignant. Two thirds are in "
        f"{train}, the others in {test}. With {len(FEATURES)} of the {len(data.columns) - 1} "
        "measurements, rules are short."
    )
    options = ("--learner", "improved", "--theta", str(THETA), "--features", ",".join(FEATURES))
    _run_command(args, "fit", train, "--target", TARGET, *options, "-o", model)
    _run_command(args, "evaluate", model, test, "--quiet")
    _title("4. Read it: each box is a rule")
    _run_command(args, "rules", model, "--max-rules", "3")
    title, row = _find_hard_row(model, test)
    _title(f"5. Explain a prediction: {title}")
    _run_command(args, "explain", model, test, "--row", row, "--quiet")
    _title("6. Update a model with new samples, merge models that were trained separately")
    Path(script).write_text(SCRIPT, encoding="utf-8")
    command = shlex.join([_relative(sys.executable), script])
    print(f"{script}:\n\n{SCRIPT}\n$ {command}\n", flush=True)
    runpy.run_path(script)
    _title("7. Explore the model in a browser")
    _run_command(args, "report", model, test, "-o", report, "--quiet")
    print(f"Open {report} in a browser.")


def _run_command(args: argparse.Namespace, *command: str) -> None:
    """Print a command as the user would type it, and run it."""
    from hyperboxes._cli import main

    print(f"\n$ {_find_program()} {shlex.join(command)}\n", flush=True)
    if code := main([*command, *(["--quiet"] if args.quiet else [])]):
        raise SystemExit(code)


def _find_program() -> str:
    """Return what to type for `hyperboxes`: its name, if that is found, or else where it is."""
    on_path = shutil.which("hyperboxes")
    beside = shutil.which("hyperboxes", path=str(Path(sys.executable).parent))
    if on_path and (beside is None or Path(on_path).samefile(beside)):
        return "hyperboxes"
    if beside:
        return shlex.quote(_relative(beside))
    return f"{shlex.quote(_relative(sys.executable))} -m hyperboxes"


def _relative(path: str) -> str:
    """Shorten a path in the current folder."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _find_hard_row(model_path: str, path: str) -> tuple[str, str]:
    """Find the row that the model gets most clearly wrong, or else is least sure of."""
    from hyperboxes import load

    table = need("pandas", "cli", "The command line").read_csv(path)
    model = load(model_path)
    proba = model.predict_proba(table[FEATURES])
    true = model.classes_.searchsorted(table[TARGET].to_numpy(str))
    row = int(proba[range(len(true)), true].argmin())
    predicted = model.classes_[proba[row].argmax()]
    return f"row {row + 1} is {table[TARGET][row]}, predicted {predicted}", str(row + 1)


def _compare_rules(data: Any) -> None:
    """Print accuracies of short rules, a tree and a forest on the same random splits."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    from hyperboxes import BoostedHyperboxes

    _title("8. Few and short rules: BoostedHyperboxes, a tree and a forest")
    print(f"Breast cancer, mean accuracy on {N_SPLITS} random splits, one third held out\n")
    models: dict[str, Any] = {}
    for size in SIZES:
        tree = DecisionTreeClassifier(max_leaf_nodes=size, random_state=0)
        models[f"decision tree, {size} leaves"] = tree
        models[f"boosted boxes, {size} rules"] = BoostedHyperboxes(size, random_state=0)
    models["random forest, 100 trees"] = RandomForestClassifier(random_state=0)
    splits = StratifiedShuffleSplit(N_SPLITS, test_size=1 / 3, random_state=0)
    for name, model in models.items():
        scores = cross_val_score(model, data.drop(columns=TARGET), data[TARGET], cv=splits)
        print(f"  {name:26} {scores.mean():.3f}")


def _follow_stream(args: argparse.Namespace) -> None:
    """Learn a stream that changes, compared with a retrained forest."""
    pandas = need("pandas", "cli", "The command line")
    stream, seen = _files(args, "stream.csv", "stream-predictions.csv")
    rows = _make_stream()
    rows.to_csv(stream, index=False)
    _title("9. Follow a stream: AdaptiveGFMM and a retrained forest")
    _print_paragraph(
        f"Readings of a machine whose limits change after every {N_ROWS:,} of {len(rows):,} rows. "
        "One label in twenty is wrong. Each row is predicted first, then learned."
    )
    start = perf_counter() - compiling.seconds
    _run_command(args, "stream", stream, "--target", "state", "--predictions", seen)
    seconds = perf_counter() - compiling.seconds - start
    adaptive = pandas.read_csv(seen)["prediction"].to_numpy()
    print(f"\nA random forest, retrained every {EVERY} rows on the last {LAST} ...", flush=True)
    start = perf_counter()
    forest = _retrain_forest(rows)
    print(f"\n                 accuracy  seconds  (without the first {EVERY} rows)")
    for name, predictions, duration in (
        ("AdaptiveGFMM", adaptive, seconds),
        ("random forest", forest, perf_counter() - start),
    ):
        accuracy = (predictions == rows["state"])[EVERY:].mean()
        print(f"  {name:13}{accuracy:10.3f}{duration:9.1f}")


def _make_stream() -> Any:
    """Generate readings of a machine, and when it fails."""
    pandas = need("pandas", "cli", "The command line")
    random, parts = np.random.default_rng(0), []
    for weights, limit in _LIMITS:
        readings = random.random((N_ROWS, 3))
        fails = (readings @ weights > limit) ^ (random.random(N_ROWS) < 0.05)
        table = pandas.DataFrame(readings.round(4), columns=_READINGS)
        parts.append(table.assign(state=np.where(fails, "fails", "works")))
    return pandas.concat(parts, ignore_index=True)


def _retrain_forest(rows: Any) -> np.ndarray:
    """Return the predictions of a forest that is retrained on the latest rows at intervals."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = rows[list(_READINGS)].to_numpy(), rows["state"].to_numpy(object)
    predictions = np.full(len(y), None, object)
    for n in range(EVERY, len(y), EVERY):
        forest = RandomForestClassifier(random_state=0)
        forest.fit(X[max(n - LAST, 0) : n], y[max(n - LAST, 0) : n])
        predictions[n : n + EVERY] = forest.predict(X[n : n + EVERY])
    return predictions


def _draw(args: argparse.Namespace, tried: dict[str, list[int]]) -> None:
    """Draw boxes that grow, and the candidates tried, if Matplotlib is installed."""
    try:
        figure = need("matplotlib.figure", "plot", "It").Figure((9, 6), layout="constrained")
    except ImportError as error:
        note(args, f"No picture is drawn. {error}")
        return
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.12, 1))
    _draw_growth(top)
    _draw_candidates(bottom.subplots(), tried)
    figure.savefig(args.output / "demo.png", dpi=140)
    _title("10. See boxes that grow, and the candidates tried")
    print(f"The picture is {args.output / 'demo.png'}.")


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
    figure.suptitle(
        "Online learning: a sample joins, extends or starts a box (tint: predicted class)",
        fontsize=13,
    )


def _draw_candidates(axes: Any, tried: dict[str, list[int]]) -> None:
    """Draw how many candidates each algorithm tries, on a logarithmic axis."""
    width = 0.27
    for i, (name, colour) in enumerate(_COLOURS.items()):
        counts = [counts[i] for counts in tried.values()]
        bars = axes.bar(
            np.arange(len(counts)) + (i - 1) * width, counts, width, color=colour, label=name
        )
        axes.bar_label(bars, [f"{count:,}" for count in counts], fontsize=10, padding=1)
    axes.set_xticks(range(len(tried)), list(tried), fontsize=12)
    axes.set_yscale("log")
    axes.set(ylim=(50, 1e6), ylabel="candidates tried")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=3, loc="upper right", frameon=False, title="search for candidates")
    axes.set_title("The same boxes from fewer candidates (handwritten digits)", fontsize=14)


def _print_next_steps(args: argparse.Namespace) -> None:
    at = shlex.quote(f"{args.output}/")
    commands = {
        "Predict rows, with probabilities": (
            f"predict {at}model.hyperboxes {at}test.csv --keep --proba -o {at}predicted.csv"
        ),
        "Measure each rule on other rows": (
            f"rules {at}model.hyperboxes --data {at}test.csv --target {TARGET}"
        ),
        "Write the rules as SQL": f"rules {at}model.hyperboxes --format sql --table patients",
        "Train with AGGLO-SM, on all features": (
            f"fit {at}train.csv --target {TARGET} --learner agglo-sm -o {at}agglo.hyperboxes"
        ),
        "Evaluate that model": f"evaluate {at}agglo.hyperboxes {at}test.csv",
        "Follow the stream with fewer boxes": (
            f"stream {at}stream.csv --target state --max-boxes 200"
        ),
        "See all options and algorithms": "fit --help",
    }
    _title("Now try")
    for title, command in commands.items():
        print(f"{title}:\n  {_find_program()} {command}")
