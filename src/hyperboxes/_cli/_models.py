"""A model that is asked about a table: its features are found among the columns by name."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from hyperboxes._cli._columns import read_numbers
from hyperboxes._cli._common import add_features, listing, note
from hyperboxes._cli._tables import Chunk, Table
from hyperboxes._extras import need


@dataclass(frozen=True)
class Asked:
    """A model, and the columns that hold its features, in its order."""

    model: Any
    columns: list[str]

    def samples(self, chunk: Chunk) -> Any:
        """Return the rows as the model takes them."""
        X = read_numbers(chunk, self.columns)
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            return X
        return need("pandas", "cli", "The command line").DataFrame(X, columns=names)


def add_matching(parser: argparse.ArgumentParser) -> None:
    """Add how columns are matched if not by their names."""
    add_features(
        parser, "the columns that are the model's features, in its order; default: by their names"
    )


def load_model(path: str) -> Any:
    """Load a model; errors name the file."""
    from hyperboxes import load

    return load(path)


def find_features(args: argparse.Namespace, model: Any, table: Table, *others: str) -> Asked:
    """Find the model's features in the table; `others` are known not to be such."""
    columns = args.features or _match(model, table, others)
    table.check(columns)
    if len(columns) != model.n_features_in_:
        raise ValueError(
            f"--features names {len(columns)} columns, but the model has {model.n_features_in_} "
            "features"
        )
    if ignored := [name for name in table.columns if name not in (*columns, *others)]:
        note(args, f"Columns that are no features of the model are ignored: {listing(ignored)}")
    return Asked(model, columns)


def _match(model: Any, table: Table, others: tuple[str, ...]) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return [str(name).strip() for name in names]
    columns = [name for name in table.columns if name not in others]
    if len(columns) != model.n_features_in_:
        raise ValueError(
            f"The model was trained without names of its {model.n_features_in_} features: name the "
            f"columns with --features; {table.name} has {listing(columns)}"
        )
    return columns
