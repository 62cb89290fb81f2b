"""Explanations agree with the model, and what they tell can be checked by asking it again."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from hyperboxes import BoostedHyperboxes, explain
from tests.decisions import decide_by, deciding_models
from tests.learners import (
    LEARNERS,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    every_function,
    every_learner,
    models_and_samples,
)
from tests.strategies import problems

IRIS = load_iris(as_frame=True)
X, Y = load_iris(return_X_y=True)
nan = float("nan")


def closeness(model, box, lower, upper):
    """Return the membership of a sample in a box, beyond its reach minus the distance."""
    boxes, gamma = model.hyperboxes_, np.broadcast_to(model.gamma, len(lower))
    span = model.data_max_ - model.data_min_
    span = np.where(span > 0, span, 1)
    gaps = np.maximum(upper - boxes.upper[box], boxes.lower[box] - lower) / span * gamma
    gaps = np.fmax(gaps, 0)
    if model.membership_function == "min":
        gap = gaps.max()
    else:
        gap = gaps.mean() if (gaps >= 1).all() else np.minimum(gaps, 1).mean()
    return 1 - gap if gap < 1 else -gap


@given(models_and_samples())
def test_explanations_are_the_models_own(case):
    model, _, xl, xu = case
    model = decide_by(model, 1)
    boxes = model.hyperboxes_
    explanations = explain(model, xl, X_upper=xu)
    np.testing.assert_array_equal(explanations.predictions, model.predict(xl, X_upper=xu))
    probabilities = model.predict_proba(xl, X_upper=xu)
    np.testing.assert_array_equal(explanations.probabilities, probabilities)
    memberships = model.membership(xl, X_upper=xu)
    np.testing.assert_array_equal([e.scores for e in explanations], memberships)
    for row, explanation in enumerate(explanations):
        winning, competing = explanation.winning, explanation.competing
        assert model.classes_[boxes.labels[winning.index]] == explanation.prediction
        best = {
            label: max(
                closeness(model, box, xl[row], xu[row])
                for box in np.flatnonzero(boxes.labels == label)
            )
            for label in set(boxes.labels.tolist()) - {-1}
        }
        own = boxes.labels[winning.index]
        scale = 1e-12 * (1 + abs(best[own]))
        assert abs(closeness(model, winning.index, xl[row], xu[row]) - best[own]) <= scale
        assert abs(winning.membership - max(best[own], 0)) <= 1e-12
        assert winning.membership == model.membership(xl[[row]], X_upper=xu[[row]]).max()
        if len(best) == 1:
            assert competing is None
            continue
        rivals = max(value for label, value in best.items() if label != own)
        assert boxes.labels[competing.index] != own
        found = closeness(model, competing.index, xl[row], xu[row])
        assert abs(found - rivals) <= 1e-12 * (1 + abs(rivals))
        assert abs(competing.membership - max(rivals, 0)) <= 1e-12


@settings(max_examples=40)
@given(models_and_samples())
def test_every_view_of_every_explanation(case):
    model, _, xl, xu = case
    explanations = explain(model, xl, X_upper=xu)
    for explanation in explanations:
        assert str(explanation).startswith(explanation.class_name)
        # 12 boxes of three lines, 8 features, and the rest
        assert len(str(explanation).splitlines()) < 65
        check_html(explanation._repr_html_())
        assert (
            json.loads(json.dumps(explanation.to_dict(), allow_nan=False)) == explanation.to_dict()
        )
    check_html(explanations._repr_html_())


class Balanced(HTMLParser):
    """Checks that every element that is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        """Remember an element, unless it is closed at once."""
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Leave out elements that are closed at once."""

    def handle_endtag(self, tag):
        """Forget the last element."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Collect the text."""
        self.text += data


def check_html(html):
    """Return the text of a piece of HTML, which must be well-formed."""
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    assert "nan" not in html.lower().replace("nanometre", "")
    return parser.text


