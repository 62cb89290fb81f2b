"""SQL that answers every row as `predict` does, to the last bit, in real databases."""

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from hyperboxes import export_sql
from hyperboxes._models.model import FUNCTIONS
from tests.databases import all_databases, ask_sqlite, databases
from tests.decisions import decide_by
from tests.learners import ImprovedOnlineGFMM, every_function
from tests.test_sql import around, bounds_of, cases, of_many_digits

X, Y = load_iris(return_X_y=True)


def check(ask_database, model, samples):
    decide_by(model, 1)
    sql = export_sql(model, table="data")
    assert ask_database(sql, samples) == model.predict(samples).tolist()


@databases
@settings(max_examples=12)
@given(case=cases(missing=True))
def test_every_row_is_answered_as_by_predict(ask_database, case):
    far = np.vstack([case.samples, 100 * case.samples[:5], -1e9 * case.samples[:5]])
    check(ask_database, case.model, far)


@databases
@settings(max_examples=6)
@given(seed=st.integers(0, 1000), function=st.sampled_from(FUNCTIONS))
def test_numbers_of_many_digits(ask_database, seed, function):
    data = np.random.default_rng(seed).uniform(-1, 1, (5, 2))
    model = of_many_digits(data, 1, function)
    check(ask_database, model, around(bounds_of(model)))  # off by an ulp in all features


@databases
@every_function
def test_many_boxes_and_many_features(ask_database, function):
    rng = np.random.default_rng(0)
    n_features = 70 if function == "mean" else 12
    data, y = rng.random((300, n_features)), rng.integers(0, 3, 300)
    model = ImprovedOnlineGFMM(theta=0.01, membership_function=function).fit(data, y)
    assert len(model.hyperboxes_) > 200
    check(ask_database, model, rng.random((5, n_features)))


@databases
@pytest.mark.parametrize("has_table", [True, False], ids=["query", "expression"])
@pytest.mark.parametrize("name", ["n", "BOX", "label", "v0", "w1", "g2", "rank", "boxes", ""])
def test_columns_may_have_names_of_the_query(ask_database, has_table, name):
    columns = ["a", "b", f"hyperbox_{name}", "d"]
    model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, Y)
    sql = export_sql(model, table="data" if has_table else None, column_names=columns)
    query = sql if has_table else f"SELECT *, {sql} FROM data"
    assert ask_database(query, X, columns) == model.predict(X).tolist()


@databases
@pytest.mark.parametrize("nearest", [True, False])
def test_a_column_that_the_table_lacks_is_an_error(ask_database, nearest):
    model = decide_by(ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, Y), 1)
    sql = export_sql(model, table="data", column_names=["x0", "x1", "x2", "y3"], nearest=nearest)
    with pytest.raises((sqlite3.Error, duckdb.Error)):  # SQLite takes "y3" alone for a text
        ask_database(sql, X)


def check_probabilities(ask_database, model, samples):
    """Compare probabilities, and labels wherever a probability is clearly the largest."""
    sql = export_sql(model, table="data", probabilities=True)
    probabilities = model.predict_proba(samples)
    answers = np.array(ask_database(sql, samples, last=len(model.classes_) + 1), float)
    np.testing.assert_allclose(answers[:, 1:], probabilities, rtol=0, atol=1e-9)
    ordered = np.sort(np.column_stack([np.full(len(samples), -1.0), probabilities]), axis=1)
    is_clear = (ordered[:, -1] - ordered[:, -2] > 1e-9) | (model.n_neighbors_ == 1)
    np.testing.assert_array_equal(answers[is_clear, 0], model.predict(samples)[is_clear])


@all_databases
@settings(max_examples=12, deadline=None)
@given(
    case=cases(missing=True),
    n_neighbors=st.sampled_from([1, 2, 5, 10]),
    width=st.integers(0, 2),
)
def test_probabilities_are_those_of_predict_proba(ask_database, case, n_neighbors, width):
    few = case.samples[:: max(len(case.samples) // 12, 1)]
    far = np.vstack([few, 100 * few[:3], -1e9 * few[:3], few[:1] * np.nan])
    check_probabilities(ask_database, decide_by(case.model, n_neighbors, width), far)


@databases
@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_classes_without_a_box_and_categories(ask_database, n_neighbors):
    rng = np.random.default_rng(0)
    model = ImprovedOnlineGFMM(0.1).partial_fit(
        rng.random((60, 2)), rng.integers(0, 2, 60) * 2, range(5)
    )
    check_probabilities(ask_database, decide_by(model, n_neighbors), rng.random((20, 2)) * 3 - 1)
    table = pd.DataFrame({"a": rng.choice(["x", "y", "z"], 60), "b": rng.random(60)})
    model = ImprovedOnlineGFMM(0.1).fit(table, rng.integers(0, 3, 60))
    sql = export_sql(decide_by(model, n_neighbors), table="data", probabilities=True)
    values = ", ".join(f"('{a}', {b!r})" for a, b in [*table.to_numpy().tolist(), ("new", 0.5)])
    view = f"WITH data (a, b) AS (VALUES {values}) {sql}"
    asked = table.assign(a=table["a"].astype(object))
    asked.loc[len(asked)] = [None, 0.5]
    for connection in (sqlite3.connect(":memory:"), duckdb.connect()):
        found = np.array([answer[3:] for answer in connection.execute(view).fetchall()], float)
        np.testing.assert_allclose(found, model.predict_proba(asked), atol=1e-9)
        connection.close()


def test_probabilities_need_a_table_a_calibration_and_names_that_differ():
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    for options in ({}, {"table": "data", "nearest": False}):
        with pytest.raises(ValueError, match="pass table, and leave out nearest=False"):
            export_sql(decide_by(model, 1), probabilities=True, **options)
    with pytest.raises(ValueError, match="Two classes have the same name"):
        export_sql(model, table="data", class_names=["a", "a", "b"], probabilities=True)
    plain = ImprovedOnlineGFMM(theta=0.3, calibrate=False).fit(X, Y)
    with pytest.raises(ValueError, match="models with calibrate=True"):
        export_sql(plain, table="data", probabilities=True)
    assert ' AS "probability of b", ' in export_sql(
        model, table="data", class_names=list("abc"), probabilities=True
    )


def test_names_and_errors():
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    sql = export_sql(model, table="data", class_names=list("abc"))
    assert ask_sqlite(sql, X) == [list("abc")[label] for label in model.predict(X)]
    for option in ({"default": "none"}, {"nullable": True}):
        with pytest.raises(ValueError, match="every row is answered: leave them out, or pass near"):
            export_sql(model, **option)
    for quote in "`[":
        with pytest.raises(ValueError, match="pass nearest=False for the crisp part"):
            export_sql(model, quote=quote)
