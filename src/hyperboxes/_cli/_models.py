"""A model that is asked about a table: its features are found among the columns by name."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperboxes._cli._columns import check_labels, read_frame, read_numbers
from hyperboxes._cli._common import add_features, listing, note
from hyperboxes._cli._labels import match_spelling, to_classes
from hyperboxes._cli._tables import Chunk, Table, open_table
from hyperboxes._extras import need


@dataclass(frozen=True)
class FeatureReader:
    """Reads the features of a model, in its order, from the columns that hold them."""

    model: Any
    columns: list[str]

    def read(self, *chunks: Chunk) -> Any:
        """Return the rows as the model takes them."""
        names = getattr(self.model, "feature_names_in_", None)
        pandas = need("pandas", "cli", "The command line")
        categories = getattr(self.model, "categories_", {})
        if categories and names is not None:
            return pandas.concat([self._read_mixed(chunk, categories) for chunk in chunks])
        X = np.concatenate([read_numbers(chunk, self.columns) for chunk in chunks])
        return X if names is None else pandas.DataFrame(X, columns=names)

    def _read_mixed(self, chunk: Chunk, categories: dict[str, list[Any]]) -> Any:
        """Return rows with categories, as the values that the model knows."""
        names = [str(name) for name in self.model.feature_names_in_]
        columns = dict(zip(names, self.columns, strict=True))
        boolean = [
            columns[name]
            for name, values in categories.items()
            if all(isinstance(value, bool) for value in values)
        ]
        frame = read_frame(chunk, self.columns, [columns[name] for name in categories], boolean)
        frame.columns = names
        for name, values in categories.items():
            by_text = {str(value): value for value in values}
            cells = [by_text.get(text, text) for text in frame[name]]
            if not isinstance(values[0], str):  # texts that are none of its values
                cells = [None if isinstance(cell, str) else cell for cell in cells]
            frame[name] = np.array(cells, dtype=object)
        return frame


def add_matching(parser: argparse.ArgumentParser) -> None:
    """Add how columns are matched if not by their names."""
    add_features(
        parser, "the columns that are the model's features, in its order; default: by their names"
    )


def load_model(path: str) -> Any:
    """Load a model; errors name the file."""
    from hyperboxes import load

    return load(path)


def check_classifier(model: Any, path: str) -> None:
    """Refuse a model that has no classes."""
    if not hasattr(model, "classes_"):
        raise ValueError(f"{path} is no classifier, but a {type(model).__name__} without classes")


def check_memberships(model: Any, path: str) -> None:
    """Refuse a model that has no memberships, for its boxes vote."""
    if not hasattr(model, "membership"):
        raise ValueError(
            f"{path} is a {type(model).__name__}, whose boxes vote: it has no memberships; --proba "
            "gives probabilities"
        )


def read_samples(args: argparse.Namespace, model: Any) -> tuple[Any, Any]:
    """Return all rows of the data, and their labels if --target is given, None for no label."""
    table = open_table(args.data, args.sep, args.decimal)
    others = [] if args.target is None else [args.target]
    reader = find_features(args, model, table, *others)
    chunk = next(table.chunks([*reader.columns, *others]), None)
    if chunk is None:
        raise ValueError(f"{table.name} has no rows")
    if args.target is None:
        return reader.read(chunk), None
    check_classifier(model, args.model)
    labels, has_label = read_target(args, model, chunk)
    classes = to_classes(labels, model.classes_).astype(object)
    classes[~has_label] = None
    return reader.read(chunk), classes


def read_target(
    args: argparse.Namespace, model: Any, chunk: Chunk
) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts of the target, and where they are labels, as --unlabeled or the model says.

    The model's own mark may be a number, which a file may write in several ways.
    """
    unlabeled = args.unlabeled
    if unlabeled is None:
        unlabeled = getattr(model, "unlabeled", None)
    labels = check_labels(chunk, args.target, unlabeled)
    if unlabeled is None:
        return labels, np.ones(len(labels), bool)
    return labels, match_spelling(labels, np.array([unlabeled])) != str(unlabeled)


def find_features(
    args: argparse.Namespace, model: Any, table: Table, *others: str
) -> FeatureReader:
    """Find the model's features in the table; `others` are read for something else."""
    table.check(others)
    columns = args.features or _match(model, table, others)
    table.check(columns)
    if both := [name for name in others if name in columns]:
        raise ValueError(f"{both[0]} is a feature of the model, so it cannot be the target")
    if len(columns) != model.n_features_in_:
        raise ValueError(
            f"--features names {len(columns)} columns, but the model has {model.n_features_in_} "
            "features"
        )
    if ignored := [name for name in table.columns if name not in (*columns, *others)]:
        note(args, f"Columns that are no features of the model are ignored: {listing(ignored)}")
    return FeatureReader(model, columns)


def _match(model: Any, table: Table, others: tuple[str, ...]) -> list[str]:
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
