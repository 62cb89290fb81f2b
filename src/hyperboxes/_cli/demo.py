"""Show what there is: the commands one after the other, on real data.

A model of few rules for the breast cancer data that scikit-learn ships, beside a decision tree and
a random forest; its rules, why it says what it says about one patient, a report; and a stream of
generated data that changes. All files are written to a folder, for you to try more.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hyperboxes._cli._common import note
from hyperboxes._extras import need

HELP = "show the commands at work on real data"
EXAMPLES = """\
  hyperboxes demo
  hyperboxes demo -o somewhere
"""

TARGET = "diagnosis"
IN_PICTURE = ["worst radius", "worst concave points"]
N_BOXES = 10  # of the model to read
SIZES = (N_BOXES, 20)  # numbers of rules to compare; 20 is the default
N_SPLITS = 10
N_ROWS = 2000  # of the stream, between two changes
WINDOW = 200  # rows of the stream, for an accuracy of the moment


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
    data = _load()
    folder = args.output
    folder.mkdir(parents=True, exist_ok=True)
    train, test, model = (
        str(folder / name) for name in ("train.csv", "test.csv", "model.hyperboxes")
    )
    _split(data, train, test)
    print(
        f"Breast cancer: {len(data)} patients, {len(data.columns) - 1} measurements, benign or "
        f"malignant.\nTwo thirds are in {train}, the others in {test}."
    )
    _show_model(args, train, test, model)
    _compare(data)
    _read_model(args, test, model, str(folder / "report.html"))
    seen = _follow_stream(args, folder)
    _draw(args, data, seen, folder / "demo.png")
    _print_next_steps(model, test, train)


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


def _show_model(args: argparse.Namespace, train: str, test: str, model: str) -> None:
    boosted = ("--learner", "boosted", "--max-boxes", str(N_BOXES))
    target = ("--target", TARGET)
    _run_command(args, f"A model of {N_BOXES} rules", "fit", train, *target, *boosted, "-o", model)
    _run_command(args, "How good is it on other patients?", "evaluate", model, test, *target)


def _compare(data: Any) -> None:
    """Print accuracies of boxes, a tree and a forest on the same random splits."""
    _title(f"Beside a tree and a forest: accuracy on {N_SPLITS} random splits, a third for testing")
    for name, scores in _score_contenders(data).items():
        print(f"  {name:26} {np.mean(scores):.3f}")


def _score_contenders(data: Any) -> dict[str, list[float]]:
    """Return the accuracies of each contender on random splits."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedShuffleSplit
    from sklearn.tree import DecisionTreeClassifier

    from hyperboxes import BoostedHyperboxes

    X, y = data.drop(columns=TARGET), data[TARGET]
    models: dict[str, Any] = {}
    for size in SIZES:
        models[f"decision tree, {size} leaves"] = DecisionTreeClassifier(
            max_leaf_nodes=size, random_state=0
        )
        models[f"boosted boxes, {size} rules"] = BoostedHyperboxes(size, random_state=0)
    models["random forest, 100 trees"] = RandomForestClassifier(random_state=0)
    scores: dict[str, list[float]] = {name: [] for name in models}
    splitter = StratifiedShuffleSplit(N_SPLITS, test_size=1 / 3, random_state=0)
    for train, test in splitter.split(X, y):
        for name, model in models.items():
            model.fit(X.iloc[train], y.iloc[train])
            scores[name].append(model.score(X.iloc[test], y.iloc[test]))
    return scores


def _read_model(args: argparse.Namespace, test: str, model: str, report: str) -> None:
    _run_command(args, "What has it learned? Rules that vote", "rules", model, "--max-rules", "5")
    title, row = _find_hard_row(model, test)
    _run_command(args, title, "explain", model, test, "--row", row, "--quiet")
    command = ("report", model, test, "--target", TARGET, "-o", report)
    _run_command(args, "The same as a page, to look into every patient", *command)


def _run_command(args: argparse.Namespace, title: str, *command: str) -> None:
    """Run a command as the user would."""
    from hyperboxes._cli import main

    _title(title)
    print(f"$ hyperboxes {shlex.join(command)}\n", flush=True)
    if code := main([*command, *(["--quiet"] if args.quiet else [])]):
        raise SystemExit(code)


def _title(text: str) -> None:
    print(f"\n== {text}")


