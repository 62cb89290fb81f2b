"""Ensembles beyond the estimator: files, explanations, rules, refusals, and scikit-learn's own."""

import io
import json
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier

from hyperboxes import (
    AgglomerativeGFMM,
    BoostedHyperboxes,
    BoxesDisplay,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    RandomHyperboxes,
    explain,
    export_frame,
    export_sql,
    export_text,
    load,
    merge,
    save,
)
from tests.model_files import refusal, saved, sealed

SMALL = partial(RandomHyperboxes, n_estimators=6, random_state=0)


# Files


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"calibrate": False, "temperature": 0, "max_features": (1, 2)},
        {"estimator": AgglomerativeGFMM(0.5, gamma=[1.0, 1.0, 1.0, 1.0])},
        {"estimator": [ImprovedOnlineGFMM(0.2), OnlineGFMM(0.3)]},
    ],
)
def test_saved_models_are_loaded(parameters):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SMALL(**parameters).fit(X, y.map(str))
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    twin = load(file)
    assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    assert_array_equal(twin.feature_importances_, model.feature_importances_)
    assert twin.oob_score_ == model.oob_score_
    assert repr(twin.estimator) == repr(model.estimator)
    again = io.BytesIO()
    save(twin, again)
    assert again.getvalue() == file.getvalue()


@pytest.fixture(scope="module")
def tiny_file():
    """Return the members of a saved model of two members, two features and two classes."""
    X, y = [[0.0, 5.0], [1.0, 6.0], [8.0, 7.0], [9.0, 9.0]], ["a", "a", "b", "b"]
    model = RandomHyperboxes(n_estimators=2, max_features=1, random_state=0).fit(X, y)
    with zipfile.ZipFile(io.BytesIO(saved(model))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(members, name, change):
    """Return the file with an array that is changed, or a key of the header."""
    file = io.BytesIO()
    if name in ("calibration", "oob_score", "temperature", "estimator"):
        header = json.loads(members["model.json"])
        part = header["parameters"] if name == "estimator" else header
        part[name] = change
        return sealed(members | {"model.json": json.dumps(header).encode()})
    array = np.load(io.BytesIO(members[f"{name}.npy"]))
    np.lib.format.write_array(file, np.ascontiguousarray(change(array)), version=(1, 0))
    return sealed(members | {f"{name}.npy": file.getvalue()})


def first(value):
    """Return what puts a value first in an array."""

    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("thresholds", first(np.nan), "codes are not"),
        ("thresholds", first(np.inf), "codes are not in order"),
        ("thresholds", np.ravel, "thresholds.npy has the shape"),
        ("low", first(np.inf), "a feature has no range"),
        ("high", lambda array: array - 100, "a feature has no range"),
        ("n_samples", first(0), "a class has no sample"),
        ("n_samples", lambda array: np.full_like(array, 2**62), "too many samples"),
        ("importances", first(-0.5), "importances are not shares"),
        ("member_sizes", first(3), "has no feature, or too many"),
        ("member_sizes", first(2), "do not add up"),
        ("member_sizes", lambda array: array[:1], "npy has the type"),
        ("member_boxes", first(0), "a member has no box"),
        ("member_boxes", first(9), "do not add up"),
        ("member_features", first(2), "a feature that is none"),
        ("labels", first(2), "a label that is no class"),
        ("labels", np.zeros_like, "no box of a class"),
        ("counts", first(0), "holds no sample"),
        ("lower", lambda array: np.full_like(array, 255), "above the upper"),
        ("lower", lambda array: array[1:], "npy has the type"),
        ("calibration", [1.0, 2.0], "probabilities are not"),
        ("calibration", [1.0, 2.0, 3.0], "probabilities are not"),
        ("calibration", [1.0, None, 0.5], "probabilities are not"),
        ("oob_score", 1.5, "score is no share"),
        ("temperature", -1.0, "temperature is none"),
        ("estimator", {"learner": "Nobody", "parameters": {}}, "a learner is expected"),
        ("estimator", {"learner": "OnlineGFMM", "parameters": {"x": 1}}, "a learner is expected"),
        ("estimator", [{"learner": "OnlineGFMM"}], "a learner is expected"),
        ("estimator", {"learner": 1, "parameters": {}}, "a learner is expected"),
    ],
)
def test_wrong_files_are_refused(tiny_file, name, change, message):
    assert message in refusal(changed(tiny_file, name, change))


