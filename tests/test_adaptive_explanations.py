"""Explanations of a memory that adapts: shares of boxes that add up to the model's own."""

import json

import numpy as np
import pytest

from hyperboxes import (
    AdaptiveGFMM,
    explain,
    export_frame,
    export_sql,
    export_text,
    load,
    merge,
    prune,
    save,
    to_onnx,
)


@pytest.fixture(scope="module")
def stream():
    """Return a model that has seen its world turned upside down, and samples."""
    X = np.random.default_rng(0).random((700, 3))
    X[::9, 1] = np.nan
    y = np.where(X[:, 0] > X[:, 2], "up", "down")
    y[600:] = np.where(y[600:] == "up", "down", "up")
    return AdaptiveGFMM().fit(X, y), X, y


def test_shares_add_up_to_probabilities(stream):
    model, X, _ = stream
    explanations = explain(model, X[-60:])
    np.testing.assert_array_equal(explanations.predictions, model.predict(X[-60:]))
    sums = [sum(box.contributions for box in explanation.boxes) for explanation in explanations]
    np.testing.assert_allclose(sums, [one.scores for one in explanations], atol=1e-9)
    is_complete = ~np.isnan(X[-60:]).any(axis=1)  # the classes' shares count for others
    found = np.array(sums)[is_complete]
    np.testing.assert_allclose(found, model.predict_proba(X[-60:])[is_complete], atol=1e-9)


def test_recent_boxes_outvote_old_ones(stream):
    model, X, _ = stream
    explanations = explain(model, X[:60])
    told = [e for e in explanations if e.competing and e.winning.age + 100 < e.competing.age]
    assert told
    explanation = told[0]
    boxes = [explanation.winning, explanation.competing]
    assert boxes[0].label == explanation.prediction != boxes[1].label
    text = explanation.to_text(max_boxes=None)
    for box in boxes:
        assert box.age == model.box_ages_[box.index]
        assert f"box {box.index}, {box.age} sample" in text
    best = model.horizon_scores_.max()
    assert explanation.notes[0].startswith("The expert with the largest weight takes the ")
    assert f"{best:.0%} of its recent predictions" in explanation.notes[0]
    assert explanation.counterfactual is None
    assert "change" not in text
    assert len(explanations[:3]) == 3


def test_one_class_agrees():
    model = AdaptiveGFMM().fit([[0.0], [1.0], [2.0]], ["a", "a", "a"])
    explanation = explain(model, [[1.0]])[0]
    assert explanation.competing is None
    assert "box 1, 1 sample ago:" in str(explanation)


def test_it_is_plain_for_other_programs(stream):
    model, X, _ = stream
    explanation = explain(model, X[-1:], class_names=["falls", "rises"])[0].to_dict()
    assert json.loads(json.dumps(explanation)) == explanation
    assert [of_class["name"] for of_class in explanation["classes"]] == ["falls", "rises"]
    assert sum(sum(box["contributions"]) for box in explanation["boxes"]) == pytest.approx(1.0)


def test_rules_can_be_read(stream):
    model, X, y = stream
    text = export_text(model, X, y, max_rules=2)
    assert text.startswith(f"{len(model.hyperboxes_)} boxes from ")
    assert len(export_frame(model)) == len(model.hyperboxes_)


def test_what_cannot_be_read_says_why(stream):
    model, X, y = stream
    for refused in (
        lambda: export_sql(model),
        lambda: to_onnx(model),
        lambda: merge([model, model]),
        lambda: prune(model, X, y),
    ):
        with pytest.raises(TypeError, match="the weights of its boxes change with every sample"):
            refused()


def test_the_command_line_explains(stream, get, tmp_path):
    model, X, _ = stream
    save(model, tmp_path / "memory")
    (tmp_path / "rows.csv").write_text("x0,x1,x2\n" + ",".join(map(str, X[1])) + "\n")
    assert load(tmp_path / "memory").n_samples_seen_ == 700
    text = get("explain", "memory", "rows.csv")
    assert "The expert with the largest weight" in text