def _find_hard_row(model_path: str, path: str) -> tuple[str, str]:
    """Find the row that the model gets most clearly wrong, or else is least sure of."""
    from hyperboxes import load

    table = need("pandas", "cli", "The command line").read_csv(path)
    model = load(model_path)
    proba = model.predict_proba(table.drop(columns=TARGET))
    true = model.classes_.searchsorted(table[TARGET].to_numpy(str))
    row = int(proba[range(len(true)), true].argmin())
    said = model.classes_[proba[row].argmax()]
    title = f"Row {row + 1} is {table[TARGET][row]}. Why does the model say {said}?"
    return title, str(row + 1)


def _follow_stream(args: argparse.Namespace, folder: Path) -> Any:
    """Learn a stream that changes; return its rows with what was predicted."""
    pandas = need("pandas", "cli", "The command line")
    stream, seen = folder / "stream.csv", folder / "stream-predictions.csv"
    rows = pandas.concat(_stream(), ignore_index=True)
    rows.to_csv(stream, index=False)
    title = f"A machine whose limits change after every {N_ROWS:,} rows, predicted and learned live"
    command = ("stream", str(stream), "--target", "state", "--predictions", str(seen))
    _run_command(args, title, *command)
    found = pandas.read_csv(seen)
    rows["is_right"] = (found["prediction"] == rows["state"]).to_numpy()
    return rows


def _stream() -> Iterator[Any]:
    """Generate readings of a machine: load, heat and vibration, and when it fails.

    One label in twenty is wrong.
    """
    pandas = need("pandas", "cli", "The command line")
    random = np.random.default_rng(0)
    for weights, limit in (((1, 1, 0), 1.0), ((0, 1, 1), 1.2), ((1, 0, 1), 0.8), ((1, 1, 1), 1.6)):
        readings = random.random((N_ROWS, 3))
        fails = (readings @ weights > limit) ^ (random.random(N_ROWS) < 0.05)
        table = pandas.DataFrame(readings.round(4), columns=["load", "heat", "vibration"])
        yield table.assign(state=np.where(fails, "fails", "works"))


def _draw(args: argparse.Namespace, data: Any, seen: Any, path: Path) -> None:
    """Draw boxes in two measurements, and accuracy over the stream, if Matplotlib is there."""
    from hyperboxes import BoostedHyperboxes, BoxesDisplay

    try:
        figure = need("matplotlib.figure", "plot", "It").Figure((10, 4.2), layout="constrained")
    except ImportError as error:
        note(args, f"No picture is drawn. {error}")
        return
    left, right = figure.subplots(1, 2)
    X, y = data[IN_PICTURE], data[TARGET]
    model = BoostedHyperboxes(6, random_state=0).fit(X, y)
    BoxesDisplay.from_estimator(model, X, y, ax=left, legend=False)
    left.legend(loc="lower right")
    left.set_title(f"{len(model.hyperboxes_)} rules that vote, {len(y)} patients")
    _draw_stream(right, seen)
    figure.savefig(path, dpi=120)
    _title("What boxes look like, and how accuracy moves as the stream changes")
    print(f"in {path}")


def _draw_stream(axes: Any, seen: Any) -> None:
    """Draw the accuracy of the moment, beside a forest that learns the first rows only."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = seen[["load", "heat", "vibration"]], seen["state"]
    forest = RandomForestClassifier(random_state=0).fit(X[:N_ROWS], y[:N_ROWS])
    is_right = (forest.predict(X) == y).where(X.index >= N_ROWS)
    for name, hits in (
        ("AdaptiveGFMM", seen["is_right"]),
        (f"forest of the first {N_ROWS:,} rows", is_right),
    ):
        axes.plot(hits.astype(float).rolling(WINDOW, min_periods=50).mean(), label=name)
    for change in range(N_ROWS, len(seen), N_ROWS):
        axes.axvline(change, color="gray", linewidth=0.8, linestyle=":")
    axes.set(xlabel="rows", ylabel=f"accuracy of the last {WINDOW}", ylim=(0.35, 1))
    axes.set_title("A stream that changes three times")
    axes.legend(loc="lower left")


def _print_next_steps(model: str, test: str, train: str) -> None:
    commands = [
        ["predict", model, test, "--keep", "--proba"],
        ["rules", model, "--data", test, "--target", TARGET, "--format", "csv"],
        ["rules", model, "--format", "sql", "--table", "patients"],
        ["fit", train, "--target", TARGET, "--learner", "agglo-sm", "-o", "agglo.hyperboxes"],
        ["fit", "--help"],
    ]
    _title("Now try")
    for command in commands:
        print(f"  hyperboxes {shlex.join(command)}")
