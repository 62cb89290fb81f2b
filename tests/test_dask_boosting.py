"""Boosted boxes on Dask: bit for bit the model that one process makes of all rows."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hyperboxes.dask
from hyperboxes import BoostedHyperboxes
from hyperboxes._estimators import boosted
from hyperboxes._learning import boosting

CHUNKS = (150, 0, 260, 190)  # one is empty


@pytest.fixture(autouse=True)
def in_one_thread():
    """Compute here and now, without threads."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=[100, 100_000], ids=["drawn", "all"])
def n_searched(request, monkeypatch):
    """Find boxes on some samples, or on all."""
    monkeypatch.setattr(boosting, "MAX_SEARCHED", request.param)
    return request.param


def samples(n_classes):
    """Return samples with gaps and ties, and classes that depend on two features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(sum(CHUNKS), 4))
    X[:, 3] = np.round(X[:, 3])
    noisy = X[:, 0] * X[:, 1] + X[:, 3] + rng.normal(scale=0.3, size=len(X))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.digitize(noisy, np.quantile(noisy, np.arange(1, n_classes) / n_classes))


def in_parts(X, y):
    """Divide samples into partitions."""
    return da.from_array(X, chunks=(CHUNKS, X.shape[1])), da.from_array(y, chunks=(CHUNKS,))


def assert_same(model, other):
    """Compare all that was learned."""
    assert vars(model).keys() == vars(other).keys()
    for name, value in vars(model._record()).items():
        np.testing.assert_array_equal(value, getattr(other._record(), name))
    np.testing.assert_array_equal(model.classes_, other.classes_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [{"max_boxes": 6}, {"max_boxes": 102}, {"max_boxes": 3, "class_weight": "balanced"}],
    ids=["read", "bags", "weights"],
)
def test_the_model_is_that_of_one_process(n_searched, n_classes, parameters):
    X, y = samples(n_classes)
    model = BoostedHyperboxes(random_state=0, **parameters)
    plain = clone(model).fit(X, y)
    assert hyperboxes.dask.fit(model, *in_parts(X, y)) is model
    assert_same(model, plain)
    for ours, theirs in zip(
        model.staged_predict_proba(X[:20]), plain.staged_predict_proba(X[:20]), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("most", [400, 10_000])
def test_boxes_found_many_at_a_time(most, monkeypatch):
    monkeypatch.setattr(boosted, "_MANY_SAMPLES", 500)
    monkeypatch.setattr(boosting, "MAX_DIVIDED", most)
    X, y = samples(3)
    model = BoostedHyperboxes(120, class_weight="balanced", random_state=0)
    plain = clone(model).fit(X, y)
    assert plain._runs[0].path.n_stages < len(plain.hyperboxes_)
    assert_same(hyperboxes.dask.fit(model, *in_parts(X, y)), plain)


def test_partitions_in_any_division_and_by_threads(n_searched):
    X, y = samples(3)
    plain = BoostedHyperboxes(4, random_state=np.random.RandomState(1)).fit(X, y)
    for chunks in (100, 333):
        parts = da.from_array(X, chunks=(chunks, 4)), da.from_array(y, chunks=chunks)
        with dask.config.set(scheduler="threads"):
            model = BoostedHyperboxes(4, random_state=np.random.RandomState(1))
            assert_same(hyperboxes.dask.fit(model, *parts), plain)


def test_names_and_categories(n_searched):
    X, y = samples(3)
    drawn = np.random.default_rng(1).integers(4, size=len(y))
    colours = np.array(["red", "green", "blue", None], object)[drawn]
    colours[y == 2] = np.where(X[y == 2, 0] > 0, "violet", colours[y == 2])
    table = pd.DataFrame(X, columns=list("abcd")).assign(
        colour=colours, kind=np.array(["low", "middle", "high"])[y]
    )
    model = BoostedHyperboxes(8, random_state=0)
    plain = clone(model).fit(table.drop(columns="kind"), table["kind"])
    hyperboxes.dask.fit(model, dd.from_pandas(table, npartitions=3, sort=False), "kind")
    assert_same(model, plain)
    assert model.categories_ == plain.categories_
    assert model.get_params() == plain.get_params()
    assert model.predict(table.drop(columns="kind")).tolist() == list(
        plain.predict(table.drop(columns="kind"))
    )


def test_answers_of_partitions(n_searched):
    X, y = samples(3)
    model = BoostedHyperboxes(4, random_state=0).fit(X, y)
    parts, _ = in_parts(X, y)
    np.testing.assert_array_equal(hyperboxes.dask.predict(model, parts), model.predict(X))
    probabilities = hyperboxes.dask.predict_proba(model, parts)
    np.testing.assert_array_equal(probabilities, model.predict_proba(X))
    assert probabilities.name.startswith("hyperboxes-predict_proba")
    with pytest.raises(TypeError, match="supports points only: leave X_upper out"):
        hyperboxes.dask.predict(model, parts, X_upper=parts)


def test_what_cannot_be_boosted_in_parts():
    X, y = in_parts(*samples(2))
    model = BoostedHyperboxes(3, random_state=0)
    with pytest.raises(ValueError, match="leave min_box_samples out"):
        hyperboxes.dask.fit(model, X, y, min_box_samples=2)
    with pytest.raises(ValueError, match=r"Partition 0: .* takes no intervals"):
        hyperboxes.dask.fit(model, X, y, X_upper=X)
    with pytest.raises(ValueError, match=r"Partition 0: .* requires y"):
        hyperboxes.dask.fit(model, X)
    with pytest.raises(ValueError, match="Partition 0: Unknown label type"):
        hyperboxes.dask.fit(model, X, y + 0.5)
    assert not hasattr(model, "classes_")
