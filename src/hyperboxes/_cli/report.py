"""Write a report on a model and a table with labels: one HTML page, to open in any browser.

It describes the model and its scores, lists its rules to search and sort, and explains the
predictions for single rows, with pictures. It needs no network and no other files. Use rows that
the model was not trained on. Row 1 is the first below the names of the columns.
"""

import argparse

from hyperboxes._cli import columns, common
from hyperboxes._extras import need

HELP = "write a report as an HTML page"
EXAMPLES = """\
  hyperboxes report iris.hyperboxes test.csv
  hyperboxes report iris.hyperboxes test.csv --target species --title "Iris flowers" -o iris.html
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    common.add_model(parser)
    common.add_data(parser)
    common.add_target(parser, required=False, help_text=common.TARGET_HELP)
    columns.add_matching(parser)
    common.add_output(parser, "the page, - for standard output", "report.html")
    parser.add_argument("--title", metavar="TEXT", help="heading of the page")
    parser.add_argument(
        "--max-samples",
        type=common.positive_integer,
        default=500,
        metavar="N",
        help="rows that the page shows, wrong predictions first; default: 500",
    )
    parser.add_argument(
        "--max-rules",
        type=common.positive_integer,
        default=5000,
        metavar="N",
        help="rules in the page, of the largest support or weights; default: 5000",
    )


def run(args: argparse.Namespace) -> None:
    """Write the report."""
    from hyperboxes import export_html
    from hyperboxes._files.archive import replace_file

    common.choose_output(args, args.data, args.model)
    model = columns.load_model(args.model)
    columns.check_classifier(model, args.model)
    columns.choose_target(args, model)
    X, y = columns.read_samples(args, model)
    y = need("pandas", "cli", "The command line").Series(y, name=args.target)
    limits = {"max_samples": args.max_samples, "max_rules": args.max_rules}
    page = export_html(model, X, y, title=args.title, **limits)
    if args.output == common.STDIO:
        print(page)
        return
    content = page.encode()
    replace_file(args.output, content)
    common.note(args, f"{args.output}: {len(y):,} rows, {len(content) / 1e6:.1f} MB")
