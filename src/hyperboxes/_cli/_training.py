"""Training from files: all samples at once, or chunk by chunk with checkpoints on the way."""

from __future__ import annotations

import argparse
import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from hyperboxes._cli._bar import progress, with_progress
from hyperboxes._cli._checkpoint import Checkpoint
from hyperboxes._cli._common import n_learned, note
from hyperboxes._cli._interrupts import interruptible
from hyperboxes._cli._shuffling import shuffled_pieces
from hyperboxes._cli._survey import Columns, Survey
from hyperboxes._cli._tables import Table
from hyperboxes._extras import need


def fit_at_once(
    args: argparse.Namespace, model: Any, table: Table, columns: Columns, chunk_size: int
) -> tuple[Any, int]:
    """Learn from all samples, in memory; return the model and how many there were."""
    chunks = table.chunks(columns.all, chunk_size)
    with progress(args, "Learning"):
        samples = [columns.read_frame(chunk) for chunk in chunks]
        if not samples:
            raise ValueError(f"{table.name} has no rows")
        frames, labels = zip(*samples, strict=True)
        X = need("pandas", "cli", "The command line").concat(frames, ignore_index=True)
        y = np.concatenate(labels)
        samples.clear()
        return model.fit(X, y), len(y)


def fit_in_chunks(
    args: argparse.Namespace,
    model: Any,
    table: Table,
    columns: Columns,
    chunk_size: int,
    checkpoint: Checkpoint | None,
) -> Any:
    """Learn a file that need not fit into memory, whatever the chunks, with the same boxes.

    A first pass finds classes and ranges, a second one learns, in random order as far as memory
    goes: a file that fits in gives the boxes of `fit`.
    """

    def survey_file() -> dict[str, Any]:
        chunks = table.chunks(columns.all, chunk_size)
        survey = Survey.of(with_progress(args, "Looking at classes and ranges", chunks), columns)
        survey.check(table.name, columns)
        return survey.to_json()

    learned = None
    if checkpoint is None:
        found = survey_file()
    elif args.resume and checkpoint.exists:
        found, learned = checkpoint.resume()
    else:
        found = checkpoint.begin(survey_file)
    survey = Survey.from_json(found)
    columns = replace(columns, places=survey.place())
    if learned is None:
        _set_scaling(model, survey.ranges)
    else:
        model = learned
        note(args, f"Going on after {n_learned(model):,} of {survey.n_rows:,} rows")
    return _learn(args, model, table, columns, survey, chunk_size, checkpoint)


def _learn(
    args: argparse.Namespace,
    model: Any,
    table: Table,
    columns: Columns,
    survey: Survey,
    chunk_size: int,
    checkpoint: Checkpoint | None,
) -> Any:
    from sklearn.base import clone

    done = n_learned(model)
    unfitted = clone(model)
    if columns.categorical:
        unfitted.set_params(categorical_features=None)
    _set_scaling(unfitted, survey.ranges)

    def find_order(block: int, X: np.ndarray, y: np.ndarray) -> Any:
        if not hasattr(unfitted, "_find_order"):  # it learns in the order of the file
            return np.arange(len(y))
        return clone(unfitted).set_params(random_state=block)._find_order(X, y)

    try:
        with progress(args, "Learning", survey.n_rows, done) as update, interruptible() as check:
            pieces = shuffled_pieces(table, columns, chunk_size, find_order, skip=done, check=check)
            for X, y in pieces:
                check()
                # The boxes' trees become those of a model read from a checkpoint, so that an
                # interrupted run goes on exactly like one that was not.
                model = copy.deepcopy(model)
                with _noting_warnings(args), _knowing_places(model, columns):
                    model.partial_fit(_frame(X, columns), y, classes=survey.classes)
                _set_scaling(model, "minmax")  # which the ranges were, of the whole file
                done += len(y)
                if update is not None:
                    update(done, f"{done:,} rows, {len(model.hyperboxes_):,} boxes")
                if checkpoint is not None:
                    checkpoint.save_if_due(model, done)
    except BaseException:
        _save_interrupted(args, checkpoint, model)
        raise
    return model


@contextmanager
def _knowing_places(model: Any, columns: Columns) -> Iterator[None]:
    """Have a model learn the places of categories as numbers, and know afterwards what they are."""
    if not columns.categorical:
        yield
        return
    vars(model).pop("_categories", None)
    chosen = model.categorical_features
    model.set_params(categorical_features=None)
    try:
        yield
    finally:
        model.set_params(categorical_features=chosen)
        model._categories = dict(columns.places)


@contextmanager
def _noting_warnings(args: argparse.Namespace) -> Iterator[None]:
    """Say what Python would warn of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        note(args, f"Note: {warning.message}")


def _save_interrupted(args: argparse.Namespace, checkpoint: Checkpoint | None, model: Any) -> None:
    """Save what an interrupted run has learned."""
    if checkpoint is not None and (n_rows := n_learned(model)):
        _set_scaling(model, "minmax")
        checkpoint.save(model)
        note(
            args,
            f"The first {n_rows:,} rows are kept in {checkpoint.folder}: "
            "the same command with --resume goes on from there",
        )


def _set_scaling(model: Any, scaling: Any) -> None:
    """Set the ranges, unless the learner finds them on its way."""
    if hasattr(model, "scaling"):
        model.set_params(scaling=scaling)


def _frame(X: np.ndarray, columns: Columns) -> Any:
    return need("pandas", "cli", "The command line").DataFrame(X, columns=columns.features)
