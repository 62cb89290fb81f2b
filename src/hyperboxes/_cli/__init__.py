"""The command `hyperboxes`: train, apply and read models of CSV and Parquet files.

Each subcommand is a module of this package, listed in `COMMANDS`. It has a docstring for users,
`HELP` (a line), `EXAMPLES`, `add_arguments(parser)` and `run(args)`, and imports slow packages in
functions, so that `--help` is quick.
"""

import argparse
import io
import os
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from hyperboxes import __version__
from hyperboxes._cli.common import COLUMN_OPTIONS, UsageError, printable
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


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are two lines: what is wrong, and where the options are."""

    def error(self, message: str) -> NoReturn:
        _print_error(f"error: {message}")
        self.exit(2, f"{self.prog} --help lists the options\n")


class _Terminal:
    """A terminal to which control characters of files are written as escapes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> Any:
        return self._stream.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _replace_closed_streams()
    argv = sys.argv[1:] if argv is None else argv
    parsers = _make_parsers()
    args, unknown = parsers[""].parse_known_args(argv)
    if unknown:
        advice = _advice(argv, unknown[-1]) or _advice_on_files(args.command, unknown)
        parsers[args.command].error(f"unrecognized arguments: {' '.join(unknown)}{advice}")
    output: Any = _Terminal(sys.stdout) if sys.stdout.isatty() else sys.stdout
    try:
        with compiling.quiet(args.quiet), redirect_stdout(output):
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
        advice = _advice(argv, error.filename) if isinstance(error, FileNotFoundError) else ""
        _print_error(f"error: {_error_message(error)}{advice}")
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _replace_closed_streams() -> None:
    """Open standard streams that are closed: nothing is in them, and results are not writable."""
    for name, mode in (("stdin", "r"), ("stdout", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 (until the process ends)


def _make_parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser, under an empty name, and those of the commands."""
    parser = _Parser(
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
        subparser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
        subparser.set_defaults(run=command.run, command=name)
    return {"": parser, **subparsers.choices}


def _advice(argv: Sequence[str], word: str) -> str:
    """Return how to write several columns, if a word stands behind the first one."""
    before = list(argv[: argv.index(word)] if word in argv else ())
    options = [i for i, text in enumerate(before) if text.startswith("-")]
    if not options or before[options[-1]] not in COLUMN_OPTIONS:
        return ""
    option, *names = before[options[-1] :]
    columns = shlex.quote(",".join([*names, word]))
    return f" (several columns are one argument: {option} {columns})" if names else ""


def _advice_on_files(command: str, unknown: Sequence[str]) -> str:
    """Return how a command reads files, if the arguments that are too many may be files."""
    if any(text.startswith("-") for text in unknown):
        return ""
    reads = {"rules": "names its file with --data", "demo": "has data of its own"}
    return f" (hyperboxes {command} {reads.get(command, 'reads one file')})"


def _print_error(text: str) -> None:
    print(f"hyperboxes: {printable(text)}", file=sys.stderr)


def _error_message(error: Exception) -> str:
    if isinstance(error, io.UnsupportedOperation):
        return "standard output is closed"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.strerror}: {error.filename}"
    if isinstance(error, MemoryError):
        return "out of memory: the online learners read large files in batches: fit --batch-rows"
    text = " ".join(str(error).split())
    if isinstance(error, _EXPECTED) or re.match(r"\w+ (is unsupported|cannot write)", text):
        return text
    return f"{type(error).__name__}: {text} (--debug shows where)"
