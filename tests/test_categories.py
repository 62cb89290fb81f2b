"""Tables with categories: places for values, sets in boxes, and everything that reads them."""

from __future__ import annotations

import io
import json
import re
import sqlite3
from collections import Counter
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from hyperboxes import (
    AgglomerativeGFMM,
    BoostedHyperboxes,
    BoxesDisplay,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    ParallelCoordinatesDisplay,
    RandomHyperboxes,
    explain,
    export_html,
    export_sql,
    export_text,
    load,
    merge,
    save,
    to_onnx,
)
from hyperboxes._models.categories import Column, learn_categories
from tests.decisions import decide_by
from tests.tables import COLOURS, make_table


def fitted(cls: type, **parameters: object) -> tuple[object, pd.DataFrame, np.ndarray]:
    """Return a model of the table, and the table."""
    table, y = make_table()
    if "random_state" in cls().get_params():
        parameters["random_state"] = 0
    return cls(**parameters).fit(table, y), table, y


every_learner = pytest.mark.parametrize(
    "cls", [ImprovedOnlineGFMM, OnlineGFMM, AgglomerativeGFMM, BoostedHyperboxes]
)
both_kinds = pytest.mark.parametrize("cls", [ImprovedOnlineGFMM, BoostedHyperboxes])


def weight_word_by_word(values: list[str], labels: list[int]) -> float:
    """Return how many samples of the mean score each category gets, w of `docs/definitions.md`."""
    n = Counter(values)
    ones = Counter(value for value, label in zip(values, labels, strict=True) if label)
    share, n_all = sum(labels) / len(labels), len(labels)
    by_chance = 2 * share * (1 - share)
    beyond = sum(n[v] * 2 * (ones[v] / n[v] - share) ** 2 for v in n) - (len(n) - 1) * by_chance
    between = beyond / (n_all - sum(c * c for c in n.values()) / n_all) if len(n) > 1 else 0.0
    return min(by_chance / between, 1e12) if between > 0 else 1e12


def places_word_by_word(values: list[str], labels: list[int], weight: float) -> dict[str, float]:
    """Return the places of values with two classes as `docs/definitions.md` has it."""
    n = Counter(values)
    ones = Counter(value for value, label in zip(values, labels, strict=True) if label)
    share, n_all = sum(labels) / len(labels), len(labels)
    rare = {value for value in n if n[value] < min(weight, 10)}
    groups = [[value] for value in sorted(n) if value not in rare]
    groups += [sorted(rare)] if rare else []

    def tendency(group: list[str]) -> float:
        total = sum(n[value] for value in group)
        return (sum(ones[value] for value in group) + weight * share) / (total + weight)

    places, before = {}, 0
    for group in sorted(groups, key=tendency):
        total = sum(n[value] for value in group)
        places |= dict.fromkeys(group, (before + total - 0.5 * total) / n_all)
        before += total
    return places


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefg"), st.integers(0, 1)), min_size=2, max_size=60
    ).filter(lambda pairs: len({label for _, label in pairs}) == 2)
)
def test_places_are_what_is_documented(pairs):
    values, labels = [v for v, _ in pairs], [label for _, label in pairs]
    distinct = sorted(set(values), reverse=True)
    codes = np.array([distinct.index(value) for value in values])
    column = Column(distinct, codes, np.array(labels), ["no", "yes"], np.ones(len(values)))
    found = learn_categories(column)
    weight = weight_word_by_word(values, labels)
    expected = places_word_by_word(values, labels, weight)
    assert found.values == tuple(sorted(found.values, key=found.position))
    near = np.diff(np.unique(found.target_means)).min(initial=np.inf) < 1e-9
    near |= abs(weight - round(weight)) < 1e-9
    if not near:  # else rounding decides the order of what is as good as equal, and what is rare
        assert {value: found.position(value) for value in found.values} == expected


def test_a_column_of_names_tells_nothing():
    """Each value has one sample: a place of its own would tell its class by heart."""
    labels = np.arange(40) % 2
    column = Column([f"n{i}" for i in range(40)], np.arange(40), labels, [0, 1], np.ones(40))
    assert np.unique(learn_categories(column).positions).tolist() == [0.5]


