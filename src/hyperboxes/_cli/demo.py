"""Show the paper's algorithms and the commands at work on real data.

The paper's candidate counts beside those counted here; its four algorithms with three searches that
give equal boxes; rules, an explanation, updates, merging and a report of one model; short rules
compared with a tree and a forest; a stream with concept drift. All files are kept, for you to try.
"""

from __future__ import annotations

import argparse
import runpy
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from hyperboxes._cli import _demo_paper
from hyperboxes._cli.common import note
from hyperboxes._compiling import compiling
from hyperboxes._extras import need

HELP = "show the paper's algorithms and the commands at work on real data"
EXAMPLES = """\
  hyperboxes demo
  hyperboxes demo -o somewhere
"""

TARGET = "diagnosis"
FEATURES = ["worst radius", "worst texture", "worst concave points"]
THETA = 0.3
SIZES = (10, 20)  # numbers of short rules to compare; 20 is the default
N_SPLITS = 10
N_ROWS = 2000  # of the stream, between two changes
EVERY, LAST = 100, 500  # how often the forest is retrained, and on how many rows

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
    folder = args.output
    folder.mkdir(parents=True, exist_ok=True)
    train, test, model = (
        str(folder / name) for name in ("train.csv", "test.csv", "model.hyperboxes")
    )
    _demo_paper.print_paragraph(
        "General fuzzy min-max (GFMM) networks: each box belongs to one class, and a new sample "
        "gets the class of the nearest box. The demo takes about a minute. The first run "
        "takes a minute or two longer: each algorithm is compiled before its first use, once on "
        "this machine."
    )
    _title("1. The paper's experiment: candidates tried on balance scale")
    _demo_paper.show_published_counts()
    _title("2. The paper's four algorithms: three searches, the same boxes")
    tried = _demo_paper.compare_searches()
    _split(data, train, test)
    _show_model(args, data, train, test, model)
    _compare_rules(data)
    _follow_stream(args, folder)
    _draw(args, tried, folder / "demo.png")
    _print_next_steps(folder)
    seconds = perf_counter() - start
    print(f"\nThe demo took {seconds:.0f} seconds, {compiling.seconds:.0f} of them for compiling.")


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


def _show_model(args: argparse.Namespace, data: Any, train: str, test: str, model: str) -> None:
    """Train a model with the commands, read it, update it and merge models in Python."""
    folder = args.output
    _title("3. Train and evaluate a model: IOL-GFMM")
    _demo_paper.print_paragraph(
        f"Breast cancer again: {len(data)} patients, benign or malignant. Two thirds are in "
        f"{train}, the others in {test}. With {len(FEATURES)} of the {len(data.columns) - 1} "
        "measurements, rules are short."
    )
    target = ("--target", TARGET)
    options = ("--learner", "improved", "--theta", str(THETA), "--features", ",".join(FEATURES))
    _run_command(args, "fit", train, *target, *options, "-o", model)
    _run_command(args, "evaluate", model, test, *target, "--quiet")
    _title("4. Read it: each box is a rule")
    _run_command(args, "rules", model, "--max-rules", "3")
    title, row = _find_hard_row(model, test)
    _title(f"5. Explain a prediction: {title}")
    _run_command(args, "explain", model, test, "--row", row, "--quiet")
    _title("6. Update a model with new samples, merge models that were trained separately")
    script = folder / "update.py"
    script.write_text(SCRIPT, encoding="utf-8")
    print(
        f"{script}:\n\n{SCRIPT}\n$ {shlex.join([_relative(sys.executable), str(script)])}\n",
        flush=True,
    )
    runpy.run_path(str(script))
    _title("7. Explore the model in a browser")
    report = str(folder / "report.html")
    _run_command(args, "report", model, test, *target, "-o", report, "--quiet")
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


def _title(text: str) -> None:
    print(f"\n== {text}", flush=True)


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
    _title("8. Few and short rules: BoostedHyperboxes beside a tree and a forest")
    print(f"Breast cancer, mean accuracy on {N_SPLITS} random splits, one third held out\n")
    for name, scores in _score_models(data).items():
        print(f"  {name:26} {np.mean(scores):.3f}")


def _score_models(data: Any) -> dict[str, list[float]]:
    """Return the accuracies of each model on random splits."""
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


