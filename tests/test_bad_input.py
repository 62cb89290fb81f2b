"""Bad input gets an error that says what is wrong, and costs the user nothing."""

import numpy as np
import pandas as pd
import pytest

from hyperboxes import (
    AdaptiveGFMM,
    AgglomerativeGFMM,
    BoostedHyperboxes,
    HyperboxClustering,
    RandomHyperboxes,
)
from tests.learners import ONLINE_LEARNERS, ImprovedOnlineGFMM, every_online_learner, same_boxes

X = np.array([[0.1, 0.2], [0.3, 0.4], [0.8, 0.9]])
Y = np.array([0, 0, 1])
NAN, INF = np.nan, np.inf

every_learner = pytest.mark.parametrize("cls", [*ONLINE_LEARNERS, AgglomerativeGFMM])

BAD_SAMPLES = [
    ([[0.1, INF]], [0], None, "X contains infinity"),
    ([[0.1, 0.2]], [0], [[0.3, NAN]], "both ends of an interval are missing or none: column 1"),
    ([[0.1, 0.2]], [0], [[INF, 0.2]], "X_upper contains infinity"),
    ([[0.1, 0.2]], [0], [[0.3, 0.1]], r"X_upper is below X in column 1, row 0: 0.1 < 0.2"),
    ([[0.1, 0.2]], [0], [[0.3, 0.3]] * 2, r"X_upper has shape \(2, 2\), but X has shape \(1, 2\)"),
    ([[0.1, 0.2]], [0], [[0.3]], "1 features"),
    ([0.1, 0.2], [0], None, "Expected 2D array"),
    (np.empty((0, 2)), [], None, "0 sample"),
    (np.empty((3, 0)), Y, None, "0 feature"),
    ([["a", "b"]], [0], None, "could not convert string to float"),
    ([[0.1, 0.2]], [0, 1], None, "inconsistent numbers of samples"),
    ([[0.1, 0.2]], [0.5], None, "continuous"),
    ([[0.1, 0.2]], [NAN], None, "y contains NaN. Leave out the samples without a label"),
    ([[0.1, 0.2]] * 2, np.array(["a", NAN], object), None, "y contains NaN. Leave out"),
    ([[0.1, 0.2]], None, None, "y to be passed"),
    ([[0.1, 0.2]] * 2, ["a", None], None, "y holds None. If these samples have no label, put"),
]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@every_learner
@pytest.mark.parametrize(("X_bad", "y", "X_upper", "message"), BAD_SAMPLES)
def test_bad_samples_change_nothing(cls, X_bad, y, X_upper, message):
    fresh = cls()
    with pytest.raises((ValueError, TypeError), match=message):
        fresh.fit(X_bad, y, X_upper=X_upper)
    assert set(vars(fresh)) == set(fresh.get_params())

    frame = pd.DataFrame(X, columns=["width", "height"])
    fitted = cls().fit(frame, Y)
    for method in ("fit", "partial_fit"):
        if not hasattr(cls, method):
            continue
        with pytest.raises((ValueError, TypeError)):
            getattr(fitted, method)(X_bad, y, X_upper=X_upper)
        assert same_boxes(fitted, cls().fit(frame, Y))
        np.testing.assert_array_equal(fitted.predict(frame), Y)


@every_learner
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"theta": 0}, "'theta' parameter"),
        ({"theta": -0.1}, "'theta' parameter"),
        ({"theta": NAN}, "'theta' parameter"),
        ({"theta": "wide"}, "'theta' parameter"),
        ({"gamma": 0.0}, "'gamma' parameter"),
        ({"gamma": [1.0, -1.0]}, "gamma must be positive"),
        ({"gamma": [1.0, NAN]}, "gamma contains NaN"),
        ({"gamma": [1.0]}, r"gamma must be a number or one per feature: it has shape \(1,\)"),
        ({"gamma": [[1.0, 1.0]]}, r"gamma .* shape \(1, 2\)"),
        ({"gamma": ["a", "b"]}, "could not convert string"),
        ({"selection": "best"}, "'selection' parameter"),
        ({"scaling": "standard"}, "'scaling' parameter"),
    ],
)
def test_bad_parameters(cls, params, message):
    model = cls(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        (ImprovedOnlineGFMM, {"overlap": "open"}),
        (AgglomerativeGFMM, {"overlap": "open"}),
        (AgglomerativeGFMM, {"algorithm": "agglo3"}),
        (AgglomerativeGFMM, {"similarity": "cosine"}),
        (AgglomerativeGFMM, {"min_similarity": 1.5}),
        (AgglomerativeGFMM, {"min_similarity": -0.1}),
    ],
)
def test_bad_parameters_of_some_learners(cls, params):
    (name,) = params
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        cls(**params).fit(X, Y)


