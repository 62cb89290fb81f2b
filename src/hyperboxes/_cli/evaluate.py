"""Compare a model's predictions with the true labels in a table.

Take rows that the model has not learned. If there are none, --cv tells how good it would be on
such: it trains new models like this one, each on a part of the rows, and tries them on the others.

The file is read in pieces, so it may be larger than memory, unless --cv is given. Labels that the
model does not know count as mistakes. Rows without a label are left out if --unlabeled says which,
here or in training.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hyperboxes._cli._bar import with_progress
from hyperboxes._cli._common import (
    add_chunk_size,
    add_files,
    add_json,
    add_model,
    add_target,
    n_boxes,
    print_json,
)
from hyperboxes._cli._folds import cross_validate, number_of_folds
from hyperboxes._cli._labels import Confusion, Scores, held_by_boxes
from hyperboxes._cli._models import (
    FeatureReader,
    add_matching,
    check_classifier,
    find_features,
    load_model,
    read_target,
)
from hyperboxes._cli._parts import find_files, open_files
from hyperboxes._cli._tables import Table

HELP = "compare predictions with true labels"
EXAMPLES = """\
  hyperboxes evaluate iris.hyperboxes test.csv --target species
  hyperboxes evaluate iris.hyperboxes test.csv --target species --json
  hyperboxes evaluate iris.hyperboxes train.csv --target species --cv 5
"""

# A confusion matrix of more classes is not printed, but it is in the JSON.
_MOST_COLUMNS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_model(parser)
    add_files(parser)
    add_target(parser)
    add_matching(parser)
    parser.add_argument(
        "--cv",
        type=number_of_folds,
        metavar="FOLDS",
        help="cross-validate: train models like MODEL on all folds of DATA but one, predict that",
    )
    add_json(parser, "the scores")
    add_chunk_size(parser)


def run(args: argparse.Namespace) -> None:
    """Evaluate."""
    table = open_files(find_files(args.data), args.sep, args.decimal)
    model = load_model(args.model)
    check_classifier(model, args.model)
    reader = find_features(args, model, table, args.target)
    if args.cv is None:
        scores = _evaluate(args, table, reader)
    else:
        scores = cross_validate(args, table, reader)
    if args.json:
        print_json(scores.to_dict())
    else:
        print_scores(scores)


def _evaluate(args: argparse.Namespace, table: Table, reader: FeatureReader) -> Scores:
    """Compare the model's predictions with the labels."""
    model = reader.model
    confusion = Confusion(model.classes_)
    held: list[np.ndarray] = []
    chunks = table.chunks([*reader.columns, args.target], args.chunk_size)
    for chunk in with_progress(args, "Evaluating", chunks):
        labels, has_label = read_target(args, model, chunk)
        X = reader.read(chunk)
        confusion.add(labels[has_label], model.predict(X)[has_label])
        held += held_by_boxes(model, X)
    if confusion.n_samples == 0:
        raise ValueError(f"{table.name} has no rows with a label")
    share = float(np.concatenate(held).mean()) if held else None
    return Scores.of(confusion, n_boxes=n_boxes(model), held=share)


def print_scores(scores: Scores) -> None:
    """Print the scores for people."""
    print(f"samples            {scores.n_samples:,}")
    print(f"boxes              {scores.n_boxes:,}{' on average' if scores.fold_accuracies else ''}")
    print(f"accuracy           {scores.accuracy:.4f}{_spread(scores)}")
    print(f"balanced accuracy  {scores.balanced_accuracy:.4f}")
    if scores.held is not None:
        print(f"held by a box      {scores.held:.4f}  (the others get the class of the nearest)")
    header = ("class", "precision", "recall", "F1", "samples")
    rows = [
        (name, *(_number(v) for v in (s["precision"], s["recall"], s["f1"])), f"{s['support']:,}")
        for name, s in scores.by_class.items()
    ]
    print()
    _print_table([header, *rows])
    if len(scores.by_class) <= _MOST_COLUMNS:
        names = list(scores.by_class)
        counts = [(name, *map(str, row)) for name, row in zip(names, scores.matrix, strict=True)]
        print("\ntrue class in rows, predicted in columns")
        _print_table([("", *names), *counts])


def _spread(scores: Scores) -> str:
    if not scores.fold_accuracies:
        return ""
    low, high = min(scores.fold_accuracies), max(scores.fold_accuracies)
    return f"  ({low:.4f} to {high:.4f} in {len(scores.fold_accuracies)} folds)"


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}"


def _print_table(rows: list[tuple[str, ...]]) -> None:
    widths = np.array([[len(cell) for cell in row] for row in rows]).max(axis=0)
    for first, *rest in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        print("  ".join(cells).rstrip())
