"""Probabilities: what they rest on, and that they hold on samples that were not learned."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

from hyperboxes import AgglomerativeGFMM, load, merge, prune
from hyperboxes._models.calibration import NEVER, PRIOR_WEIGHTS, SLOPES, DistanceCalibration
from tests.decisions import decide_by
from tests.learners import (
    ImprovedOnlineGFMM,
    OnlineGFMM,
    every_learner,
    every_online_learner,
    models_and_samples,
)
from tests.model_files import plain_calibration, saved

X, Y = load_breast_cancer(return_X_y=True)
RANGES = [X.min(axis=0), X.max(axis=0)]


def estimate(distances, shares, winner, tie_counts, unknown, *, offset, slope, prior_weight, power):
    """Compute the probabilities of one sample as docs/algorithms.md defines them."""
    parts = (distances + offset) ** -slope
    if unknown > 0:  # classes that tie share by counts, and the shares count for more
        tied = distances == distances.min()
        parts[tied] = parts[tied].sum() * tie_counts[tied] / tie_counts[tied].sum()
        prior_weight += (1 - prior_weight) * unknown**power
    p = (1 - prior_weight) * parts / parts.sum() + prior_weight * shares
    above = sorted(set(range(len(p))) - {winner}, key=lambda c: -p[c])
    pool = [winner]
    for c in above:
        if p[c] > p[pool].mean():
            pool.append(c)
    p[pool] = p[pool].mean()
    return p


@settings(max_examples=50)
@given(models_and_samples())
def test_probabilities_are_as_defined(case):
    model, _, xl, xu = case
    model = decide_by(model, 1)
    boxes, calibration = model._model.boxes, model._model.calibration
    counts = np.bincount(
        boxes.labels[boxes.labels >= 0], boxes.counts[boxes.labels >= 0], len(model.classes_)
    )
    shares = (counts + 1) / (counts + 1).sum()
    best, tie_counts, _, unknown = model._model.find_nearest(xl, xu)
    distances = np.minimum(np.where(best > 0, 1 - best, -best), 1e300)
    winners = np.searchsorted(model.classes_, model.predict(xl, X_upper=xu))
    names = "offset", "slope", "prior_weight", "power"
    numbers = {name: getattr(calibration, name) for name in names}
    rows = zip(distances, [shares] * len(xl), winners, tie_counts, unknown, strict=True)
    expected = [estimate(*row, **numbers) for row in rows]
    p = model.predict_proba(xl, X_upper=xu)
    np.testing.assert_allclose(p, expected, rtol=1e-9, atol=1e-12)
    assert (p.argmax(axis=1) == winners).all()


@pytest.mark.parametrize("data", [load_breast_cancer, load_wine, load_digits])
@every_learner
def test_probabilities_hold_on_unseen_samples(cls, data):
    X, y = data(return_X_y=True)
    rows = np.random.RandomState(0).permutation(len(y))[:600]
    train, test = rows[::2], rows[1::2]
    model = cls().fit(X[train], y[train])
    p = model.predict_proba(X[test])
    prior = np.bincount(y[train]) / len(train)
    loss = log_loss(y[test], p)
    assert loss < 0.5 * log_loss(y[test], np.tile(prior, (len(test), 1)))
    assert abs(p.max(axis=1).mean() - model.score(X[test], y[test])) < 0.1
    model._model.calibration = None
    assert loss < 0.5 * log_loss(y[test], model.predict_proba(X[test]))


@every_learner
def test_one_row_out_of_range_makes_no_ties(cls):
    train = X[::2].copy()
    train[3] *= 10_000
    model = cls().fit(train, Y[::2])
    assert model.membership(X[1::2]).min() > 0.99
    p = model.predict_proba(X[1::2])
    assert p.max(axis=1).mean() > 0.85
    assert log_loss(Y[1::2], p) < 0.35


@every_online_learner
def test_streams_learn_them_from_samples_before_these_are_learned(cls):
    order = np.random.RandomState(0).permutation(len(Y))
    model = cls(scaling=RANGES)
    model.partial_fit(X[order][:300], Y[order][:300], classes=[0, 1])
    p = model.predict_proba(X[order][300:])
    assert log_loss(Y[order][300:], p) < 0.3


@every_online_learner
def test_batches_do_not_matter(cls):
    rng = np.random.default_rng(0)
    data, labels = rng.random((2500, 2)).round(2), rng.integers(-1, 3, 2500)
    labels = np.where(data[:, 0] > 0.3, labels, 0)
    model = cls(0.3, scaling=None, unlabeled=-1)
    whole = clone(model).partial_fit(data, labels, classes=[0, 1, 2])
    parts = clone(model)
    for rows in np.split(np.arange(2500), [1, 2, 3, 400, 401, 1000, 1001, 2499]):
        parts.partial_fit(data[rows], labels[rows], classes=[0, 1, 2])
        twin = load(io.BytesIO(saved(parts)))
        assert plain_calibration(twin._model.calibration) == plain_calibration(
            parts._model.calibration
        )
        parts = twin
    assert plain_calibration(parts._model.calibration) == plain_calibration(
        whole._model.calibration
    )
    assert 2500 <= whole._model.calibration.next_update < 2510


def test_a_fitted_model_goes_on_asking():
    model = ImprovedOnlineGFMM(scaling=RANGES).fit(X[:200], Y[:200])
    fitted = model._model.calibration
    assert fitted.next_update == 200
    model.partial_fit(X[200:], Y[200:])
    assert model._model.calibration.next_update > len(Y)
    assert model._model.calibration.n_gaps > fitted.n_gaps


def test_a_threshold_finds_a_rare_class():
    data, labels = make_classification(
        1200, 10, n_informative=5, weights=[0.96], flip_y=0, random_state=3
    )
    X, X_test, y, y_test = train_test_split(data, labels, stratify=labels, random_state=0)
    tuned = TunedThresholdClassifierCV(OnlineGFMM(decision="nearest"), scoring="f1", cv=3).fit(X, y)
    plain = f1_score(y_test, tuned.estimator_.predict(X_test))
    assert f1_score(y_test, tuned.predict(X_test)) > plain + 0.1


def test_nothing_but_predict_proba_depends_on_them():
    model = AgglomerativeGFMM().fit(X[::2], Y[::2])
    before = model.predict(X), model.membership(X), model.apply(X)
    model._model.calibration = DistanceCalibration.start(NEVER)
    for a, b in zip(before, (model.predict(X), model.membership(X), model.apply(X)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_merge_adds_them_up_and_prune_keeps_them():
    parts = [OnlineGFMM(scaling=RANGES).fit(X[i::3], Y[i::3]) for i in range(3)]
    merged, again = merge(parts), merge(parts[::-1])
    joined = merged._model.calibration
    assert plain_calibration(joined) == plain_calibration(again._model.calibration)
    assert joined.n_gaps == pytest.approx(sum(p._model.calibration.n_gaps - 1 for p in parts) + 1)
    assert joined.next_update == len(Y)
    pruned = prune(parts[0], X[1::3], Y[1::3])
    known = plain_calibration(pruned._model.calibration) | {"next_update": 0}
    assert known == plain_calibration(parts[0]._model.calibration) | {"next_update": 0}
    assert pruned._model.calibration.next_update == pruned.n_samples_seen_
    parts[1]._model.calibration = None
    assert merge(parts)._model.calibration is None


def test_old_models_stay_as_they_are():
    model = OnlineGFMM(scaling=RANGES).fit(X[::2], Y[::2])
    model._model.calibration = None
    twin = load(io.BytesIO(saved(model)))
    twin.partial_fit(X[1::2], Y[1::2])
    assert twin._model.calibration is None


@every_online_learner
def test_what_is_hardly_known(cls):
    one = cls().fit(X[:20], np.zeros(20))
    np.testing.assert_array_equal(one.predict_proba(X), 1.0)
    two = cls().fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.1]])[0]
    assert 0.5 < two[0] < 0.95
    model = cls(unlabeled=-1).partial_fit(X[:9], [-1] * 9, classes=[0, 1, 2])
    model.partial_fit(X[9:20], Y[9:20])
    p = model.predict_proba(X)
    assert (p[:, 2] > 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    few = cls(unlabeled=-1).fit(X[:20], [0, 1] + [-1] * 18)
    np.testing.assert_allclose(few.predict_proba(X).sum(axis=1), 1.0)


def test_numbers_lie_within_the_values_that_are_compared():
    start = DistanceCalibration.start(NEVER)
    assert SLOPES[0] < start.slope < SLOPES[-1]
    assert PRIOR_WEIGHTS[0] < start.prior_weight < PRIOR_WEIGHTS[-1]
    fitted = OnlineGFMM().fit(X[::2], Y[::2])._model.calibration
    assert SLOPES[0] <= fitted.slope <= SLOPES[-1]
    assert PRIOR_WEIGHTS[0] <= fitted.prior_weight < start.prior_weight


@every_learner
def test_the_algorithm_alone_has_the_same_boxes_and_normalised_memberships(cls):
    calibrated, alone = cls().fit(X, Y), cls(calibrate=False).fit(X, Y)
    for name in ("lower", "upper", "labels", "counts"):
        np.testing.assert_array_equal(
            getattr(alone.hyperboxes_, name), getattr(calibrated.hyperboxes_, name)
        )
    memberships = alone.membership(X)
    is_sure = (memberships.max(axis=1) > 0) & (memberships[:, 0] != memberships[:, 1])
    expected = memberships / memberships.sum(axis=1, keepdims=True)
    p = alone.predict_proba(X)
    np.testing.assert_allclose(p[is_sure], expected[is_sure])
    assert not np.allclose(p, calibrated.predict_proba(X))


@every_online_learner
def test_streams_can_do_without_probabilities_that_are_learned(cls):
    model = cls(calibrate=False, scaling=RANGES).partial_fit(X[:50], Y[:50], classes=[0, 1])
    assert model.partial_fit(X[50:], Y[50:])._model.calibration is None
