"""Train a model on a table and save it.

Online learners read the file in pieces, so it may be larger than memory, and write a checkpoint
from time to time: after a crash or Ctrl-C the same command with --resume goes on. They learn rows
in random order, always the same one; of files that do not fit into memory, so many at a time as
do. The boxes are the same whatever the pieces. The other learners need all samples in memory.

Features are numbers, or categories where a column holds text; empty cells, NA and ? are missing
values, which the learners take. Labels are text. A file with categories is read into memory as a
whole.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperboxes import __version__
from hyperboxes._cli._checkpoint import Checkpoint, CheckpointInterval
from hyperboxes._cli._columns import find_boolean, find_categorical
from hyperboxes._cli._common import (
    CHUNK_SIZE,
    UsageError,
    add_chunk_size,
    add_features,
    add_files,
    add_json,
    add_target,
    column_names,
    listing,
    n_boxes,
    n_learned,
    note,
    positive_integer,
    print_json,
)
from hyperboxes._cli._parts import find_files, open_files
from hyperboxes._cli._sources import is_stream
from hyperboxes._cli._survey import Columns
from hyperboxes._cli._tables import Table
from hyperboxes._cli._training import fit_at_once, fit_in_chunks
from hyperboxes._cli._writers import check_model_output, check_output
from hyperboxes._compiling import compiling
from hyperboxes._estimators.registry import Learner, commands

HELP = "train a model on a table"
EXAMPLES = """\
  hyperboxes fit iris.csv --target species -o iris.hyperboxes
  hyperboxes fit iris.csv --target species -o iris.hyperboxes --learner agglo-sm --theta 0.3
  hyperboxes fit iris.csv --target species -o iris.hyperboxes --learner boosted --max-boxes 20
  hyperboxes fit big.parquet --target fraud --drop id -o fraud.hyperboxes --checkpoint-every 5m
  hyperboxes fit big.parquet --target fraud --drop id -o fraud.hyperboxes --resume
  hyperboxes fit part-*.parquet --target fraud -o fraud.hyperboxes
  hyperboxes fit few.csv --target label --unlabeled "" -o few.hyperboxes  # empty cells: no label
