"""What can be done with a fitted model of which kind: one table, and the errors that follow it.

Readers, `merge`, `prune` and `hyperboxes.dask` look it up here; the documentation prints it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from sklearn.utils.validation import check_is_fitted

from hyperboxes._estimators.registry import find_by_class
from hyperboxes._models.records import NearestBoxes, Record


class Operation(StrEnum):
    """What is done with models, by its public name."""

    TEXT = "export_text"
    FRAME = "export_frame"
    EXPLAIN = "explain"
    COUNTERFACTUAL = "counterfactuals of explain"
    REPORT = "export_html"
    EDITOR = "editor of export_html"
    SQL = "export_sql"
    CRISP_SQL = "export_sql(nearest=False)"
    ONNX = "to_onnx"
    BOXES = "BoxesDisplay"
    PARALLEL_COORDINATES = "ParallelCoordinatesDisplay"
    CONTRIBUTIONS = "ContributionsDisplay"
    MEMORY = "MemoryDisplay"
    MERGE = "merge"
    PRUNE = "prune"
    DASK_FIT = "dask.fit"


_LIST = {Operation.TEXT, Operation.FRAME}
_READ = {*_LIST, Operation.EXPLAIN, Operation.REPORT}
_JOIN = {Operation.MERGE, Operation.PRUNE, Operation.DASK_FIT}

# The rows are the kinds of the registry; "undecided" are models of the literature in which
# something besides the nearest box decides.
SUPPORTED: Mapping[str, frozenset[Operation]] = {
    "nearest": frozenset(Operation) - {Operation.MEMORY},
    "clusters": frozenset({*_LIST, Operation.BOXES, Operation.MERGE, Operation.DASK_FIT}),
    "additive": frozenset(Operation)
    - {Operation.PARALLEL_COORDINATES, Operation.MEMORY, Operation.MERGE, Operation.PRUNE},
    "neighbors": frozenset({*_READ, Operation.BOXES, Operation.MEMORY}),
    "ensemble": frozenset({*_READ, Operation.ONNX}),
    "undecided": frozenset({*_LIST, Operation.BOXES}),
}

_REASONS = {
    "nearest": "its nearest boxes decide",
    "clusters": "it has clusters and no classes",
    "additive": "its boxes add weights to the scores of classes",
    "neighbors": "the weights of its boxes change with every sample",
    "ensemble": "many models decide together",
}
_INSTEAD = {
    Operation.MERGE: "Fit one model to all samples.",
    Operation.PRUNE: "Fit one with fewer boxes.",
    Operation.DASK_FIT: "Fit a sample of the rows that fits into memory.",
}
_PARTIAL_FIT = "Use hyperboxes.dask.partial_fit, which learns one partition after the other."


def read_record(model: Any) -> Record:
    """Return a fitted estimator's record, which stays as it is when learning goes on."""
    check_is_fitted(model)
    record: Record = model._record()
    return record


def check_labels(record: NearestBoxes) -> None:
    """Raise a ValueError if no box has a class."""
    if not (record.labels >= 0).any():
        raise ValueError("No box has a label yet, so there is no class to predict.")


def require(model: Any, operation: Operation, *, has_threshold: bool = False) -> None:
    """Raise a TypeError if an operation does not take the models of an estimator."""
    name, entry = type(model).__name__, find_by_class(type(model))
    if entry is None:
        raise TypeError(
            f"{operation} takes an estimator of hyperboxes, not {name}. For a meta-estimator, pass "
            "the fitted estimator in it, such as search.best_estimator_ or pipeline[-1]."
        )
    if operation not in SUPPORTED[entry.kind]:
        reason = _REASONS[entry.kind]
    elif operation in _JOIN:
        reason = "" if entry.merge_settings else "its boxes are neither merged nor pruned"
    elif operation in SUPPORTED["undecided"]:
        reason = ""
    elif has_threshold and entry.kind != "additive":
        reason = "a threshold moves its decisions away from the boxes (estimator_ has none)"
    else:
        reason = getattr(model, "_decided_otherwise", "")
    n_neighbors = getattr(model, "n_neighbors_", 1)
    if operation == Operation.CRISP_SQL and not reason and n_neighbors > 1:
        raise TypeError(
            f"{operation} is unsupported for this {name}: the {n_neighbors} nearest boxes of each "
            'class decide together. Leave out nearest=False, or fit it with decision="nearest".'
        )
    is_single = entry.kind == "nearest" and n_neighbors == 1
    if operation == Operation.CONTRIBUTIONS and not reason and is_single:
        raise TypeError(
            f"{operation} is unsupported for this {name}: a single box of each class decides, so "
            "there is nothing to add up. Use explain or ParallelCoordinatesDisplay."
        )
    if reason:
        instead = _advise(model, entry.kind, operation)
        raise TypeError(f"{operation} is unsupported for {name}: {reason}. {instead}")


def _advise(model: Any, kind: str, operation: Operation) -> str:
    """Return what to do instead."""
    if operation == Operation.DASK_FIT and hasattr(model, "partial_fit"):
        return _PARTIAL_FIT
    if operation in _JOIN:
        return _INSTEAD[operation]
    found = SUPPORTED[kind] if operation not in SUPPORTED[kind] else SUPPORTED["undecided"]
    *names, last = [name for name in Operation if name in found - _JOIN and name.isidentifier()]
    return f"Use {', '.join(names)} or {last}."
