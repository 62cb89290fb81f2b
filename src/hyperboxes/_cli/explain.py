"""Explain the predictions for rows of a table: the boxes that decide, and counterfactuals.

Row 1 is the first below the names of the columns.
"""

import argparse
from dataclasses import replace
from typing import Any

from hyperboxes._cli import columns
from hyperboxes._cli.common import add_data, add_json, add_model, positive_integer, print_json
from hyperboxes._cli.tables import Chunk, Table, open_table

HELP = "explain the prediction for a row"
EXAMPLES = """\
  hyperboxes explain iris.hyperboxes test.csv --row 7
  hyperboxes explain iris.hyperboxes test.csv --row 7 12 31 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_model(parser)
    add_data(parser)
    parser.add_argument(
        "--row",
        type=positive_integer,
        nargs="+",
        default=[1],
        metavar="N",
        help="which; default: 1",
    )
    columns.add_matching(parser)
    add_json(parser, "the explanations")


def run(args: argparse.Namespace) -> None:
    """Explain."""
    from hyperboxes import explain

    model = columns.load_model(args.model)
    columns.check_classifier(model, args.model)
    table = open_table(args.data, sep=args.sep, decimal=args.decimal)
    reader = columns.find_features(args, model, table)
    explanations = explain(model, _read_rows(args, table, reader))
    pairs = list(zip(args.row, explanations, strict=True))
    if args.json:
        print_json([{"row": row, **explanation.to_dict()} for row, explanation in pairs])
        return
    texts = [f"Row {row}\n{explanation}" for row, explanation in pairs]
    print("\n\n".join(texts))


def _read_rows(args: argparse.Namespace, table: Table, reader: columns.FeatureReader) -> Any:
    """Return the rows that `--row` names, in that order."""
    last = max(args.row)
    chunk = next(table.chunks(reader.columns, size=last), None)
    n_rows = 0 if chunk is None else len(chunk)
    if chunk is None or n_rows < last:
        raise ValueError(f"{table.name} has {n_rows:,} rows, so there is no row {last}")
    return reader.read(*(_row(chunk, row) for row in args.row))


def _row(chunk: Chunk, row: int) -> Chunk:
    """Return a row of the first chunk."""
    return replace(chunk, start=row - 1, table=chunk.table.slice(row - 1, 1))