def test_values_of_like_classes_are_neighbors_with_several_classes():
    likely = {"a": [0, 0, 1], "b": [0, 0, 1], "c": [1, 1, 2], "d": [2, 2, 2]}
    values = [value for value in likely for _ in range(60)]
    labels = np.array([likely[value][i % 3] for i, value in enumerate(values)])
    codes = np.array([list(likely).index(value) for value in values])
    found = learn_categories(Column(list(likely), codes, labels, [0, 1, 2], np.ones(len(labels))))
    order = "".join(found.values)
    assert order in ("abcd", "bacd", "dcab", "dcba")


@every_learner
def test_boxes_are_those_of_the_places(cls):
    """A model of a table is that of the numbers which stand for its categories."""
    model, table, y = fitted(cls)
    numbers = table.copy()
    for j, name in enumerate(table):
        if j in model._categories:
            numbers[name] = model._categories[j].encode(table[name])
    twin = cls(**model.get_params()).set_params(categorical_features=None).fit(numbers, y)
    np.testing.assert_array_equal(model.hyperboxes_.lower, twin.hyperboxes_.lower)
    np.testing.assert_array_equal(model.hyperboxes_.upper, twin.hyperboxes_.upper)
    np.testing.assert_array_equal(model.predict_proba(table), twin.predict_proba(numbers))
    assert list(model.categories_) == ["colour", "sold"]
    assert sorted(model.categories_["colour"]) == sorted(COLOURS)


@both_kinds
def test_frames_of_every_kind_give_the_same(cls):
    model, table, y = fitted(cls)
    expected = model.predict_proba(table)
    frames = {
        "categories": table.astype({"colour": "category"}),
        "strings": table.astype({"colour": "string"}),
        "objects": table.astype({"colour": object}),
        "polars": pl.from_pandas(table),
        "polars categories": pl.from_pandas(table).cast({"colour": pl.Categorical}),
    }
    for name, frame in frames.items():
        twin = cls(**model.get_params()).fit(frame, y)
        np.testing.assert_array_equal(twin.predict_proba(frame), expected, err_msg=name)
    array = table.to_numpy(dtype=object)
    for wanted in ([1, 2], [-2, -1], [False, True, True]):
        twin = cls(**model.get_params()).set_params(categorical_features=wanted).fit(array, y)
        np.testing.assert_array_equal(twin.predict_proba(array), expected)
    assert list(twin.categories_) == [1, 2]


@both_kinds
def test_numbers_may_be_categories(cls):
    table, y = make_table()
    coded = table.assign(colour=table["colour"].map({c: float(i) for i, c in enumerate(COLOURS)}))
    model = cls(categorical_features=["colour"], random_state=0).fit(coded, y)
    named, _, _ = fitted(cls, categorical_features=["colour"])
    np.testing.assert_array_equal(model.predict(coded), named.predict(table))
    assert all(isinstance(value, float) for value in model.categories_["colour"])


@both_kinds
def test_what_is_not_known_is_missing(cls):
    model, table, _ = fitted(cls)
    pink, missing = table.assign(colour="pink"), table.assign(colour=None)
    np.testing.assert_array_equal(model.predict_proba(pink), model.predict_proba(missing))
    with pytest.raises(ValueError, match="'colour' holds 3, but the model was fitted with"):
        model.predict(table.assign(colour=3))


