"""What cells mean: numbers of features, categories, and labels, which are text.

Spaces around a cell do not count. A label is its text: `1`, `1.0` and `001` are three labels. The
features of a model are found among the columns of a table by name.
"""

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyperboxes._cli.common import UsageError, add_columns, arrow, listing, note, split_model
from hyperboxes._cli.tables import Chunk, Table, open_table
from hyperboxes._extras import need
from hyperboxes._models.categories import are_categories, looks_like_a_date

# Cells of features that mark a missing value, in lower case.
MISSING = ("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>", "?")

# Booleans as they are written, in lower case.
BOOLEANS = {"true": True, "false": False}

# Columns of categories, each with its categories by their texts; other texts stand for themselves.
Categories = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Columns:
    """The features and the target of a table, and the label that marks rows without one."""

    features: list[str]
    target: str
    unlabeled: str | None = None
    categories: Categories = field(default_factory=dict)
    dates: Sequence[str] = ()

    @property
    def all(self) -> list[str]:
        """All columns that are read."""
        return [*self.features, self.target]

    def read(self, chunk: Chunk) -> tuple[Any, np.ndarray]:
        """Return the samples as a data frame, and their labels."""
        labels = check_labels(chunk, self.target, self.unlabeled)
        return read_frame(chunk, self.features, self.categories, self.dates), labels


def read_numbers(chunk: Chunk, columns: Sequence[str]) -> np.ndarray:
    """Return the columns as a table of float64, NaN for missing values."""
    numbers = np.empty((len(chunk), len(columns)))
    wrong = []
    for j, column in enumerate(columns):
        values = _to_numbers(chunk.table[column], chunk.decimal)
        if values is None:
            wrong.append(column)
        else:
            numbers[:, j] = values
    if wrong:
        row, text = _first_text(chunk, wrong[0])
        raise ValueError(
            f"{chunk.file}: not numbers: {listing(wrong)} (row {row} of {wrong[0]} is {text!r}). "
            f"{_advice(wrong[0], text, chunk.decimal)}"
        )
    if np.isinf(numbers).any():
        i, j = np.argwhere(np.isinf(numbers))[0]
        raise ValueError(
            f"{chunk.file}: row {chunk.start + i + 1} of {columns[j]} is infinite; "
            "leave the cell empty if the value is not known"
        )
    return numbers


def read_frame(
    chunk: Chunk, columns: Sequence[str], categories: Categories, dates: Sequence[str] = ()
) -> Any:
    """Return the columns as a data frame: categories and dates, None where missing, and numbers."""
    pandas = need("pandas", "cli", "The command line")
    numeric = [column for column in columns if column not in (*categories, *dates)]
    frame = pandas.DataFrame(read_numbers(chunk, numeric), columns=numeric)
    for column, known in categories.items():
        texts = ((text, text.lower()) for text in read_labels(chunk, column).tolist())
        cells = [
            None if lower in MISSING else known.get(lower if known is BOOLEANS else text, text)
            for text, lower in texts
        ]
        frame[column] = pandas.Series(cells, dtype=object)
    for column in dates:
        values = _plain(chunk.table[column]).to_pylist()
        is_missing = (isinstance(v, str) and v.strip().lower() in MISSING for v in values)
        cells = [None if no_date else v for v, no_date in zip(values, is_missing, strict=True)]
        frame[column] = pandas.Series(cells, dtype=object)
    return frame[list(columns)]


def is_categorical(chunk: Chunk, column: str) -> bool:
    """Whether a column contains Booleans, or text of which at most half are numbers."""
    values = _plain(chunk.table[column])
    return is_boolean(chunk, column) or (
        _is_text(values.type)
        and _to_numbers(values, chunk.decimal) is None
        and are_categories(_distinct(values))
    )


def is_boolean(chunk: Chunk, column: str) -> bool:
    """Whether a column contains nothing but true, false and missing values."""
    values = _plain(chunk.table[column])
    if not _is_text(values.type):
        return bool(arrow().types.is_boolean(values.type))
    return bool(known := _distinct(values)) and known <= set(BOOLEANS)


def _distinct(texts: Any) -> set[str]:
    """Return the texts that are not missing, in lower case."""
    pc = arrow("compute")
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(pc.unique(texts)))
    return set(lower.to_pylist()) - {None, *MISSING}


def _advice(column: str, text: str, decimal: str) -> str:
    """Return what to do about a cell that is not a number."""
    if looks_like_a_date(text):
        from hyperboxes._estimators.dates import find_formats

        return (
            f"Train with its year, month, weekday and day (fit --dates {column}), or without the "
            f"column (fit --drop {column})"
            if find_formats([text])
            else f"Make numbers of times first, such as the hour, or train without the column (fit "
            f"--drop {column})"
        )
    other = "," if decimal == "." else "."
    if re.fullmatch(rf"[+-]?\d*{re.escape(other)}\d+", text.strip()):
        return f"If that is a number with decimals, add --decimal {other}"
    return (
        "Correct the cells, train without such columns (--drop), or treat them as categories if "
        "the learner supports that (fit --categorical)"
    )


