"""Pruning: boxes that do harm or nothing on validation samples are dropped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from hyperboxes import AgglomerativeGFMM, HyperboxClustering, prune
from tests.decisions import decide_by
from tests.learners import ImprovedOnlineGFMM, OnlineGFMM, learn, same_boxes
from tests.strategies import problems

X, Y = load_breast_cancer(return_X_y=True)
X, X_VAL, Y, Y_VAL = train_test_split(X, Y, random_state=0)


@pytest.mark.parametrize(
    "model", [OnlineGFMM(), ImprovedOnlineGFMM(0.3), AgglomerativeGFMM(0.3, algorithm="agglo2")]
)
def test_a_smaller_and_better_model(model):
    model.fit(X, Y)
    before = model.hyperboxes_
    pruned = prune(model, X_VAL, Y_VAL)
    report = pruned.pruning_
    assert report.accuracy_before == model.score(X_VAL, Y_VAL)
    assert report.accuracy_after == pruned.score(X_VAL, Y_VAL) > report.accuracy_before
    dropped = np.concatenate([report.harmful, report.unused])
    assert len(set(dropped)) == len(dropped) > 0
    kept = np.setdiff1d(np.arange(len(before)), dropped)
    np.testing.assert_array_equal(pruned.hyperboxes_.lower, before.lower[kept])
    np.testing.assert_array_equal(pruned.hyperboxes_.counts, before.counts[kept])
    assert model.hyperboxes_ is before
    assert str(report).startswith(f"Dropped {len(dropped)} of {report.n_boxes} boxes: ")


@pytest.mark.parametrize("n_neighbors", [2, 10])
def test_boxes_that_decide_together_are_used(n_neighbors):
    model = decide_by(ImprovedOnlineGFMM(0.1).fit(X, Y), n_neighbors)
    pruned = prune(model, X_VAL, Y_VAL)
    report, boxes = pruned.pruning_, model.hyperboxes_
    assert report.accuracy_after == pruned.score(X_VAL, Y_VAL) >= report.accuracy_before
    assert len(report.harmful) > 0
    kept = np.setdiff1d(np.arange(len(boxes)), report.harmful)
    only = model._with_boxes(model._model.boxes.take(np.isin(np.arange(len(boxes)), kept)))
    _, expected = only._model.find_neighbors(*only._intervals(X_VAL, None).scaled(), n_neighbors)
    _, found = pruned._model.find_neighbors(*pruned._intervals(X_VAL, None).scaled(), n_neighbors)
    np.testing.assert_array_equal(found, expected)  # what was unused changes no distance


def test_unused_boxes_can_be_kept():
    model = ImprovedOnlineGFMM(0.3).fit(X, Y)
    pruned = prune(model, X_VAL, Y_VAL, keep_unused=True)
    assert len(pruned.pruning_.unused) == 0
    assert len(pruned.pruning_.harmful) > 0
    both = prune(model, X_VAL, Y_VAL)
    np.testing.assert_array_equal(both.pruning_.harmful, pruned.pruning_.harmful)
    np.testing.assert_array_equal(both.predict(X_VAL), pruned.predict(X_VAL))


@given(problem=problems(), data=st.data())
def test_what_is_left_is_as_accurate_as_can_be_by_one_box(problem, data):
    model = learn(problem, data.draw(st.sampled_from([OnlineGFMM, ImprovedOnlineGFMM])))
    rows = data.draw(st.lists(st.integers(0, len(problem.y) - 1), min_size=1))
    labels = st.integers(0, problem.n_classes - 1)
    y = np.array(data.draw(st.lists(labels, min_size=len(rows), max_size=len(rows))))
    samples = problem.xl[rows], problem.xu[rows]
    pruned = prune(model, samples[0], y, X_upper=samples[1])
    report = pruned.pruning_
    assert report.accuracy_after >= report.accuracy_before
    had = set(model.hyperboxes_.labels) - {-1}
    assert set(pruned.hyperboxes_.labels) == had
    right = np.mean(pruned.predict(samples[0], X_upper=samples[1]) == y)
    assert right == report.accuracy_after
    kept = prune(model, samples[0], y, keep_unused=True, X_upper=samples[1])
    again = prune(kept, samples[0], y, keep_unused=True, X_upper=samples[1])
    assert same_boxes(again, kept)
    np.testing.assert_array_equal(
        kept.predict(samples[0], X_upper=samples[1]), pruned.predict(samples[0], X_upper=samples[1])
    )


def prune_slowly(model, X, y, X_upper):
    """Return the harmful boxes by the rule as it is told: a model without each box, tried whole."""
    kept = np.ones(len(model.hyperboxes_), bool)
    labels = model.hyperboxes_.labels
    has_values = ~np.isnan(model.hyperboxes_.lower) & (labels >= 0)[:, np.newaxis]

    def without_dropped():
        boxes = model._model.boxes
        return model._with_boxes(boxes.take(kept))

    is_done = False
    while not is_done:
        is_done = True
        current = without_dropped()
        is_right = current.predict(X, X_upper=X_upper) == y
        deciders = np.flatnonzero(kept)[current.apply(X, X_upper=X_upper)]
        suspects = set(deciders[~is_right].tolist())
        balance = {box: np.where(is_right, 1, -1)[deciders == box].sum() for box in suspects}
        for box in sorted(suspects, key=lambda box: (balance[box], box)):
            is_last = (has_values[box] & (has_values[kept].sum(axis=0) == 1)).any()
            if not is_last and (labels[kept] == labels[box]).sum() > 1:
                before = (without_dropped().predict(X, X_upper=X_upper) == y).sum()
                kept[box] = False
                if (without_dropped().predict(X, X_upper=X_upper) == y).sum() > before:
                    is_done = False
                else:
                    kept[box] = True
    return np.flatnonzero(~kept)


@given(problem=problems(), data=st.data())
def test_tries_of_single_boxes_equal_the_slow_rule(problem, data):
    model = learn(problem, data.draw(st.sampled_from([OnlineGFMM, ImprovedOnlineGFMM])))
    labels = st.integers(0, problem.n_classes - 1)
    y = np.array(data.draw(st.lists(labels, min_size=len(problem.y), max_size=len(problem.y))))
    expected = prune_slowly(model, problem.xl, y, problem.xu)
    pruned = prune(model, problem.xl, y, keep_unused=True, X_upper=problem.xu)
    assert pruned.pruning_.harmful.tolist() == expected.tolist()


def test_a_box_that_changes_nothing_is_kept():
    """It decides a sample wrongly, but without it the sample is wrong, too."""
    model = ImprovedOnlineGFMM(0.05, scaling=None, shuffle=False)
    model.fit([[0.0], [0.5], [0.6], [1.0]], ["a", "b", "b", "b"])
    pruned = prune(model, [[0.0], [0.5], [0.6]], ["a", "a", "b"])
    assert pruned.pruning_.harmful.tolist() == []
    assert pruned.pruning_.accuracy_after == 2 / 3
    assert pruned.pruning_.unused.tolist() == [3]


def test_a_box_that_does_harm():
    model = ImprovedOnlineGFMM(0.05, scaling=None)
    model.fit([[0.0], [0.4], [0.5], [1.0]], ["a", "a", "b", "a"])
    samples = [[0.0], [0.5], [0.48], [0.9]], ["a"] * 4
    pruned = prune(model, *samples)
    assert pruned.pruning_.harmful.tolist() == []  # it is the only one of its class
    model.partial_fit([[0.75]], ["b"])
    pruned = prune(model, *samples)
    assert pruned.pruning_.harmful.tolist() == [2]
    assert pruned.pruning_.accuracy_before == 0.5
    assert pruned.pruning_.accuracy_after == 1.0
    assert pruned.classes_.tolist() == ["a", "b"]
    assert pruned.hyperboxes_.labels.tolist() == [0, 0, 0, 1]


def test_each_class_keeps_its_largest_box():
    model = ImprovedOnlineGFMM(0.1, scaling=None)
    model.fit([[0.0], [0.5], [0.52], [0.9]], ["a", "b", "b", "b"])
    pruned = prune(model, [[0.0]], ["a"])
    assert pruned.pruning_.unused.tolist() == [2]
    assert pruned.hyperboxes_.counts.tolist() == [1, 2]


def test_pruned_models_go_on_learning():
    data, y = load_iris(return_X_y=True)
    pruned = prune(ImprovedOnlineGFMM(0.2).fit(data[::2], y[::2]), data[1::2], y[1::2])
    n_samples = pruned.hyperboxes_.counts.sum()
    pruned.partial_fit(data[:5], y[:5])
    assert pruned.hyperboxes_.counts.sum() == n_samples + 5
    assert not hasattr(pruned.fit(data, y), "pruning_")


@pytest.mark.parametrize(
    ("X_val", "y_val", "message"),
    [
        (X_VAL, Y_VAL[:-1], "inconsistent numbers of samples"),
        (X_VAL[:, :3], Y_VAL, "expecting 30 features"),
        (X_VAL, Y_VAL + 5, r"y_val holds labels that are not in classes_: \[5, 6\]. Leave"),
        (X_VAL[:0], Y_VAL[:0], "0 sample"),
    ],
)
def test_bad_samples(X_val, y_val, message):
    with pytest.raises(ValueError, match=message):
        prune(ImprovedOnlineGFMM().fit(X, Y), X_val, y_val)


def test_models_must_be_fitted_classifiers():
    with pytest.raises(NotFittedError):
        prune(ImprovedOnlineGFMM(), X_VAL, Y_VAL)
    with pytest.raises(TypeError, match="prune is unsupported for HyperboxClustering"):
        prune(HyperboxClustering().fit(X, Y), X_VAL, Y_VAL)
    with pytest.raises(TypeError, match="prune takes an estimator of hyperboxes, not Decision"):
        prune(DecisionTreeClassifier().fit(X, Y), X_VAL, Y_VAL)