def _follow_stream(args: argparse.Namespace, folder: Path) -> None:
    """Learn a stream that changes, beside a forest that is retrained."""
    pandas = need("pandas", "cli", "The command line")
    stream, seen = folder / "stream.csv", folder / "stream-predictions.csv"
    rows = pandas.concat(_stream(), ignore_index=True)
    rows.to_csv(stream, index=False)
    _title("9. Follow a stream: AdaptiveGFMM beside a retrained forest")
    _demo_paper.print_paragraph(
        f"Readings of a machine whose limits change after every {N_ROWS:,} of {len(rows):,} rows. "
        "One label in twenty is wrong. Each row is predicted first, then learned."
    )
    start = perf_counter() - compiling.seconds
    _run_command(args, "stream", str(stream), "--target", "state", "--predictions", str(seen))
    seconds = perf_counter() - compiling.seconds - start
    adaptive = pandas.read_csv(seen)["prediction"].to_numpy()
    print(f"\nA random forest, retrained every {EVERY} rows on the last {LAST} ...", flush=True)
    start = perf_counter()
    forest = _retrain_forest(rows)
    print(f"\n                 accuracy  seconds  (without the first {EVERY} rows)")
    state = rows["state"].to_numpy()
    for name, predictions, duration in (
        ("AdaptiveGFMM", adaptive, seconds),
        ("random forest", forest, perf_counter() - start),
    ):
        accuracy = (predictions == state)[EVERY:].mean()
        print(f"  {name:13}{accuracy:10.3f}{duration:9.1f}")


def _stream() -> Iterator[Any]:
    """Generate readings of a machine: load, heat and vibration, and when it fails."""
    pandas = need("pandas", "cli", "The command line")
    random = np.random.default_rng(0)
    for weights, limit in (((1, 1, 0), 1.0), ((0, 1, 1), 1.2), ((1, 0, 1), 0.8), ((1, 1, 1), 1.6)):
        readings = random.random((N_ROWS, 3))
        fails = (readings @ weights > limit) ^ (random.random(N_ROWS) < 0.05)
        table = pandas.DataFrame(readings.round(4), columns=["load", "heat", "vibration"])
        yield table.assign(state=np.where(fails, "fails", "works"))


def _retrain_forest(rows: Any) -> np.ndarray:
    """Return the predictions of a forest that is retrained on the latest rows at intervals."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = rows[["load", "heat", "vibration"]].to_numpy(), rows["state"].to_numpy(object)
    predictions = np.full(len(y), None, object)
    for n in range(EVERY, len(y), EVERY):
        forest = RandomForestClassifier(random_state=0)
        forest.fit(X[max(n - LAST, 0) : n], y[max(n - LAST, 0) : n])
        predictions[n : n + EVERY] = forest.predict(X[n : n + EVERY])
    return predictions


def _draw(args: argparse.Namespace, tried: dict[str, list[int]], path: Path) -> None:
    """Draw the picture, if Matplotlib is there."""
    try:
        _demo_paper.draw(path, tried)
    except ImportError as error:
        note(args, f"No picture is drawn. {error}")
        return
    _title("10. See boxes that grow, and the candidates tried")
    print(f"The picture is {path}.")


def _print_next_steps(folder: Path) -> None:
    train, test, stream, model, agglo = (
        str(folder / name)
        for name in ("train.csv", "test.csv", "stream.csv", "model.hyperboxes", "agglo.hyperboxes")
    )
    target = ["--target", TARGET]
    commands = {
        "Predict rows, with probabilities": (
            ["predict", model, test, "--keep", "--proba", "-o", str(folder / "predicted.csv")]
        ),
        "Measure each rule on other rows": ["rules", model, "--data", test, *target],
        "Write the rules as SQL": ["rules", model, "--format", "sql", "--table", "patients"],
        "Train with AGGLO-SM, on all features": (
            ["fit", train, *target, "--learner", "agglo-sm", "-o", agglo]
        ),
        "Evaluate that model": ["evaluate", agglo, test, *target],
        "Follow the stream with fewer boxes": (
            ["stream", stream, "--target", "state", "--max-boxes", "200"]
        ),
        "See all options and algorithms": ["fit", "--help"],
    }
    _title("Now try")
    for title, command in commands.items():
        print(f"{title}:\n  {_find_program()} {shlex.join(command)}")
