"""Training from files: all samples at once, or chunk by chunk with checkpoints on the way."""

from __future__ import annotations

import argparse
import copy
from typing import Any

import numpy as np

from hyperboxes._cli._bar import progress, with_progress
from hyperboxes._cli._checkpoint import Checkpoint
from hyperboxes._cli._common import note
from hyperboxes._cli._interrupts import interruptible
from hyperboxes._cli._survey import Columns, Survey
from hyperboxes._cli._tables import Table
from hyperboxes._extras import need


def fit_at_once(
    args: argparse.Namespace, model: Any, table: Table, columns: Columns, chunk_size: int
) -> tuple[Any, int]:
    """Learn from all samples, in memory; return the model and how many there were."""
    chunks = table.chunks(columns.all, chunk_size)
    with progress(args, "Learning"):
        samples = [columns.read(chunk) for chunk in chunks]
        if not samples:
            raise ValueError(f"{table.name} has no rows")
        X, y = (np.concatenate(parts) for parts in zip(*samples, strict=True))
        samples.clear()
        return model.fit(_frame(X, columns), y), len(y)


def fit_in_chunks(
    args: argparse.Namespace,
    model: Any,
    table: Table,
    columns: Columns,
    chunk_size: int,
    checkpoint: Checkpoint | None,
) -> Any:
    """Learn a file that need not fit into memory: the very boxes that learning at once gives.

    A first pass finds classes and ranges, a second one learns.
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
    done = n_learned(model)
    try:
        with progress(args, "Learning", survey.n_rows, done) as update, interruptible() as check:
            for chunk in table.chunks(columns.all, chunk_size, skip=done):
                check()
                X, y = columns.read(chunk)
                # The boxes' trees become those of a model read from a checkpoint, so that an
                # interrupted run goes on exactly like one that was not.
                model = copy.deepcopy(model)
                model.partial_fit(_frame(X, columns), y, classes=survey.classes)
                _set_scaling(model, "minmax")  # which the ranges were, of the whole file
                done = chunk.start + len(chunk)
                if update is not None:
                    update(done, f"{done:,} rows, {len(model.hyperboxes_):,} boxes")
                if checkpoint is not None:
                    checkpoint.save_if_due(model, done)
    except BaseException:
        _save_interrupted(args, checkpoint, model)
        raise
    return model


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


def n_learned(model: Any) -> int:
    """Return how many rows a model has learned."""
    if hasattr(model, "n_samples_seen_"):  # it forgets boxes, and their counts
        return int(model.n_samples_seen_)
    return int(model.hyperboxes_.counts.sum()) if hasattr(model, "hyperboxes_") else 0


def _frame(X: np.ndarray, columns: Columns) -> Any:
    return need("pandas", "cli", "The command line").DataFrame(X, columns=columns.features)
