"""Compare a model's predictions with the true labels in a table.

Take rows that the model has not learned: scores on rows of the training are too high. Without such
rows, --cv estimates the scores: it trains new models with the parameters of this one, each on a
part of the rows, and tests them on the others.

The file may be larger than memory, unless --cv is given. Labels that are not classes of the model
count as mistakes. Rows without a label are left out if --unlabeled marks them, here or in training.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from hyperboxes._cli.columns import (
    FeatureReader,
    add_matching,
    check_classifier,
    find_features,
    load_model,
    match_spelling,
    read_target,
)
from hyperboxes._cli.common import (
    add_chunk_size,
    add_files,
    add_json,
    add_model,
    add_target,
    n_boxes,
    note,
    positive_integer,
    print_json,
    progress,
    with_progress,
)
from hyperboxes._cli.tables import Table, find_files, open_tables

HELP = "compare predictions with true labels"
EXAMPLES = """\
  hyperboxes evaluate iris.hyperboxes test.csv --target species
  hyperboxes evaluate iris.hyperboxes test.csv --target species --json
  hyperboxes evaluate iris.hyperboxes train.csv --target species --cv 5
"""

# A confusion matrix of more classes is not printed, but it is in the JSON.
_MAX_COLUMNS = 20

# Marks rows without a label in cross-validation; cells that are empty otherwise are an error.
_NO_LABEL = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_model(parser)
    add_files(parser)
    add_target(parser)
    add_matching(parser)
    parser.add_argument(
        "--cv",
        type=_number_of_folds,
        metavar="FOLDS",
        help="cross-validate: train models like MODEL on all folds of DATA but one, predict that",
    )
    add_json(parser, "the scores")
    add_chunk_size(parser)


def run(args: argparse.Namespace) -> None:
    """Evaluate."""
    table = open_tables(find_files(args.data), args.sep, args.decimal)
    model = load_model(args.model)
    check_classifier(model, args.model)
    reader = find_features(args, model, table, args.target)
    scores = (_cross_validate if args.cv else _evaluate)(args, table, reader)
    if args.json:
        print_json(scores.to_dict())
    else:
        _print_scores(scores)


def _number_of_folds(text: str) -> int:
    folds = positive_integer(text)
    if folds < 2:
        raise argparse.ArgumentTypeError("there must be at least 2 folds")
    return folds


def _evaluate(args: argparse.Namespace, table: Table, reader: FeatureReader) -> Scores:
    """Compare the model's predictions with the labels."""
    model = reader.model
    confusion = Confusion(model.classes_)
    chunks = table.chunks([*reader.columns, args.target], args.chunk_size)
    for chunk in with_progress(args, "Evaluating", chunks):
        labels, has_label = read_target(args, model, chunk)
        confusion.add(model, reader.read(chunk), labels, has_label)
    if confusion.n_samples == 0:
        raise ValueError(f"{table.name} has no rows with a label")
    return Scores.of(confusion, n_boxes(model))


def _cross_validate(args: argparse.Namespace, table: Table, reader: FeatureReader) -> Scores:
    """Train models with the parameters of the given one on all folds but one, and predict that.

    Rows without a label are learned by all models that can, and predicted by none.
    """
    X, labels = _read_all(args, table, reader)
    classes, counts = np.unique(labels[labels != _NO_LABEL], return_counts=True)
    _check_counts(args, table, classes, counts)
    confusion, accuracies, sizes = Confusion(classes), [], []
    with progress(args, "Cross-validating", args.cv) as update:
        for fold in _make_folds(labels, args.cv):
            model = _fit_without(fold, reader.model, X, labels)
            predicted = confusion.add(model, _take(X, fold), labels[fold])
            accuracies.append(float(np.mean(predicted == labels[fold])))
            sizes.append(n_boxes(model))
            if update is not None:
                update(len(accuracies), f"{len(accuracies)} of {args.cv} folds")
    return Scores.of(confusion, round(np.mean(sizes)), accuracies)


def _read_all(
    args: argparse.Namespace, table: Table, reader: FeatureReader
) -> tuple[Any, np.ndarray]:
    """Return all rows and their labels."""
    chunks = list(table.chunks([*reader.columns, args.target]))
    if not chunks:
        raise ValueError(f"{table.name} has no rows")
    labels, has_label = zip(*(read_target(args, reader.model, c) for c in chunks), strict=True)
    return reader.read(*chunks), np.where(
        np.concatenate(has_label), np.concatenate(labels), _NO_LABEL
    )


