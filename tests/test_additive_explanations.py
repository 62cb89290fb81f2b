"""Explanations by boxes that vote: what they say adds up, and how they read."""

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_iris

from hyperboxes import BoostedHyperboxes, Explanations, explain
from hyperboxes._readers import explanation_text
from tests.boosted import MANY, known_model, parts, problems, small_model

X, Y = load_iris(return_X_y=True)
nan = np.nan


@settings(max_examples=25, deadline=None)
@given(problems(), st.sampled_from([3, MANY]))
def test_the_parts_add_up_to_what_the_model_says(problem, max_boxes):
    X, y, weights = problem
    model = small_model(max_boxes, early_stopping=False).fit(X, y, weights)
    explanations = explain(model, X)
    assert_array_equal(explanations.predictions, model.predict(X))
    assert_array_equal(explanations.probabilities, model.predict_proba(X))
    counted = parts(model, X)
    is_complete = ~np.isnan(X).any(axis=1)
    for row, explanation in enumerate(explanations):
        total = explanation.baseline.copy()
        for vote in sorted(explanation.boxes, key=lambda vote: vote.index):
            total += vote.contributions
        assert_allclose(explanation.scores, total, atol=1e-12)
        if is_complete[row]:
            assert_array_equal(explanation.baseline, model.intercept_)
            assert_array_equal(explanation.scores, total)
        assert_allclose(explanation.probabilities, softmax(total), rtol=1e-10)
        assert explanation.prediction == model.predict(X[[row]])[0]
        assert {vote.index for vote in explanation.boxes} == set(np.flatnonzero(counted[row]))
        assert all(vote.part == counted[row, vote.index] for vote in explanation.boxes)
        largest = [np.abs(vote.contributions).max() for vote in explanation.boxes]
        assert all(a >= b for a, b in pairwise(largest))


def test_the_text_is_a_table_of_votes():
    sample = [[2.0000001, nan, 7.0]]
    assert str(explain(known_model(), sample)[0]) == (
        "b, probability 0.704: 2 of 3 boxes contain the sample.\n\n"
        "      b        a\n"
        "  -0.01    -0.02  intercept\n"
        "  +2.10           box 2  2 < x0 = 2.0000001 <= 4.25\n"
        "           +1.24  box 1  x1 missing\n"
        "   2.09     1.22  score\n"
        "  0.704    0.296  probability\n\n"
        "It would be a (probability 0.770) with x0 2.0000001 -> 2.\n"
        "Unknown are 1 of the 3 features in conditions: the intercept includes a move of\n"
        "    the scores towards the classes' shares."
    )


def test_boxes_that_count_in_part_say_so():
    model = BoostedHyperboxes(6, random_state=0).fit(X, Y)
    sample = [[nan, 3.0, nan, 1.0]]
    explanation = explain(model, sample)[0]
    part = [box for box in explanation.boxes if box.part < 1.0]
    assert part
    n_inside = len(explanation.boxes) - len(part)
    assert f" boxes contain the sample, {len(part)} in part." in str(explanation)
    assert f": {n_inside or 'none'} of 6 boxes" in str(explanation)
    shares = model.hyperboxes_.missing_shares
    for box in part:
        missing = [j for j in (0, 2) if j in box.constrained]
        assert box.part == np.prod([shares[box.index, j] for j in missing])
        assert_array_equal(box.contributions, box.part * model.hyperboxes_.weights[box.index])
        for j in missing:
            text = f"x{j} missing (counts {shares[box.index, j]:g})"
            assert text in explanation.conditions(box)


def test_other_classes_and_boxes_are_counted():
    model = BoostedHyperboxes(MANY, random_state=0).fit(X, Y)
    explanation = explain(model, X[[70]], class_names=["a" * 30, "b" * 30, "c" * 30])[0]
    text = explanation.to_text(max_boxes=1)
    others = explanation.boxes[1:]
    column = np.argsort(-explanation.scores)[0]
    total = sum(vote.contributions[column] for vote in others)
    assert f" {total:+.2f} " in text
    assert f"  {len(others)} more boxes\n" in text
    assert "1 more class of smaller scores.\n" in text
    assert explanation.to_text(max_boxes=None).count("  box ") == len(explanation.boxes)


def test_boxes_for_classes_that_are_not_shown_are_counted():
    model = known_model()
    explanation = explain(model, [[3.0, 1.0, 7.0]])[0]
    assert explanation_text.not_shown(explanation, np.array([1])) == [
        "1 more class of smaller scores, and 1 box for these alone."
    ]
    assert explanation_text.not_shown(explanation, np.array([1, 0])) == []


def test_values_have_the_digits_that_conditions_ask_for():
    votes = explain(known_model(), [[4.24999999999, 0.00012345678912, 699.5]])[0]
    texts = {vote.index: votes.conditions(vote) for vote in votes.boxes}
    assert texts[2] == ["2 < x0 = 4.25 <= 4.25"]
    assert texts[1] == ["x1 = 0.000123457 > 0"]
    assert texts[0][1:] == ["x1 = 0.000123457 is not missing", "x2 = 699.5 <= 700"]
    exact = explain(known_model(), [[4.2499999, 0.1, 1234567.5]])[0]
    assert ["2 < x0 = 4.2499999 <= 4.25"] in [exact.conditions(vote) for vote in exact.boxes]


