"""The command `hyperboxes`: train, apply and read models of CSV and Parquet files.

Each subcommand is a module of this package, listed in `COMMANDS`. It has a docstring for users,
`HELP` (a line), `EXAMPLES`, `add_arguments(parser)` and `run(args)`, and imports slow packages in
functions, so that `--help` is quick.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from hyperboxes import __version__
from hyperboxes._cli.common import UsageError
from hyperboxes._compiling import compiling

COMMANDS = (
    "fit",
    "predict",
    "evaluate",
    "rules",
    "explain",
    "report",
    "stream",
    "demo",
    "compile",
)

# The exit codes of programs ended by Ctrl-C or a closed pipe.
_INTERRUPTED = 130
_BROKEN_PIPE = 141

# Errors about users' input; others are shown with their type, for a bug report.
_EXPECTED = (UsageError, ValueError, OSError, ImportError)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = _make_parser()
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{_advice(args.command, unknown)}")
    try:
        with compiling.quiet(args.quiet):
            args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        _print_error("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # Python flushes standard output once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except Exception as error:
        if args.debug:
            raise
        _print_error(f"error: {_error_message(error)}")
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hyperboxes",
        description="Classifiers made of readable boxes (general fuzzy min-max networks).",
        epilog="hyperboxes COMMAND --help has the options of a command, with examples. "
        "New here? Start with: hyperboxes demo",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"hyperboxes {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        command = import_module(f"hyperboxes._cli.{name}")
        subparser = subparsers.add_parser(
            name,
            help=command.HELP,
            description=command.__doc__,
            epilog=f"examples:\n{command.EXAMPLES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(subparser)
        subparser.add_argument("-q", "--quiet", action="store_true", help="no notes, no progress")
        subparser.add_argument("--debug", action="store_true", help="show where an error arose")
        subparser.set_defaults(run=command.run, command=name)
    return parser


def _advice(command: str, unknown: Sequence[str]) -> str:
    """Return how a command reads files, if the arguments that are too many may be files."""
    if any(text.startswith("-") for text in unknown):
        return ""
    reads = {"rules": "names its file with --data", "demo": "has data of its own"}
    return f" (hyperboxes {command} {reads.get(command, 'reads one file')})"


def _print_error(text: str) -> None:
    print(f"hyperboxes: {text}", file=sys.stderr)


def _error_message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.strerror}: {error.filename}"
    if isinstance(error, MemoryError):
        return "out of memory: the online learners read large files in batches: fit --batch-rows"
    text = " ".join(str(error).split())
    if isinstance(error, _EXPECTED):
        return text
    return f"{type(error).__name__}: {text} (--debug shows where)"