def line():
    """Return a model of one feature: boxes 0 to 2 and 8 to 10 of "low" and "high"."""
    model = ImprovedOnlineGFMM(theta=0.3, membership_function="min")
    return model.fit([[0.0], [2.0], [8.0], [10.0], [9.0]], ["low", "low", "high", "high", "high"])


@settings(max_examples=40)
@given(deciding_models())
def test_several_boxes_divide_the_probability(case):
    model, _, xl, xu = case
    boxes, n_neighbors = model.hyperboxes_, model.n_neighbors_
    probabilities = model.predict_proba(xl, X_upper=xu)
    for row, explanation in enumerate(explain(model, xl, X_upper=xu)):
        assert explanation.prediction == model.classes_[probabilities[row].argmax()]
        np.testing.assert_array_equal(explanation.scores, probabilities[row])
        assert explanation.layout == "sum"
        assert (explanation.baseline >= -1e-15).all()
        added = sum((box.contributions for box in explanation.boxes), explanation.baseline)
        np.testing.assert_allclose(added, probabilities[row], atol=1e-12)
        for code in range(len(model.classes_)):
            of_class = [box for box in explanation.boxes if boxes.labels[box.index] == code]
            shares = [box.contributions[code] for box in of_class]
            assert shares == sorted(shares, reverse=True)
            assert len(of_class) == min((boxes.labels == code).sum(), n_neighbors)
            assert min(shares, default=0) >= 0
            near = sorted(
                (
                    -closeness(model, box, xl[row], xu[row])
                    for box in np.flatnonzero(boxes.labels == code)
                ),
            )[:n_neighbors]
            found = [-closeness(model, box.index, xl[row], xu[row]) for box in of_class]
            np.testing.assert_allclose(found, near[: len(found)], rtol=1e-9, atol=1e-12)
        text = " ".join(str(explanation).split())
        assert f": the {n_neighbors} nearest boxes of each class decide together." in text
        assert "shares of the classes" in text
        assert "the classes</td>" in explanation._repr_html_()
        json.dumps(explanation.to_dict(), allow_nan=False)


def test_what_is_told_of_several_boxes():
    data = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [9.0, 1.0], [10.0, 1.0]])
    model = ImprovedOnlineGFMM(theta=0.01).fit(data, ["a", "a", "a", "b", "b"])
    explanation = explain(decide_by(model, 2), [[3.0, 0.5]], feature_names=["size", "price"])[0]
    shares = dict(zip([box.index for box in explanation.boxes], explanation.boxes, strict=True))
    assert sorted(shares) == [1, 2, 3, 4]
    assert explanation.conditions(shares[2]) == ["size = 4 (1 below)", "price = 0 (0.5 above)"]
    text = str(explanation)
    assert text.startswith("a, probability 0.")
    assert "box 2  price = 0 (0.5 above) and size = 4 (1 below)" in text
    assert "It would be b (probability 0." in text
    assert explanation.deciding is explanation.worst is None
    fixed = explain(model, [[3.0, 0.5]], fixed=[0])[0].counterfactual
    assert fixed is None or fixed.features.tolist() == [1]


def test_what_is_told_of_a_sample_between_two_boxes():
    explanation = explain(line(), [[3.0]], feature_names=["age"])[0]
    assert explanation.prediction == explanation.class_name == "low"
    assert explanation.winning.index == 0
    assert explanation.winning.count == 2
    assert explanation.winning.distance.tolist() == [1]
    assert explanation.winning.fraction.tolist() == [0.1]
    assert explanation.competing.distance.tolist() == [5]
    assert explanation.competing.label == "high"
    assert explanation.deciding == 0
    assert explanation.counterfactual.features.tolist() == [0]
    assert explanation.worst == 0
    assert explanation.counterfactual.lower.tolist() == [8]
    assert repr(explanation) == "Explanation(prediction='low', layout='duel', boxes=[0, 1])"
    assert str(explanation) == (
        "low: box 0 (2 training samples) is the closest.\n"
        "Memberships: low 0.900, high 0.500.\n"
        "\n"
        "        sample  box 0, low       box 1, high\n"
        "*  age  3       0 to 2  1 above  8 to 10  5 below\n"
        "\n"
        "* decides for box 0 against box 1.\n"
        "To get high: age 3 -> 8."
    )


