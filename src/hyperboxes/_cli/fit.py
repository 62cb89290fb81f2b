"""Train a model on a table and save it.

The whole file is read into memory and learned in random order. With --batch-rows it may be larger
than memory: online learners read it twice. The first pass finds the classes and the range of each
feature, the second one learns a batch of rows at a time, in the order of the file. So shuffle a
file that is sorted.

Columns of text are categories, other columns are numbers; empty cells, NA and ? are missing values.
--dates converts dates to numbers: year, month, weekday, days since the first, and hour. Labels are
text.
"""

from __future__ import annotations

import argparse
import math
import re
import shlex
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hyperboxes._cli.columns import BOOLEANS, Columns, is_boolean, is_categorical
from hyperboxes._cli.common import (
    CHUNK_SIZE,
    UsageError,
    add_columns,
    add_data,
    add_feature_choice,
    add_json,
    add_number,
    add_output,
    add_target,
    check_model_output,
    choose_output,
    listing,
    n_boxes,
    note,
    positive_integer,
    print_json,
    progress,
    split_model,
    with_progress,
)
from hyperboxes._cli.tables import Table, find_files, open_table
from hyperboxes._compiling import compiling
from hyperboxes._estimators.registry import EstimatorEntry, commands
from hyperboxes._extras import need

HELP = "train a model on a table"
EXAMPLES = """\
  hyperboxes fit iris.csv --target species
  hyperboxes fit iris.csv --target species -o iris.hyperboxes --learner agglo-sm --theta 0.3
  hyperboxes fit iris.csv --target species -o iris.hyperboxes --learner boosted --max-boxes 20
  hyperboxes fit part-*.parquet --target fraud --drop id -o fraud.hyperboxes
  hyperboxes fit loans.csv --target outcome --dates opened --threshold default=0.3
  hyperboxes fit big.parquet --target fraud -o fraud.hyperboxes --batch-rows 100000
  hyperboxes fit few.csv --target label --unlabeled "" -o few.hyperboxes  # empty cells: no label
"""

# The learners with `partial_fit`.
ONLINE = (
    *("improved", "online", "adaptive", "fmnn", "efmnn", "knefmnn", "rfmnn"),
    *("exclude", "compensate", "core", "mixed"),
)

# The paper's names of learners, without hyphens, where they are others.
_PAPER_NAMES = {"iolgfmm": "improved", "onlngfmm": "online"}

# What `_fit` returns: a model, and how many rows have each label.
_Fitted = tuple[Any, Counter[str]]

# Names of columns that identify rows, and the fewest rows by which others are found.
_IDENTIFIER = re.compile(r"(?i:(?:^|[_\W])(?:id|key|uuid|number|no|nr)$)|I[dD]$")
_FEWEST_ROWS = 20

# A column with more labels is not a class but a measurement or an identifier.
_MAX_CLASSES = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_data(parser, several=True)
    add_target(parser)
    add_output(parser, "the model", "model.hyperboxes")
    add_feature_choice(parser)
    add_number(
        parser,
        "--batch-rows",
        "rows to learn at a time from files larger than memory, with the online learners: "
        + ", ".join(ONLINE),
    )
    add_json(parser, "a summary")
    _add_categories(parser)
    _add_learner(parser)


