"""Boxes that vote as rules: what they say is so, of every sample, and how they read."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from hyperboxes import BoostedHyperboxes, export_frame, export_text
from hyperboxes._readers.rules import weight_list
from tests.boosted import MANY, held, known_model, problems, small_model

X, Y = load_iris(return_X_y=True)
inf, nan = np.inf, np.nan

NUMBER = r"-?[0-9.]+(?:e[-+][0-9]+)?"
CONDITION = re.compile(
    rf"\(?(?:(?P<low>{NUMBER}) < )?x(?P<feature>\d+)"
    rf"(?: > (?P<above>{NUMBER})| <= (?P<high>{NUMBER})| is not missing)(?P<missing> or missing\))?"
)


def rules_of(text):
    """Return the conditions of each box, as a text, from rules that are not wrapped."""
    lines = (line for line in text.splitlines() if line.startswith("box "))
    return {
        int(head.split()[1]): head.split(maxsplit=2)[2]
        for head in (re.split(r": (?=[-+][0-9])", line)[0] for line in lines)
    }


def satisfied(rule, X):
    """Return which samples satisfy a rule, reading nothing but its text."""
    rows = np.ones(len(X), bool)
    for condition in rule.split(" and "):
        parts = CONDITION.fullmatch(condition)
        values = X[:, int(parts["feature"])]
        low = float(parts["low"] or parts["above"] or -inf)
        met = (values > low) & (values <= float(parts["high"] or inf))
        rows &= met | (np.isnan(values) & (parts["missing"] is not None))
    return rows


@st.composite
def awkward_problems(draw):
    """Draw problems whose values have many digits, are huge or tiny."""
    X, y, weights = draw(problems())
    factor = draw(st.sampled_from([1.0, -1 / 3, 1e300, 1e-310, 12345.678]))
    return (X - draw(st.integers(0, 3))) * factor, y, weights


@settings(max_examples=40, deadline=None)
@given(awkward_problems(), st.booleans())
def test_samples_satisfy_a_rule_if_and_only_if_the_box_holds_them(problem, must_help):
    X, y, weights = problem
    model = small_model(4, early_stopping=must_help).fit(X, y, weights)
    rules = rules_of(export_text(model, width=10**6))
    assert sorted(rules) == list(range(len(model.hyperboxes_)))
    boxes = model.hyperboxes_
    ends = np.concatenate([boxes.lower, boxes.upper, np.nextafter(boxes.lower, -inf)])
    ends = np.concatenate([ends, np.nextafter(boxes.upper, inf)])
    at_the_ends = np.where(np.isfinite(ends), ends, 0.0)
    for samples in (X, at_the_ends, np.full_like(X, nan)):
        for box, inside in enumerate(held(model, samples).T):
            assert_array_equal(satisfied(rules[box], samples), inside)


HEAD = """\
3 boxes. The class with the largest score wins.
Scores start with +0.012 for b.
Each box adds its weights to the scores of the samples that it contains."""


def test_the_text_is_sorted_by_class_and_vote():
    assert export_text(known_model(), width=100) == (
        f"{HEAD}\n\n"
        "box 1  (x1 > 0 or missing): +1.24 for a (1 sample, 100% a)\n\n"
        "box 2  2 < x0 <= 4.25: +2.10 for b (40 samples, 0% b)\n"
        "box 0  x0 > 1.5 and x1 is not missing and (x2 <= 700 or missing): +0.46 for b "
        "(300 samples, > 99% b)"
    )


def test_the_largest_votes_are_told_with_the_names_of_the_caller():
    names = {"feature_names": ["low  end", "y", "z"], "class_names": ["no", "yes"]}
    text = export_text(known_model(), max_rules=1, width=20, **names)
    assert text.endswith(
        "Scores start with\n    +0.012 for yes.\n"
        "Each box adds its weights to the scores of the samples that it contains.\n\n"
        "box 2\n    2 < low  end <= 4.25:\n    +2.10 for yes\n    (40 samples, 0% yes)\n\n"
        "2 more boxes: left out (max_rules=1)."
    )


def test_boxes_may_vote_for_all_classes():
    model = BoostedHyperboxes(MANY, random_state=0).fit(X, Y)
    text = export_text(model, width=10**6)
    for box, votes in enumerate(model.hyperboxes_.weights):
        line = re.search(rf"^box {box} .*$", text, re.MULTILINE)[0]
        told = re.findall(rf"({NUMBER}|\+{NUMBER}) for class (\d)", line)
        assert [int(label) for _, label in told] == np.argsort(-votes, kind="stable").tolist()
        for vote, label in told:
            assert float(vote) == pytest.approx(votes[int(label)], abs=0.005)


def test_of_many_votes_those_that_weigh_most_are_told():
    classes = [f"c{label}" for label in range(8)]
    votes = np.array([0.1, -0.9, 0.0, 0.3, 0.5, -0.2, 0.7, 0.05])
    shown = ["+0.70 for c6", "+0.50 for c4", "+0.30 for c3", "-0.20 for c5", "-0.90 for c1"]
    assert weight_list(votes, classes, 5) == [*shown, "2 smaller weights"]
    more = [*shown[:3], "+0.10 for c0", "+0.05 for c7", *shown[3:]]
    assert weight_list(votes, classes, 6) == weight_list(votes, classes) == more


@pytest.mark.parametrize("max_boxes", [20, MANY])
def test_no_condition_is_spare_and_no_two_boxes_are_equal(max_boxes):
    boxes = BoostedHyperboxes(max_boxes, random_state=0).fit(X, Y).hyperboxes_
    ends = np.hstack([boxes.lower, boxes.upper, boxes.missing_shares])
    assert len(np.unique(ends, axis=0)) == len(boxes)
    for lower, upper, inside in zip(boxes.lower, boxes.upper, boxes.contains(X).T, strict=True):
        for ends, is_open in ((lower, -inf), (upper, inf)):
            for j in np.flatnonzero(np.isfinite(ends)):
                wider = lower.copy(), upper.copy()
                wider[int(is_open > 0)][j] = is_open
                assert ((wider[0] <= X) & (wider[1] >= X)).all(axis=1).sum() > inside.sum()


def test_samples_measure_the_rules():
    model = BoostedHyperboxes(5, random_state=0).fit(X, Y)
    samples, labels = X[::2] + 0.1, Y[::2]
    samples[::3, 2] = nan
    frame = export_frame(model, samples, labels)
    text = export_text(model, samples, labels, width=10**6)
    for box, inside in enumerate(held(model, samples).T):
        assert frame["coverage"][box] == inside.mean()
        precision = (labels[inside] == model.hyperboxes_.labels[box]).mean()
        assert frame["precision"][box] == precision
        assert re.search(
            rf"^box {box} .*, coverage {inside.mean():.1%}, precision {precision:.1%}\)$",
            text,
            re.MULTILINE,
        )


def test_the_table_holds_the_very_boxes_and_votes():
    model = known_model()
    boxes = model.hyperboxes_
    frame = export_frame(model, class_names=["no", "yes"])
    bounds = [f"x{j} {end}" for j in range(3) for end in ("lower", "upper")]
    votes, counts = ["weight for no", "weight for yes"], ["samples of no", "samples of yes"]
    missing = [f"x{j} missing" for j in range(3)]
    first = ["class", "support", "rule", "training precision"]
    assert frame.columns.tolist() == [*first, *votes, *counts, *missing, *bounds]
    assert frame["class"].tolist() == ["yes", "no", "yes"]
    assert frame["training precision"].tolist() == [299 / 300, 1.0, 0.0]
    assert_array_equal(frame["support"], boxes.counts)
    assert_array_equal(frame[votes], boxes.weights)
    assert_array_equal(frame[counts], boxes.class_counts)
    assert_array_equal(frame[missing], boxes.missing_shares)
    assert frame["rule"][2] == "2 < x0 <= 4.25"
    lower, upper = (np.where(np.isinf(ends), np.nan, ends) for ends in (boxes.lower, boxes.upper))
    assert_array_equal(frame[bounds[::2]], lower)
    assert_array_equal(frame[bounds[1::2]], upper)


def test_the_table_names_categories_and_leaves_out_unused_features():
    jobs = np.array(["own", "firm", "none"])[np.arange(90) % 3]
    data = pd.DataFrame({"job": jobs, "age": np.arange(90.0) % 7, "constant": 1.0})
    model = BoostedHyperboxes(random_state=0).fit(data, (jobs == "none") ^ (data["age"] > 3))
    frame = export_frame(model)
    assert {"job values", "age lower", "age upper"} <= set(frame)
    assert not frame.columns.str.startswith("constant").any()
    for values, low, high in zip(
        frame["job values"], model.hyperboxes_.lower, model.hyperboxes_.upper, strict=True
    ):
        assert values is None or set(values) < {"own", "firm", "none"}
        assert (values is None) == np.isinf([low[0], high[0]]).all()


def test_one_class_has_no_boxes():
    model = BoostedHyperboxes(3).fit(X[:50], Y[:50])
    assert export_text(model).startswith("0 boxes. The class")
    assert "Scores start with 0 for every class." in export_text(model)
    assert len(export_frame(model)) == 0


def test_what_boxes_that_vote_do_not_have_is_refused():
    model = known_model()
    with pytest.raises(ValueError, match="written in full: leave out decimals"):
        export_text(model, decimals=2)
    with pytest.raises(ValueError, match="BoostedHyperboxes takes no interval samples"):
        export_text(model, np.ones((2, 3)), X_upper=np.ones((2, 3)))
    with pytest.raises(ValueError, match="y and X_upper describe samples"):
        export_frame(model, y=[0])
    with pytest.raises(ValueError, match="Two classes have the same name"):
        export_frame(model, class_names=["a", "a"])
