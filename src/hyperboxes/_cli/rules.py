"""Print the boxes of a model as rules, those with the most samples first.

The text of boosted boxes is sorted by class, with the largest weights first.

With --data, each rule is measured on the rows of a table: the share of rows in the box and, with
--target, the share of these with the class of the box.
"""

import argparse
from types import NoneType
from typing import Any

from hyperboxes._cli import common
from hyperboxes._cli.columns import add_matching, check_classifier, load_model, read_samples
from hyperboxes._cli.common import UsageError

HELP = "print the boxes of a model as rules"
EXAMPLES = """\
  hyperboxes rules iris.hyperboxes --max-rules 5
  hyperboxes rules iris.hyperboxes --data test.csv --target species
  hyperboxes rules iris.hyperboxes --format csv > rules.csv
  hyperboxes rules iris.hyperboxes --format sql --table flowers | psql garden
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    common.add_model(parser)
    parser.add_argument("--data", metavar="DATA", help=f"measure the rules on a {common.DATA_HELP}")
    common.add_target(parser, required=False)
    common.add_format(parser)
    add_matching(parser)
    parser.add_argument(
        "--max-rules",
        type=common.positive_integer,
        metavar="N",
        help="rules to print; default: all",
    )
    parser.add_argument(
        "--format", choices=_PRINTERS, default="text", help="default: text; csv and json are exact"
    )
    parser.add_argument(
        "--all-conditions",
        action="store_true",
        help="with --data and --target: also conditions that exclude no row of another class",
    )
    parser.add_argument(
        "--crisp",
        action="store_true",
        help="with sql: NULL where no box contains the row, instead of the class of the nearest",
    )
    parser.add_argument("--table", metavar="NAME", help="with sql: write a query of this table")


def run(args: argparse.Namespace) -> None:
    """Print the rules."""
    about_data = (args.target, args.unlabeled, args.features, args.sep, args.decimal)
    if args.data is None and any(option is not None for option in about_data):
        raise UsageError(
            "--target, --unlabeled, --features, --sep and --decimal are about --data, which is not "
            "given"
        )
    if args.format == "sql" and (args.data is not None or args.max_rules is not None):
        raise UsageError("--format sql takes all rules and no data: no --data, no --max-rules")
    if args.format != "sql" and args.table is not None:
        raise UsageError("--table needs --format sql")
    if args.format != "sql" and args.crisp:
        raise UsageError("--crisp needs --format sql")
    model = load_model(args.model)
    if args.format == "sql":
        check_classifier(model, args.model)
    samples = () if args.data is None else read_samples(args, model)
    _PRINTERS[args.format](args, model, *samples)


def _print_text(args: argparse.Namespace, model: Any, X: Any = None, y: Any = None) -> None:
    from hyperboxes import export_text

    options = {"max_rules": args.max_rules, "all_conditions": args.all_conditions}
    print(export_text(model, X, y, **options))


def _print_csv(args: argparse.Namespace, model: Any, X: Any = None, y: Any = None) -> None:
    frame = _frame(args, model, X, y)
    for name in frame.columns[frame.columns.str.endswith(" values")]:
        frame[name] = frame[name].map(lambda values: ", ".join(map(str, values)), "ignore")
    print(frame.to_csv(lineterminator="\n"), end="")


def _print_json(args: argparse.Namespace, model: Any, X: Any = None, y: Any = None) -> None:
    """Print a list of rules, with the bounds by feature, null where a box has none."""
    from hyperboxes._readers.text import json_value

    rules = []
    for rule in _frame(args, model, X, y).reset_index().to_dict("records"):
        bounds = {}
        for column in list(rule):
            name, _, kind = column.rpartition(" ")
            if kind == "values" and isinstance(rule[column], list | NoneType):
                bounds[name] = rule.pop(column)
            elif kind == "lower" and f"{name} upper" in rule:
                ends = [json_value(rule.pop(f"{name} {end}")) for end in ("lower", "upper")]
                bounds[name] = None if ends == [None, None] else ends
        rules.append({name: json_value(value) for name, value in rule.items()} | {"bounds": bounds})
    common.print_json(rules)


def _print_sql(args: argparse.Namespace, model: Any) -> None:
    from hyperboxes import export_sql

    print(export_sql(model, table=args.table, nearest=not args.crisp))
    if args.crisp and hasattr(common.split_model(model).estimator, "membership"):
        common.note(args, "Rows in no box get NULL; without --crisp the class of the nearest box")


def _frame(args: argparse.Namespace, model: Any, X: Any, y: Any) -> Any:
    from hyperboxes import export_frame

    frame = export_frame(model, X, y)
    return frame.sort_values("support", ascending=False, kind="stable").head(
        args.max_rules or len(frame)
    )


_PRINTERS = {"text": _print_text, "csv": _print_csv, "json": _print_json, "sql": _print_sql}