def corners(function):
    """Return a model of two features, with boxes in two corners."""
    model = ImprovedOnlineGFMM(theta=0.5, membership_function=function)
    data = [[0.0, 0.0], [2.0, 2.0], [8.0, 8.0], [10.0, 10.0]]
    return model.fit(data, ["low", "low", "high", "high"])


def test_in_a_mean_all_features_count():
    explanation = explain(corners("mean"), [[7.5, 3.0]])[0]
    assert explanation.prediction == "high"
    np.testing.assert_allclose(explanation.scores, [1 - 0.55 / 2, 1 - 0.65 / 2])
    assert explanation.winning.distance.tolist() == [0.5, 5]
    assert explanation.competing.distance.tolist() == [5.5, 1]
    assert explanation.deciding == 0  # it is nearer to the competing box in the other
    assert explanation.worst == 1
    np.testing.assert_allclose(explanation.separation(), [0.5, -0.4])
    text = str(explanation)
    assert "* counts most for box 1 against box 0. Box 1 fits worst in x1." in text
    assert "decides" not in text
    assert "Box 1 fits worst in x1" in check_html(explanation._repr_html_())
    largest = explain(corners("min"), [[7.5, 3.0]])[0]
    np.testing.assert_allclose(largest.scores, [0.5, 0.45])


def test_a_mean_beyond_reach_in_some_features_and_in_all():
    near, far = explain(corners("mean"), [[-1e9, 3.0], [1e9, -1e8]])
    assert near.prediction == "low"
    assert 0 < near.scores[0] < near.scores[1] < 0.5
    assert "is the closest" in str(near)
    assert far.prediction == "high"
    assert far.scores.tolist() == [0, 0]
    assert "beyond the reach of all boxes" in str(far)


def test_rounding_errors_that_add_up_to_less_than_1():
    """Each alone leaves a full member, together they do not: the explanation agrees with both."""
    model = ImprovedOnlineGFMM(theta=1.0, membership_function="mean", scaling=None)
    model.fit([[0.5, 0.5], [0.75, 0.75], [1.0, 1.0]], [0, 0, 1])
    beyond = np.nextafter(0.75, 1)
    one, both = explain(model, [[beyond, 0.75], [beyond, beyond]])
    assert one.winning.membership == 1
    assert one.winning.holds_sample
    assert both.winning.membership < 1
    assert (both.winning.distance > 0).all()


def test_a_sample_inside_is_told_apart_by_the_competitor():
    model = ImprovedOnlineGFMM(theta=0.5).fit(
        [[0.0, 0.0], [1.0, 1.0], [3.0, 9.0], [10.0, 10.0]], [0, 0, 1, 1]
    )
    explanation = explain(model, [[0.5, 0.5]])[0]
    assert explanation.winning.holds_sample
    assert (explanation.winning.distance == -0.5).all()
    assert explanation.deciding == 1
    assert "contains the sample" in str(explanation)
    wide = ImprovedOnlineGFMM(theta=0.5, gamma=[9, 1]).fit(
        [[0.0, 0.0], [1.0, 1.0], [3.0, 9.0], [10.0, 10.0]], [0, 0, 1, 1]
    )
    assert explain(wide, [[0.5, 0.5]])[0].deciding == 0


def test_beyond_the_reach_of_all_boxes():
    explanation = explain(line(), [[1e9]])[0]
    assert explanation.prediction == "high"
    assert explanation.scores.tolist() == [0, 0]
    assert "beyond the reach of all boxes" in str(explanation)
    assert explanation.competing.label == "low"
    text = str(explain(line(), [[1.7e308], [-1.7e308]])[0])
    assert "nan" not in text


