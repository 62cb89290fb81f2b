"""Show what there is: the commands one after the other, on real data.

The data is the breast cancer set that scikit-learn ships, with four of its measurements. All files
are written to a folder, for you to try more.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from hyperboxes._cli._common import note
from hyperboxes._extras import need

HELP = "show the commands at work on real data"
EXAMPLES = """\
  hyperboxes demo
  hyperboxes demo -o somewhere
"""

FEATURES = ["worst radius", "worst texture", "worst smoothness", "worst concave points"]
IN_PICTURE = ["worst radius", "worst concave points"]
TARGET = "diagnosis"
THETA = 0.4  # large boxes: few rules


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
    train, test = (str(folder / name) for name in ("train.csv", "test.csv"))
    model = str(folder / "model.hyperboxes")
    _split(data, train, test)
    print(
        f"Breast cancer: {len(data)} samples, {len(FEATURES)} measurements, benign or malignant.\n"
        f"Two thirds are in {train}, the others in {test}."
    )
    _run_command(
        args, "Train a model", "fit", train, "--target", TARGET, "--theta", str(THETA), "-o", model
    )
    _run_command(
        args,
        "Is it any good? On samples it has not seen",
        "evaluate",
        model,
        test,
        "--target",
        TARGET,
    )
    _run_command(
        args, "What has it learned? The largest of its boxes", "rules", model, "--max-rules", "3"
    )
    title, row = _find_hard_row(model, test)
    _run_command(args, title, "explain", model, test, "--row", row)
    _draw(args, data, folder / "demo.png")
    _print_next_steps(model, test, train)


def _load() -> Any:
    """Return the measurements and the diagnoses as a table."""
    need("pandas", "cli", "The command line")
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer(as_frame=True)
    return bunch.data[FEATURES].assign(**{TARGET: bunch.target_names[bunch.target]})


def _split(data: Any, *paths: str) -> None:
    from sklearn.model_selection import train_test_split

    parts = train_test_split(data, test_size=1 / 3, stratify=data[TARGET], random_state=0)
    for part, path in zip(parts, paths, strict=True):
        part.to_csv(path, index=False)


def _run_command(args: argparse.Namespace, title: str, *command: str) -> None:
    """Run a command as the user would."""
    from hyperboxes._cli import main

    print(f"\n== {title}\n$ hyperboxes {shlex.join(command)}\n", flush=True)
    if code := main([*command, *(["--quiet"] if args.quiet else [])]):
        raise SystemExit(code)


def _find_hard_row(model_path: str, path: str) -> tuple[str, str]:
    """Find the row that the model gets most clearly wrong, or else is least sure of."""
    from hyperboxes import load

    table = need("pandas", "cli", "The command line").read_csv(path)
    model = load(model_path)
    proba = model.predict_proba(table[FEATURES])
    true = model.classes_.searchsorted(table[TARGET].to_numpy(str))
    row = int(proba[range(len(true)), true].argmin())
    said = model.classes_[proba[row].argmax()]
    title = f"Row {row + 1} is {table[TARGET][row]}. Why does the model say {said}?"
    return title, str(row + 1)


def _draw(args: argparse.Namespace, data: Any, path: Path) -> None:
    """Draw boxes in two measurements and learning from a stream, if Matplotlib is there."""
    from hyperboxes import BoxesDisplay, GrowthDisplay, ImprovedOnlineGFMM

    try:
        figure = need("matplotlib.figure", "plot", "It").Figure((10, 4.2), layout="constrained")
    except ImportError as error:
        note(args, f"No picture is drawn. {error}")
        return
    left, right = figure.subplots(1, 2)
    X, y = data[FEATURES], data[TARGET]
    flat = ImprovedOnlineGFMM(theta=THETA, random_state=0).fit(X[IN_PICTURE], y)
    BoxesDisplay.from_estimator(flat, X[IN_PICTURE], y, ax=left, legend=False)
    left.set_title(f"{len(flat.hyperboxes_)} boxes learned from {len(y)} samples")
    stream = GrowthDisplay.from_estimator(
        ImprovedOnlineGFMM(theta=THETA), X, y, batch_size=50, ax=right, legend=False
    )
    right.set_title("Learning from a stream")
    left.legend(loc="lower right")
    right.legend()
    stream.axes_[1].legend(loc="upper left")
    figure.savefig(path, dpi=120)
    print(f"\n== What boxes look like, and how it learns from a stream\nin {path}")


def _print_next_steps(model: str, test: str, train: str) -> None:
    commands = [
        ["predict", model, test, "--keep", "--proba"],
        ["rules", model, "--data", test, "--target", TARGET, "--format", "csv"],
        ["rules", model, "--format", "sql", "--table", "patients"],
        ["fit", train, "--target", TARGET, "--learner", "agglo-sm", "-o", "agglo.hyperboxes"],
        ["fit", "--help"],
    ]
    print("\n== Now try")
    for command in commands:
        print(f"  hyperboxes {shlex.join(command)}")