def test_a_column_of_categories_without_any_value_adds_nothing():
    X, y = np.random.RandomState(0).rand(30, 2), np.arange(30) % 3
    empty = np.column_stack([X, np.full(30, np.nan)])
    params = {"membership_function": "min", "random_state": 0}
    model = ImprovedOnlineGFMM(**params).fit(X, y)
    found = ImprovedOnlineGFMM(**params, categorical_features=[2]).fit(empty, y)
    np.testing.assert_array_equal(found.hyperboxes_.lower[:, :2], model.hyperboxes_.lower)
    assert np.isnan(found.hyperboxes_.lower[:, 2]).all()
    np.testing.assert_array_equal(found.predict_proba(empty), model.predict_proba(X))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["hue"], "names 'hue', which is not a column of X: it has 'size', 'colour', 'sold'"),
        ([7], "has the index 7, but X has 3 features"),
        ([True, False], "has 2 Booleans, but X has 3 features"),
        ([1.5], 'is "from_dtype", None, or a list of names'),
    ],
)
def test_wrong_columns_are_refused(wanted, message):
    table, y = make_table()
    model = ImprovedOnlineGFMM(categorical_features=wanted)
    with pytest.raises(ValueError, match=message):
        model.fit(table, y)
    assert not hasattr(model, "n_features_in_")


def test_names_need_a_frame():
    table, y = make_table()
    with pytest.raises(ValueError, match="X is not a data frame"):
        ImprovedOnlineGFMM(categorical_features=["colour"]).fit(table.to_numpy(object), y)


def test_numbers_as_text_are_no_categories():
    """A stray word in a column of numbers is a mistake, not a category."""
    table, y = make_table()
    texts = table["size"].astype(str).astype(object)
    model = ImprovedOnlineGFMM(random_state=0).fit(table.assign(size=texts), y)
    assert list(model.categories_) == ["colour", "sold"]
    texts[7] = "n/a"
    with pytest.raises(ValueError, match="column 'size' holds 'n/a' in row 7"):
        model.fit(table.assign(size=texts), y)
    assert (
        "size"
        in ImprovedOnlineGFMM(categorical_features=["size", "colour", "sold"])
        .fit(table.assign(size=texts), y)
        .categories_
    )


def test_cells_that_are_no_categories_are_refused():
    table, y = make_table()
    cells = table["colour"].tolist()
    cells[4] = ("red", "blue")
    with pytest.raises(ValueError, match=r"column 'colour' holds .* in row 4, a tuple"):
        ImprovedOnlineGFMM().fit(table.assign(colour=cells), y)
    with pytest.raises(ValueError, match="holds dates, such as"):
        ImprovedOnlineGFMM().fit(table.assign(day=pd.Timestamp("2020-01-01")), y)
    with pytest.raises(ValueError, match="column 'day' holds '2020-01-01' in row 0"):
        ImprovedOnlineGFMM().fit(table.assign(day="2020-01-01"), y)
    with pytest.raises(ValueError, match="not a number"):
        ImprovedOnlineGFMM(categorical_features=None).fit(table, y)


def test_new_values_are_learned_and_known_ones_stay():
    table, y = make_table()
    model = ImprovedOnlineGFMM(random_state=0, scaling=[[0, 0, 0], [10, 1, 1]])
    model.partial_fit(table, y, classes=["no", "yes"])
    before = model._categories[1]
    more, labels = make_table(seed=1)
    more["colour"] = np.where(labels == "yes", "gold", "dust")
    model.partial_fit(more, labels)
    after = model._categories[1]
    assert {value: after.position(value) for value in before.values} == {
        value: before.position(value) for value in before.values
    }
    assert after.position("dust") < after.position("gold")
    assert (model.predict(more) == labels).mean() > 0.9


def test_samples_one_by_one():
    model, table, y = fitted(ImprovedOnlineGFMM)
    rows = table.to_dict("records")
    assert [model.predict_one(row) for row in rows[:20]] == model.predict(table[:20]).tolist()
    n_before = model.hyperboxes_.counts.sum()
    model.learn_one(rows[0], y[0])
    assert model.hyperboxes_.counts.sum() == n_before + 1


def test_intervals_have_one_category():
    table, y = make_table()
    upper = table.assign(size=table["size"] + 0.5)
    model = ImprovedOnlineGFMM(random_state=0).fit(table, y, X_upper=upper)
    assert (model.predict(table, upper) == y).mean() > 0.9
    other = upper.copy()
    row = int(np.flatnonzero(table["colour"] == "red")[0])
    other.loc[row, "colour"] = "green"
    with pytest.raises(ValueError, match=rf"another category than X in column 'colour', row {row}"):
        model.predict(table, other)


