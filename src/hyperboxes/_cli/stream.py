"""Predict each row of a stream, then learn it: test-then-train with a memory that adapts.

Rows are taken in their order, of a file or as they arrive on standard input. Each is predicted by
what was learned before, and then learned; where the target is empty, it is only predicted. The
boxes follow the drift of the data (AdaptiveGFMM): the number of boxes is bounded.

Ctrl-C ends a stream that has no end, and prints the scores so far. With -o the model is saved, for
a file with checkpoints on the way: after a crash or Ctrl-C the same command with --resume goes on,
to the same model and the same predictions.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hyperboxes import __version__
from hyperboxes._cli._bar import progress
from hyperboxes._cli._checkpoint import Checkpoint, CheckpointInterval
from hyperboxes._cli._columns import read_labels, read_numbers
from hyperboxes._cli._common import (
    STDIO,
    UsageError,
    add_data,
    add_features,
    add_json,
    column_names,
    note,
    positive_integer,
    print_json,
)
from hyperboxes._cli._interrupts import interruptible
from hyperboxes._cli._live import live_chunks
from hyperboxes._cli._prequential import Tally
from hyperboxes._cli._sources import is_stream
from hyperboxes._cli._survey import Columns
from hyperboxes._cli._tables import Chunk, Table, open_table
from hyperboxes._cli._writers import check_model_output, check_output
from hyperboxes._cli.fit import DEFAULT_INTERVAL, choose_columns, positive_number

HELP = "predict and learn the rows of a stream, one after the other"
EXAMPLES = """\
  hyperboxes stream prices.csv --target move
  hyperboxes stream prices.csv --target move -o prices.hyperboxes --predictions moves.csv
  hyperboxes stream prices.csv --target move -o prices.hyperboxes --resume
  tail -f -n +1 sensor.csv | hyperboxes stream - --target state --predictions -
