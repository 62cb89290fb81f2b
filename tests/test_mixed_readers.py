"""What reads `MixedGFMM`: explanations, SQL, ONNX, reports and plots tell what it counts."""

from __future__ import annotations

import itertools
import json
import sqlite3
from contextlib import closing
from functools import cache

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

from hyperboxes import (
    BoxesDisplay,
    MixedGFMM,
    explain,
    export_frame,
    export_html,
    export_sql,
    export_text,
    merge,
    prune,
    to_onnx,
)
from tests.browser import needs_browser
from tests.databases import connect_to_duckdb
from tests.graphs import in_short_chunks

COLUMNS = ["size", "weight", "colour", "sold", "grade"]
NUMBERS, CATEGORICAL = COLUMNS[:2], COLUMNS[2:]


def make_table(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers with ties, text, Booleans and numbers that are categories; some missing."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": random.integers(0, 9, n) * 12.5,
            "weight": random.integers(0, 5, n) / 4,
            "colour": random.choice(["red", "green", "blue", "it's"], n),
            "sold": random.choice([True, False], n),
            "grade": random.choice([1, 2, 7], n).astype(float),
        }
    )
    score = table["size"] / 50 + (table["colour"] == "red") + (table["grade"] == 7)
    y = np.array(["no", "some", "yes"])[np.digitize(score + random.normal(0, 0.5, n), [1, 2])]
    for name in ("size", "colour", "grade"):
        table.loc[random.random(n) < 0.1, name] = None
    return table, y


@cache
def fitted(columns: tuple[str, ...] = tuple(COLUMNS), **options) -> MixedGFMM:
    """Return a model of some columns."""
    table, y = make_table(150, seed=0)
    chosen = [name for name in columns if name in CATEGORICAL]
    model = MixedGFMM(random_state=0, categorical_features=chosen, **options)
    return model.fit(table[list(columns)], y)


# Memberships that fall to 0, of all kinds of columns, and boxes of a single sample.
MODELS = [
    {},
    {"alpha": 0.3, "gamma": 9.0, "theta": 0.2},
    {"alpha": 1.0, "gamma": 9.0},
    {"alpha": 0.0, "delta": 2.0},
    {"columns": tuple(CATEGORICAL)},
    {"columns": ("colour", "size")},
]


def make_questions(columns, seed: int = 1) -> pd.DataFrame:
    """Return samples to ask about: others, beyond the range, with categories never learned."""
    table, _ = make_table(120, seed)
    table.loc[:4, "size"] = 900.0
    table.loc[3:9, "colour"] = "violet"
    return table[list(columns)]


@pytest.mark.parametrize("options", MODELS)
def test_readers_rank_boxes_as_prediction_does(options):
    model = fitted(**options)
    asked = make_questions(model.feature_names_in_)
    boxes = model.hyperboxes_
    samples = model._intervals(asked, None).scaled()
    ranks = model._model.closeness(*samples, np.arange(len(boxes)))
    by_class = [ranks[:, boxes.labels == label].max(axis=1) for label in range(3)]
    np.testing.assert_array_equal(np.maximum(by_class, 0).T, model.membership(asked))
    winners = model.apply(asked)
    np.testing.assert_array_equal(ranks[np.arange(len(asked)), winners], ranks.max(axis=1))


@pytest.mark.parametrize("options", MODELS)
@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_sql_gives_what_predict_gives(options, database):
    model = fitted(**options)
    asked = make_questions(model.feature_names_in_)
    sql = export_sql(model, table="asked")
    if database == "sqlite":
        with closing(sqlite3.connect(":memory:")) as connection:
            asked.to_sql("asked", connection, index=False)
            got = pd.read_sql(sql, connection)["prediction"]
    else:
        cursor = connect_to_duckdb().cursor()
        cursor.register("asked", asked)
        got = cursor.execute(sql).df()["prediction"]
        cursor.close()
    assert got.tolist() == model.predict(asked).tolist()


