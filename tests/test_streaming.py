"""Single samples: `learn_one`, `predict_one` and `predict_proba_one` of the online learners."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from hyperboxes import AdaptiveGFMM, ImprovedOnlineGFMM, OnlineGFMM
from hyperboxes.literature import FuzzyMinMax

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], np.array(["setosa", "versicolor", "virginica"])[Y[ORDER]]
RANGES = [X.min(axis=0), X.max(axis=0)]
NAMES = ["d", "b", "c", "a"]
ROWS = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]

# Learners that may be asked one by one, with ranges that are known where they need them.
LEARNERS = {
    "adaptive": partial(AdaptiveGFMM, max_boxes=50),
    "improved": partial(ImprovedOnlineGFMM, 0.2, scaling=RANGES),
    "online": partial(OnlineGFMM, 0.2, scaling=RANGES),
    "fmnn": partial(FuzzyMinMax, "fmnn", 0.2, scaling=RANGES),
    "rfmnn": partial(FuzzyMinMax, "rfmnn", 0.2, scaling=RANGES),
}
every_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def boxes(model):
    """Return what a model's boxes are."""
    boxes = model.hyperboxes_
    return boxes.lower, boxes.upper, model.classes_[boxes.labels], boxes.counts


@every_learner
def test_one_by_one_equals_batches(make):
    one, many = make(), make()
    assert one.predict_one(X[0]) is None
    assert one.predict_proba_one(X[0]) == {}
    one.partial_fit(X[:1], Y[:1], classes=np.unique(Y))  # probabilities depend on what is known
    for x, y in zip(X[1:100], Y[1:100].tolist(), strict=True):
        assert one.learn_one(x, y) is None
    many.partial_fit(X[:100], Y[:100], classes=np.unique(Y))
    for ours, theirs in zip(boxes(one), boxes(many), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert [one.predict_one(x) for x in X] == many.predict(X).tolist()
    proba = [list(one.predict_proba_one(x).values()) for x in X]
    np.testing.assert_array_equal(proba, many.predict_proba(X))
    assert list(one.predict_proba_one(X[0])) == ["setosa", "versicolor", "virginica"]


@every_learner
def test_both_ways_of_learning_take_turns(make):
    mixed, many = make(), make()
    for start in range(0, 100, 25):
        batch = slice(start, start + 24)
        mixed.partial_fit(X[batch], Y[batch], classes=np.unique(Y))
        mixed.predict_one(X[start + 24])  # what it finds is used to learn, or outdated
        mixed.learn_one(X[start + 24], Y[start + 24])
    many.partial_fit(X[:100], Y[:100], classes=np.unique(Y))
    for ours, theirs in zip(boxes(mixed), boxes(many), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@every_learner
def test_dictionaries_have_features_in_any_order(make):
    if make is not LEARNERS["adaptive"]:
        ranges = [ends[[3, 1, 2, 0]] for ends in RANGES]  # features are sorted by name
        make = partial(make, scaling=ranges)
    one, other = make(), make()
    rng = np.random.default_rng(0)
    for x, y in zip(ROWS[:60], Y.tolist(), strict=False):
        one.learn_one(x, y)
        other.learn_one({name: x[name] for name in rng.permutation(NAMES).tolist()}, y)
    assert one.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    for x in ROWS:
        assert one.predict_proba_one(x) == other.predict_proba_one(dict(sorted(x.items())))
    frame = pd.DataFrame(ROWS)[["a", "b", "c", "d"]]
    assert [one.predict_one(x) for x in ROWS] == one.predict(frame).tolist()


@every_learner
def test_missing_keys_and_none_are_missing_values(make):
    model = make().fit(X, Y)
    whole = [5.0, np.nan, 1.4, np.nan]
    assert model.predict_proba_one({0: 5.0, 2: 1.4}) == model.predict_proba_one(whole)
    assert model.predict_proba_one([5.0, None, 1.4, np.nan]) == model.predict_proba_one(whole)
    np.testing.assert_array_equal(
        list(model.predict_proba_one(whole).values()), model.predict_proba([whole])[0]
    )


@every_learner
def test_classes_come_as_they_come(make):
    model = make()
    for x, y in zip(X, Y.tolist(), strict=True):
        model.learn_one(x, {"setosa": 7, "versicolor": -1, "virginica": 3}[y])
    assert model.classes_.tolist() == [-1, 3, 7]
    assert type(model.predict_one(X[0])) is int
    assert np.mean(model.predict(X) == 7) == pytest.approx(1 / 3, abs=0.05)


@every_learner
@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ({"a": 1.0, "wheel": 2.0}, "setosa", ValueError, "not fitted with: 'wheel'.*'a', 'b', 'c'"),
        ([1.0, 2.0, 3.0], "setosa", ValueError, "x has 3 features, but .* is expecting 4"),
        ({"a": 1.0, "b": np.inf}, "setosa", ValueError, "Feature 'b' is inf, which is too large"),
        ({"a": 1.0, "b": -1e300}, "setosa", ValueError, "Feature 'b' is -1e[+]300, which is too"),
        (
            {"a": 1.0, "c": "red"},
            "setosa",
            ValueError,
            "Feature 'c' is 'red', which is not a number",
        ),
        (
            {"a": 1.0, "c": [2]},
            "setosa",
            ValueError,
            r"Feature 'c' is \[2\], which is not a number",
        ),
        (3.0, "setosa", TypeError, "a dictionary or a sequence of numbers, not float"),
        ("abcd", "setosa", TypeError, "not str"),
        (pd.Series([1.0, 2.0, 3.0, 4.0]), "setosa", TypeError, "to_dict"),
        ([1.0, 2.0, 3.0, 4.0], 5, ValueError, "y holds numbers, such as 5, but labels so far were"),
        ([1.0, 2.0, 3.0, 4.0], None, ValueError, "None"),
        ([1.0, 2.0, 3.0, 4.0], ["setosa"], ValueError, "which is not a label"),
    ],
)
def test_errors_change_nothing(make, x, y, error, message):
    model = make()
    for row, label in zip(ROWS[:40], Y.tolist(), strict=False):
        model.learn_one(row, label)
    before = pickle.dumps(model)
    with pytest.raises(error, match=message):
        model.learn_one(x, y)
    if y == "setosa":
        with pytest.raises(error, match=message):
            model.predict_one(x)
    assert pickle.dumps(model) == before


