"""The search for a change of few features, compared with one that tries all."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperboxes import BoostedHyperboxes, ImprovedOnlineGFMM, explain
from hyperboxes._readers import counterfactuals

nan = float("nan")


def fewest_changes(*args):
    """Return the changed sample of a search, which must be complete."""
    found = counterfactuals.fewest_changes(*args)
    assert found.is_complete
    return found.values


def linear(weights, threshold):
    """Return a margin that is positive where a weighted sum is above a threshold."""
    return lambda samples: np.nan_to_num(samples) @ np.asarray(weights, float) - threshold


def try_all(margin, sample, options, scale):
    """Return the number of features and the size of the best change, trying all; None if none."""
    for number in range(1, len(sample) + 1):
        sizes = []
        for features in combinations(range(len(sample)), number):
            for values in product(*(options[j] for j in features)):
                changed = sample.copy()
                changed[list(features)] = values
                if (changed[list(features)] != sample[list(features)]).all() and (
                    margin(changed[None])[0] > 0
                ):
                    sizes.append((np.abs(changed - sample) * scale).sum())
        if sizes:
            return number, min(sizes)
    return None


def test_the_fewest_features_then_the_smallest_change():
    options = [np.array([1.0, 2.0, 3.0])] * 3
    changed = fewest_changes(linear([1, 1, 2], 2.5), np.zeros(3), options, np.ones(3))
    assert changed.tolist() == [0, 0, 2]
    changed = fewest_changes(linear([1, 1, 2], 2.5), np.zeros(3), options, np.array([1, 2, 9.0]))
    assert changed.tolist() == [3, 0, 0]
    changed = fewest_changes(linear([1, 1, 2], 8.5), np.zeros(3), options, np.array([1, 2, 1.0]))
    assert changed.tolist() == [3, 0, 3]


def test_none_is_found_where_there_is_none():
    options = [np.array([1.0]), np.array([])]
    assert fewest_changes(linear([1, 1], 9), np.zeros(2), options, np.ones(2)) is None
    assert fewest_changes(linear([1, 1], 0), np.zeros(2), [[], []], np.ones(2)) is None


def test_what_is_missing_stays_missing():
    options = [np.array([5.0]), np.array([1.0, 5.0])]
    changed = fewest_changes(linear([9, 1], 4), np.array([nan, 0.0]), options, np.ones(2))
    np.testing.assert_array_equal(changed, [nan, 5.0])


def test_changes_that_are_not_needed_are_undone():
    """The first feature looks best alone, but the two others flip the model without it."""

    def margin(samples):
        a, b, c = samples.T
        return np.where((b > 0) & (c > 0), 1.0, 0.1 * a - 1 + 0.01 * (b + c))

    options = [np.array([1.0])] * 3
    assert fewest_changes(margin, np.zeros(3), options, np.ones(3)).tolist() == [0, 1, 1]


@settings(max_examples=60)
@given(
    weights=st.lists(st.integers(-4, 4), min_size=1, max_size=4),
    threshold=st.integers(0, 12),
    seed=st.integers(0, 1000),
)
def test_against_all_changes(weights, threshold, seed):
    rng = np.random.default_rng(seed)
    options = [rng.integers(-3, 4, rng.integers(0, 4)).astype(float) for _ in weights]
    scale = rng.integers(1, 4, len(weights)).astype(float)
    sample = np.zeros(len(weights))
    margin = linear(weights, threshold + 0.5)
    best = try_all(margin, sample, options, scale)
    changed = fewest_changes(margin, sample, options, scale)
    if best is None:
        assert changed is None
        return
    assert margin(changed[None])[0] > 0
    pairs = zip(changed[changed != sample], np.flatnonzero(changed != sample), strict=True)
    assert all(value in options[j] for value, j in pairs)
    number = (changed != sample).sum()
    assert number == best[0]  # in a sum, the largest steps are the best
    if number == 1:
        assert (np.abs(changed - sample) * scale).sum() == best[1]


@pytest.mark.parametrize("sums_up", [False, True])
def test_the_work_of_a_search_is_limited(sums_up):
    """Without the limit it is cubic in the number of features."""
    n_features, n_tried = 300, []

    def margin(samples):
        n_tried.append(len(samples))
        is_far = samples.sum(axis=1) > 250 if sums_up else samples[:, -20:].all(axis=1)
        return np.where(is_far, 1.0, samples.sum(axis=1) / n_features - 1)

    options, sample = [np.array([1.0])] * n_features, np.zeros(n_features)
    found = counterfactuals.fewest_changes(
        margin, sample, options, np.ones(n_features), np.ones((1, n_features)), 100 * n_features
    )
    assert not found.is_complete
    assert sum(n_tried) * n_features * 100 <= counterfactuals._MAX_COMPARISONS
    assert found.values.sum() == (251 if sums_up else 20)


@pytest.mark.parametrize("cls", [ImprovedOnlineGFMM, BoostedHyperboxes])
def test_explanations_say_that_a_search_has_ended_early(cls, monkeypatch):
    X = np.random.default_rng(0).normal(size=(100, 60))
    model = cls(random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)
    complete = explain(model, X[:1])[0]
    assert complete.is_search_complete
    assert "limit of work" not in str(complete)
    monkeypatch.setattr(counterfactuals, "_MAX_COMPARISONS", 1)
    explanation = explain(model, X[:1])[0]
    assert not explanation.is_search_complete
    assert "The search has ended at its limit of work." in str(explanation).replace("\n    ", " ")
    assert explanation.to_dict()["is_search_complete"] is False
    assert "limit of work" in explanation._repr_html_()