def test_weights_count_in_places():
    table, y = make_table(60)
    weights = np.arange(60) % 3
    rows = np.repeat(np.arange(60), weights)
    weighted = BoostedHyperboxes(random_state=0).fit(table, y, sample_weight=weights)
    repeated = BoostedHyperboxes(random_state=0).fit(table.iloc[rows], y[rows])
    assert weighted.categories_ == repeated.categories_
    np.testing.assert_array_equal(weighted.predict_proba(table), repeated.predict_proba(table))


@both_kinds
def test_saved_models_are_the_same(cls):
    model, table, _y = fitted(cls)
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    twin = load(file)
    assert twin.categories_ == model.categories_
    np.testing.assert_array_equal(twin.predict_proba(table), model.predict_proba(table))
    if cls is ImprovedOnlineGFMM:
        more, labels = make_table(seed=2)
        more["colour"] = more["colour"].replace("red", "rose")
        a, b = model.partial_fit(more, labels), twin.partial_fit(more, labels)
        np.testing.assert_array_equal(a.hyperboxes_.lower, b.hyperboxes_.lower)


@pytest.mark.parametrize(
    "change",
    [
        {"places": [0.5]},
        {"values": ["red", "red", "blue", "grey"]},
        {"values": [["red"], "green", "blue", "grey"]},
        {"places": [0.9, 0.2, 0.1, 0.0]},
        {"places": [0.1, 0.2, 0.3, 7.0]},
        {"scores": [["no"]]},
        {"weight": -1.0},
        {"weight": "1"},
    ],
    ids=str,
)
def test_broken_categories_are_refused(change):
    from hyperboxes._files.archive import ModelFileError
    from hyperboxes._files.schema import categories_from_json, categories_to_json

    model, _, _ = fitted(ImprovedOnlineGFMM)
    header = json.loads(json.dumps(categories_to_json(model._categories)))
    assert categories_from_json(header, 3).keys() == {1, 2}
    with pytest.raises(ModelFileError, match="does not exist"):
        categories_from_json(header, 2)
    header["categories"]["1"] |= change
    with pytest.raises(ModelFileError):
        categories_from_json(header, 3)


@both_kinds
def test_sql_gives_what_predict_gives(cls):
    model, table, _ = fitted(cls)
    asked = pd.concat([table, table[:30].assign(colour="pink"), table[:30].assign(size=np.nan)])
    with closing(sqlite3.connect(":memory:")) as database:
        asked.to_sql("t", database, index=False)
        sql = export_sql(model, table="t")
        got = pd.read_sql(sql, database)["prediction"].to_numpy()
        np.testing.assert_array_equal(got, model.predict(asked))
        if cls is ImprovedOnlineGFMM:
            decide_by(model, 1)
            crisp = export_sql(model, table="t", nearest=False, nullable=True, default="?")
            got = pd.read_sql(crisp, database)["prediction"].to_numpy()
            held = (model.membership(asked) == 1.0).any(axis=1)
            np.testing.assert_array_equal(got, np.where(held, model.predict(asked), "?"))
            assert "IN (" in crisp


@both_kinds
def test_onnx_gives_what_predict_gives(cls):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, table, _ = fitted(cls)
    asked = pd.concat([table, table[:30].assign(colour="pink")])
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    texts = asked[["colour", "sold"]].astype(object)
    texts = texts.where(texts.notna(), "").astype(str).to_numpy(object)
    given_ = {"numbers": asked[["size"]].to_numpy(float), "categories": texts}
    np.testing.assert_array_equal(session.run(["label"], given_)[0], model.predict(asked))


def test_rules_name_sets():
    assert "colour in {grey, red}" in export_text(fitted(BoostedHyperboxes)[0])
    text = export_text(fitted(ImprovedOnlineGFMM)[0], all_bounds=True)
    assert "sold" in text
    assert "in {" in text