def read_labels(chunk: Chunk, column: str) -> np.ndarray:
    """Return the texts of a column, empty where a cell is missing."""
    pa, pc = arrow(), arrow("compute")
    values = _plain(chunk.table[column])
    if _is_text(values.type):
        values = pc.utf8_trim_whitespace(values)
    elif pa.types.is_nested(values.type):
        raise ValueError(f"{chunk.file}: {column} has nested values, which are not labels")
    texts = ["" if v is None or v != v else str(v) for v in values.to_pylist()]
    return np.array(texts, dtype=str)


def check_labels(chunk: Chunk, target: str, unlabeled: Any) -> np.ndarray:
    """Return the labels; one that is empty is an error unless it marks rows without a label."""
    labels = read_labels(chunk, target)
    if unlabeled != "" and (missing := labels == "").any():
        row = chunk.start + int(np.argmax(missing)) + 1
        raise ValueError(
            f"{chunk.file}: row {row} has no {target}. If that means that it has no label, "
            'add --unlabeled ""'
        )
    return labels


def _to_numbers(values: Any, decimal: str) -> np.ndarray | None:
    """Return float64, or None if a cell is not a number."""
    pa, pc = arrow(), arrow("compute")
    values = _plain(values)
    if pa.types.is_temporal(values.type):
        return None
    try:
        if _is_text(values.type):
            values = _parse(_with_points(values, decimal))
        return pc.cast(values, pa.float64(), safe=False).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _with_points(texts: Any, decimal: str) -> Any:
    """Write decimals after a point; a text that has a point already is not a number then."""
    if decimal == ".":
        return texts
    pc = arrow("compute")
    return pc.replace_substring(pc.replace_substring(texts, ".", ".."), decimal, ".")


def _parse(texts: Any) -> Any:
    """Return numbers; raise ArrowInvalid if a text is not one."""
    pa, pc = arrow(), arrow("compute")
    texts = pc.utf8_trim_whitespace(texts)
    try:
        return pc.cast(texts, pa.float64())  # the usual case, which is quick
    except pa.ArrowInvalid:
        texts = pc.utf8_lower(texts)
        for word, truth in BOOLEANS.items():
            texts = pc.if_else(pc.equal(texts, word), str(int(truth)), texts)
        missing = pc.is_in(texts, pa.array(MISSING, texts.type))
        return pc.cast(pc.if_else(missing, None, texts), pa.float64())


def _first_text(chunk: Chunk, column: str) -> tuple[int, str]:
    """Return the row and the text of the first cell that is not a number."""
    values = _plain(chunk.table[column])
    cells = (_to_numbers(values.slice(row, 1), chunk.decimal) for row in range(len(values)))
    row = next(row for row, number in enumerate(cells) if number is None)
    return chunk.start + row + 1, str(values[row].as_py())


def _plain(values: Any) -> Any:
    """Return the values without a dictionary, texts as strings."""
    pa = arrow()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values.cast(pa.string()) if str(values.type) == "string_view" else values


def _is_text(kind: Any) -> bool:
    pa = arrow()
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


@dataclass(frozen=True)
class FeatureReader:
    """Reads the features of a model, in its order, from columns of a table."""

    model: Any
    columns: list[str]
    n_unknown: Counter[str] = field(default_factory=Counter)

    def read(self, *chunks: Chunk) -> Any:
        """Return the rows as an array or a data frame, as in the training of the model."""
        if not hasattr(self.model, "feature_names_in_"):
            return np.concatenate([read_numbers(chunk, self.columns) for chunk in chunks])
        pandas = need("pandas", "cli", "The command line")
        return pandas.concat([self._read_frame(chunk) for chunk in chunks])

    def _read_frame(self, chunk: Chunk) -> Any:
        """Return rows under the names of the model's features, with its values of categories."""
        names = [str(name) for name in self.model.feature_names_in_]
        columns = dict(zip(names, self.columns, strict=True))
        steps, estimator, _ = split_model(self.model)
        dates = [columns[name] for step in steps for name in step.dates_]
        known = {
            name: BOOLEANS
            if all(isinstance(value, bool) for value in values)
            else {str(value): value for value in values}
            for name, values in getattr(estimator, "categories_", {}).items()
        }
        categories = {columns[name]: values for name, values in known.items()}
        frame = read_frame(chunk, self.columns, categories, dates)
        frame.columns = names
        for name, values in known.items():
            is_unknown = frame[name].map(lambda c, v=values: isinstance(c, str) and c not in v)
            self.n_unknown[name] += int(is_unknown.sum())
            if not all(isinstance(value, str) for value in values.values()):
                frame[name] = frame[name].where(~is_unknown, None)
        return frame

    def note_unknown(self, args: argparse.Namespace) -> None:
        """Print in how many rows a category was unknown to the model."""
        for name, number in (+self.n_unknown).items():
            remark = "rows with a category that was not seen in training (treated as missing)"
            note(args, f"Note: {name}: {remark}: {number:,}")