def _fit_without(fold: np.ndarray, like: Any, X: Any, labels: np.ndarray) -> Any:
    """Train a model like another on the rows that are not in a fold."""
    from sklearn.base import clone

    rows = np.setdiff1d(np.arange(len(labels)), fold)
    model, has_label = clone(like), labels[rows] != _NO_LABEL
    if "unlabeled" in model.get_params(deep=False):
        model.set_params(unlabeled=None if has_label.all() else _NO_LABEL)
    else:
        rows = rows[has_label]
    if getattr(model, "random_state", 0) is None:
        model.set_params(random_state=0)  # the same scores each time
    return model.fit(_take(X, rows), labels[rows])


def _check_counts(
    args: argparse.Namespace, table: Table, classes: np.ndarray, counts: np.ndarray
) -> None:
    """Raise an error if there are too few rows for the folds; note a class of too few rows."""
    if counts.max(initial=0) < args.cv:
        raise ValueError(
            f"{table.name}: no {args.target} has {args.cv} rows, so there cannot be {args.cv} folds"
        )
    if (few := classes[counts < args.cv]).size:
        note(
            args,
            f"Note: there are fewer than {args.cv} rows of {few[0]}, so not every fold has one",
        )


def _make_folds(labels: np.ndarray, n_folds: int) -> list[np.ndarray]:
    """Return the labelled rows in folds that have the classes in the same proportions."""
    from sklearn.model_selection import StratifiedKFold

    rows = np.flatnonzero(labels != _NO_LABEL)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about small classes, as does the note
        return [rows[fold] for _, fold in folds.split(rows, labels[rows])]


def _take(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


class Confusion:
    """Counts of true and predicted classes, and of the samples that a box contains."""

    def __init__(self, classes: np.ndarray) -> None:
        self._classes = classes
        self._counts: Counter[tuple[str, str]] = Counter()
        self._is_contained: list[np.ndarray] = []

    def add(self, model: Any, X: Any, labels: np.ndarray, has_label: Any = ...) -> np.ndarray:
        """Predict samples, compare with their labels, which are texts, and return the classes."""
        predicted: np.ndarray = model.predict(X)
        true = match_spelling(labels[has_label], self._classes)
        self._counts.update(
            zip(true.tolist(), map(str, predicted[has_label].tolist()), strict=True)
        )
        if hasattr(model, "membership"):
            self._is_contained.append(model.membership(X).max(axis=1) == 1)
        return predicted

    @property
    def n_samples(self) -> int:
        """The number of samples with a label."""
        return self._counts.total()

    @property
    def contained_share(self) -> float | None:
        """The share of the samples that a box contains, None for models without memberships."""
        return float(np.concatenate(self._is_contained).mean()) if self._is_contained else None

    def table(self) -> tuple[list[str], np.ndarray]:
        """Return the classes, and the counts with the true class in rows."""
        known = {str(label) for label in self._classes.tolist()}
        names = sorted(known | {true for true, _ in self._counts}, key=_by_number)
        position = {name: i for i, name in enumerate(names)}
        matrix = np.zeros((len(names), len(names)), np.int64)
        for (true, predicted), count in self._counts.items():
            matrix[position[true], position[predicted]] = count
        return names, matrix


@dataclass(frozen=True)
class Scores:
    """Scores of a confusion matrix; a score of 0 / 0 is None.

    `held` is the share of the samples that a box contains, None for models without memberships. In
    cross-validation there is an accuracy of each fold, and `n_boxes` is their mean, rounded.
    """

    n_samples: int
    n_boxes: int
    accuracy: float
    balanced_accuracy: float
    by_class: dict[str, dict[str, Any]]
    matrix: list[list[int]]
    fold_accuracies: list[float] = field(default_factory=list)
    held: float | None = None

    @classmethod
    def of(
        cls,
        confusion: Confusion,
        n_boxes: int,
        fold_accuracies: Sequence[float] = (),
    ) -> Self:
        """Compute the scores; balanced accuracy is the mean recall of classes that occur."""
        from hyperboxes._readers.quality import class_scores, overall_scores

        names, matrix = confusion.table()
        accuracy, balanced_accuracy = overall_scores(matrix)
        return cls(
            n_samples=int(matrix.sum()),
            n_boxes=n_boxes,
            accuracy=accuracy,
            balanced_accuracy=balanced_accuracy,
            by_class=dict(zip(names, class_scores(matrix), strict=True)),
            matrix=matrix.tolist(),
            fold_accuracies=list(fold_accuracies),
            held=confusion.contained_share,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return them for JSON."""
        values = asdict(self)
        if not self.fold_accuracies:
            del values["fold_accuracies"]
        if self.held is None:
            del values["held"]
        values["confusion_matrix"] = {"classes": list(self.by_class), "rows": values.pop("matrix")}
        return values


def _print_scores(scores: Scores) -> None:
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
    if len(scores.by_class) <= _MAX_COLUMNS:
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


def _by_number(name: str) -> tuple[int, float, str]:
    """Sort numbers by value and before words."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
