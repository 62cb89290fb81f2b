"""Random hyperboxes: equal to the slow reference, and what the estimator promises."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from hyperboxes import (
    AgglomerativeGFMM,
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    RandomHyperboxes,
)
from hyperboxes._models.calibration import VoteCalibration, fit_vote_calibration, log_votes
from hyperboxes._models.ensemble import SCALINGS, Codes, VoteSettings, count_votes, pack
from hyperboxes._models.records import EnsembleMember
from tests import reference
from tests import reference_ensembles as slow

LEVELS = 63
SMALL = partial(RandomHyperboxes, n_estimators=6, random_state=0)


# Codes


columns = hnp.arrays(
    np.float64,
    st.integers(1, 25),
    elements=st.integers(-3, 3).map(float)
    | st.floats(-1e9, 1e9, allow_subnormal=False)
    | st.just(np.nan),
)


@given(columns, st.sampled_from(SCALINGS), st.sampled_from([1, 5, 255]))
@settings(max_examples=50)
def test_codes_equal_the_reference(column, scaling, levels):
    X = column[:, np.newaxis]
    codes = Codes.learn(X, X, scaling, levels)
    expected = slow.thresholds(column.tolist(), scaling, levels)
    assert codes.thresholds.tolist() == [expected]
    for found, wanted in zip(codes.encode(X, X), slow.encode(X, X, [expected]), strict=True):
        assert_array_equal(found, wanted)


@given(columns, st.sampled_from(SCALINGS), st.data())
@settings(max_examples=50)
def test_boxes_of_codes_are_boxes_of_values(column, scaling, data):
    X = column[:, np.newaxis]
    codes = Codes.learn(X, X, scaling, 9)
    low = data.draw(st.integers(0, 9))
    high = data.draw(st.integers(low, 9))
    ends = (np.array([[end]], np.uint8) for end in (low, high))
    lower, upper = codes.decode(*ends, np.array([0]))
    values = column[~np.isnan(column)]
    values = np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
    code = codes.encode(values[:, np.newaxis], values[:, np.newaxis])[0][:, 0]
    assert_array_equal(
        (lower[0, 0] <= values) & (values <= upper[0, 0]), (low <= code) & (code <= high)
    )


# Members and votes


def random_members(n_classes, n_boxes, seed):
    """Make members of boxes that nobody has learned, of either kind of distance."""
    random = np.random.RandomState(seed)
    members = []
    for combine in ("sum", "max", "sum"):
        features = np.sort(random.permutation(7)[: random.randint(1, 8)])
        ends = np.sort(random.randint(0, 256, (2, n_boxes, len(features))), axis=0)
        labels = np.concatenate(
            [np.arange(n_classes), random.randint(0, n_classes, n_boxes - n_classes)]
        )
        boxes = (*ends.astype(np.uint8), labels, np.ones(n_boxes, np.int64))
        members.append(EnsembleMember(features, *boxes, combine))
    return members


def assert_votes_equal_the_reference(members, low, high, n_classes, rows):
    """Ask packed members about all samples, and compare some of their votes."""
    packed = pack(members, n_classes, VoteSettings(255, 0.1))
    found = count_votes(packed, low, high, n_classes)[rows] / len(members)
    literal = [
        slow.Member(m.features, m.lower, m.upper, m.labels, m.counts, [], m.combine == "sum")
        for m in members
    ]
    ends = low[rows], high[rows]
    assert found.tolist() == slow.votes(literal, *ends, n_classes, levels=255, temperature=0.1)


@pytest.mark.parametrize("points", [False, True])
@pytest.mark.parametrize(("n_classes", "n_boxes"), [(1, 1), (2, 70), (3, 500), (16, 40), (37, 90)])
def test_packed_members_vote_like_each_box_by_itself(n_classes, n_boxes, points):
    members = random_members(n_classes, n_boxes, seed=n_boxes)
    random = np.random.RandomState(1)
    # More samples than are compared at a time.
    low, high = np.sort(random.randint(0, 256, (2, 130, 7)), axis=0).astype(np.uint8)
    low[0, :2], high[0, :2] = 255, 0  # missing
    rows = [*range(6), 127, 128, 129]
    assert_votes_equal_the_reference(members, low, low if points else high, n_classes, rows)


def test_distances_that_do_not_fit_into_a_byte():
    """Sums of up to 1020 are tried in bytes first."""
    corners = np.array([[0, 255, 0, 255], [255, 0, 255, 0]], np.uint8)
    boxes = corners, corners, np.arange(2), np.ones(2, np.int64)
    samples = np.random.RandomState(0).randint(0, 256, (128, 4)).astype(np.uint8)
    samples[:2] = corners
    member = EnsembleMember(np.arange(4), *boxes, "sum")
    assert_votes_equal_the_reference([member], samples, samples, 2, [0, 1, 2, 3, 127])


AGGLOMERATIVE = {
    "selection": "all",
    "overlap": "closed",
    "similarity": "longest",
    "min_similarity": 0.0,
}
LEARNERS = {
    "improved": (
        ImprovedOnlineGFMM,
        partial(reference.improved_online, selection="all", overlap="closed"),
    ),
    "online": (OnlineGFMM, partial(reference.online, selection="all")),
    "agglo-sm": (AgglomerativeGFMM, partial(reference.agglo_sm, **AGGLOMERATIVE)),
    "agglo2": (
        partial(AgglomerativeGFMM, algorithm="agglo2"),
        partial(reference.agglo2, **AGGLOMERATIVE),
    ),
}


@st.composite
def problems(draw):
    """Draw samples with ties, intervals and missing values, of classes that are all there."""
    n_samples, n_features = draw(st.integers(2, 16)), draw(st.integers(1, 4))
    values = st.integers(0, 6).map(float) | st.floats(-2, 9, allow_subnormal=False)
    shape = (n_samples, n_features)
    ends = np.sort([draw(hnp.arrays(float, shape, elements=values)) for _ in range(2)], axis=0)
    if draw(st.booleans()):
        ends[1] = ends[0]
    if draw(st.booleans()):
        ends[:, draw(hnp.arrays(np.bool_, shape))] = np.nan
    n_classes = draw(st.integers(1, min(3, n_samples)))
    y = [*range(n_classes), *draw(st.lists(st.integers(0, n_classes - 1), max_size=n_samples))]
    return *ends, np.resize(y, n_samples)


@st.composite
def weights_of(draw, y):
    """Draw weights that sums of are exact, of which each class has some."""
    weights = [1.0] * len(y)
    if draw(st.booleans()):
        values = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.75, 2.0])
        weights = [draw(values) for _ in y]
        for c in np.unique(y):
            weights[list(y).index(c)] += 0.25
    return weights


@pytest.mark.filterwarnings("ignore:sample_weight sums up to")  # few samples, and light ones
@pytest.mark.parametrize("name", LEARNERS)
@given(problem=problems(), data=st.data())
@settings(max_examples=15)
def test_members_and_votes_equal_the_reference(name, problem, data):
    xl, xu, y = problem
    cls, learner = LEARNERS[name]
    theta = data.draw(st.sampled_from([0.1, 0.3, 0.7]))
    function = data.draw(st.sampled_from(["mean", "min"]))
    scaling = data.draw(st.sampled_from(SCALINGS))
    temperature = data.draw(st.sampled_from([0.0, 0.1]))
    weights = data.draw(weights_of(y))
    share = data.draw(st.sampled_from([0.3, 0.5, 0.8]))
    sizes = (1, min(2, xl.shape[1]))
    model = RandomHyperboxes(
        cls(theta=theta, membership_function=function),
        n_estimators=3,
        max_samples=share,
        max_features=sizes,
        weighted_features=False,
        scaling=scaling,
        temperature=temperature,
        calibrate=False,
        random_state=3,
    ).fit(xl, y, X_upper=xu, sample_weight=weights)

    ends = np.concatenate([xl, xu]).T.tolist()
    begins = [slow.thresholds(column, scaling, LEVELS, 2 * weights) for column in ends]
    low, high = slow.encode(xl, xu, begins)
    rows, counted = slow.copies(weights, slow.canonical_order(low, high, y, weights))
    copies = low[rows], high[rows], y[rows]
    members = [
        slow.learn_member(
            *copies,
            partial(learner, theta=theta),
            function=function,
            chances=np.full(xl.shape[1], 1 / xl.shape[1]),
            sizes=sizes,
            share=share,
            levels=LEVELS,
            seed=seed,
            weights=counted,
            merges=name.startswith("agglo"),
        )
        for seed in np.random.RandomState(3).randint(np.iinfo(np.int32).max, size=3)
    ]
    for found, expected in zip(model._model.members, members, strict=True):
        for part in ("features", "lower", "upper", "labels", "counts"):
            assert_array_equal(getattr(found, part), getattr(expected, part))
    how = {"levels": LEVELS, "temperature": temperature}
    n_classes = y.max() + 1
    votes = slow.votes(members, low, high, n_classes, **how)
    assert model.predict_proba(xl, X_upper=xu).tolist() == votes
    left_out = np.array(slow.out_of_bag_votes(members, *copies[:2], n_classes, **how))
    for row, found in enumerate(model.oob_decision_function_):
        known = [i for i in range(len(rows)) if rows[i] == row and left_out[i, 0] >= 0]
        if not known:
            assert np.isnan(found).all()
        else:
            expected = np.average(left_out[known], axis=0, weights=np.array(counted)[known])
            assert_allclose(found, expected, rtol=1e-14, atol=0)


def test_equal_samples_are_one_box_to_learners_that_merge():
    """Where they meet another class they could not merge."""
    X, y = np.repeat([[0.0], [0.0], [1.0]], 5, axis=0), np.repeat([0, 1, 0], 5)
    model = RandomHyperboxes(
        AgglomerativeGFMM(theta=0.1, algorithm="agglo2"),
        n_estimators=1,
        max_samples=1.0,
        weighted_features=False,
        scaling="minmax",
        random_state=0,
    ).fit(X, y)
    (member,) = model._model.members
    found = sorted(zip(member.lower[:, 0] > 0, member.labels, member.counts, strict=True))
    assert found == [(False, 0, 5), (False, 1, 5), (True, 0, 5)]


# Probabilities


def test_probabilities_are_those_of_the_formula():
    votes, shares = np.array([[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]]), np.array([0.5, 0.3, 0.2])
    numbers = {"power": 1.7, "share_power": 0.4, "prior_weight": 0.05}
    found = VoteCalibration(**numbers).apply(log_votes(votes), shares)
    expected = [slow.probabilities(row, shares.tolist(), **numbers) for row in votes.tolist()]
    assert_allclose(found, expected, rtol=1e-12)


def test_calibration_finds_what_votes_stand_for():
    """Of votes that are too timid by a power, on samples of their own probabilities."""
    random = np.random.RandomState(0)
    truth = random.dirichlet([1.0, 1.0, 1.0], 5000)
    y = np.array([random.choice(3, p=row) for row in truth])
    timid = np.sqrt(truth)
    timid /= timid.sum(axis=1, keepdims=True)
    shares = np.bincount(y) / len(y)
    found = fit_vote_calibration(timid, y, shares)
    assert 1.7 < found.power < 2.3
    assert found.prior_weight < 0.05
    logs, rows = log_votes(timid), np.arange(len(y))

    def loss(numbers):
        return -np.log(numbers.apply(logs, shares)[rows, y]).mean()

    assert loss(found) < loss(VoteCalibration(1.0, 0.0, 0.002))


def test_calibration_of_few_samples_stays_near_its_start():
    found = fit_vote_calibration(np.array([[0.9, 0.1]]), np.array([1]), np.full(2, 0.5))
    assert 0.3 < found.power < 2


# The estimator


@pytest.fixture(scope="module")
def cancer():
    """Return a real problem, and a model of a third of it."""
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomHyperboxes(n_estimators=20, random_state=0).fit(X[::3], y[::3])
    return X, y, model


def test_predictions_are_the_most_probable_classes(cancer):
    X, y, model = cancer
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.predict(X), p.argmax(axis=1))
    assert model.score(X[1::3], y[1::3]) > 0.94


def test_threads_change_nothing(cancer):
    X, y, model = cancer
    twin = clone(model).set_params(n_jobs=3).fit(X[::3], y[::3])
    assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    assert_array_equal(twin.oob_decision_function_, model.oob_decision_function_)
    assert_array_equal(twin.feature_importances_, model.feature_importances_)


def test_out_of_bag_score_is_near_that_of_new_samples(cancer):
    X, y, model = cancer
    known = ~np.isnan(model.oob_decision_function_[:, 0])
    assert known.mean() > 0.9
    assert_allclose(model.oob_decision_function_[known].sum(axis=1), 1)
    assert abs(model.oob_score_ - model.score(X[1::3], y[1::3])) < 0.05


def test_importances_find_the_feature_that_tells():
    random = np.random.RandomState(0)
    X = random.random_sample((300, 5))
    model = SMALL(n_estimators=20).fit(X, X[:, 3] > 0.5)
    assert model.feature_importances_.argmax() == 3
    assert model.feature_importances_[3] > 0.7
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_features_that_help_are_drawn_more_often():
    random = np.random.RandomState(0)
    X = random.random_sample((300, 20))
    y = X[:, 3] > 0.5
    draws = [
        np.concatenate(
            SMALL(n_estimators=30, weighted_features=weighted).fit(X, y).estimators_features_
        )
        for weighted in (False, True)
    ]
    assert (draws[1] == 3).mean() > 1.5 * (draws[0] == 3).mean()


def test_members_are_shown_in_the_units_of_the_data(cancer):
    X, _, model = cancer
    for boxes, features in zip(model.members_, model.estimators_features_, strict=True):
        assert boxes.lower.shape == (len(boxes), len(features))
        assert (boxes.lower <= boxes.upper).all()
        held = (boxes.lower <= X[::3, None, features]) & (X[::3, None, features] <= boxes.upper)
        assert held.all(axis=2).any(axis=1).mean() > 0.7  # of the samples that it drew


def test_members_take_turns():
    X, y = load_iris(return_X_y=True)
    model = SMALL([ImprovedOnlineGFMM(0.1), AgglomerativeGFMM(1.0)], max_features=None).fit(X, y)
    sizes = [len(boxes) for boxes in model.members_]
    assert min(sizes[::2]) > 2 * max(sizes[1::2])


def test_missing_values_and_intervals(cancer):
    X, y, _ = cancer
    random = np.random.RandomState(0)
    holes = np.where(random.random_sample(X.shape) < 0.2, np.nan, X)
    assert SMALL(n_estimators=20).fit(holes[::3], y[::3]).score(holes[1::3], y[1::3]) > 0.9
    wide = SMALL(n_estimators=20).fit(X[::3], y[::3], X_upper=1.01 * X[::3])
    assert wide.score(X[1::3], y[1::3], X_upper=1.01 * X[1::3]) > 0.9


def test_votes_as_published():
    X, y = load_iris(return_X_y=True)
    model = RandomHyperboxes(
        ImprovedOnlineGFMM(theta=0.1, membership_function="min"),
        n_estimators=8,
        max_samples=0.5,
        max_features=4,
        weighted_features=False,
        scaling="minmax",
        temperature=0,
        calibrate=False,
        random_state=0,
    ).fit(X[::2], y[::2])
    p = model.predict_proba(X[1::2])
    assert_allclose(48 * p, np.round(48 * p), atol=1e-9)  # classes that tie share a vote
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert [boxes.counts.sum() for boxes in model.members_] == [39] * 8  # 13 of 25 each


@pytest.mark.parametrize(
    ("n_samples", "n_drawn"), [(2000, 1600), (4000, 2000), (20_000, 8000), (100_000, 20_000)]
)
def test_many_samples_are_drawn_in_part_only(n_samples, n_drawn):
    X = np.random.RandomState(0).random_sample((n_samples, 1))
    model = SMALL(n_estimators=2, weighted_features=False, max_features=1).fit(X, X[:, 0] > 0.5)
    for boxes in model.members_:  # each class is rounded
        assert abs(boxes.counts.sum() - n_drawn) <= 1


def test_members_of_many_samples_have_small_boxes():
    X = np.random.RandomState(0).random_sample((5001, 4))
    y = X.sum(axis=1) > 2
    model = SMALL(n_estimators=2, max_features=(4, 4)).fit(X, y)
    small = SMALL(
        ImprovedOnlineGFMM(theta=0.03), n_estimators=2, max_features=(4, 4), max_samples=0.4
    ).fit(X, y)
    assert_array_equal(model.predict_proba(X[:50]), small.predict_proba(X[:50]))


@pytest.mark.parametrize("copied", [clone, pickle.dumps])
def test_copies(cancer, copied):
    X, y, model = cancer
    if copied is clone:
        twin = clone(model)
        assert not hasattr(twin, "_model")
        twin.fit(X[::3], y[::3])
    else:
        twin = pickle.loads(pickle.dumps(model))
    assert_array_equal(twin.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"estimator": []}, ValueError, "name at least one learner"),
        ({"estimator": BoostedHyperboxes()}, TypeError, "BaggingClassifier"),
        ({"estimator": [1]}, TypeError, "not int"),
        ({"estimator": ImprovedOnlineGFMM(theta=-1)}, ValueError, "'theta' parameter"),
        ({"estimator": ImprovedOnlineGFMM(gamma=2)}, ValueError, "gamma=1"),
        ({"estimator": ImprovedOnlineGFMM(unlabeled=-1)}, ValueError, "need a label"),
        ({"max_features": (3, 2)}, ValueError, "the smaller first"),
        ({"max_features": (1, 2, 3)}, ValueError, "the smaller first"),
        ({"temperature": -1}, ValueError, "'temperature' parameter"),
    ],
)
def test_bad_parameters_are_refused(parameters, error, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(error, match=message):
        SMALL(**parameters).fit(X, y)


def test_learners_that_lose_a_class_are_refused():
    class Forgetful(ImprovedOnlineGFMM):
        def _learn(self, samples, model, callbacks):
            super()._learn(samples.take(samples.y > 0), model, callbacks)

    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="no box of some class"):
        SMALL(Forgetful()).fit(X, y)


def test_too_many_features_of_a_member_are_refused():
    with pytest.raises(ValueError, match="up to 4095 features"):
        SMALL(max_features=None).fit(np.zeros((4, 5000)), [0, 1, 0, 1])
