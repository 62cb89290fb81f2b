"""SQL that answers every row as `predict` does, to the last bit, in real databases."""

import sqlite3

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from hyperboxes import export_sql
from hyperboxes._models.model import FUNCTIONS
from tests.learners import ImprovedOnlineGFMM, every_function
from tests.test_sql import around, ask_sqlite, bounds_of, cases, databases, of_many_digits

X, Y = load_iris(return_X_y=True)


def check(ask_database, model, samples):
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
    model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(X, Y)
    sql = export_sql(model, table="data", column_names=["x0", "x1", "x2", "y3"], nearest=nearest)
    with pytest.raises((sqlite3.Error, duckdb.Error)):  # SQLite takes "y3" alone for a text
        ask_database(sql, X)


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