def test_sql_says_what_it_cannot():
    with pytest.raises(TypeError, match="count categories"):
        export_sql(fitted(), nearest=False)
    names = pd.DataFrame({"name": [f"n{i}" for i in range(1001)]})
    model = MixedGFMM().fit(names, np.arange(1001) % 2)
    with pytest.raises(ValueError, match="counts 1,001 values"):
        export_sql(model)


@pytest.mark.parametrize("options", MODELS)
def test_onnx_gives_what_predict_gives(options):
    model = fitted(**options)
    asked = make_questions(model.feature_names_in_)
    with in_short_chunks(len(model.hyperboxes_)):
        graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    numbers = asked[[name for name in asked if name in NUMBERS]].to_numpy(float)
    categories = asked[[name for name in asked if name in CATEGORICAL]].astype(object)
    texts = categories.where(categories.notna(), "missing").astype(str).to_numpy(object)
    label, membership = session.run(None, {"numbers": numbers, "categories": texts})
    assert label.tolist() == model.predict(asked).tolist()
    assert membership.tobytes() == model.membership(asked).tobytes()


@pytest.mark.parametrize("options", MODELS)
def test_explanations_add_up_to_memberships(options):
    model = fitted(**options)
    asked = make_questions(model.feature_names_in_)
    explanations = explain(model, asked)
    assert explanations.predictions.tolist() == model.predict(asked).tolist()
    assert explanations.winning.tolist() == model.apply(asked).tolist()
    n_flipped = 0
    for explanation in explanations:
        winning, competing = explanation.winning, explanation.competing
        if winning.membership > 0:
            ahead = winning.membership - competing.membership
            if competing.membership > 0:
                assert explanation.separation().sum() == pytest.approx(ahead, abs=1e-12)
            lost = explanation._misses(winning).sum()
            assert 1 - lost == pytest.approx(winning.membership, abs=1e-12)
        assert winning.membership == 1 or not winning.holds_sample
        change = explanation.change
        if change is not None:
            n_flipped += 1
            assert change.prediction != explanation.prediction
        json.dumps(explanation.to_dict())
    assert n_flipped > 100


def test_explanations_in_words():
    table = pd.DataFrame(
        {"size": [1.0, 2, 3, 9, 10], "colour": ["red", "red", "blue", "red", None]}
    )
    model = MixedGFMM(theta=1, delta=1, alpha=0.5, shuffle=False).fit(table, list("aaabb"))
    assert model.category_counts_["colour"].tolist() == [[1, 2], [0, 1]]
    explanation = explain(model, pd.DataFrame({"size": [7.0], "colour": ["blue"]}))[0]
    lines = str(explanation).splitlines()
    assert lines[0] == "a: box 0 (3 training samples) is the closest."
    rows = [" ".join(line.split()) for line in lines[4:6]]
    assert rows[0] == "* colour blue red 2, blue 1 1 of 3 all red 0 of 1"
    assert rows[1] == "size 7 1 to 3 4 above 9 to 10 2 below"
    assert lines[-1] == "To get b: size 7 -> 9."
    shares = explanation.winning.shares
    assert np.isnan(shares[0])
    assert shares[1] == 1 / 3
    told = explanation.to_dict()["features"][1]["winning"]
    assert (told["values"], told["counts"], told["share"]) == (["red", "blue"], [2, 1], 1 / 3)
    assert "red 2, blue 1" in explanation._repr_html_()


def test_a_change_may_be_another_category():
    table = pd.DataFrame({"size": [1.0, 1.5, 2.0] * 4, "colour": ["red"] * 6 + ["blue"] * 6})
    y = ["r"] * 6 + ["b"] * 6
    model = MixedGFMM(random_state=0).fit(table, y)
    explanation = explain(model, table[:1])[0]
    assert explanation.change.features.tolist() == [1]
    assert explanation.change.prediction == "b"
    assert "To get b: colour red -> blue." in str(explanation)