"""

DEFAULT_INTERVAL = "60s"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_files(parser)
    add_target(parser)
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="file to write")
    which = parser.add_mutually_exclusive_group()
    add_features(which, "columns to learn from; default: all but the target")
    which.add_argument(
        "--drop", type=column_names, default=[], metavar="A,B,...", help="leave these out"
    )
    _add_categories(parser)
    _add_learner(parser)
    _add_chunks(parser)
    add_json(parser, "a summary")


def _add_categories(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("categories")
    group.add_argument(
        "--categorical",
        type=column_names,
        default=[],
        metavar="A,B,...",
        help="columns of categories, though they may look like numbers; default: columns of true "
        "and false, and of text of which at most half are numbers",
    )
    group.add_argument(
        "--numeric",
        type=column_names,
        default=[],
        metavar="A,B,...",
        help="columns of numbers, so that any other text in them is an error",
    )


def _add_learner(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("learner")
    others = ", ".join(
        name for name, entry in commands().items() if not entry.reads_in_chunks(name)
    )
    group.add_argument(
        "--learner",
        choices=commands(),
        default="improved",
        help="improved, the default, reads files of any size, and Python can go on with its model "
        "(partial_fit); boosted makes a few short rules to read; random is the most accurate on "
        f"most tables. Online: {_online_names(', ')}; all samples in memory: {others}",
    )
    group.add_argument(
        "--theta",
        type=positive_number,
        help="how far a box may grow: its longest side, as a fraction of a feature's range. Small: "
        "many boxes, close to the rows; larger: fewer, until they get in the way of other classes. "
        f"Try some with evaluate --cv; default: {_default_thetas()}",
    )
    group.add_argument(
        "--gamma",
        type=_positive_numbers,
        metavar="G[,G...]",
        help="how fast membership falls outside boxes, one number or one per feature; default: 1",
    )
    group.add_argument(
        "--membership-function",
        choices=("min", "mean"),
        help="whether the feature in which a row misses a box most decides, or the mean of all; "
        "default: mean",
    )
    group.add_argument(
        "--max-boxes",
        type=positive_integer,
        metavar="N",
        help="how many boxes there may be, of boosted: tens to read, hundreds to predict with; of "
        "adaptive, improved and online: beyond it the box confirmed longest ago is forgotten; "
        "default: 20 (boosted), 1000 (adaptive), no limit (improved, online)",
    )


def _online_names(separator: str) -> str:
    return separator.join(name for name, entry in commands().items() if entry.reads_in_chunks(name))


def _default_thetas() -> str:
    """Return the default of each learner that has one, without importing any."""
    thetas = {tuple(entry.commands): entry.default_theta for entry in commands().values()}
    return ", ".join(f"{theta} ({', '.join(names)})" for names, theta in thetas.items() if theta)


def _add_chunks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("large files (online learners)")
    add_chunk_size(group, default=None)
    group.add_argument(
        "--checkpoint-every",
        type=CheckpointInterval.parse,
        default=argparse.SUPPRESS,
        metavar="WHEN",
        help=f"rows (500000) or time (30s, 5m, 1h), or never; default: {DEFAULT_INTERVAL}",
    )
    group.add_argument(
        "--resume", action="store_true", help="go on from the checkpoint, if there is one"
    )


def run(args: argparse.Namespace) -> None:
    """Train and save."""
    from hyperboxes import save

    began, compiled = time.monotonic(), compiling.seconds
    _check_options(args)
    files = find_files(args.data)
    _check_checkpoints(args, files)
    check_output(args.output, *files)
    learner = commands()[args.learner]
    table = open_files(files, args.sep, args.decimal, reread=True)
    columns = choose_columns(args, table)
    columns = _find_categorical(args, learner, table, columns)
    model, options = _make_model(args, learner, columns)
    chunk_size = args.chunk_size or CHUNK_SIZE
    checkpoint = None
    if _reads_in_chunks(args, learner, columns):
        checkpoint = _make_checkpoint(args, files, options)
        model = fit_in_chunks(args, model, table, columns, chunk_size, checkpoint)
        n_samples = n_learned(model)
    else:
        model, n_samples = fit_at_once(args, model, table, columns, chunk_size)
    save(model, args.output)
    if checkpoint is not None:
        checkpoint.remove()
    compiled = compiling.seconds - compiled
    _print_summary(args, model, n_samples, time.monotonic() - began - compiled, compiled)


def _reads_in_chunks(args: argparse.Namespace, learner: Learner, columns: Columns) -> bool:
    """Whether a file is learned in pieces; not where boxes count categories."""
    is_counting = learner.boxes == "count" and bool(columns.categorical)
    return learner.reads_in_chunks(args.learner) and not is_counting


def _check_options(args: argparse.Namespace) -> None:
    check_model_output(args.output, "Predictions are made with hyperboxes predict")
    about_chunks = args.chunk_size or args.resume or _wants_checkpoints(args)
    if about_chunks and not commands()[args.learner].reads_in_chunks(args.learner):
        raise UsageError(
            f"--learner {args.learner} needs all samples at once: --chunk-size, --checkpoint-every "
            f"and --resume are for the learners {_online_names(' and ')}"
        )


def _check_checkpoints(args: argparse.Namespace, files: list[str]) -> None:
    """Refuse checkpoints where there are none."""
    if not args.resume and not _wants_checkpoints(args):
        return
    if len(files) > 1:
        raise UsageError("checkpoints are for a single file: join the files, or leave them out")
    if is_stream(files[0]):
        raise UsageError(f"{files[0]} cannot be read again: checkpoints need a file")


def _wants_checkpoints(args: argparse.Namespace) -> bool:
    return getattr(args, "checkpoint_every", None) is not None


def choose_columns(args: argparse.Namespace, table: Table) -> Columns:
    """Return the features and the target, all of which are in the table."""
    table.check([args.target, *args.drop, *(args.features or [])])
    features = args.features or _default_features(args, table)
    if args.target in features:
        raise ValueError(f"{args.target} is the target, so it cannot be a feature")
    if not features:
        raise ValueError(f"{table.name} has no columns but {args.target} and those of --drop")
    if "" in features:
        raise ValueError(f"{table.name}: a column has no name; name all, or choose with --features")
    return Columns(features, args.target, args.unlabeled)


def _find_categorical(
    args: argparse.Namespace, learner: Learner, table: Table, columns: Columns
) -> Columns:
    """Find the columns of categories, by what the first rows hold if they are not named."""
    named = [*args.categorical, *args.numeric]
    if unknown := [name for name in named if name not in columns.features]:
        raise ValueError(f"{unknown[0]} is no feature, so it has neither categories nor numbers")
    takes_categories = "categorical_features" in learner.estimator().get_params(deep=False)
    if not takes_categories:
        if args.categorical:
            raise UsageError(f"--learner {args.learner} takes no categories")
        return columns
    try:
        chunk = next(table.chunks(columns.all, CHUNK_SIZE), None)
    except ValueError:  # what is wrong with the file is said where it is learned
        return columns
    others = [name for name in columns.features if name not in named]
    found = [] if chunk is None else find_categorical(chunk, others)
    categorical = [name for name in columns.features if name in {*args.categorical, *found}]
    if not categorical:
        return columns
    note(args, f"Categories: {listing(categorical)} (--numeric and --drop choose otherwise)")
    boolean = [] if chunk is None else find_boolean(chunk, categorical)
    columns = replace(columns, categorical=tuple(categorical), boolean=tuple(boolean))
    about_chunks = args.chunk_size or args.resume or _wants_checkpoints(args)
    if about_chunks and not _reads_in_chunks(args, learner, columns):
        raise UsageError(
            f"--learner {args.learner} learns a file with categories as a whole: leave out "
            "--chunk-size, --checkpoint-every and --resume, or the categories with --drop"
        )
    return columns


def _default_features(args: argparse.Namespace, table: Table) -> list[str]:
    """Return all columns but the target, those of --drop, and an index."""
    dropped = {args.target, *args.drop}
    if index := [name for name in table.index_columns if name not in dropped]:
        note(
            args,
            f"Left out, since it is an index of the rows: {listing(index)} (--features chooses "
            "otherwise)",
        )
    return [name for name in table.columns if name not in {*dropped, *index}]


def _make_model(
    args: argparse.Namespace, learner: Learner, columns: Columns
) -> tuple[Any, dict[str, Any]]:
    """Return the unfitted model, and what a checkpoint must agree with."""
    chosen = {
        "theta": args.theta,
        "gamma": _gamma(args, columns),
        "membership_function": args.membership_function,
        "max_boxes": args.max_boxes,
        "unlabeled": columns.unlabeled,
        "categorical_features": list(columns.categorical) or None,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    known = learner.estimator().get_params(deep=False)
    if unknown := [name for name in chosen if name not in known]:
        raise UsageError(f"--learner {args.learner} has no --{unknown[0].replace('_', '-')}")
    model = learner.estimator(**learner.commands[args.learner], **chosen)
    return model, {
        "learner": args.learner,
        "theta": getattr(model, "theta", None),
        "gamma": getattr(model, "gamma", None),
        "membership_function": getattr(model, "membership_function", None),
        "max_boxes": getattr(model, "max_boxes", None),
        "target": columns.target,
        "features": columns.features,
        "unlabeled": columns.unlabeled,
        "categorical": list(columns.categorical),
        "version": __version__,
    }


def _gamma(args: argparse.Namespace, columns: Columns) -> Any:
    """Return a number, or one per feature."""
    if args.gamma is None or len(args.gamma) == 1:
        return None if args.gamma is None else args.gamma[0]
    if len(args.gamma) != len(columns.features):
        raise UsageError(
            f"--gamma has {len(args.gamma)} numbers, but there are {len(columns.features)} features"
        )
    return args.gamma


def _make_checkpoint(
    args: argparse.Namespace, files: list[str], options: dict[str, Any]
) -> Checkpoint | None:
    interval = getattr(args, "checkpoint_every", CheckpointInterval.parse(DEFAULT_INTERVAL))
    if len(files) > 1 or is_stream(files[0]) or (interval is None and not args.resume):
        return None
    return Checkpoint(Path(args.output), Path(files[0]), interval or CheckpointInterval(), options)


def _print_summary(
    args: argparse.Namespace, model: Any, n_samples: int, seconds: float, compiled: float
) -> None:
    n_classes = len(model.classes_)
    if args.json:
        print_json(
            {
                "model": args.output,
                "learner": args.learner,
                "n_samples": n_samples,
                "n_features": model.n_features_in_,
                "n_boxes": n_boxes(model),
                "classes": model.classes_.tolist(),
                "seconds": round(seconds, 3),
                "seconds_compiling": round(compiled, 3),
            }
        )
    boxes = _count_text(n_boxes(model), "box", "boxes")
    learned = f"{boxes} from {_count_text(n_samples, 'sample', 'samples')}"
    classes = _count_text(n_classes, "class", "classes")
    features = _count_text(model.n_features_in_, "feature", "features")
    size = f"{math.ceil(Path(args.output).stat().st_size / 1000):,} kB"
    took = f"{seconds:.1f} s"
    if compiled > 0.0:
        took += f" and once {compiled:.1f} s to compile"
    note(args, f"{args.output}: {learned} of {classes}, {features} ({took}, {size})")
    if n_classes > n_samples / 2:
        note(args, f"Note: {args.target} has {n_classes:,} different values. Is it a class?")


def _count_text(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def positive_number(text: str) -> float:
    """Parse a positive number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"not a positive number: {text!r}")
    return number


def _positive_numbers(text: str) -> list[float]:
    return [positive_number(part) for part in text.split(",")]
