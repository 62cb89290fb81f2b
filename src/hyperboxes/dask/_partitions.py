"""Dask arrays, data frames and delayed parts as one list of partitions."""

from __future__ import annotations

from typing import Any, NamedTuple


class Partition(NamedTuple):
    """Samples of a partition that is yet to be computed: what `fit` takes, delayed or None.

    Labels may be named as a column of the samples, which would otherwise be computed twice.
    """

    X: Any
    y: Any
    X_upper: Any


def is_array(collection: Any) -> bool:
    """Whether something is a Dask array."""
    import dask.array as da

    return isinstance(collection, da.Array)


def is_frame(collection: Any) -> bool:
    """Whether something is a Dask data frame, or a column of one."""
    return hasattr(collection, "map_partitions") and hasattr(collection, "divisions")


def is_list_of_parts(collection: Any) -> bool:
    """Whether something lists delayed parts, or futures of a client."""
    from dask.base import is_dask_collection
    from distributed import Future

    return isinstance(collection, list | tuple) and all(
        is_dask_collection(part) or isinstance(part, Future) for part in collection
    )


def partitions_of(X: Any, y: Any, X_upper: Any) -> list[Partition]:
    """Return the partitions of samples, labels and upper ends, which must match."""
    X = whole_rows(X, "X")
    if isinstance(y, str) and is_frame(X) and y not in X.columns:
        raise ValueError(f"X has no column {y!r} to take for y; it has {list(X.columns)}.")
    if len(parts := _delayed_parts(X, "X")) == 0:
        raise ValueError("X has no partitions.")
    others = []
    for name, collection in (("y", y), ("X_upper", X_upper)):
        if collection is None or (isinstance(collection, str) and is_frame(X)):
            others.append([collection] * len(parts))
            continue
        delayed = _delayed_parts(_like_rows(X, whole_rows(collection, name)), name)
        if len(delayed) != len(parts):
            raise ValueError(
                f"X has {len(parts)} partitions, but {name} has {len(delayed)}. Divide both alike, "
                "by taking them from one data frame, say."
            )
        others.append(delayed)
    return [Partition(*part) for part in zip(parts, *others, strict=True)]


def whole_rows(collection: Any, name: str) -> Any:
    """Return a collection whose partitions hold whole rows; refuse what is not Dask's."""
    if not (is_array(collection) or is_frame(collection) or is_list_of_parts(collection)):
        raise TypeError(
            f"{name} must be a Dask array, a Dask data frame or a list of delayed parts, not "
            f"{type(collection).__name__}. For data in memory, call the estimator's own method."
        )
    if is_array(collection) and collection.ndim > 1 and collection.numblocks[1] > 1:
        return collection.rechunk({1: -1})
    return collection


def split_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """Take the labels of a partition out of its samples, if they are a column of these."""
    return (X.drop(columns=y), X[y]) if isinstance(y, str) else (X, y)


def _like_rows(X: Any, other: Any) -> Any:
    """Divide rows of an array as those of the samples are, where both are known."""
    if not (is_array(X) and is_array(other)) or X.chunks[0] == other.chunks[0]:
        return other
    lengths = X.chunks[0], other.chunks[0]
    is_known = all(length == length for chunks in lengths for length in chunks)  # not NaN
    if is_known and sum(lengths[0]) == sum(lengths[1]):
        return other.rechunk({0: X.chunks[0]})
    return other


def _delayed_parts(collection: Any, name: str) -> list[Any]:
    from dask.delayed import delayed

    if is_list_of_parts(collection):
        return [delayed(part) for part in collection]
    if is_array(collection):
        return list(collection.to_delayed().ravel())
    return list(collection.to_delayed())
