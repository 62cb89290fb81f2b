"""Predictions of a fitted model for partitions, computed when their results are."""

from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from hyperboxes._extras import need
from hyperboxes.dask._engine import is_array, is_frame, partitions_of, whole_rows
from hyperboxes.dask._survey import is_empty


def predict(model: Any, X: Any, *, X_upper: Any = None) -> Any:
    """Return the predicted class, or cluster, of each sample, partition by partition.

    Parameters
    ----------
    model : fitted estimator
        An estimator of this package.
    X : dask Array, dask DataFrame, or list of delayed parts
        The samples, or the lower ends of interval samples.
    X_upper : like `X`, default=None
        The upper ends of interval samples.

    Returns
    -------
    y : dask Array, dask Series, or list of delayed parts
        Lazy results, divided like `X`; a Series has the index of the DataFrame.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> import hyperboxes.dask
    >>> from hyperboxes import ImprovedOnlineGFMM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ImprovedOnlineGFMM(random_state=0).fit(X, y)
    >>> labels = hyperboxes.dask.predict(model, da.from_array(X, chunks=(50, 4)))
    >>> labels.chunks
    ((50, 50, 50),)
    >>> float((labels == y).mean().compute()) == model.score(X, y)
    True
    """
    classes = getattr(model, "classes_", None)
    dtype = np.dtype(np.int64) if classes is None else classes.dtype
    return _map(model, "predict", X, X_upper, dtype, column="prediction")


def predict_proba(model: Any, X: Any, *, X_upper: Any = None) -> Any:
    """Return the probabilities of the classes for each sample, partition by partition.

    Parameters
    ----------
    model, X, X_upper
        As in `predict`.

    Returns
    -------
    p : dask Array, dask DataFrame, or list of delayed parts
        Columns in the order of ``model.classes_``, by which those of a data frame are named.
    """
    dtype = np.dtype(np.float64)
    return _map(model, "predict_proba", X, X_upper, dtype, columns=getattr(model, "classes_", None))


def apply(model: Any, X: Any, *, X_upper: Any = None) -> Any:
    """Return the nearest box of the predicted class, partition by partition.

    Parameters
    ----------
    model, X, X_upper
        As in `predict`.

    Returns
    -------
    box : dask Array, dask Series, or list of delayed parts
        Indices into ``model.hyperboxes_``.
    """
    return _map(model, "apply", X, X_upper, np.dtype(np.int64), column="box")


def _map(
    model: Any,
    method: str,
    X: Any,
    X_upper: Any,
    dtype: np.dtype,
    *,
    column: str | None = None,
    columns: np.ndarray | None = None,
) -> Any:
    """Call a method of the model for each partition; its results have a column, or several."""
    if not hasattr(model, method):
        raise TypeError(f"{type(model).__name__} has no method {method}.")
    check_is_fitted(model)
    if X_upper is not None and "X_upper" not in signature(getattr(model, method)).parameters:
        raise TypeError(f"{type(model).__name__} supports points only: leave X_upper out.")
    X = whole_rows(X, "X")
    shape = (0,) if columns is None else (0, len(columns))
    answer = _Answer(method, np.empty(shape, dtype), column, columns)
    if is_frame(X):
        return _map_frame(model, answer, X, X_upper)
    if is_array(X):
        return _map_array(model, answer, X, X_upper)
    from dask.delayed import delayed

    shared, parts = _shared(model), partitions_of(X, None, X_upper)
    call = delayed(answer, pure=False, traverse=False)
    return [call(part.X, part.X_upper, model=shared) for part in parts]


class _Answer:
    """What a model returns for a partition; a part of an array, or of a data frame if it is one."""

    def __init__(
        self, method: str, nothing: np.ndarray, column: str | None, columns: np.ndarray | None
    ) -> None:
        self.__name__ = f"hyperboxes-{method}"  # of Dask's tasks
        self._method = method
        self.nothing = nothing
        self._column = column
        self._columns = columns

    def __call__(self, X: Any, X_upper: Any = None, *, model: Any) -> Any:
        values = self.nothing
        if not is_empty(X, None):
            upper = {} if X_upper is None else {"X_upper": X_upper}
            values = getattr(model, self._method)(X, **upper)
        return self.like(X, values)

    def like(self, X: Any, values: np.ndarray) -> Any:
        """Return values as a Series or frame of pandas where the samples are in one."""
        if not (hasattr(X, "columns") and hasattr(X, "index")):
            return values
        pandas = need("pandas", "dask", "hyperboxes.dask")
        if self._columns is None:
            return pandas.Series(values, index=X.index, name=self._column)
        return pandas.DataFrame(values, index=X.index, columns=self._columns)


def _map_frame(model: Any, answer: _Answer, X: Any, X_upper: Any) -> Any:
    sample = X._meta_nonempty
    validate_data(model, sample, reset=False, skip_check_array=True)  # names of columns
    others = () if X_upper is None else (X_upper,)
    meta = answer.like(X._meta, answer.nothing)
    # A frame of upper ends has the samples' rows, whatever its index is.
    return X.map_partitions(
        answer, *others, model=_shared(model), meta=meta, align_dataframes=False
    )


def _map_array(model: Any, answer: _Answer, X: Any, X_upper: Any) -> Any:
    import dask.array as da

    if X.ndim != 2 or X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has shape {X.shape}, but {type(model).__name__} has learned samples of "
            f"{model.n_features_in_} features."
        )
    arrays = [X] if X_upper is None else [X, whole_rows(X_upper, "X_upper").rechunk(X.chunks)]
    nothing = answer.nothing
    chunks = (X.chunks[0],) if nothing.ndim == 1 else (X.chunks[0], (nothing.shape[1],))
    return da.map_blocks(
        answer,
        *arrays,
        model=_shared(model),
        dtype=nothing.dtype,
        drop_axis=1 if nothing.ndim == 1 else None,
        chunks=chunks,
        meta=nothing,
    )


def _shared(model: Any) -> Any:
    """Return the model as a task of its own, which is sent to each worker once."""
    from dask.delayed import delayed

    return delayed(model, traverse=False)
