"""What the subcommands share: options, notes and progress on standard error, and output files."""

from __future__ import annotations

import argparse
import csv
import errno
import gzip
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hyperboxes._extras import need
from hyperboxes._files.archive import replacing

if TYPE_CHECKING:
    from hyperboxes._estimators.pipelines import ModelParts

STDIO = "-"

# The options that take names of columns.
COLUMN_OPTIONS = ("--features", "--drop", "--categorical", "--numeric", "--dates")

# Help on the target of commands that read the labels of other rows.
TARGET_HELP = "the column of labels; default: the target that the model was trained with"

# All but tabs and line ends.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# Rows that are read at a time.
CHUNK_SIZE = 50_000

DATA_HELP = "CSV (also gzipped) or Parquet file; - for standard input"


# Takes the number of rows done, and a remark.
Update = Callable[[int, str], None]

# Takes some rows of a table as columns by name: arrays of Arrow or NumPy.
Write = Callable[[dict[str, Any]], None]

_Rows = TypeVar("_Rows", bound=Sized)

# Ends of names that are not for models but for tables, pages and the like.
_NOT_MODELS = (
    *(".csv", ".csv.gz", ".tsv", ".parquet", ".pq", ".json", ".jsonl", ".xlsx"),
    *(".html", ".sql", ".onnx", ".txt", ".png"),
)


class UsageError(Exception):
    """Options that do not go together; reported as argparse does, with its exit code."""


def arrow(module: str = "") -> Any:
    """Import pyarrow, or a module of it."""
    return need(f"pyarrow.{module}" if module else "pyarrow", "cli", "The command line")


def note(args: argparse.Namespace, text: str) -> None:
    """Print a message that is not a result."""
    if not args.quiet:
        print(printable(text), file=sys.stderr)


def printable(text: str) -> str:
    """Write control characters as escapes, so that a terminal shows them and does not obey."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def print_json(value: Any) -> None:
    """Print a result for programs."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def add_data(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the file to read, or several, and how they are written."""
    more = "; several files, or a pattern, are read one after the other" * several
    nargs = "+" if several else None
    parser.add_argument("data", metavar="DATA", nargs=nargs, help=f"{DATA_HELP}{more}")
    add_format(parser)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add what separates cells, and the digits of numbers."""
    parser.add_argument(
        "--sep",
        type=separator,
        metavar="CHAR",
        help="separator of a CSV file; default: the first of , ; tab | in its first row",
    )
    parser.add_argument(
        "--decimal",
        choices=(".", ","),
        metavar="CHAR",
        help="decimal separator, . or , as in 1.5 or 1,5; default: .",
    )


def add_number(parser: Any, option: str, help_text: str, default: int | None = None) -> None:
    """Add an option that takes a positive integer."""
    if default is not None:
        help_text += f"; default: {default}"
    parser.add_argument(option, type=positive_integer, default=default, metavar="N", help=help_text)


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model to use."""
    parser.add_argument("model", metavar="MODEL", help="a model that `hyperboxes fit` has written")


def add_target(
    parser: argparse.ArgumentParser,
    *,
    required: bool = True,
    help_text: str = "the column of labels",
) -> None:
    """Add the column of labels, and which label is none."""
    parser.add_argument("--target", required=required, metavar="COLUMN", help=help_text)
    parser.add_argument(
        "--unlabeled",
        type=str.strip,
        metavar="VALUE",
        help='the value that marks rows without a label, such as "" for empty cells, or ?',
    )


def add_columns(parser: Any, option: str, help_text: str, default: Any = ()) -> None:
    """Add one of the options that take names of columns, and may be given several times."""
    parser.add_argument(
        option,
        type=column_names,
        action=_AddColumns,
        default=default,
        metavar="A,B,...",
        help=help_text,
    )


