"""Predict the classes of the rows of a table.

Columns are matched by name, in any order. The file may be larger than memory. Results are a CSV
table on standard output unless -o names a file.
"""

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

from hyperboxes._cli import columns, common
from hyperboxes._cli.common import UsageError
from hyperboxes._cli.tables import Chunk, find_files, open_table

HELP = "predict the classes of the rows of a table"
EXAMPLES = """\
  hyperboxes predict iris.hyperboxes new.csv
  hyperboxes predict iris.hyperboxes new.csv --keep --proba -o predicted.csv
  hyperboxes predict iris.hyperboxes new.parquet -o predicted.parquet
  hyperboxes predict iris.hyperboxes new-*.parquet -o predicted.parquet  # of all in one file
  zcat new.csv.gz | hyperboxes predict iris.hyperboxes - --json | head -1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    common.add_model(parser)
    common.add_data(parser, several=True)
    parser.add_argument(
        "-o",
        "--output",
        default=common.STDIO,
        metavar="FILE",
        help="write there: CSV, gzipped if it ends in .gz, or Parquet if in .parquet",
    )
    parser.add_argument("--keep", action="store_true", help="add the columns of the input")
    parser.add_argument("--proba", action="store_true", help="add the probabilities of the classes")
    parser.add_argument(
        "--membership", action="store_true", help="add the memberships of the classes, from 0 to 1"
    )
    parser.add_argument(
        "--column", default="prediction", metavar="NAME", help="name of the column of predictions"
    )
    common.add_json(parser, "each row")
    columns.add_matching(parser)
    common.add_number(parser, "--jobs", "number of threads", 1)
    common.add_number(parser, "--chunk-size", "rows that are read at a time", common.CHUNK_SIZE)


def run(args: argparse.Namespace) -> None:
    """Predict."""
    files = find_files(args.data)
    common.check_output(args.output, *files, args.model)
    if args.json and common.is_parquet(args.output):
        raise UsageError("--json cannot be written as Parquet: leave one of them out")
    model = columns.load_model(args.model)
    if args.proba or args.membership:
        columns.check_classifier(model, args.model)
    estimator = common.split_model(model).estimator
    if args.membership and not hasattr(estimator, "membership"):
        kind = type(estimator).__name__
        raise ValueError(
            f"{args.model} is a {kind}, which has no memberships; --proba gives probabilities"
        )
    if hasattr(estimator, "n_jobs"):
        estimator.set_params(n_jobs=args.jobs)
    table = open_table(*files, sep=args.sep, decimal=args.decimal)
    reader = columns.find_features(args, model, table)
    kept = table.columns if args.keep else []
    wanted = list(dict.fromkeys([*kept, *reader.columns]))
    chunks = table.chunks(wanted, args.chunk_size)
    n_rows = 0
    with common.open_writer(args.output, as_json=args.json) as write:
        for chunk in common.with_progress(args, "Predicting", chunks):
            write(_by_name(_results(args, reader, chunk, kept)))
            n_rows += len(chunk)
        if n_rows == 0:
            raise ValueError(f"{table.name} has no rows")
    reader.note_unknown(args)


def _results(
    args: argparse.Namespace, reader: columns.FeatureReader, chunk: Chunk, kept: list[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the columns of the output."""
    X = reader.read(chunk)
    for name in kept:
        yield name, chunk.table[name]
    if not args.proba:
        yield args.column, reader.model.predict(X)
    else:
        proba = reader.model.predict_proba(X)
        yield args.column, _most_probable(reader.model, X, proba)
        yield from zip(_by_class("proba", reader.model), proba.T, strict=True)
    if args.membership:
        membership = columns.find_membership(reader.model, X)
        yield from zip(_by_class("membership", reader.model), membership.T, strict=True)


def _most_probable(model: Any, X: Any, proba: Any) -> Any:
    """Return the classes of `predict`: by a threshold, or the largest of scores that differ."""
    if hasattr(model, "threshold") or hasattr(model, "decision_function"):
        return model.predict(X)
    return model.classes_[proba.argmax(axis=1)]


def _by_class(title: str, model: Any) -> list[str]:
    return [f"{title}_{label}" for label in model.classes_]


def _by_name(results: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return columns by name; raise an error if two have the same."""
    found: dict[str, Any] = {}
    for name, values in results:
        if name in found:
            raise ValueError(
                f"The output would have two columns named {name!r}: choose another --column, or "
                "leave out --keep"
            )
        found[name] = values
    return found