def test_files_of_the_same_content_are_read(tiny_file):
    assert load(io.BytesIO(changed(tiny_file, "labels", np.copy))).predict([[0.0, 5.0]]) == ["a"]


def test_members_of_others_cannot_be_saved():
    class Own(ImprovedOnlineGFMM):
        pass

    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="its parameter estimator is a Own"):
        save(SMALL(Own()).fit(X, y), io.BytesIO())


# Reading


@pytest.fixture(scope="module")
def iris():
    """Return the irises, and a model of half of them with names."""
    data = load_iris(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    return X, y, SMALL(n_estimators=12, max_features=(2, 4)).fit(X[::2], y[::2])


@pytest.mark.parametrize("function", ["mean", "min"])
def test_explanations_tell_what_members_said(function):
    X, y = load_iris(return_X_y=True)
    learner = ImprovedOnlineGFMM(0.1, membership_function=function)
    model = SMALL(learner, calibrate=False).fit(X[::2], y[::2])
    explanations = explain(model, X[1::2])
    p = model.predict_proba(X[1::2])
    assert_array_equal(explanations.predictions, model.predict(X[1::2]))
    for row in (0, 33, 41, 60):
        said = explanations[row]
        assert_allclose(said.scores, p[row])
        assert said.prediction == p[row].argmax()
        assert_allclose(sum(box.contributions for box in said.boxes), p[row])
        for box in said.boxes:
            boxes, features = model.members_[box.member], model.estimators_features_[box.member]
            assert boxes.labels[box.index] == box.label
            assert_array_equal(boxes.lower[box.index], box.lower[features])
            assert set(box.constrained) <= set(features)
            inside = (box.lower <= X[1::2][row]) & (X[1::2][row] <= box.upper)
            assert inside.all() == box.holds_sample


def test_explanations_are_texts_and_dictionaries(iris):
    X, _, model = iris
    explanations = explain(model, X.iloc[[1, 101]])
    text = str(explanations[1])
    assert text.startswith("virginica, probability ")
    assert "of 12 members" in text
    assert "How much nearer virginica is than versicolor:" in text
    assert "petal width (cm)" in text
    assert json.loads(json.dumps(explanations.to_dicts()))[0]["prediction"] == "setosa"
    alone = SMALL().fit([[1.0], [2.0]], ["a", "a"])
    assert str(explain(alone, [[1.0]])[0]).startswith("a, probability 1.000: ")


def test_largest_boxes_are_written_as_rules(iris):
    X, y, model = iris
    text = export_text(model, X, y, max_rules=3)
    assert text.startswith(f"12 members with {model.n_boxes_:,} boxes, from 75 training samples.")
    assert text.count("coverage") == text.count("precision") == 3
    assert text.endswith(f"{model.n_boxes_ - 3:,} more boxes: left out (max_rules=3).")
    largest = max(boxes.counts.max() for boxes in model.members_)
    assert f"setosa  {largest} samples" in text
    assert export_text(model).count("member ") == 20


def test_all_boxes_are_rows_of_a_table(iris):
    X, y, model = iris
    frame = export_frame(model, X[::2], y[::2], class_names=["A", "B", "C"])
    assert len(frame) == model.n_boxes_
    row = frame[frame["member"] == 3].iloc[2]
    boxes, features = model.members_[3], model.estimators_features_[3]
    assert row["class"] == "ABC"[boxes.labels[2]]
    for j, name in enumerate(X.columns):
        bounds = row[f"{name} lower"], row[f"{name} upper"]
        if j in features:
            place = features.tolist().index(j)
            ends = np.array([boxes.lower[2, place], boxes.upper[2, place]])
            np.testing.assert_array_equal(bounds, np.where(np.isinf(ends), np.nan, ends))
        else:
            assert np.isnan(bounds).all()
    assert (frame["coverage"] * 75 >= frame["support"] - 1e-9).mean() > 0.9
    assert frame["precision"].mean() > 0.8


@pytest.mark.parametrize(
    "reader",
    [
        export_sql,
        lambda model: merge([model, model]),
        BoxesDisplay.from_estimator,
    ],
    ids=["sql", "merge", "boxes"],
)
def test_errors_of_what_is_for_single_models(iris, reader):
    with pytest.raises(
        TypeError,
        match=r"RandomHyperboxes: many models decide together\. (Use export_text|Fit one)",
    ):
        reader(iris[2])


# Categories


@pytest.fixture(scope="module")
def houses():
    """Return a table with categories, missing ones too, prices, and a model of half of it."""
    random = np.random.RandomState(0)
    table = pd.DataFrame(
        {
            "area": random.uniform(30, 200, 300).round(),
            "district": random.choice(["harbour", "hill", "mill", "park"], 300),
            "garden": random.choice([True, False], 300),
        }
    )
    is_dear = table["district"].isin(["hill", "park"]) & (table["area"] > 80)
    table.loc[::29, "district"] = None
    y = np.where(is_dear, "high", "low")
    return table, y, SMALL(n_estimators=12).fit(table[:150], y[:150])


def test_tables_are_taken_as_they_come(houses):
    table, y, model = houses
    assert set(model.categories_["district"][:2]) in ({"hill", "park"}, {"harbour", "mill"})
    assert model.categories_["garden"] in ([True, False], [False, True])
    assert model.score(table[150:], y[150:]) > 0.9
    numbers = table.copy()
    for name, values in model.categories_.items():
        places = dict(
            zip(values, model._categories[list(table).index(name)].positions, strict=True)
        )
        numbers[name] = table[name].map(places).astype(float)
    twin = SMALL(n_estimators=12, categorical_features=None).fit(numbers[:150], y[:150])
    assert_array_equal(twin.predict_proba(numbers), model.predict_proba(table))


def test_categories_that_are_not_known_are_missing(houses):
    table, _, model = houses
    asked = [table[150:153].assign(district=value) for value in ("moon", None)]
    assert_array_equal(*(model.predict_proba(X) for X in asked))


def test_categories_are_named(houses):
    table, y, model = houses
    assert "    district in {hill, park}" in export_text(model, table, y, max_rules=200)
    said = explain(model, table[150:160])
    told = [str(each) for each in said]
    assert any("district = " in text or "district in {" in text for text in told)
    boxes = [box for each in said.to_dicts() for box in each["boxes"]]
    conditions = [condition for box in boxes for condition in box["conditions"]]
    held = [c["values"] for c in conditions if c["name"] == "district"]
    assert held
    assert all(set(values) <= set(model.categories_["district"]) for values in held)
    assert json.dumps(boxes)


def test_files_keep_categories(houses):
    table, _, model = houses
    twin = load(io.BytesIO(saved(model)))
    assert twin.categories_ == model.categories_
    assert_array_equal(twin.predict_proba(table), model.predict_proba(table))


# Scikit-learn's ensembles


@pytest.mark.parametrize(
    "ensemble",
    [
        BaggingClassifier(ImprovedOnlineGFMM(0.1, calibrate=False), 5, random_state=0),
        BaggingClassifier(AgglomerativeGFMM(calibrate=False), 3, max_features=2, random_state=0),
        BaggingClassifier(RandomHyperboxes(n_estimators=3, random_state=0), 2, random_state=0),
        VotingClassifier(
            [
                ("improved", ImprovedOnlineGFMM(random_state=0)),
                ("merged", AgglomerativeGFMM()),
                ("rules", BoostedHyperboxes(5, random_state=0)),
            ],
            voting="soft",
        ),
        StackingClassifier(
            [("online", OnlineGFMM(random_state=0)), ("random", SMALL())],
            BoostedHyperboxes(5, random_state=0),
            cv=2,
        ),
    ],
    ids=["bagging", "merged and bagged", "ensembles bagged", "voting", "stacking"],
)
def test_ensembles_of_scikit_learn_take_the_learners(ensemble, iris):
    X, y, _ = iris
    ensemble.fit(X[::2], y[::2])
    p = ensemble.predict_proba(X[1::2])
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(ensemble.predict(X[1::2]), ensemble.classes_[p.argmax(axis=1)])
    assert ensemble.score(X[1::2], y[1::2]) > 0.9