class _AddColumns(argparse.Action):
    """Adds names of columns to those that were given before."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        found = [*(getattr(namespace, self.dest) or ()), *values]
        if len(set(found)) < len(found):
            raise argparse.ArgumentError(self, f"a name occurs twice: {','.join(found)!r}")
        setattr(namespace, self.dest, found)


def add_feature_choice(parser: argparse.ArgumentParser) -> None:
    """Add which columns to learn from."""
    which = parser.add_mutually_exclusive_group()
    add_columns(which, "--features", "columns to learn from; default: all but the target", None)
    add_columns(which, "--drop", "columns to leave out")


def add_output(parser: argparse.ArgumentParser, what: str, default: str) -> None:
    """Add the file to write, with a name that it has by default."""
    parser.add_argument("-o", "--output", metavar="FILE", help=f"{what}; default: {default}")
    parser.add_argument("--force", action="store_true", help=f"replace {default} if it exists")
    parser.set_defaults(default_output=default)


def choose_output(args: argparse.Namespace, *inputs: str) -> None:
    """Take the default name if none is given; raise an error if it cannot be written."""
    if args.output is None:
        args.output = args.default_output
        if Path(args.output).exists() and not args.force:
            raise UsageError(f"{args.output} exists: add --force to replace it, or -o FILE")
    check_output(args.output, *inputs)


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add output for programs."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def column_names(text: str) -> list[str]:
    """Parse names of columns, separated by commas; those with commas are in double quotes."""
    rows = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    found = [name.strip() for name in next(rows, [])]
    if not found or "" in found or any(rows):
        raise argparse.ArgumentTypeError(f"no names of columns: {text!r}")
    return found


def positive_integer(text: str) -> int:
    """Parse a positive integer, with or without _ or , between thousands."""
    digits = text.replace(",", "").replace("_", "")
    if not digits.isdecimal() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"not a positive integer: {text!r}")
    return int(digits)


def separator(text: str) -> str:
    r"""Parse a single character, or \t and tab for the one that is hard to type."""
    text = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(text) != 1:
        raise argparse.ArgumentTypeError(f"not a single character: {text!r}")
    return text


def listing(names: Iterable[str], most: int = 20) -> str:
    """List names for a message, the first of them if there are many."""
    names = [name or "(no name)" for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def split_model(model: Any) -> ModelParts:
    """Take a model apart: steps for dates, the estimator and a threshold."""
    from hyperboxes._estimators import pipelines  # imports scikit-learn

    return pipelines.split_model(model)


def n_boxes(model: Any) -> int:
    """Return the number of boxes of a model, of all members if it is an ensemble."""
    model = split_model(model).estimator
    return int(model.n_boxes_) if hasattr(model, "n_boxes_") else len(model.hyperboxes_)


@contextmanager
def progress(args: argparse.Namespace, title: str, total: int | None = None) -> Iterator[Update]:
    """Show a bar in a terminal, and yield a function that updates it.

    Without `total` it shows activity and the number of rows done.
    """
    bar = None if args.quiet or not sys.stderr.isatty() else _make_bar(total is not None)
    with bar or nullcontext():
        task = bar and bar.add_task(title, total=total, remark="")

        def update(n_rows: int, remark: str = "") -> None:
            if bar:
                bar.update(task, completed=n_rows, remark=remark or f"{n_rows:,} rows")

        yield update


def with_progress(
    args: argparse.Namespace, title: str, chunks: Iterable[_Rows], total: int | None = None
) -> Iterator[_Rows]:
    """Yield chunks, and show how many rows are done."""
    with progress(args, title, total) as update:
        n_rows = 0
        for chunk in chunks:
            yield chunk
            n_rows += len(chunk)
            update(n_rows, "")


def _make_bar(has_end: bool) -> Any:
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:
        return None
    return rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TextColumn("{task.fields[remark]}"),
        rich.TimeElapsedColumn(),
        *((rich.TextColumn("left"), rich.TimeRemainingColumn()) if has_end else ()),
        console=Console(stderr=True),
        transient=True,
    )


def check_output(output: str, *inputs: str) -> None:
    """Raise an error for a file that cannot be written to, or that is read from."""
    if output == STDIO:
        return
    path = Path(output)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a folder, not a file", output)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(path.parent))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "Not allowed to write", output)
    for name in inputs:
        if name != STDIO and path.exists() and Path(name).exists() and path.samefile(name):
            raise UsageError(f"{output} is read from: write to another file")


def check_model_output(output: str, predictions: str) -> None:
    """Raise an error for standard output, and for names of other files than models.

    `predictions` is the advice how to get predictions, which `-o` of other commands writes.
    """
    if output == STDIO:
        raise UsageError("a model cannot be written to standard output: name a file")
    name = Path(output).name
    if name.lower().endswith(_NOT_MODELS):
        stem = name.split(".")[0] or "model"
        raise UsageError(
            f"-o names the file of the model, and {output} is not such a name: write "
            f"-o {stem}.hyperboxes. {predictions}"
        )


@contextmanager
def open_writer(output: str, *, as_json: bool) -> Iterator[Write]:
    """Open a file, which is written as a whole or not at all, or standard output."""
    text_writer = _json_writer if as_json else _csv_writer
    if output == STDIO:
        yield text_writer(sys.stdout)
        return
    path = Path(output)
    is_special = path.exists() and not path.is_file()  # a pipe, a device
    with path.open("wb") if is_special else replacing(path) as file:
        if is_parquet(output):
            with _parquet_writer(file) as write:
                yield write
            return
        zipped = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if output.endswith(".gz") else None
        with zipped or nullcontext(file) as raw:
            stream = io.TextIOWrapper(raw, encoding="utf-8", newline="")
            yield text_writer(stream)
            stream.detach()  # without closing the file


def _csv_writer(stream: Any) -> Write:
    """Write CSV, with a first row of names."""
    writer, names = csv.writer(stream, lineterminator="\n"), list[str]()

    def write(columns: dict[str, Any]) -> None:
        if not names:
            names.extend(columns)
            writer.writerow(names)
        writer.writerows(_rows(columns))

    return write


def _json_writer(stream: Any) -> Write:
    """Write an object per row and line."""

    def write(columns: dict[str, Any]) -> None:
        for row in _rows(columns):
            values = {name: _finite(value) for name, value in zip(columns, row, strict=True)}
            stream.write(json.dumps(values, ensure_ascii=False, default=str) + "\n")

    return write


@contextmanager
def _parquet_writer(stream: Any) -> Iterator[Write]:
    """Write Parquet, a row group at a time."""
    pa, pq = arrow(), arrow("parquet")
    with ExitStack() as files:
        writers: list[Any] = []

        def write(columns: dict[str, Any]) -> None:
            arrays = {
                name: values if isinstance(values, pa.ChunkedArray) else pa.array(values.tolist())
                for name, values in columns.items()
            }
            table = pa.table(arrays)
            if not writers:
                writers.append(files.enter_context(pq.ParquetWriter(stream, table.schema)))
            writers[0].write_table(table)

        yield write


def _rows(columns: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    lists = (v.to_pylist() if hasattr(v, "to_pylist") else v.tolist() for v in columns.values())
    return zip(*lists, strict=True)


def is_parquet(output: str) -> bool:
    """Whether a Parquet file is to be written."""
    return output.endswith((".parquet", ".pq"))


def _finite(value: Any) -> Any:
    """Return a value for JSON, which has no NaN and no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
