"""What the subcommands share: options, notes on standard error, usage errors, output of JSON."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable
from typing import Any

from hyperboxes._extras import need

STDIO = "-"

# Rows that are read at a time.
CHUNK_SIZE = 50_000

DATA_HELP = "CSV (also gzipped) or Parquet file; - for standard input"


class UsageError(Exception):
    """Options that do not go together, reported as argparse reports wrong ones."""


def arrow(module: str = "") -> Any:
    """Import pyarrow, or a module of it."""
    return need(f"pyarrow.{module}" if module else "pyarrow", "cli", "The command line")


def note(args: argparse.Namespace, text: str) -> None:
    """Print a message that is not a result."""
    if not args.quiet:
        print(text, file=sys.stderr)


def print_json(value: Any) -> None:
    """Print a result for programs."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the file to read and how it is written."""
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    add_format(parser)


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the files to read, of which there may be several, and how they are written."""
    several = "several are read one after the other; a pattern may stand for them"
    parser.add_argument("data", metavar="DATA", nargs="+", help=f"{DATA_HELP}; {several}")
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
        "--decimal", choices=(".", ","), help="what stands before decimals: 1.5 or 1,5; default: ."
    )


def add_chunk_size(parser: Any, default: int | None = CHUNK_SIZE) -> None:
    """Add how many rows are read at a time."""
    parser.add_argument(
        "--chunk-size",
        type=positive_integer,
        default=default,
        metavar="ROWS",
        help=f"read at a time; default: {CHUNK_SIZE}",
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model to use."""
    parser.add_argument("model", metavar="MODEL", help="a model that `hyperboxes fit` has written")


def add_target(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the column of labels, and which label is none."""
    parser.add_argument(
        "--target", required=required, metavar="COLUMN", help="the column of labels"
    )
    parser.add_argument(
        "--unlabeled",
        type=str.strip,
        metavar="VALUE",
        help='the label that says there is none, such as "" for empty cells, or ?',
    )


def add_features(parser: Any, help_text: str) -> None:
    """Add which columns are features."""
    parser.add_argument("--features", type=column_names, metavar="A,B,...", help=help_text)


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add output for programs."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def column_names(text: str) -> list[str]:
    """Parse names of columns, separated by commas; those with commas are in double quotes."""
    rows = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    found = [name.strip() for name in next(rows, [])]
    if not found or "" in found or any(rows):
        raise argparse.ArgumentTypeError(f"no names of columns: {text!r}")
    if len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"a name occurs twice: {text!r}")
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


def n_learned(model: Any) -> int:
    """Return how many rows a model has learned."""
    for name in ("n_samples_seen_", "n_samples_"):  # counts of boxes that it forgets, or are many
        if hasattr(model, name):
            return int(getattr(model, name))
    return int(model.hyperboxes_.counts.sum()) if hasattr(model, "hyperboxes_") else 0


def n_boxes(model: Any) -> int:
    """Return how many boxes a model has, of all its members if there are several."""
    return int(model.n_boxes_) if hasattr(model, "n_boxes_") else len(model.hyperboxes_)