@every_learner
@pytest.mark.parametrize("x", [{}, [], {"a": "red"}, {"a": 1.0, 3: 2.0}, {2: 1.0, 1: 2.0}])
def test_a_bad_first_sample_leaves_the_model_as_it_was(make, x):
    model = make()
    with pytest.raises(ValueError, match=r"no features|not a number|named by strings"):
        model.learn_one(x, "a")
    assert vars(model).keys() == model.get_params().keys()
    with pytest.raises(ValueError, match="theta"):
        make().set_params(theta=-1.0).learn_one([1.0], "a")


def test_samples_without_a_label():
    model = ImprovedOnlineGFMM(scaling=RANGES, unlabeled="?")
    with pytest.raises(ValueError, match="The first sample must have a label"):
        model.learn_one(X[0], "?")
    for x, y in zip(X[:50], Y[:50].tolist(), strict=True):
        model.learn_one(x, y)
    twin = pickle.loads(pickle.dumps(model))
    model.learn_one(X[50], "?")
    twin.partial_fit(X[50:51], np.array(["?"]))
    for ours, theirs in zip(boxes(model), boxes(twin), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_unknown_ranges_are_warned_of():
    with pytest.warns(UserWarning, match="one sample: the data will not be scaled"):
        ImprovedOnlineGFMM().learn_one([1.0], "a")
    with pytest.raises(ValueError, match="all features must lie in"):
        ImprovedOnlineGFMM(scaling=None).learn_one([3.0], "a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AdaptiveGFMM().learn_one([1.0], "a")
