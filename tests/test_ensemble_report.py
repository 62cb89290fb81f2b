"""The report on an ensemble: its numbers are the model's and its explanations'."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from hyperboxes import RandomHyperboxes, explain, export_frame, export_html

IRIS = load_iris(as_frame=True)
NAMES = IRIS.target_names.tolist()


def data_of(page):
    """Return the data that the scripts of a page read."""
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def case():
    """Return a model, samples with missing values, and the data of the report's page."""
    model = RandomHyperboxes(n_estimators=7, random_state=0)
    model.fit(IRIS.data[::2], IRIS.target[::2])
    X, y = IRIS.data[1::2].copy(), IRIS.target[1::2]
    X.iloc[::5, 2] = np.nan
    page = export_html(model, X, y, class_names=NAMES, max_rules=12, max_samples=40)
    return model, X, y, data_of(page)


def test_rules_are_those_of_the_model(case):
    model, X, y, data = case
    told, frame = data["boxes"], export_frame(model, X, y)
    assert data["nBoxes"] == model.n_boxes_ == len(frame)
    shown = frame.loc[told["index"]]
    names = shown["member"].astype(str) + "." + shown["box of the member"].astype(str)
    assert told["name"] == names.tolist()
    assert told["label"] == shown["class"].tolist()
    assert told["count"] == shown["support"].tolist()
    assert_allclose(told["coverage"], shown["coverage"], atol=1e-6)
    precision = [np.nan if value is None else value for value in told["precision"]]
    assert_allclose(precision, shown["precision"], atol=1e-6)
    for conditions, (_, row) in zip(told["conditions"], shown.iterrows(), strict=True):
        ends = np.array([row[[f"{name} lower", f"{name} upper"]] for name in X.columns], float)
        assert [j for j, _ in conditions] == np.flatnonzero(np.isfinite(ends).any(axis=1)).tolist()


def test_samples_are_explained_as_by_explain(case):
    model, X, _, data = case
    assert len(data["samples"]) == 40
    for sample in data["samples"]:
        rows = X[sample["row"] - 1 : sample["row"]]
        said = explain(model, rows, class_names=NAMES)[0]
        assert sample["predicted"] == model.predict(rows)[0] == said.prediction
        assert_allclose(sample["memberships"], model.predict_proba(rows)[0], atol=1e-6)
        others = np.where(said.classes == said.prediction, -1.0, said.scores)
        assert sample["rival"] == others.argmax()
        total = sum(number for *_, number in sample["features"]) + sample["rest"]
        assert total == pytest.approx(said.feature_contributions.sum(), abs=1e-5)
        assert sample["why"].startswith(f"{said.class_name} is the nearest class for ")
        loudest = [
            (f"{box.member}.{box.index}", round(box.membership, 6)) for box in said.boxes[:10]
        ]
        names = data["boxes"]["name"]
        assert [(names[place], share) for place, share in sample["boxes"]] == loudest


def test_wrong_samples_come_first_and_the_page_says_what_the_model_is(case):
    model, X, y, data = case
    wrong = set(np.flatnonzero(model.predict(X) != y) + 1)
    assert wrong <= {sample["row"] for sample in data["samples"]}
    page = export_html(model, X, y, title="Irises & more")
    assert "<h1>Irises &amp; more</h1>" in page
    assert f"{model.n_boxes_:,}, " in page
    assert f"{model.oob_score_:.1%} of the training samples" in page
    assert f"{model.feature_importances_.max():.3f}" in page
    assert "in-a-box" not in page


def test_categories_and_missing_values_are_named():
    table = pd.DataFrame({"a": ["x", "y", "z"] * 20, "b": np.arange(60.0)})
    y = np.where(table["a"] == "x", "one", "two")
    model = RandomHyperboxes(n_estimators=5, random_state=0).fit(table, y)
    table.loc[0, "b"] = np.nan
    data = data_of(export_html(model, table, y, max_samples=1))
    texts = {text for box in data["boxes"]["conditions"] for j, text in box if j == 0}
    assert "= x" in texts
    values = {j: value for j, value, _ in data["samples"][0]["features"]}
    assert values.get(0) == "x"


def test_one_class_has_no_rival():
    model = RandomHyperboxes(n_estimators=2, random_state=0).fit([[1.0], [2.0]], ["a", "a"])
    data = data_of(export_html(model, [[1.0]], ["a"]))
    assert data["samples"][0]["rival"] == -1
    assert data["samples"][0]["features"] == []
