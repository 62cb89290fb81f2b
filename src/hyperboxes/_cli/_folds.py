"""Cross-validation: how good models like a given one are on rows that they have not learned."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from hyperboxes._cli._bar import progress
from hyperboxes._cli._common import n_boxes, note, positive_integer
from hyperboxes._cli._labels import Confusion, Scores, held_by_boxes
from hyperboxes._cli._models import FeatureReader, read_target
from hyperboxes._cli._tables import Table

# Says that a row has no label; cells that are empty for another reason are refused.
_NO_LABEL = ""


def number_of_folds(text: str) -> int:
    """Parse how many folds there are to be."""
    folds = positive_integer(text)
    if folds < 2:
        raise argparse.ArgumentTypeError("there must be at least 2 folds")
    return folds


def cross_validate(args: argparse.Namespace, table: Table, reader: FeatureReader) -> Scores:
    """Train models with the parameters of the given one on all folds but one, and predict that.

    Rows without a label are learned by all models that can, and predicted by none.
    """
    X, labels = _read_all(args, table, reader)
    classes, counts = np.unique(labels[labels != _NO_LABEL], return_counts=True)
    _check_counts(args, table, classes, counts)
    confusion, accuracies, sizes = Confusion(classes), [], []
    held: list[np.ndarray] = []
    with progress(args, "Cross-validating", args.cv) as update:
        for fold in _make_folds(labels, args.cv):
            model = _fit_without(fold, reader.model, X, labels)
            predicted = model.predict(_take(X, fold))
            confusion.add(labels[fold], predicted)
            accuracies.append(float(np.mean(predicted == labels[fold])))
            sizes.append(n_boxes(model))
            held += held_by_boxes(model, _take(X, fold))
            if update is not None:
                update(len(accuracies), f"{len(accuracies)} of {args.cv} folds")
    share = float(np.concatenate(held).mean()) if held else None
    return Scores.of(confusion, round(np.mean(sizes)), accuracies, share)


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


def _read_all(
    args: argparse.Namespace, table: Table, reader: FeatureReader
) -> tuple[Any, np.ndarray]:
    """Return all rows and their labels."""
    chunk = next(table.chunks([*reader.columns, args.target]), None)
    if chunk is None:
        raise ValueError(f"{table.name} has no rows")
    labels, has_label = read_target(args, reader.model, chunk)
    return reader.read(chunk), np.where(has_label, labels, _NO_LABEL)


def _check_counts(
    args: argparse.Namespace, table: Table, classes: np.ndarray, counts: np.ndarray
) -> None:
    """Refuse folds that there are too few rows for; say so if a class is not in every fold."""
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
        warnings.simplefilter("ignore", UserWarning)  # about classes of few rows; the note says so
        return [rows[fold] for _, fold in folds.split(rows, labels[rows])]


def _take(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
