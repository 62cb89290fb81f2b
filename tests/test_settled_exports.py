"""SQL and ONNX of models that settle overlaps of classes: the answers of `predict`, bit for bit."""

from functools import partial

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import hyperboxes
from tests.databases import ask_duckdb, ask_sqlite
from tests.graphs import assert_agrees

X, Y = load_iris(return_X_y=True)
ContentiousFuzzyMinMax = partial(hyperboxes.ContentiousFuzzyMinMax, random_state=0, calibrate=False)

resolutions = pytest.mark.parametrize("resolution", ["compensate", "levels"])
cases = pytest.mark.parametrize(
    "case",
    [
        {"theta": 0.5},
        {"theta": 0.3, "membership_function": "min", "gamma": 2.0},
        # Zeros, negative values and those beyond 1.
        {"theta": 0.9, "scaling": [[5.0, 3.0, 2.0, 1.0], [6.0, 3.5, 4.0, 2.0]]},
    ],
)


def fit(resolution, case, *, missing):
    """Learn iris in whole numbers, so that there are ties, or with missing values."""
    data = np.round(X)
    if missing:
        data = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    return ContentiousFuzzyMinMax(resolution, **case).fit(data, Y)


def rows_to_ask(model, n_rows):
    """Return corners of boxes and regions, rows inside and far away, and some with gaps."""
    rng = np.random.default_rng(1)
    boxes, regions = model.hyperboxes_, model.regions_
    corners = np.vstack([regions.lower, regions.upper, boxes.lower, boxes.upper])
    inside = rng.uniform(regions.lower[:1], regions.upper[:1], (n_rows // 4, X.shape[1]))
    some = np.vstack([corners[:n_rows], inside, X[rng.permutation(len(X))[:n_rows]]])
    gaps = np.where(rng.random(some.shape) < 0.3, np.nan, some)
    far = np.vstack([100 * X[:2], -1e9 * X[:2], 1e200 * X[:2]])
    return np.vstack([some, gaps[:n_rows], far])


@resolutions
@cases
@pytest.mark.parametrize("missing", [False, True])
def test_graphs(resolution, case, missing):
    model = fit(resolution, case, missing=missing)
    rows = rows_to_ask(model, 100)
    assert model.is_contentious(rows).sum() > 5
    assert_agrees(model, rows)


@resolutions
@cases
@pytest.mark.parametrize("missing", [False, True])
def test_queries(resolution, case, missing):
    model = fit(resolution, case, missing=missing)
    sql = hyperboxes.export_sql(model, table="data")
    for ask_database, n_rows in ((ask_sqlite, 8), (ask_duckdb, 40)):
        rows = rows_to_ask(model, n_rows)
        assert model.is_contentious(rows).any()
        assert ask_database(sql, rows) == model.predict(rows).tolist()


@resolutions
def test_models_without_overlaps(resolution):
    model = ContentiousFuzzyMinMax(resolution).fit([[0.0], [1.0]], [0, 1])
    rows = np.array([[-3.0], [0.2], [0.5], [0.7], [9.0], [np.nan]])
    assert len(model.regions_) == 0
    assert_agrees(model, rows)
    sql = hyperboxes.export_sql(model, table="data")
    assert ask_duckdb(sql, rows) == model.predict(rows).tolist()


@resolutions
def test_containment(resolution):
    samples = np.array([[0.0, 0.0], [1.0, 1.0], [0.4, 0.4], [0.6, 0.6], [0.7, 0.2]])
    model = ContentiousFuzzyMinMax(resolution, theta=1.0, shuffle=False)
    model.fit(samples, [0, 0, 1, 1, 2])
    rows = np.vstack([samples, [[0.5, 0.5], [0.45, 0.55], [0.7, 0.21], [0.2, 0.2]]])
    assert_agrees(model, rows)
    sql = hyperboxes.export_sql(model, table="data")
    assert ask_duckdb(sql, rows) == model.predict(rows).tolist()


@resolutions
def test_categories(resolution):
    table = pd.DataFrame({"x0": [1.0, 5.0, 4.0, 9.0, 4.5], "x1": pd.Categorical(list("aabba"))})
    model = ContentiousFuzzyMinMax(resolution, theta=1.0).fit(table, [0, 0, 1, 1, 0])
    sql = hyperboxes.export_sql(model)
    connection = duckdb.connect(":memory:")
    connection.execute(
        "CREATE TABLE data AS SELECT * FROM (VALUES (4.2, 'a'), (8.0, 'b')) t(x0, x1)"
    )
    rows = pd.DataFrame({"x0": [4.2, 8.0], "x1": pd.Categorical(list("ab"))})
    found = connection.execute(f"SELECT {sql} FROM data").fetchall()
    assert [row[0] for row in found] == model.predict(rows).tolist()


def test_many_overlaps_need_much_room(monkeypatch):
    model = ContentiousFuzzyMinMax("compensate", theta=0.5).fit(X, Y)
    n_boxes, n_contenders = len(model.hyperboxes_), len(np.unique(model.regions_.boxes))
    room = 16 * n_contenders**2 - 1
    assert room > 2 * 8 * X.shape[1] * n_boxes  # of the boxes alone there is enough
    monkeypatch.setattr("hyperboxes._files.onnx._MAX_BYTES", room)
    with pytest.raises(ValueError, match="boxes overlap those of another class"):
        hyperboxes.to_onnx(model)
