"""Predict each row of a stream, then learn it: prequential evaluation of boxes that adapt.

Rows are read in the order of a file or as they arrive on standard input. Each is predicted by
the model of the rows before it, and then learned; a row without a label is only predicted. The
boxes adapt to drift (AdaptiveGFMM), and their number is bounded.

With -o the model is saved at the end, on Ctrl-C (which also prints the scores), and with
--save-every N after every N rows. After an interruption the same command with --resume continues:
it skips the rows that the saved model has learned, cuts the file of --predictions after them, and
appends to it.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import stat
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from hyperboxes._cli import common
from hyperboxes._cli.columns import Columns, read_labels, read_numbers
from hyperboxes._cli.common import UsageError
from hyperboxes._cli.fit import choose_columns, positive_number
from hyperboxes._cli.tables import Chunk, is_stream, open_table
from hyperboxes._compiling import compiling

HELP = "predict and learn the rows of a stream, one after the other"
EXAMPLES = """\
  hyperboxes stream prices.csv --target move
  hyperboxes stream prices.csv --target move -o prices.hyperboxes --predictions moves.csv
  hyperboxes stream prices.csv --target move -o prices.hyperboxes --save-every 100000
  hyperboxes stream prices.csv --target move -o prices.hyperboxes --resume
  tail -f -n +1 sensor.csv | hyperboxes stream - --target state --predictions -