def test_ties_are_those_of_predict():
    model = OnlineGFMM(theta=1.0, scaling=None)
    data = [[0.0, 0.5], [0.5, 0.5], [0.5, 0.5], [1.0, 0.5], [1.0, 0.5]]
    model.fit(data, ["b", "b", "c", "c", "c"])
    explanation = explain(model, [[0.5, 0.5]])[0]
    assert explanation.prediction == model.predict([[0.5, 0.5]])[0] == "c"
    assert explanation.deciding is None
    assert explanation.counterfactual.prediction == "b"
    assert "A tie: the class wins whose closest boxes" in str(explanation).replace("\n    ", " ")
    assert "Both boxes contain the sample in every feature." in str(explanation)
    assert "Box 0 (b) also contains it." in str(explanation)


def test_a_box_of_a_single_sample_wins_a_tie():
    model = OnlineGFMM(theta=1.0, scaling=None)
    model.fit([[0.0], [1.0], [0.5]], ["a", "a", "b"])
    boxes = model.hyperboxes_
    explanation = explain(model, [[0.5]])[0]
    assert explanation.prediction == model.predict([[0.5]])[0] == "b"
    assert boxes.counts[explanation.winning.index] == 1
    assert "oldest box of a single training sample wins" in str(explanation).replace("\n    ", " ")


def test_missing_values_and_unknown_bounds():
    model = ImprovedOnlineGFMM(theta=0.2).fit(
        [[1.0, nan], [1.5, nan], [9.0, 80.0], [8.5, 90.0]], ["low", "low", "high", "high"]
    )
    explanation = explain(model, [[nan, 70.0]])[0]
    assert np.isnan(explanation.winning.distance).any()
    told = explanation.to_dict()
    assert told["features"][0]["value"] is None
    assert [c["name"] for c in told["boxes"][0]["conditions"]] == ["x0"]
    assert told["boxes"][0]["conditions"][0]["distance"] is None
    check_html(explanation._repr_html_())
    everything = explain(model, [[nan, nan]])[0]
    assert everything.deciding is None
    assert everything.counterfactual is None


@every_learner
def test_one_class_has_no_competitor(cls):
    explanation = explain(cls().fit(X, np.full(len(X), "only")), [[9.0, 9, 9, 9]])[0]
    assert explanation.competing is None
    assert explanation.counterfactual is None
    assert explanation.deciding is None
    assert explanation.worst is not None
    assert len(explanation.to_dict()["boxes"]) == 1
    assert "only" in check_html(explanation._repr_html_())
    assert "the box contains" not in str(explanation)


@given(problems(), st.sampled_from(LEARNERS))
def test_boxes_without_a_label_are_never_named(problem, cls):
    params = {"unlabeled": -1, "scaling": None, "calibrate": False}
    model = cls(theta=problem.theta, **problem.membership, **params)
    model.fit(problem.xl, problem.y, X_upper=problem.xu)
    explanations = explain(model, problem.xl, X_upper=problem.xu)
    for explanation in explanations:
        assert (model.hyperboxes_.labels[[box.index for box in explanation.boxes]] >= 0).all()


def test_intervals():
    explanation = explain(line(), [[1.0]], X_upper=[[9.0]])[0]
    told = explanation.to_dict()
    assert told["features"][0]["value"] == 1
    assert told["features"][0]["value_upper"] == 9
    new = told["counterfactual"]["features"][0]
    assert explanation.winning.distance.tolist() == [7]
    assert (new["new_value"], new["new_value_upper"]) == (8, 16)  # it keeps its length
    assert "1 to 9 -> 8 to 16" in str(explanation)


@every_function
def test_numbers_of_many_digits_lie_inside(function):
    rng = np.random.default_rng(0)
    data = rng.lognormal(size=(200, 6))
    model = ImprovedOnlineGFMM(theta=0.1, membership_function=function)
    model.fit(data, rng.integers(0, 3, 200))
    for explanation in explain(model, data):
        assert explanation.winning.membership == 1
        assert explanation.winning.holds_sample