def test_whole_numbers_and_categories_read_as_words():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, 400),
            "job": random.choice(["firm", "own", "none"], 400, p=[0.5, 0.3, 0.2]),
            "pay": random.integers(10_000, 99_999, 400),
        }
    )
    scores = X["age"] / 60 + X["pay"] / 50_000 - (X["job"] == "none") + random.normal(0, 0.2, 400)
    model = BoostedHyperboxes(random_state=0).fit(X, scores > scores.median())
    conditions = [
        condition
        for explanation in explain(model, X[:20])
        for box in explanation.boxes
        for condition in explanation.conditions(box)
    ]
    assert any("(not none)" in condition for condition in conditions)
    for condition in conditions:
        name, text = condition.split(" = ")
        if name != "job":
            assert int(text.split()[0]) in X[name].to_numpy()
            assert re.search(r" \((at most \d+|\d+ or more|\d+ to \d+)\)$", condition)


@settings(max_examples=25, deadline=None)
@given(problems(), st.sampled_from([4, MANY]))
def test_changes_give_another_prediction_and_no_single_feature_of_them_is_spare(problem, max_boxes):
    X, y, weights = problem
    model = small_model(max_boxes, early_stopping=False).fit(X, y, weights)
    grid = np.concatenate([model.hyperboxes_.lower, model.hyperboxes_.upper])
    for explanation in explain(model, X[:3]):
        change = explanation.counterfactual
        alone = [
            np.where(np.arange(X.shape[1]) == j, value, explanation.lower)
            for j in range(X.shape[1])
            for end in grid[np.isfinite(grid[:, j]), j]
            for value in (np.nextafter(end, -np.inf), end, np.nextafter(end, np.inf))
            if not np.isnan(explanation.lower[j])
        ]
        single = bool(alone) and (model.predict(alone) != explanation.prediction).any()
        if change is None:
            assert not single
            continue
        assert change.prediction == model.predict([change.lower])[0] != explanation.prediction
        assert change.probability == model.predict_proba([change.lower]).max()
        differs = change.lower != explanation.lower
        known = ~np.isnan(explanation.lower)
        assert_array_equal(np.flatnonzero(differs & known), change.features)
        assert_array_equal(np.isnan(change.lower), ~known)
        assert not single or len(change.features) == 1
        for j in change.features:
            undone = change.lower.copy()
            undone[j] = explanation.lower[j]
            assert model.predict([undone])[0] == explanation.prediction


def test_the_smallest_change_of_a_feature_is_told_by_the_ends_of_conditions():
    explanation = explain(known_model(), [[2.5, 1.0, 900.0]])[0]
    assert explanation.class_name == "b"
    assert explanation.counterfactual.lower.tolist() == [2.0, 1.0, 900.0]
    assert str(explanation).endswith("\n\nIt would be a (probability 0.773) with x0 2.5 -> 2.")
    other = explain(known_model(), [[1.75, 1.0, 900.0]])[0]
    assert str(other).endswith("It would be b (probability 0.705) with x0 1.75 -> above 2.")
    third = explain(known_model(), [[2.0000000003, 1.0, 900.0]])[0]
    assert str(third).endswith("It would be a (probability 0.773) with x0 2.0000000003 -> 2.")


def test_a_model_without_boxes_has_no_change():
    model = BoostedHyperboxes(3).fit(X[:50], Y[:50])
    explanation = explain(model, X[:1])[0]
    assert explanation.counterfactual is None
    assert explanation.boxes == []
    assert "none of 0 boxes contain the sample" in str(explanation)
    assert "The search found no change" in str(explanation)
    assert explanation.to_dict()["counterfactual"] is None


def test_explanations_are_a_sequence_for_other_programs_too():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BoostedHyperboxes(6, random_state=0).fit(frame, np.array(["x", "y", "z"])[Y])
    explanations = explain(model, frame[::30])
    assert isinstance(explanations[1:3], Explanations)
    assert len(explanations[1:3]) == 2
    told = json.loads(json.dumps(explanations.to_dicts(), allow_nan=False))
    model.fit(frame[::-1], np.array(["x", "y", "z"])[Y])  # what was explained stays as it was
    assert explanations.to_dicts() == told
    first = told[0]
    assert first["prediction"] == first["class_name"] == "x"
    total = np.array([values["baseline"] for values in first["classes"]])
    for box in first["boxes"]:
        total += box["contributions"]
        assert sum(box["class_counts"]) == box["count"]
        for condition in box["conditions"]:
            value = X[0, "abcd".index(condition["name"])]
            assert condition["lower"] is None or condition["lower"] <= value
            assert condition["upper"] is None or value <= condition["upper"]
    assert_allclose([values["score"] for values in first["classes"]], total, rtol=1e-12)
    assert first["counterfactual"]["prediction"] != "x"
    assert [feature["name"] for feature in first["features"]] == list("abcd")


def test_notebooks_show_all_parts_and_no_markup_of_names():
    model = BoostedHyperboxes(6, random_state=0).fit(X, Y)
    names = {"feature_names": ["<b>", "c&d", "e", "f"], "class_names": ["<i>", "g", "h"]}
    explanation = explain(model, X[[70]], **names)[0]
    page = explanation._repr_html_()
    assert "<i>" not in page
    assert "c&d" not in page
    assert page.count("<svg") == sum(
        np.count_nonzero(part)
        for part in (explanation.baseline, *(vote.contributions for vote in explanation.boxes))
    )
    for vote in explanation.boxes:
        assert f"box {vote.index}: " in page
    pages = explain(model, X, **names)._repr_html_()
    assert pages.count("<details>") == 20
    assert "and 130 more samples" in pages


def test_what_boxes_that_vote_do_not_explain_is_refused():
    with pytest.raises(ValueError, match="BoostedHyperboxes takes no interval samples"):
        explain(known_model(), np.ones((2, 3)), X_upper=np.ones((2, 3)))
    with pytest.raises(ValueError, match="max_boxes must be a whole number"):
        explain(known_model(), np.ones((1, 3)))[0].to_text(max_boxes=-1)
