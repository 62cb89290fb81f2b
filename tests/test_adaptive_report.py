"""The report on a memory that adapts, and on models with exceptions: their numbers are told."""

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from hyperboxes import AdaptiveGFMM, explain, export_html
from hyperboxes._models.adaptive_state import expert_weights
from tests.browser import needs_browser
from tests.learners import ImprovedOnlineGFMM

IRIS = load_iris(as_frame=True)
NAMES = list(IRIS.target_names)
nan = float("nan")


def data_of(page):
    """Return the data that the scripts of a page read."""
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def stream():
    """Return a memory of a stream, and samples that follow, some with missing values."""
    order = np.random.default_rng(0).permutation(150)
    X, y = IRIS.data.iloc[order], IRIS.target.iloc[order]
    rest = X[100:].copy()
    rest.iloc[::7, 2] = nan
    model = AdaptiveGFMM(theta=0.2, max_boxes=40).fit(X[:100], y[:100])
    return model, rest, y[100:]


def test_boxes_and_votes_are_the_models(stream):
    model, X, y = stream
    data = data_of(export_html(model, X, y, class_names=NAMES))
    boxes, explanations = model.hyperboxes_, explain(model, X, class_names=NAMES)
    assert data["boxes"]["count"] == boxes.counts.tolist()
    assert data["boxes"]["age"] == model.box_ages_.tolist()
    assert_allclose(np.array(data["boxes"]["lower"], float), boxes.lower, atol=0.01)
    assert data["byWeight"] == np.argsort(-model.feature_weights_, kind="stable").tolist()
    held = ((X.to_numpy()[:, None] >= boxes.lower) | X.isna().to_numpy()[:, None]) & (
        (X.to_numpy()[:, None] <= boxes.upper) | X.isna().to_numpy()[:, None]
    )
    assert [sample["isHeld"] for sample in data["samples"]] == held.all(axis=2).any(axis=1).tolist()
    for sample, explanation in zip(data["samples"], explanations, strict=True):
        assert NAMES[sample["predicted"]] == explanation.class_name
        assert_allclose(sample["memberships"], explanation.probabilities, atol=1e-6)
        told = [(box.index, box.membership) for box in explanation.boxes]
        assert [box for box, _ in sample["voters"]] == [box for box, _ in told[:10]]
        assert_allclose(sum(share for _, share in sample["voters"]) + sample["rest"], 1, atol=1e-4)
        assert sample["nVoters"] == len(told)
        assert sample["why"] == str(explanation).splitlines()[0]
        assert sample["tie"] == explanation.notes[0]
    assert "does not add up such votes" in data["editing"]["reason"]


def test_the_page_tells_whom_the_memory_trusts(stream):
    model, X, y = stream
    page = export_html(model, X, y, title="A stream")
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))
    assert f"Boxes {len(model.hyperboxes_)} of at most 40" in text
    assert "Samples learned 100" in text
    rows = re.findall(r"<tr><th scope=\"row\">(?:the last|all boxes).*?</tr>", page)
    numbers = [re.findall(r"<td[^>]*>([\d,]+)%?</td>", row) for row in rows]
    scores = np.round(100 * model.horizon_scores_)
    assert np.array(numbers, float)[:, 1:5].tolist() == scores.tolist()
    assert [int(row[0]) for row in numbers] == [
        (model.box_ages_ < horizon).sum() for horizon in (32, 128, 512, 2**62)
    ]
    shares = np.round(100 * expert_weights(model.horizon_scores_).sum(axis=1))
    assert_allclose([float(row[5]) for row in numbers], shares, atol=1)
    assert "$" not in page.replace("${", "")
    with pytest.raises(NotFittedError):
        export_html(AdaptiveGFMM(), X, y)


def test_limits_and_intervals_of_a_memory(stream):
    model, X, y = stream
    data = data_of(export_html(model, X, y, X_upper=X + 0.1, max_samples=2, max_rules=1))
    assert len(data["samples"]) == 2
    assert all(sample["upper"] != sample["lower"] for sample in data["samples"])
    assert len(data["boxes"]["index"]) < data["nBoxes"] == len(model.hyperboxes_)
    voters = {box for sample in data["samples"] for box, _ in sample["voters"]}
    assert voters == set(range(len(data["boxes"]["index"])))


@needs_browser
def test_a_memory_in_the_browser(show, stream):
    model, X, y = stream
    explanation = explain(model, X, class_names=NAMES)[3]
    for width in (1200, 360):
        window = show(model, X, y, class_names=NAMES, width=width)
        assert window.evaluate("return document.documentElement.scrollWidth") <= width
        window.write("#sample-row", "4")
        why = [str(explanation).splitlines()[0], *explanation.notes]
        assert window.text("#sample-why") == " ".join(why)
        boxes = window.texts("#voter-table tbody th")
        assert boxes[:3] == [f"box {box.index}" for box in explanation.boxes[:3]]
        shares = window.texts("#voter-table [data-name=Share]")
        assert shares[0] == f"{100 * explanation.boxes[0].membership:.1f}%"
        assert not window.find("#edit").is_displayed()
        assert "does not add up such votes" in window.text("#edit-refusal")
    window.choose("#rule-sort", "matched")
    ages = window.texts("#rule-table [data-name=Matched]")
    oldest = int(model.box_ages_.max())
    assert ages[0] == f"{oldest} samples ago"
    window.choose("#sample-kind", "in no box")
    held = window.evaluate("return report.samples.map(sample => sample.isHeld)")
    assert window.text("#sample-place").endswith(f" of {held.count(False)}")


@needs_browser
def test_categories_have_a_strip_of_cells(show):
    colours = ["red", "red", "green", "green", "blue", "blue"] * 10
    table = pd.DataFrame({"colour": pd.Categorical(colours), "size": np.arange(60) % 7})
    labels = np.where(table["colour"] == "red", "yes", "no")
    model = ImprovedOnlineGFMM(theta=0.9, categorical_features="from_dtype").fit(table, labels)
    window = show(model, table[:6], labels[:6])
    cells = window.evaluate(
        "const isOurs = (row) => row.textContent.startsWith('colour');"
        "const row = [...document.querySelectorAll('#strip-table tbody tr')].find(isOurs);"
        "const has = (cell, kind) => cell.querySelector(kind) !== null;"
        "return [...row.querySelectorAll('svg g')].map((cell) =>"
        " [cell.textContent, has(cell, '.chosen'), has(cell, '.winning')])"
    )
    names = [name for cell, *_ in cells for name in cell.split(" or ")]
    assert sorted(names) == ["blue", "green", "red"]
    assert [cell for cell, is_chosen, _ in cells if is_chosen] == ["red"]
    assert [cell for cell, _, is_contained in cells if is_contained] == ["red"]