def test_a_sequence():
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    explanations = explain(model, X)
    assert len(explanations) == 150
    assert repr(explanations) == "Explanations(n_samples=150)"
    assert explanations[-1].to_dict() == explanations[149].to_dict()
    part = explanations[10:12]
    assert [one.to_dict() for one in part] == explanations.to_dicts()[10:12]
    np.testing.assert_array_equal(part.predictions, explanations.predictions[10:12])
    with pytest.raises(IndexError, match="no sample 150: 150 are explained"):
        explanations[150]
    assert "and 130 more samples" in check_html(explanations._repr_html_())


@pytest.mark.parametrize(
    "labels", [["x", "y", "z"], [True, False, True], [1.0, 2.0, 3.0], [4, 5, 6]]
)
def test_labels_of_every_kind_are_json(labels):
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, np.array(labels)[Y])
    told = explain(model, X[:1]).to_dicts()[0]
    assert told["prediction"] == labels[0]
    assert type(told["prediction"]) is type(labels[0])
    json.dumps(told)
    assert (
        explain(model, X[:1], class_names=list("abc")[: len(model.classes_)])[0].class_name in "abc"
    )


def test_keys_of_the_dictionary():
    told = explain(line(), [[3.0]])[0].to_dict()
    high, low = (of_class["probability"] for of_class in told["classes"])
    assert told == {
        "prediction": "low",
        "class_name": "low",
        "layout": "duel",
        "classes": [
            {
                "label": "high",
                "name": "high",
                "baseline": 0.0,
                "score": 0.5,
                "probability": high,
            },
            {
                "label": "low",
                "name": "low",
                "baseline": 0.0,
                "score": 0.9,
                "probability": low,
            },
        ],
        "features": [{"name": "x0", "value": 3.0, "value_upper": 3.0, "contribution": None}],
        "boxes": [
            {
                "member": None,
                "box": index,
                "label": name,
                "class_name": name,
                "count": count,
                "class_counts": None,
                "age": None,
                "part": 1.0,
                "contributions": contributions,
                "conditions": [{"name": "x0", "missing_share": None, **condition}],
            }
            for index, name, count, contributions, condition in [
                (
                    0,
                    "low",
                    2,
                    [0.0, 0.9],
                    {"lower": 0.0, "upper": 2.0, "distance": 1.0, "fraction": 0.1},
                ),
                (
                    1,
                    "high",
                    3,
                    [0.5, 0.0],
                    {"lower": 8.0, "upper": 10.0, "distance": 5.0, "fraction": 0.5},
                ),
            ]
        ],
        "deciding_feature": "x0",
        "worst_feature": "x0",
        "notes": [],
        "counterfactual": {
            "features": [
                {
                    "name": "x0",
                    "value": 3.0,
                    "value_upper": 3.0,
                    "new_value": 8.0,
                    "new_value_upper": 8.0,
                }
            ],
            "prediction": "high",
            "class_name": "high",
            "probability": told["counterfactual"]["probability"],
        },
        "is_search_complete": True,
    }


def test_names_of_tables_and_callers():
    model = ImprovedOnlineGFMM(theta=0.3).fit(IRIS.data, IRIS.target)
    explanation = explain(model, IRIS.data[:1], class_names=IRIS.target_names)[0]
    assert explanation.feature_names == list(IRIS.data.columns)
    assert "setosa" in str(explanation)
    with pytest.raises(ValueError, match="feature names"):
        explain(model, pd.DataFrame(X, columns=list("abcd")))


def test_names_are_escaped():
    names = ["<b>", '"quoted"', "a & b", "<script>alert(1)</script>"]
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, np.array(["<i>", "&amp;", "'"])[Y])
    explanations = explain(model, [[6.0, 2.0, 3.0, 1.0]], feature_names=names)
    html = explanations._repr_html_()
    text = check_html(html)
    assert "<script>" not in html
    assert "<b>" not in html.replace("<b>&", "")
    assert any(name in text for name in names)


