"""The report on boxes that vote: its numbers are the model's, and its texts no markup."""

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from hyperboxes import BoostedHyperboxes, explain, export_html
from tests.boosted import MANY, known_model

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def data_of(page):
    """Return the data that the scripts of a page read."""
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module", params=[8, MANY])
def case(request):
    """Return a model, samples with missing values, and the report's page."""
    samples = X[1::2].copy()
    samples[::5, 2] = np.nan
    model = BoostedHyperboxes(request.param, random_state=0).fit(X[::2], NAMES[Y[::2]])
    return model, samples, export_html(model, samples, NAMES[Y[1::2]])


def test_votes_add_up_to_the_scores(case):
    model, samples, page = case
    data, boxes = data_of(page), model.hyperboxes_
    explanations = explain(model, samples)
    assert data["boxes"]["index"] == list(range(len(boxes)))
    assert [sample["row"] for sample in data["samples"]] == list(range(1, len(samples) + 1))
    for sample, explanation in zip(data["samples"], explanations, strict=True):
        total = np.array(sample["baseline"])
        for held in sample["held"]:
            for code, vote in data["boxes"]["votes"][held["box"]]:
                total[code] += held["part"] * vote
        total += sample["rest"] or 0.0
        assert_allclose(total, sample["scores"], atol=1e-4)
        assert_allclose(sample["scores"], explanation.scores, atol=1e-6)
        assert_allclose(sample["memberships"], explanation.probabilities, atol=1e-6)
        assert sample["nHeld"] == len(explanation.boxes)
        change = str(explanation).split("\n\n")[-1].replace("\n    ", " ")
        change = change.replace("\n", " ").replace("->", "→")
        assert f"{sample['change']} {sample['tie']}".replace("\xa0", " ").rstrip() == change
        told = [held["conditions"] for held in sample["held"]]
        assert told == [explanation.conditions(vote) for vote in explanation.boxes[:30]]


def test_rules_are_those_of_the_model(case):
    model, samples, page = case
    told, boxes = data_of(page)["boxes"], model.hyperboxes_
    held = boxes.contains(samples)
    assert told["count"] == boxes.counts.tolist()
    assert_allclose(told["coverage"], held.mean(axis=0), atol=1e-6)
    of_class = boxes.class_counts[np.arange(len(boxes)), boxes.labels]
    assert_allclose(told["share"], of_class / boxes.counts, atol=1e-6)
    assert_allclose(told["vote"], boxes.weights.max(axis=1), atol=1e-6)
    for conditions, constrains in zip(told["conditions"], boxes.constrains, strict=True):
        assert [feature for feature, _ in conditions] == np.flatnonzero(constrains).tolist()


def test_conditions_are_written_without_their_names():
    page = export_html(known_model(), np.ones((2, 3)), ["a", "b"])
    assert data_of(page)["boxes"]["conditions"] == [
        [[0, "> 1.5"], [1, "not missing"], [2, "<= 700, or missing"]],
        [[1, "> 0, or missing"]],
        [[0, "> 2 and <= 4.25"]],
    ]
    assert "Scores start with +0.012 for b." in page


def test_the_page_tells_what_the_model_is(case):
    model, _, page = case
    text = unescape(re.sub(r"<[^>]+>", " ", page))
    n_conditions = int(model.hyperboxes_.constrains.sum())
    assert f"{n_conditions:,}, {n_conditions / len(model.hyperboxes_):.1f} a box" in text
    assert f"max_boxes={model.max_boxes}" in text
    most = model.feature_importances_.argmax()
    importance = f"{model.feature_importances_[most]:.3f}"
    assert re.search(rf"Which features matter.*? x{most}\s+{importance}\s", text, re.DOTALL)
    n_unused = (model.feature_importances_ == 0).sum()
    assert (f"not used: {n_unused} of " in text.lower()) == (n_unused > 0)
    assert "$" not in page.replace("${", "")  # all parts are filled in


def test_names_are_text_only():
    hostile = ["</script><b>", "${x}", "a&b", "c"]
    model = BoostedHyperboxes(4, random_state=0).fit(pd.DataFrame(X, columns=hostile), Y)
    frame = pd.DataFrame(X, columns=hostile)
    page = export_html(model, frame, Y, class_names=["<i>", "&amp;", "z"], title="<u>")
    assert "</script><b>" not in page
    assert "<i>" not in page
    assert "<u>" not in page
    assert [feature["name"] for feature in data_of(page)["features"]] == hostile


def test_limits_of_the_page():
    model = BoostedHyperboxes(MANY, random_state=0).fit(X, Y)
    data = data_of(export_html(model, X, Y, max_samples=3, max_rules=1))
    assert len(data["samples"]) == 3
    needed = {held["box"] for sample in data["samples"] for held in sample["held"]}
    assert needed == set(range(len(data["boxes"]["index"])))
    assert data["nBoxes"] == len(model.hyperboxes_)
    with pytest.raises(ValueError, match="BoostedHyperboxes takes no interval samples"):
        export_html(model, X, Y, X_upper=X)
    with pytest.raises(ValueError, match="y holds no label"):
        export_html(model, X, [None] * len(X))