@both_kinds
def test_explanations_name_values(cls):
    model, table, _ = fitted(cls)
    row = int(np.flatnonzero((table["colour"] == "red") & (table["size"] > 5))[0])
    explanation = explain(model, table[row : row + 1])[0]
    values = {f["name"]: f["value"] for f in explanation.to_dict()["features"]}
    assert values["colour"] == "red"
    assert values["sold"] == bool(table["sold"][row])
    json.dumps(explanation.to_dict())
    changed = explanation.counterfactual
    assert changed is not None
    assert changed.prediction == "no"
    all_changes = " ".join(map(str, explain(model, table[:40])))
    names = "|".join(COLOURS)
    assert re.search(rf"colour ({names}) -> ({names})", all_changes.replace("\xa0", " "))


@both_kinds
def test_report_names_values(cls):
    model, table, y = fitted(cls)
    page = export_html(model, table, y)
    assert all(colour in page for colour in COLOURS)


def test_plots_name_values():
    model, table, y = fitted(ImprovedOnlineGFMM)
    display = BoxesDisplay.from_estimator(model, table, y, features=["size", "colour"])
    assert {tick.get_text() for tick in display.ax_.get_yticklabels()} <= set(COLOURS)
    assert len(display.ax_.get_yticklabels()) > 1
    display = ParallelCoordinatesDisplay.from_estimator(model, table[:1])
    ends = {text.get_text() for text in display.ax_.texts}
    assert {model.categories_["colour"][0], model.categories_["colour"][-1]} <= ends


def test_models_of_other_categories_are_not_merged():
    model, _table, _y = fitted(ImprovedOnlineGFMM)
    other, labels = make_table(seed=5)
    twin = ImprovedOnlineGFMM(random_state=0).fit(other, labels)
    with pytest.raises(ValueError, match="categories, or another order of them, in column"):
        merge([model, twin])
    assert len(merge([model, model]).hyperboxes_) > 0


@pytest.mark.parametrize("model", [ImprovedOnlineGFMM(), BoostedHyperboxes(), RandomHyperboxes()])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "x"], "holds both text and numbers, such as 1 and 'x' in row 1. Make all"),
        (["x", 1], "holds both text and numbers, such as 'x' and 1 in row 1. Make all"),
        ([None, "x", True], "holds both text and numbers, such as 'x' and True in row 2"),
        ([1.0, np.inf], "holds inf in row 1. A category is a string, a finite number"),
        ([None, -np.inf], "holds -inf in row 1. A category is a string, a finite number"),
    ],
    ids=str,
)
def test_values_that_cannot_be_categories_together(model, values, message):
    """They were trained or not by the order of rows, and then neither predicted nor saved."""
    table = pd.DataFrame({"kind": pd.Series((values * 6)[:6], dtype=object), "x": np.arange(6.0)})
    model = clone(model).set_params(categorical_features=["kind"])
    with pytest.raises(ValueError, match=f"column 'kind' {message}"):
        model.fit(table, np.arange(6) % 2)


@pytest.mark.parametrize("model", [ImprovedOnlineGFMM(), BoostedHyperboxes(), RandomHyperboxes()])
@pytest.mark.parametrize("weights", [None, np.arange(30) % 2])
def test_a_column_without_values(model, weights):
    """Or with values in rows without weight only, and with three classes."""
    known = np.ones(30) if weights is None else weights
    kind = pd.Categorical([None if weight else "u" for weight in known])
    table, y = pd.DataFrame({"kind": kind, "x": np.arange(30.0)}), np.arange(30) // 10
    model = clone(model).set_params(random_state=0).fit(table, y, sample_weight=weights)
    assert model.categories_ == {"kind": []}
    assert model.predict(table.assign(kind="u")).shape == (30,)


def test_a_sample_with_a_list_for_a_category():
    table = pd.DataFrame({"kind": pd.Categorical(["u", "v"] * 5), "x": np.arange(10.0)})
    model = ImprovedOnlineGFMM(random_state=0).fit(table, np.arange(10) % 2)
    with pytest.raises(ValueError, match=r"Feature 'kind' is \['u'\]. A category is a string"):
        model.predict_one({"kind": ["u"], "x": 1.0})