def test_rules_are_measured_by_what_they_decide():
    model = fitted()
    asked, y = make_table(120, seed=1)
    deciders = model.apply(asked)
    frame = export_frame(model, asked, y)
    box = int(np.bincount(deciders).argmax())
    assert frame["coverage"][box] == np.mean(deciders == box)
    of_class = model.classes_[model.hyperboxes_.labels[box]]
    assert frame["precision"][box] == np.mean(y[deciders == box] == of_class)
    assert "short rule" not in frame
    text = export_text(model, asked, y)
    assert "share of the 120 samples given that a box decides" in text
    assert "left out)" not in text


def test_pruning_drops_what_does_harm():
    model = fitted()
    asked, y = make_table(120, seed=1)
    pruned = prune(model, asked, y)
    assert pruned.score(asked, y) == pruned.pruning_.accuracy_after > model.score(asked, y)
    dropped = np.union1d(pruned.pruning_.harmful, pruned.pruning_.unused)
    kept = np.setdiff1d(np.arange(len(model.hyperboxes_)), dropped)
    assert 0 < len(kept) < len(model.hyperboxes_)
    for feature, counts in model.category_counts_.items():
        np.testing.assert_array_equal(pruned.category_counts_[feature], counts[kept])
    np.testing.assert_array_equal(pruned.hyperboxes_.counts, model.hyperboxes_.counts[kept])
    without = prune(model, asked, y, keep_unused=True)
    assert len(without.hyperboxes_) == len(model.hyperboxes_) - len(pruned.pruning_.harmful)
    pruned.partial_fit(asked, y)
    with pytest.raises(TypeError, match="cannot be merged"):
        merge([model, model])


def test_regions_of_a_plane_of_values_are_predictions():
    columns = "colour", "grade"
    model = fitted(columns=columns)
    display = BoxesDisplay.from_estimator(model, features=columns, grid_resolution=36)
    for (x, colour), (y, grade) in itertools.product(
        enumerate(model.categories_["colour"]), enumerate(model.categories_["grade"])
    ):
        column, row = (int(36 * (k + 0.5) / n) for k, n in ((x, 4), (y, 3)))
        predicted = model.predict(pd.DataFrame({"colour": [colour], "grade": [grade]}))[0]
        assert model.classes_[display.regions[row, column]] == predicted


def test_samples_are_spread_within_their_value():
    model = fitted()
    asked, y = make_table(200, seed=1)
    display = BoxesDisplay.from_estimator(model, asked, y, features=["colour", "grade"])
    known = asked.dropna(subset=["colour", "grade"])
    nearest = np.rint(display.samples).astype(int)
    assert [model.categories_["colour"][k] for k in nearest[:, 0]] == known["colour"].tolist()
    assert [model.categories_["grade"][k] for k in nearest[:, 1]] == known["grade"].tolist()
    assert len(np.unique(display.samples, axis=0)) == len(known)


@needs_browser
def test_reports_show_counts(show):
    model = fitted()
    asked, y = make_table(60, seed=1)
    window = show(model, asked, y)
    assert "box counts" not in window.text("body")
    order = np.argsort(-model.hyperboxes_.counts, kind="stable")
    conditions = window.texts("#rule-table tbody tr > :nth-child(6)")
    for box, text in zip(order, conditions, strict=False):
        counts = model.category_counts_["colour"][box]
        if (counts > 0).sum() == 1:
            assert f"colour all {model.categories_['colour'][counts.argmax()]}" in text
        elif counts.any():
            best = counts.argmax()
            assert f"colour {model.categories_['colour'][best]} {counts[best]}" in text
    explanation = explain(model, asked[:1])[0]
    rows = window.texts("#strip-table tbody tr > :first-child")
    first = explanation.feature_names[explanation.features_by_weight()[0]]
    assert rows[0].startswith(first)
    assert "it does not compute memberships" in window.text("body")
    assert "Coverage" in window.text("body")
    assert export_html(model, asked, y).count("whose class it decides") == 1