def add_matching(parser: argparse.ArgumentParser) -> None:
    """Add the option that matches columns by their order."""
    which = "columns with the model's features, in their order; default: by name"
    add_columns(parser, "--features", which, None)


def load_model(path: str) -> Any:
    """Load a model from a file."""
    from hyperboxes import load

    return load(path)


def find_membership(model: Any, X: Any) -> Any:
    """Return the memberships of samples in the classes, if the model has any."""
    steps, estimator, _ = split_model(model)
    for step in steps:
        X = step.transform(X)
    return estimator.membership(X) if hasattr(estimator, "membership") else None


def check_classifier(model: Any, path: str) -> None:
    """Raise an error if a model has no classes."""
    if not hasattr(estimator := split_model(model).estimator, "classes_"):
        kind = type(estimator).__name__
        raise ValueError(f"{path} is not a classifier but a {kind} without classes")


def choose_target(args: argparse.Namespace, model: Any) -> None:
    """Take the target of the training if none is given."""
    args.target = args.target or getattr(split_model(model).estimator, "target_name_", None)
    if args.target is None:
        raise UsageError(f"{args.model} does not name its target: add --target COLUMN")


def read_samples(args: argparse.Namespace, model: Any) -> tuple[Any, Any]:
    """Return all rows of the data, and their labels (None for no label) if --target is given."""
    table = open_table(args.data, sep=args.sep, decimal=args.decimal)
    others = [] if args.target is None else [args.target]
    reader = find_features(args, model, table, *others)
    chunk = next(table.chunks([*reader.columns, *others]), None)
    if chunk is None:
        raise ValueError(f"{table.name} has no rows")
    if args.target is None:
        return reader.read(chunk), None
    check_classifier(model, args.model)
    labels, has_label = read_target(args, model, chunk)
    known = {str(label): label for label in model.classes_.tolist()}
    texts = match_spelling(labels, model.classes_).tolist()
    classes = [
        known.get(text, text) if has else None for text, has in zip(texts, has_label, strict=True)
    ]
    return reader.read(chunk), np.array(classes, dtype=object)


def read_target(
    args: argparse.Namespace, model: Any, chunk: Chunk
) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts of the target, and which of them are labels.

    The mark of rows without a label is that of --unlabeled, else that of the model. The latter may
    be a number, which files write in several ways.
    """
    unlabeled = args.unlabeled
    if unlabeled is None:
        unlabeled = getattr(split_model(model).estimator, "unlabeled", None)
    labels = check_labels(chunk, args.target, unlabeled)
    if unlabeled is None:
        return labels, np.ones(len(labels), bool)
    return labels, match_spelling(labels, np.array([unlabeled])) != str(unlabeled)


def find_features(
    args: argparse.Namespace, model: Any, table: Table, *others: str
) -> FeatureReader:
    """Find the model's features in the table; `others` are columns with another use."""
    table.check(others)
    columns = args.features or _match_names(model, table, others)
    table.check(columns)
    if both := [name for name in others if name in columns]:
        raise ValueError(f"{both[0]} is a feature of the model, so it cannot be the target")
    if len(columns) != model.n_features_in_:
        raise ValueError(
            f"--features names {len(columns)} columns, but the model has {model.n_features_in_} "
            "features"
        )
    target = getattr(split_model(model).estimator, "target_name_", None)
    if ignored := [name for name in table.columns if name not in (*columns, *others, target)]:
        note(args, f"Columns that are not features of the model are ignored: {listing(ignored)}")
    return FeatureReader(model, columns)


def _match_names(model: Any, table: Table, others: tuple[str, ...]) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return [str(name).strip() for name in names]
    columns = [name for name in table.columns if name not in (*others, *table.index_columns)]
    if len(columns) != model.n_features_in_:
        raise ValueError(
            f"The model was trained without names of its {model.n_features_in_} features: name the "
            f"columns with --features; {table.name} has {listing(columns)}"
        )
    return columns


def match_spelling(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return labels in the spelling of the model's classes, which may be numbers.

    A model trained in Python may have the class 1 or 1.0, and a file may have `1`, `1.0` or `True`.
    """
    if classes.dtype.kind not in "biuf":
        return labels
    names = {float(label): str(label) for label in classes}
    known = {str(label) for label in classes}

    def translate(text: str) -> str:
        if text in known:  # large integers may be the same as floats
            return text
        try:
            number = float(BOOLEANS.get(text.lower(), text))
        except ValueError:
            return text
        return names.get(number, text)

    texts, inverse = np.unique(labels, return_inverse=True)
    return np.array([translate(text) for text in texts.tolist()], dtype=str)[inverse]