def test_features_that_matter_are_limited():
    rng = np.random.default_rng(0)
    data = rng.random((40, 60))
    model = ImprovedOnlineGFMM(theta=0.8).fit(data, rng.integers(0, 2, 40))
    explanation = explain(model, 2 * rng.random((1, 60)) - 0.5)[0]
    features = explanation.features_by_weight()
    assert features[0] == explanation.deciding
    assert len(features) > 30
    text = explanation.to_text(max_features=3)
    assert f"{len(features) - 3} more features not shown." in text.replace("\n    ", " ")
    assert max(map(len, text.splitlines())) < 80
    assert len([line for line in text.splitlines() if " to " in line or " = " in line]) == 3
    assert "not shown" not in explanation.to_text(max_features=None)
    with pytest.raises(ValueError, match="max_features must be a whole number of at least 0"):
        explanation.to_text(max_features=-1)


def test_bad_input():
    model = line()
    with pytest.raises(ValueError, match="feature_names has 2 names, but the model has 1 features"):
        explain(model, [[1.0]], feature_names=["a", "b"])
    with pytest.raises(ValueError, match="class_names has 3 names, but the model has 2 classes"):
        explain(model, [[1.0]], class_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="features"):
        explain(model, [[1.0, 2.0]])
    with pytest.raises(ValueError, match="X_upper is below X"):
        explain(model, [[1.0]], X_upper=[[0.0]])
    unlabelled = ImprovedOnlineGFMM(scaling=None, unlabeled=-1)
    unlabelled.partial_fit([[0.0]], [-1], classes=[0, 1])
    with pytest.raises(ValueError, match="No box has a label yet"):
        explain(unlabelled, [[1.0]])


MIXED = pd.DataFrame(
    {
        "age": [20, 30, 40, 50, 60, 70] * 10,
        "job": ["none", "own", "own", "none", "firm", "firm"] * 10,
        "pay": np.arange(60) * 997,
    }
)
RISKY = np.where((MIXED["age"] < 45) ^ (MIXED["job"] == "firm") ^ (MIXED["pay"] > 30_000), "a", "b")


@pytest.mark.parametrize("cls", [BoostedHyperboxes, ImprovedOnlineGFMM])
def test_single_sample_in_any_form(cls):
    model = cls(random_state=0).fit(MIXED, RISKY)
    row = MIXED.iloc[7]
    expected = str(explain(model, MIXED.iloc[[7]])[0])
    backwards = dict(reversed([*row.items(), ("id", 7)]))
    for sample in (row, dict(row), row.tolist(), backwards):
        assert str(explain(model, sample)) == expected
    with pytest.raises(ValueError, match="no 'job', 'pay': add a value"):
        explain(model, {"age": 30})
    with pytest.raises(ValueError, match="it has 2 values, but the model takes 3"):
        explain(model, [30, "own"])
    unnamed = cls(random_state=0).fit(X, Y)
    assert str(explain(unnamed, X[3])) == str(explain(unnamed, pd.Series(X[3])))


@pytest.mark.parametrize("cls", [BoostedHyperboxes, ImprovedOnlineGFMM])
def test_counterfactuals_keep_fixed_features_and_propose_possible_values(cls):
    model = cls(random_state=0).fit(MIXED, RISKY)
    found = [e.counterfactual for e in explain(model, MIXED, fixed=["age", 2]) if e.counterfactual]
    assert found
    assert all(change.features.tolist() == [1] for change in found)
    found = [e for e in explain(model, MIXED, fixed="job") if e.counterfactual]
    assert found
    for explanation in found:
        values = explanation.counterfactual.lower[[0, 2]]
        np.testing.assert_array_equal(values, np.round(values))
        changed = [
            feature["name"] for feature in explanation.to_dict()["counterfactual"]["features"]
        ]
        assert "job" not in changed
    with pytest.raises(ValueError, match="The model has no feature 'sex'"):
        explain(model, MIXED, fixed=["sex"])