"""

# Rows that are read at a time, between two updates of the progress bar.
_CHUNK_ROWS = 500

# Rows of the recent accuracy, which the progress bar shows.
_RECENT_ROWS = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    common.add_data(parser)
    parser.add_argument(
        "--target", required=True, metavar="COLUMN", help="the column of labels; may have gaps"
    )
    common.add_feature_choice(parser)
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
    common.add_number(parser, "--max-boxes", "maximum number of boxes", 1000)
    common.add_number(parser, "--save-every", "also save the model after every N rows")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue with the model of -o, after the rows of DATA that it has learned",
    )
    common.add_json(parser, "the scores")


def run(args: argparse.Namespace) -> None:
    """Predict and learn."""
    from hyperboxes import AdaptiveGFMM

    _check_options(args)
    args.unlabeled = ""
    table = open_table(args.data, sep=args.sep, decimal=args.decimal)
    columns = choose_columns(args, table)
    model = AdaptiveGFMM(args.theta, max_boxes=args.max_boxes)
    metrics = PrequentialMetrics()
    chunks = table.chunks(columns.all, _CHUNK_ROWS, live=True)
    if args.resume:
        model = _load_model(args, model, columns)
        common.note(args, f"Continuing after {model.n_samples_seen_:,} rows with a label")
        chunks = _skip_learned(args, chunks, model.n_samples_seen_, columns)
    try:
        with _saving(args, model, metrics) as file, common.progress(args, "Streaming") as update:
            metrics.start_clock()
            for chunk in chunks:
                _predict_and_learn(args, model, chunk, columns, metrics, file)
                update(metrics.n_rows, metrics.remark(_n_boxes(model)))
    except KeyboardInterrupt:
        if metrics.n_rows:
            _print_scores(args, metrics, model)
        raise
    if metrics.n_rows == 0 and not args.resume:
        raise ValueError(f"{table.name} has no rows")
    _print_scores(args, metrics, model)


def _check_options(args: argparse.Namespace) -> None:
    if args.output:
        common.check_model_output(
            args.output, f"Predictions are written with --predictions {args.output}"
        )
        common.check_output(args.output, args.data)
    elif args.resume or args.save_every:
        option = "--resume" if args.resume else "--save-every"
        raise UsageError(f"{option} needs the file of the model: name it with -o")
    if args.predictions:
        common.check_output(args.predictions, args.data)
    if args.json and args.predictions == common.STDIO:
        raise UsageError("--json and --predictions - both write to standard output")
    if args.resume and is_stream(args.data):
        raise UsageError(f"{args.data} cannot be read again: --resume needs a file")


def _load_model(args: argparse.Namespace, like: Any, columns: Columns) -> Any:
    """Load the model of an interrupted run, which must have had the same options."""
    from hyperboxes import load

    model = load(args.output)
    has_options = type(model) is type(like) and model.get_params() == like.get_params()
    if not has_options or list(getattr(model, "feature_names_in_", [])) != columns.features:
        raise ValueError(
            f"{args.output} is not a model of this stream: resume with the same --theta, "
            "--max-boxes and features"
        )
    return model


def _skip_learned(
    args: argparse.Namespace, chunks: Iterator[Chunk], n_learned: int, columns: Columns
) -> Iterator[Chunk]:
    """Leave out the rows up to the last one that was learned: that many have a label."""
    for chunk in chunks:
        if n_learned == 0:
            yield chunk
            continue
        labeled = np.flatnonzero(read_labels(chunk, columns.target) != "")
        if len(labeled) < n_learned:
            n_learned -= len(labeled)
            continue
        first = int(labeled[n_learned - 1]) + 1
        n_learned = 0
        if first < len(chunk):
            yield Chunk(chunk.file, chunk.start + first, chunk.table.slice(first), chunk.decimal)
    if n_learned:
        raise ValueError(f"{args.data} has fewer rows with a label than {args.output} has learned")


def _predict_and_learn(
    args: argparse.Namespace,
    model: Any,
    chunk: Chunk,
    columns: Columns,
    metrics: PrequentialMetrics,
    file: Any,
) -> None:
    """Predict each row, write the prediction, and learn the row if it has a label."""
    X = read_numbers(chunk, columns.features)
    if not hasattr(model, "n_features_in_"):
        # Names in the order of the file, which `predict` and the like expect.
        model.n_features_in_ = len(columns.features)
        model.feature_names_in_ = np.array(columns.features, dtype=object)
        model.target_name_ = columns.target
    writer = None if file is None else _csv_writer(file)
    for row, label in zip(X.tolist(), read_labels(chunk, columns.target).tolist(), strict=True):
        predicted = model.predict_one(row) or ""
        metrics.add(label, predicted)
        if writer is not None:  # before the row is learned: every learned row has a prediction
            writer.writerow((label, predicted))
        if label:
            model.learn_one(row, label)
        if args.save_every and metrics.n_rows % args.save_every == 0:
            _save(args, model, file)
    if file is not None:
        file.flush()


def _n_boxes(model: Any) -> int:
    """Return how many boxes there are: none before a row was learned."""
    return len(model.hyperboxes_) if model.__sklearn_is_fitted__() else 0


def _save(args: argparse.Namespace, model: Any, file: Any) -> None:
    """Save the model, after the predictions of all rows that it has learned."""
    from hyperboxes import save

    if not (args.output and _n_boxes(model)):
        return
    if file is not None and file is not sys.stdout:
        file.flush()
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            os.fsync(file.fileno())
    save(model, args.output)


@contextmanager
def _saving(args: argparse.Namespace, model: Any, metrics: PrequentialMetrics) -> Iterator[Any]:
    """Yield the file of predictions, None without one; save the model at the end, whatever ends it.

    A resumed run appends to the file behind the predictions of the rows that were learned.
    """
    with _open_predictions(args, model, metrics) as file:
        if file is not None and not args.resume:
            _csv_writer(file).writerow((args.target, "prediction"))
        try:
            yield file
        except BaseException:
            _save(args, model, file)
            if args.output and _n_boxes(model):
                advice = "" if is_stream(args.data) else "; --resume continues after them"
                n_learned = f"{model.n_samples_seen_:,} rows with a label"
                common.note(args, f"{args.output}: saved after {n_learned}{advice}")
            raise
        _save(args, model, file)


def _open_predictions(
    args: argparse.Namespace, model: Any, metrics: PrequentialMetrics
) -> AbstractContextManager[Any]:
    if args.predictions is None:
        return nullcontext()
    if args.predictions == common.STDIO:
        return nullcontext(sys.stdout)
    path = Path(args.predictions)
    if args.resume:
        header = args.target, "prediction"
        os.truncate(path, _find_end_of_learned(path, header, model.n_samples_seen_, metrics))
    return path.open("a" if args.resume else "w", encoding="utf-8", newline="", buffering=1)


def _find_end_of_learned(
    path: Path, header: tuple[str, str], n_learned: int, metrics: PrequentialMetrics
) -> int:
    """Return the position behind the prediction of the last row that was learned.

    Rows up to there are added to the metrics.
    """
    end, record, n_records = 0, b"", 0
    with path.open("rb") as file:
        for line in file:
            record += line
            if record.count(b'"') % 2:  # a line end within quotes
                continue
            cells = next(csv.reader(io.StringIO(record.decode(), newline="")), [])
            if len(cells) != 2 or not record.endswith(b"\n"):
                break
            if n_records == 0 and tuple(cells) != header:
                break
            if n_records > 0:
                metrics.add(*cells)
                n_learned -= cells[0] != ""
            end, record, n_records = end + len(record), b"", n_records + 1
            if n_learned == 0:
                return end
    raise ValueError(f"{path} does not have the predictions of all rows that were learned")


def _csv_writer(stream: Any) -> Any:
    return csv.writer(stream, lineterminator="\n")


def _print_scores(args: argparse.Namespace, metrics: PrequentialMetrics, model: Any) -> None:
    scores = metrics.scores(_n_boxes(model))
    if args.json:
        common.print_json(scores)
        return
    lines = [
        f"rows                  {scores['n_rows']:,}",
        f"of these with a label {scores['n_labels']:,}",
        f"accuracy              {scores['accuracy']:.4f}",
        f"kappa                 {scores['kappa']:.4f}",
        f"repeat the last label {scores['repeat_last_label_accuracy']:.4f}",
        f"boxes                 {scores['n_boxes']:,}",
        f"rows per second       {scores['rows_per_second']:,.0f}",
    ]
    if scores["seconds_compiling"] > 0.0:
        lines[-1] += f", after {scores['seconds_compiling']:.1f} s to compile, once"
    if scores["n_labels"] == scores["n_rows"]:
        del lines[1]
    if args.predictions == common.STDIO:
        common.note(args, "\n".join(lines))
    else:
        print("\n".join(lines))


class PrequentialMetrics:
    """Counts of predictions that are made before their rows are learned, and scores of them."""

    def __init__(self) -> None:
        self.n_rows = 0  # with and without a label
        self._n_hits = self._n_repeats = 0
        self._labels: Counter[str] = Counter()
        self._predicted: Counter[str] = Counter()
        self._recent: deque[bool] = deque(maxlen=_RECENT_ROWS)
        self._last = ""
        self.start_clock()

    def add(self, label: str, predicted: str) -> None:
        """Count a row. An empty label means no label; an empty prediction is never right."""
        self.n_rows += 1
        if label:
            self._n_hits += label == predicted
            self._n_repeats += label == self._last
            self._labels[label] += 1
            self._predicted[predicted] += 1
            self._recent.append(label == predicted)
            self._last = label

    def start_clock(self) -> None:
        """Start to measure the speed."""
        self._began, self._compiled_before = time.monotonic(), compiling.seconds
        self._n_before = self.n_rows

    def scores(self, n_boxes: int) -> dict[str, Any]:
        """Return the scores for JSON. The speed leaves out the time to compile."""
        n_labels = max(self._labels.total(), 1)
        accuracy = self._n_hits / n_labels
        products = (count * self._predicted[name] for name, count in self._labels.items())
        by_chance = sum(products) / n_labels**2
        kappa = 0.0 if by_chance == 1.0 else (accuracy - by_chance) / (1.0 - by_chance)
        compiled = compiling.seconds - self._compiled_before
        seconds = time.monotonic() - self._began - compiled
        return {
            "n_rows": self.n_rows,
            "n_labels": self._labels.total(),
            "accuracy": round(accuracy, 6),
            "recent_accuracy": round(sum(self._recent) / max(len(self._recent), 1), 6),
            "kappa": round(kappa, 6),
            "repeat_last_label_accuracy": round(self._n_repeats / n_labels, 6),
            "rows_per_second": round((self.n_rows - self._n_before) / max(seconds, 1e-9), 1),
            "seconds_compiling": round(compiled, 3),
            "n_boxes": n_boxes,
        }

    def remark(self, n_boxes: int) -> str:
        """Return the scores in a line, for a progress bar."""
        scores = self.scores(n_boxes)
        return (
            f"{self.n_rows:,} rows, accuracy {scores['accuracy']:.1%} (last "
            f"{len(self._recent):,}: {scores['recent_accuracy']:.1%}), kappa "
            f"{scores['kappa']:.3f}, {n_boxes:,} boxes, {scores['rows_per_second']:,.0f} rows/s"
        )