"""

# Rows between two looks at Ctrl-C, updates of the display, and writes of predictions.
_ROWS_AT_ONCE = 500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_data(parser)
    parser.add_argument(
        "--target", required=True, metavar="COLUMN", help="the column of labels; may have gaps"
    )
    which = parser.add_mutually_exclusive_group()
    add_features(which, "columns to learn from; default: all but the target")
    which.add_argument(
        "--drop", type=column_names, default=[], metavar="A,B,...", help="leave these out"
    )
    parser.add_argument(
        "-o", "--output", metavar="MODEL", help="save the model there (not the predictions)"
    )
    parser.add_argument(
        "--predictions",
        metavar="FILE",
        help="write labels and predictions there as they are made, as CSV; - for standard output",
    )
    parser.add_argument(
        "--theta",
        type=positive_number,
        default=0.05,
        help="longest side of a box, as a fraction of a feature's recent range; default: 0.05",
    )
    parser.add_argument(
        "--max-boxes",
        type=positive_integer,
        default=1000,
        metavar="N",
        help="how many boxes are remembered; default: 1000",
    )
    parser.add_argument(
        "--checkpoint-every",
        type=CheckpointInterval.parse,
        default=CheckpointInterval.parse(DEFAULT_INTERVAL),
        metavar="WHEN",
        help=f"rows (500000) or time (30s, 5m, 1h), or never; default: {DEFAULT_INTERVAL}",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on from the checkpoint, if there is one"
    )
    add_json(parser, "the scores")


def run(args: argparse.Namespace) -> None:
    """Predict and learn."""
    from hyperboxes import AdaptiveGFMM, save

    _check_options(args)
    args.unlabeled = ""
    table = open_table(args.data, args.sep, args.decimal)
    columns = choose_columns(args, table)
    model = AdaptiveGFMM(args.theta, max_boxes=args.max_boxes)
    checkpoint = _make_checkpoint(args, columns)
    if checkpoint is not None and args.resume and checkpoint.exists:
        model = checkpoint.resume()[1] or model
    elif checkpoint is not None:
        checkpoint.begin(lambda: None)
    tally = Tally()
    try:
        _go_through(args, model, table, columns, checkpoint, tally)
    except KeyboardInterrupt:
        if tally.n_rows:
            _print_scores(args, tally, model)
        raise
    if tally.n_rows == 0:
        raise ValueError(f"{table.name} has no rows")
    if args.output and _n_boxes(model):
        save(model, args.output)
    if checkpoint is not None:
        checkpoint.remove()
    _print_scores(args, tally, model)


def _check_options(args: argparse.Namespace) -> None:
    if args.output:
        check_model_output(args.output, f"Predictions are written with --predictions {args.output}")
    if args.json and args.predictions == STDIO:
        raise UsageError("--json and --predictions - both write to standard output")
    if args.resume and not args.output:
        raise UsageError("--resume goes on with the checkpoint beside a model: name it with -o")
    if args.resume and is_stream(args.data):
        raise UsageError(f"{args.data} cannot be read again: checkpoints need a file")
    if args.output:
        check_output(args.output, args.data)
    if args.predictions:
        check_output(args.predictions, args.data)


def _make_checkpoint(args: argparse.Namespace, columns: Columns) -> Checkpoint | None:
    if not args.output or is_stream(args.data):
        return None
    interval = args.checkpoint_every
    if interval is None and not args.resume:
        return None
    options = {
        "learner": "stream",
        "theta": args.theta,
        "max_boxes": args.max_boxes,
        "target": columns.target,
        "features": columns.features,
        "predictions": args.predictions,
        "version": __version__,
    }
    return Checkpoint(Path(args.output), Path(args.data), interval or CheckpointInterval(), options)


def _go_through(
    args: argparse.Namespace,
    model: Any,
    table: Table,
    columns: Columns,
    checkpoint: Checkpoint | None,
    tally: Tally,
) -> None:
    """Predict and learn all rows that are not learned yet."""
    n_learned = model.n_samples_seen_ if _n_boxes(model) else 0
    if n_learned:
        note(args, f"Going on after {n_learned:,} rows with a label")
    chunks = _split(live_chunks(table, columns.all, _ROWS_AT_ONCE), n_learned, columns)
    try:
        with (
            _predictions(args, n_learned, tally) as writer,
            progress(args, "Streaming") as update,
            interruptible() as check,
        ):
            tally.start_clock()
            for chunk in chunks:
                check()
                writer.writerows(_test_then_train(model, chunk, columns, tally))
                if args.predictions == STDIO:
                    sys.stdout.flush()
                n_boxes = _n_boxes(model)
                if update is not None:
                    update(tally.n_rows, tally.remark(n_boxes))
                if checkpoint is not None and n_boxes:
                    checkpoint.save_if_due(model, tally.n_rows)
    except BaseException:
        _save_interrupted(args, checkpoint, model)
        raise


def _n_boxes(model: Any) -> int:
    """Return how many boxes there are: none before a sample was learned."""
    return len(model._memory) if hasattr(model, "_memory") else 0


def _split(chunks: Iterator[Chunk], n_learned: int, columns: Columns) -> Iterator[Chunk]:
    """Leave out the rows up to the last one that was learned: so many have a label."""
    for chunk in chunks:
        if n_learned == 0:
            yield chunk
            continue
        places = np.flatnonzero(read_labels(chunk, columns.target) != "")
        if len(places) < n_learned:
            n_learned -= len(places)
            continue
        first = int(places[n_learned - 1]) + 1
        n_learned = 0
        rest = chunk.table.slice(first)
        if len(rest):
            yield Chunk(chunk.file, chunk.start + first, rest, chunk.decimal)


def _test_then_train(
    model: Any, chunk: Chunk, columns: Columns, tally: Tally
) -> Iterator[tuple[str, str]]:
    """Predict each row, then learn it if it has a label; yield both."""
    X = read_numbers(chunk, columns.features)
    if not hasattr(model, "n_features_in_"):
        # Names in the order of the file, which `predict` and the like expect.
        model.n_features_in_ = len(columns.features)
        model.feature_names_in_ = np.array(columns.features, dtype=object)
    for row, label in zip(X.tolist(), read_labels(chunk, columns.target).tolist(), strict=True):
        predicted = model.predict_one(row) or ""
        tally.add(label, predicted)
        yield label, predicted  # before it is learned: no row that was is without a prediction
        if label:
            model.learn_one(row, label)


@contextmanager
def _predictions(args: argparse.Namespace, n_learned: int, tally: Tally) -> Iterator[Any]:
    """Open the file of predictions; when a run goes on, after those of the rows learned."""
    header = (args.target, "prediction")
    if args.predictions in (None, STDIO):
        writer = _Nowhere() if args.predictions is None else _csv_writer(sys.stdout)
        if not n_learned:
            writer.writerow(header)
        yield writer
        return
    path = Path(args.predictions)
    kept = _rows_before(path, n_learned) if n_learned else []
    with path.open("w", encoding="utf-8", newline="", buffering=1) as file:
        writer = _csv_writer(file)
        writer.writerow(header)
        for label, predicted in kept:
            tally.add(label, predicted)
            writer.writerow((label, predicted))
        yield writer


def _rows_before(path: Path, n_learned: int) -> list[tuple[str, str]]:
    """Return the rows of an earlier run up to the last one with a label that was learned."""
    kept: list[tuple[str, str]] = []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows, None)
        for row in rows:
            if n_learned == 0 or len(row) != 2:
                break
            kept.append((row[0], row[1]))
            n_learned -= row[0] != ""
    if n_learned:
        raise ValueError(f"{path} does not have the predictions of all rows that were learned")
    return kept


def _csv_writer(stream: Any) -> Any:
    return csv.writer(stream, lineterminator="\n")


class _Nowhere:
    """A writer for those who want no predictions."""

    def writerow(self, row: Any) -> None:
        """Write nothing."""

    def writerows(self, rows: Any) -> None:
        """Have the rows made, and write nothing."""
        for _ in rows:
            pass


def _save_interrupted(args: argparse.Namespace, checkpoint: Checkpoint | None, model: Any) -> None:
    """Keep what an interrupted run has learned."""
    from hyperboxes import save

    if not (args.output and _n_boxes(model)):
        return
    if checkpoint is None:
        save(model, args.output)
        note(args, f"{args.output}: {model.n_samples_seen_:,} rows were learned")
        return
    checkpoint.save(model)
    note(
        args,
        f"What was learned of {model.n_samples_seen_:,} rows is kept in {checkpoint.folder}: the "
        "same command with --resume goes on from there",
    )


def _print_scores(args: argparse.Namespace, tally: Tally, model: Any) -> None:
    if args.json:
        print_json(tally.to_dict() | {"n_boxes": _n_boxes(model)})
        return
    lines = [
        f"rows                  {tally.n_rows:,}",
        f"accuracy              {tally.accuracy:.4f}",
        f"kappa                 {tally.kappa:.4f}",
        f"repeat the last label {tally.repeat_accuracy:.4f}",
        f"boxes                 {_n_boxes(model):,}",
        f"rows per second       {tally.speed:,.0f}",
    ]
    if tally.seconds_compiling > 0.0:
        lines[-1] += f", after {tally.seconds_compiling:.1f} s to compile, once"
    if tally.n_labels < tally.n_rows:
        lines.insert(1, f"of these with a label {tally.n_labels:,}")
    if args.predictions == STDIO:
        note(args, "\n".join(lines))
    else:
        print("\n".join(lines))
