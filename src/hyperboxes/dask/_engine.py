"""Work on Dask: inputs as lists of partitions, and the client that runs functions on them."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

from hyperboxes._estimators.merge import neighbors


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
        raise ValueError(f"X has no column {y!r} for y; it has {list(X.columns)}.")
    if len(parts := _delayed_parts(X)) == 0:
        raise ValueError("X has no partitions.")
    others = []
    for name, collection in (("y", y), ("X_upper", X_upper)):
        if collection is None or (isinstance(collection, str) and is_frame(X)):
            others.append([collection] * len(parts))
            continue
        delayed = _delayed_parts(_like_rows(X, whole_rows(collection, name)))
        if len(delayed) != len(parts):
            raise ValueError(
                f"X has {len(parts)} partitions, but {name} has {len(delayed)}. Divide both alike, "
                "such as by taking them from one data frame."
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


@contextmanager
def naming_partition(number: int) -> Iterator[None]:
    """Have errors about data name the partition."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"Partition {number}: {error}") from error


def _like_rows(X: Any, other: Any) -> Any:
    """Divide rows of an array as those of the samples are, where both are known."""
    if not (is_array(X) and is_array(other)) or X.chunks[0] == other.chunks[0]:
        return other
    lengths = X.chunks[0], other.chunks[0]
    is_known = all(length == length for chunks in lengths for length in chunks)  # not NaN
    if is_known and sum(lengths[0]) == sum(lengths[1]):
        return other.rechunk({0: X.chunks[0]})
    return other


def _delayed_parts(collection: Any) -> list[Any]:
    from dask.delayed import delayed

    if is_list_of_parts(collection):
        return [delayed(part) for part in collection]
    if is_array(collection):
        return list(collection.to_delayed().ravel())
    return list(collection.to_delayed())


_NAME = "hyperboxes"


class Engine:
    """Where delayed work is done, and the names of its tasks."""

    def __init__(self, client: Any, progress: bool) -> None:
        self._client = client if client is not None else _default_client()
        self._progress = progress
        self._token = uuid.uuid4().hex
        self._n_trees = 0

    def task(self, function: Callable[..., Any], where: str, *args: Any) -> Any:
        """Return a delayed call, named by what it does and where, for errors and the dashboard."""
        from dask.delayed import delayed

        name = f"{_NAME}-{function.__name__}-{where}-{self._token}"
        return delayed(function, pure=False, traverse=False)(*args, dask_key_name=name)

    def tree(self, function: Callable[[list[Any]], Any], values: Sequence[Any]) -> Any:
        """Combine neighbors, and what comes of them, to one value, in the tree of `merge`.

        Which values meet does not depend on when they arrive.
        """
        values, level = list(values), 0
        self._n_trees += 1
        while len(values) > 1:
            level += 1
            values = [
                group[0]
                if len(group) == 1
                else self.task(function, f"{number}-level-{level}-tree-{self._n_trees}", group)
                for number, group in enumerate(neighbors(values))
            ]
        return values[0]

    def share(self, value: Any) -> Any:
        """Return a value as a task of its own, for many others: a worker gets it once."""
        from dask.delayed import delayed

        return delayed(value, traverse=False)

    def keep(self, values: list[Any]) -> list[Any]:
        """Have delayed values computed, and kept on the workers as long as somebody has them."""
        if self._client is None:
            from dask.base import persist

            return list(persist(*values))
        with _explaining_faults(self._client):
            return list(self._client.persist(values))

    def compute(self, value: Any, *, quiet: bool = False) -> Any:
        """Return what a delayed value comes to; nothing goes on if that fails.

        A quiet one, of many, shows no progress.
        """
        shows = self._progress and not quiet
        if self._client is None:
            from dask.diagnostics.progress import ProgressBar

            with ProgressBar() if shows else nullcontext():
                return value.compute()
        with _explaining_faults(self._client):
            future = self._client.compute(value)
            try:
                if shows:
                    from distributed import progress

                    progress(future, notebook=False)
                return future.result()
            finally:
                future.cancel(reason="hyperboxes is done with it")


def _default_client() -> Any:
    """Return the client that Dask itself would use; None if it would use another scheduler."""
    import dask
    from distributed import default_client

    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    try:
        return default_client()
    except ValueError:
        return None


@contextmanager
def _explaining_faults(client: Any) -> Iterator[None]:
    """Raise errors that name the partition whose workers died, or that the scheduler was lost.

    Dask suspects whatever a worker had to do when it died, so it may name a partition that waited.
    """
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(
            f"Dask's task {_describe(error.task)} was given up: {error.allowed_failures + 1} "
            "workers died with it. Usually a partition takes more memory than a worker has: divide "
            "the data into smaller partitions, or give the workers more. Their logs have details."
        ) from error
    except Exception as error:
        is_lost = isinstance(error, CancelledError | CommClosedError | TimeoutError)
        if not is_lost and client.status != "closed":
            raise
        raise RuntimeError(
            f"The connection to Dask's scheduler was lost ({error}), or somebody has cancelled the "
            "work. The model is as it was before; with a new client, start again."
        ) from error


def _describe(key: Any) -> str:
    """Describe in words what a task does."""
    if not str(key).startswith(f"{_NAME}-"):
        return repr(key)
    words = str(key).removeprefix(f"{_NAME}-").rpartition("-")[0]
    return "'" + words.replace("_", " ").replace("-", " ") + "'"