def _add_categories(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("categories")
    add_columns(
        group,
        "--categorical",
        "columns of categories, even if they look like numbers; default: columns of true and "
        "false, and of text of which at most half are numbers",
    )
    add_columns(group, "--numeric", "columns of numbers, where other text is an error")
    add_columns(group, "--dates", "columns of dates, such as 2026-11-19, to convert to numbers")


def _add_learner(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("learner")
    group.add_argument(
        "--learner",
        type=learner_name,
        choices=commands(),
        default="improved",
        help="improved, the default, learns files of any size, and its model can be updated in "
        "Python (partial_fit); boosted fits a few short rules; random is the most accurate on most "
        "tables",
    )
    group.add_argument(
        "--theta",
        type=_or_auto(positive_number),
        help="maximum side of a box, as a fraction of a feature's range. Small values give many "
        "boxes, larger values fewer, until they block other classes. auto (improved, online, "
        "agglo-sm, agglo2): the largest whose accuracy in cross-validation is within a standard "
        f"error of the best; default: {_default_thetas()}",
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
        help="whether the feature in which a row is farthest from a box decides, or the mean of "
        "all; default: mean",
    )
    group.add_argument(
        "--decision",
        choices=("auto", "nearest"),
        help="which boxes decide (improved, online, agglo-sm, agglo2). auto: of each class the "
        "nearest one, or the 2, 5 or 10 nearest together where that is better in cross-validation; "
        "nearest: the nearest one, so that a single box is the reason; default: auto",
    )
    group.add_argument(
        "--max-boxes",
        type=_or_auto(positive_integer),
        metavar="N",
        help="maximum number of boxes. For boosted: tens to read, hundreds to predict with; auto: "
        "half of the rows, at least 1,000 and at most 10,000. For adaptive, improved and online: "
        "beyond it the least recently matched box is evicted. Default: 20 (boosted), 1000 "
        "(adaptive), no limit (improved, online)",
    )
    group.add_argument(
        "--class-weight",
        choices=("balanced",),
        help="balanced: rows count in inverse proportion to the rows of their class",
    )
    group.add_argument(
        "--threshold",
        type=_threshold,
        metavar="[CLASS=]P",
        help="predict CLASS, by default the rarer of two, from a probability of P on; "
        "auto: the P with the best balanced accuracy in cross-validation",
    )


def learner_name(text: str) -> str:
    """Return the name of a learner that is spelt as a class, in the paper, or in another case."""
    names = dict(_PAPER_NAMES)
    for name, entry in commands().items():
        names.setdefault(_letters(entry.class_name), name)
        names[_letters(name)] = name
    return names.get(_letters(text), text)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _default_thetas() -> str:
    """Return the default of each learner that has one, without importing any."""
    names_by_theta: dict[str, list[str]] = {}
    for name, entry in commands().items():
        if theta := entry.default_theta:
            text = ", ".join(map(str, theta)) if isinstance(theta, tuple) else str(theta)
            names_by_theta.setdefault(text, []).append(name)
    return "; ".join(f"{theta} ({', '.join(names)})" for theta, names in names_by_theta.items())


def run(args: argparse.Namespace) -> None:
    """Train and save."""
    from hyperboxes import save

    began, compiled = time.monotonic(), compiling.seconds
    if args.output is not None:
        check_model_output(args.output, "Predictions are made with hyperboxes predict")
    for option, needs_all in (
        (f"--learner {args.learner}", args.learner not in ONLINE),
        ("--dates", args.dates),
        ("--threshold auto", args.threshold and args.threshold[1] is None),
    ):
        if args.batch_rows is not None and needs_all:
            raise UsageError(f"{option} needs all rows at once: leave out --batch-rows")
    files = find_files(args.data)
    choose_output(args, *files)
    learner = commands()[args.learner]
    table = open_table(*files, sep=args.sep, decimal=args.decimal, reread=True)
    columns = _find_categorical(args, learner, table, choose_columns(args, table))
    model = _make_model(args, learner, columns)
    with _warnings_as_notes(args):
        fit = _fit_batches if args.batch_rows else _fit
        model, counts = fit(args, model, table, columns)
    n_samples = counts.total()
    if args.threshold:
        model = _set_threshold(args, model, counts)
    split_model(model).estimator.target_name_ = columns.target
    if args.theta == "auto":
        note(args, f"Theta: {split_model(model).estimator.theta_}, chosen by cross-validation")
    save(model, args.output)
    compiled = compiling.seconds - compiled
    _print_summary(args, model, n_samples, time.monotonic() - began - compiled, compiled)


def _fit(args: argparse.Namespace, model: Any, table: Table, columns: Columns) -> _Fitted:
    """Fit a model to all rows; return it and how many rows have each label."""
    with progress(args, "Learning"):
        samples = [columns.read(chunk) for chunk in table.chunks(columns.all, CHUNK_SIZE)]
        if not samples:
            raise ValueError(f"{table.name} has no rows")
        frames, labels = zip(*samples, strict=True)
        X = need("pandas", "cli", "The command line").concat(frames, ignore_index=True)
        y = np.concatenate(labels)
        del samples, frames, labels
        counts = Counter(y.tolist())
        _check_classes(args, table, columns, set(counts) - {columns.unlabeled})
        _warn_of_columns(args, X, y)
        if args.threshold and args.threshold[1] is None:
            from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            model = TunedThresholdClassifierCV(model, cv=folds)
        return model.fit(X, y), counts


def _fit_batches(args: argparse.Namespace, model: Any, table: Table, columns: Columns) -> _Fitted:
    """Fit a model to a batch of rows after the other; return the same as `_fit`."""
    counts, ranges = _find_classes_and_ranges(args, table, columns)
    classes = sorted(set(counts) - {columns.unlabeled})
    if hasattr(model, "scaling"):
        model.set_params(scaling=ranges.tolist())
    chunks = table.chunks(columns.all, args.batch_rows)
    for chunk in with_progress(args, "Learning", chunks, counts.total()):
        model.partial_fit(*columns.read(chunk), classes=classes)
    return model, counts


def _find_classes_and_ranges(
    args: argparse.Namespace, table: Table, columns: Columns
) -> tuple[Counter[str], np.ndarray]:
    """Return how many rows have each label, and the lowest and highest value of each feature.

    Categories have no range: their positions lie between 0 and 1.
    """
    counts, ranges = Counter[str](), []
    chunks = table.chunks(columns.all, args.batch_rows)
    for chunk in with_progress(args, "Finding classes and ranges", chunks):
        X, labels = columns.read(chunk)
        ranges += [X.min(numeric_only=True), X.max(numeric_only=True)]
        if not counts:
            _warn_of_columns(args, X, labels)
        counts.update(labels.tolist())
        _check_classes(args, table, columns, set(counts) - {columns.unlabeled})
    if not counts:
        raise ValueError(f"{table.name} has no rows")
    if set(counts) == {columns.unlabeled}:
        raise ValueError(
            f"{table.name}: no row has a label, every {columns.target} is {columns.unlabeled!r}"
        )
    frame = need("pandas", "cli", "The command line").DataFrame(ranges, columns=X.columns)
    return counts, np.array([frame.min(), frame.max()], np.float64)


def _check_classes(
    args: argparse.Namespace, table: Table, columns: Columns, classes: set[str]
) -> None:
    if args.threshold and len(classes) != 2 and not args.batch_rows:
        raise UsageError(f"--threshold is for two classes, but {columns.target} has {len(classes)}")
    if len(classes) > _MAX_CLASSES:
        raise ValueError(
            f"{table.name}: {columns.target} has more than {_MAX_CLASSES} different values, so it "
            "is not a class; choose another --target"
        )


def _set_threshold(args: argparse.Namespace, model: Any, counts: Counter[str]) -> Any:
    """Return a model with the threshold of the options, or of cross-validation."""
    from hyperboxes._estimators.pipelines import Threshold, join_model

    parts, (label, value) = split_model(model), args.threshold
    classes = parts.estimator.classes_.tolist()
    if len(classes) != 2 or label not in (None, *classes):
        raise UsageError(
            f"--threshold is for one of two classes, not {label} of {listing(classes)}"
        )
    label = label or min(classes, key=counts.__getitem__)
    if parts.threshold is not None:
        found, of_label = parts.threshold
        value = found if of_label == label else 1.0 - found
    parts = parts._replace(threshold=Threshold(value, label))
    note(args, f"Threshold: {parts.threshold}")
    return join_model(parts)


def _warn_of_columns(args: argparse.Namespace, X: Any, y: np.ndarray) -> None:
    """Warn of features that are of no use on other rows, if they were not chosen."""
    columns = [name for name in X.columns if name not in args.dates]
    found = {name: reason for name in columns if (reason := _suspicion(X[name], y))}
    if found and args.features is None:
        reasons = ", ".join(f"{name} {reason}" for name, reason in found.items())
        names = ",".join(f'"{name}"' if "," in name else name for name in found)
        warnings.warn(f"{reasons}. To leave out: --drop {shlex.quote(names)}", stacklevel=1)


def _suspicion(column: Any, y: np.ndarray) -> str:
    """Return why a column is hardly a feature, "" if it may be one."""
    n_rows, n_values = len(column), column.nunique(dropna=False)
    if n_values == 1:
        return "is constant"
    pairs = set(zip(column, y.tolist(), strict=True))
    if len(pairs) == n_values == len(set(y.tolist())):
        return "repeats the target"
    if n_rows < _FEWEST_ROWS or n_values < n_rows:
        return ""
    # Measurements that are whole numbers differ in all rows by chance only if they are far apart.
    if column.dtype.kind in "iuf":
        by_chance = n_rows**2 < 6 * (column.max() - column.min())
        is_named = _IDENTIFIER.search(column.name) is not None
        if (by_chance and not is_named) or not (column % 1 == 0).all():
            return ""
    return "looks like an identifier"


@contextmanager
def _warnings_as_notes(args: argparse.Namespace) -> Iterator[None]:
    """Print as notes what Python would warn of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        note(args, f"Note: {warning.message}")


def choose_columns(args: argparse.Namespace, table: Table) -> Columns:
    """Return the features and the target, all of which are in the table."""
    table.check([args.target, *args.drop, *(args.features or [])])
    features = args.features or [c for c in table.columns if c not in (args.target, *args.drop)]
    if not args.features and (index := [c for c in features if c in table.index_columns]):
        remark = f"Left out, since it is an index of the rows: {listing(index)}"
        note(args, f"{remark} (--features chooses otherwise)")
        features = [c for c in features if c not in index]
    if args.target in features:
        raise ValueError(f"{args.target} is the target, so it cannot be a feature")
    if not features:
        raise ValueError(f"{table.name} has no columns but {args.target} and those of --drop")
    if "" in features:
        raise ValueError(f"{table.name}: a column has no name; name all, or choose with --features")
    return Columns(features, args.target, args.unlabeled)


def _find_categorical(
    args: argparse.Namespace, learner: EstimatorEntry, table: Table, columns: Columns
) -> Columns:
    """Find the columns of categories: those that are named, and others by their first rows."""
    named = [*args.categorical, *args.numeric, *args.dates]
    if unknown := [name for name in named if name not in columns.features]:
        raise ValueError(
            f"{unknown[0]} is not a feature: leave it out of --categorical, --numeric and --dates"
        )
    columns = replace(columns, dates=args.dates)
    if "categorical_features" not in learner.estimator().get_params(deep=False):
        if args.categorical:
            raise UsageError(f"--learner {args.learner} takes no categories")
        return columns
    try:
        chunk = next(table.chunks(columns.all, CHUNK_SIZE), None)
    except ValueError:  # reported where the file is learned
        return columns
    if chunk is None:
        return columns
    categories = {
        name: BOOLEANS if is_boolean(chunk, name) else {}
        for name in columns.features
        if name in args.categorical or (name not in named and is_categorical(chunk, name))
    }
    if categories:
        note(args, f"Categories: {listing(categories)} (change with --numeric or --drop)")
    return replace(columns, categories=categories)


def _make_model(args: argparse.Namespace, learner: EstimatorEntry, columns: Columns) -> Any:
    """Return the estimator with the parameters that are given."""
    gamma = args.gamma
    if gamma is not None and len(gamma) not in (1, len(columns.features)) and not columns.dates:
        raise UsageError(
            f"--gamma has {len(gamma)} numbers, but there are {len(columns.features)} features"
        )
    chosen = {
        "theta": args.theta,
        "gamma": gamma[0] if gamma is not None and len(gamma) == 1 else gamma,
        "membership_function": args.membership_function,
        "max_boxes": args.max_boxes,
        "unlabeled": columns.unlabeled,
        "class_weight": args.class_weight,
        "decision": args.decision,
        "categorical_features": list(columns.categories) or None,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    known = learner.estimator().get_params(deep=False)
    if unknown := [name for name in chosen if name not in known]:
        raise UsageError(f"--learner {args.learner} has no --{unknown[0].replace('_', '-')}")
    model = learner.estimator(**learner.commands[args.learner], **chosen)
    if not columns.dates:
        return model
    from hyperboxes._estimators.dates import DateFeatures
    from hyperboxes._estimators.pipelines import ModelParts, join_model

    return join_model(ModelParts([DateFeatures(list(columns.dates))], model, None))


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


def _or_auto(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function that parses a number, or leaves "auto" as it is."""

    def parse_or_auto(text: str) -> Any:
        try:
            return text if text == "auto" else parse(text)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"{error}, nor auto") from None

    return parse_or_auto


def _threshold(text: str) -> tuple[str | None, float | None]:
    """Parse a class, if one is named, and a probability, None for that of cross-validation."""
    label, _, number = text.rpartition("=")
    value = None if number == "auto" else positive_number(number)
    if value is not None and value >= 1:
        raise argparse.ArgumentTypeError(f"not a probability below 1: {number!r}")
    return label or None, value


def _positive_numbers(text: str) -> list[float]:
    return [positive_number(part) for part in text.split(",")]
