"""The SQL of boxes that vote gives every row what `predict` gives, in real databases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.model_selection import FixedThresholdClassifier

from hyperboxes import BoostedHyperboxes, export_sql
from hyperboxes._readers import sql_additive
from tests.boosted import MANY, around, held, known_model, problems, set_fitted, small_model
from tests.databases import all_databases

X, Y = load_iris(return_X_y=True)


@all_databases
@settings(max_examples=10, deadline=None)
@given(problems(), st.sampled_from([5, MANY]))
def test_every_row_gets_the_class_of_predict(ask_database, problem, max_boxes):
    X, y, weights = problem
    model = small_model(max_boxes, early_stopping=False).fit(X / 3, y, weights)
    samples = around(model.hyperboxes_, X / 3)[:2000]
    sql = export_sql(model, table="data")
    assert ask_database(sql, samples) == model.predict(samples).tolist()


@all_databases
def test_sums_are_those_of_predict_to_the_last_bit(ask_database):
    model = known_model()
    votes = np.zeros((3, 2))
    votes[:, 0] = 0.1, 0.2, 0.3  # (0.1 + 0.2) + 0.3 > 0.6 > 0.1 + (0.2 + 0.3)
    set_fitted(model, weights=votes)
    sample = np.array([[3.0, 1.0, 7.0]])
    assert held(model, sample).all()
    total = 0.1 + 0.2 + 0.3
    for start, winner in [(0.6, "a"), (total, "a"), (np.nextafter(total, 1), "b")]:
        set_fitted(model, intercept=np.array([0.0, start]))
        expected = model.predict(sample).tolist()
        assert expected == [winner]
        assert ask_database(export_sql(model, table="data"), sample) == expected


@all_databases
def test_long_sums_are_taken_in_pieces(ask_database, monkeypatch):
    monkeypatch.setattr(sql_additive, "_MOST_IN_A_SUM", 8)
    model = BoostedHyperboxes(MANY, random_state=0).fit(X, Y)
    assert len(model.hyperboxes_) > 16
    samples = around(model.hyperboxes_, X)[::9]
    sql = export_sql(model, table="data")
    assert "score0_16" in sql
    assert ask_database(sql, samples) == model.predict(samples).tolist()


@all_databases
def test_columns_may_have_the_names_that_are_used_within(ask_database):
    model = BoostedHyperboxes(5, random_state=0).fit(X, Y)
    columns = ["box0", "Box_1", "score0", 'say "unknown" scores']
    sql = export_sql(model, table="data", column_names=columns)
    samples = around(model.hyperboxes_, X)
    assert ask_database(sql, samples, columns) == model.predict(samples).tolist()


@all_databases
@settings(max_examples=10, deadline=None)
@given(problems(), st.sampled_from([5, MANY]))
def test_probabilities_are_those_of_predict_proba(ask_database, problem, max_boxes):
    X, y, weights = problem
    model = small_model(max_boxes, early_stopping=False).fit(X / 3, y, weights)
    samples = around(model.hyperboxes_, X / 3)[:200]
    sql = export_sql(model, table="data", probabilities=True)
    n_classes = len(model.classes_)
    answers = np.array(ask_database(sql, samples, last=n_classes + 1), float)
    assert answers[:, 0].tolist() == model.predict(samples).tolist()
    assert_allclose(answers[:, 1:], model.predict_proba(samples), rtol=1e-12)


@all_databases
def test_a_threshold_changes_no_probability(ask_database):
    model = BoostedHyperboxes(5, random_state=0).fit(X, Y > 0)
    tuned = FixedThresholdClassifier(model, threshold=0.9).fit(X, Y > 0)
    sql = export_sql(tuned, table="data", class_names=["a", "b"], probabilities=True)
    answers = ask_database(sql, X, last=3)
    assert [answer[0] == "b" for answer in answers] == tuned.predict(X).tolist()
    p = [answer[1:] for answer in answers]
    assert_allclose(p, tuned.predict_proba(X), rtol=1e-12)


@all_databases
def test_probabilities_of_large_scores(ask_database):
    model = known_model()
    set_fitted(model, intercept=np.array([0.0, 2000.0]))
    sql = export_sql(model, table="data", probabilities=True)
    assert ask_database(sql, np.zeros((1, 3)), last=2) == [(pytest.approx(0.0), 1.0)]


def test_probabilities_need_a_table_and_names_that_differ():
    model = known_model()
    with pytest.raises(ValueError, match=r"probabilities=True is for queries .* pass table"):
        export_sql(model, probabilities=True)
    with pytest.raises(ValueError, match="Two classes have the same name"):
        export_sql(model, table="data", class_names=["a", "a"], probabilities=True)
    sql = export_sql(model, table="data", probabilities=True)
    assert ' AS "probability of a", ' in sql


def test_conditions_read_like_the_rules():
    model = known_model()
    sql = export_sql(model, class_names=["no", "yes"], nullable=False)
    assert sql.startswith("(SELECT CASE\n  WHEN score0 >= score1 THEN 'no'\n  ELSE 'yes'\nEND FROM")
    shares = model._model.missing_shares.copy()
    shares[2, 0] = 0.375
    set_fitted(model, missing_shares=shares)
    sql = export_sql(model)
    learned = 'CAST(CASE WHEN "x1" > 0.0e0 THEN 1 WHEN "x1" IS NULL THEN 1.0e0 ELSE 0 END AS DOUBLE'
    assert f"{learned} PRECISION) AS box1" in sql
    product = 'END AS DOUBLE PRECISION) * CASE WHEN "x2" <= 700.0e0 THEN 1 WHEN "x2" IS NULL'
    assert f'"x1" IS NOT NULL THEN 1 ELSE 0 {product}' in sql
    condition = '"x0" > 2.0e0 AND "x0" <= 4.25e0'
    assert f'CASE WHEN {condition} THEN 1 WHEN "x0" IS NULL THEN 0.375e0 ELSE 0 END' in sql
    assert "0.0123e0 + box0 * 0.456e0 + box2 * 2.1e0 AS score1" in sql
    assert " IS NULL" not in export_sql(known_model(), nullable=False)


@all_databases
def test_a_model_without_boxes_gives_its_class(ask_database):
    model = BoostedHyperboxes(3).fit(X[:50], Y[:50])
    assert ask_database(export_sql(model, table="data"), X[:2]) == [0, 0]


def test_a_default_is_refused():
    with pytest.raises(ValueError, match="give every row a class: leave out default"):
        export_sql(known_model(), default="?")