@every_learner
@pytest.mark.parametrize("value", [-0.5, 1.5])
def test_without_scaling_data_must_lie_in_the_unit_interval(cls, value):
    frame = pd.DataFrame({"width": [0.1, 0.2], "height": [0.3, value]})
    message = f"column 'height' holds {value} in row 1. Scale the data first"
    with pytest.raises(ValueError, match=message):
        cls(scaling=None).fit(frame, [0, 1])
    model = cls(scaling=None).fit(X, Y)
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="column 1 holds"):
            model.partial_fit(frame.to_numpy(), [0, 1])
    assert model.predict([[value, value]]) in Y


@every_learner
def test_a_range_beyond_float64(cls):
    with pytest.raises(ValueError, match=r"range of column 0.*too large"):
        cls().fit([[-1e308], [1e308]], [0, 1])


@every_learner
def test_feature_names_must_match(cls):
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = cls().fit(frame, Y)
    renamed = frame.rename(columns={"height": "depth"})
    for call in (
        lambda: model.predict(renamed),
        lambda: model.predict(frame, X_upper=renamed),
        lambda: model.fit(frame, Y, X_upper=renamed),
    ):
        with pytest.raises(ValueError, match="feature names should match"):
            call()
    with pytest.raises(ValueError, match=r"3 features, but .* expecting 2"):
        cls().fit(X, Y).predict(np.ones((1, 3)))


@every_learner
def test_prediction_needs_finite_numbers(cls):
    model = cls().fit(X, Y)
    for method in (model.predict, model.predict_proba, model.membership):
        with pytest.raises(ValueError, match="X contains"):
            method([[INF, 0.1]])


@every_online_learner
def test_classes_must_be_named_first(cls):
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        cls().partial_fit(X, Y)
    model = cls().partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="X has 1 features"):
        model.partial_fit(X[:, :1], Y)
    with pytest.raises(ValueError, match=r"not in classes_: \[7\]. Name all classes"):
        model.partial_fit(X, [0, 1, 7])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X, Y, classes=[0, 1])
    assert model.hyperboxes_.counts.sum() == len(X)
    model.partial_fit(X, [2, 2, 2])
    assert model.hyperboxes_.counts.sum() == 2 * len(X)
    with pytest.raises(ValueError, match=r"not in classes_: \['0', '1'\]"):
        model.partial_fit(X, ["0", "0", "1"])
    untouched = cls()
    with pytest.raises(ValueError, match="not in classes_"):
        untouched.partial_fit(X, Y, classes=[5, 6])
    assert set(vars(untouched)) == set(untouched.get_params())


@every_learner
@pytest.mark.parametrize("unlabeled", [NAN, np.float32("nan"), pd.NA], ids=repr)
def test_a_mark_that_equals_nothing(cls, unlabeled):
    with pytest.raises(ValueError, match=r"does not equal itself\. Put another value in its"):
        cls(unlabeled=unlabeled).fit(X, Y)


@pytest.mark.parametrize(
    ("class_weight", "sample_weight"),
    [
        ({0: -1, 1: 1}, None),
        ({0: 0, 1: 0}, None),
        ({0: INF, 1: 1}, None),
        ({0: NAN, 1: 1}, None),
        (None, [1e308] * 3),
        (None, [1e-310] * 3),
    ],
)
def test_weights_that_make_no_sum(class_weight, sample_weight):
    """Votes were NaN, or an error of NumPy was raised."""
    model = BoostedHyperboxes(class_weight=class_weight)
    with pytest.raises(ValueError, match="Correct class_weight, or multiply sample_weight"):
        model.fit(X, Y, sample_weight=sample_weight)
    assert set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize("scaling", ["blend", "minmax", "rank"])
def test_a_range_beyond_float64_in_an_ensemble(scaling):
    """All values had the same code."""
    model = RandomHyperboxes(n_estimators=2, scaling=scaling)
    with pytest.raises(ValueError, match=r"range of column 0.*too large for float64"):
        model.fit([[-1e308], [1e308]] * 5, [0, 1] * 5)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit([[0.0], [1.0]], [0, 1], sample_weight=[0, 0])
    model.fit([[-1e308], [1e308], [0.0]], [0, 1, 1], sample_weight=[0, 1, 1])


@pytest.mark.parametrize(
    "model",
    [
        ImprovedOnlineGFMM(max_boxes=10**30),
        AdaptiveGFMM(max_boxes=10**30),
        BoostedHyperboxes(max_boxes=10**30),
        RandomHyperboxes(n_estimators=10**30),
        HyperboxClustering(min_samples=10**30),
        ImprovedOnlineGFMM(n_jobs=10**6),
        BoostedHyperboxes(n_jobs=10**6),
        RandomHyperboxes(n_jobs=10**6),
    ],
    ids=str,
)
def test_numbers_that_no_machine_counts_to(model):
    with pytest.raises(ValueError, match="must be an int in the range"):
        model.fit(X, Y)
