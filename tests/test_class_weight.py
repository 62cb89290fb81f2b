"""`class_weight` of classifiers of every kind."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score

from hyperboxes import AdaptiveGFMM, AgglomerativeGFMM, BoostedHyperboxes, RandomHyperboxes, explain
from tests.learners import ImprovedOnlineGFMM, OnlineGFMM

X, Y = make_classification(600, 5, n_informative=3, weights=[0.9], flip_y=0.02, random_state=3)
LABELS = np.array(["often", "rarely"])[Y]
BOXES = [ImprovedOnlineGFMM(), OnlineGFMM(), AgglomerativeGFMM(), AdaptiveGFMM()]
OTHERS = [BoostedHyperboxes(random_state=0), RandomHyperboxes(None, 10, random_state=0)]


def name(model):
    return type(model).__name__


@pytest.mark.parametrize("learner", [*BOXES, *OTHERS], ids=name)
def test_balanced_weights_find_more_of_a_rare_class(learner):
    recalls = []
    for weight in (None, "balanced"):
        model = clone(learner).set_params(class_weight=weight).fit(X[::2], LABELS[::2])
        predicted = model.predict(X[1::2])
        largest = model.classes_[model.predict_proba(X[1::2]).argmax(axis=1)]
        np.testing.assert_array_equal(predicted, largest)
        recalls.append(recall_score(LABELS[1::2], predicted, pos_label="rarely"))
    assert recalls[1] > recalls[0] + 0.1


@pytest.mark.parametrize("learner", BOXES, ids=name)
def test_models_of_boxes_multiply_probabilities(learner):
    model = clone(learner).fit(X, LABELS)
    plain = model.predict_proba(X)
    shares = np.bincount(model.hyperboxes_.labels, model.hyperboxes_.counts) + 1.0
    for weight, factors in (
        ({"rarely": 3}, [1.0, 3.0]),
        ({"often": 0.5, "rarely": 2.0}, [0.5, 2.0]),
        ("balanced", 1.0 / shares),
    ):
        model.set_params(class_weight=weight)
        expected = plain * factors
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
        if hasattr(model, "predict_one"):
            rows = [dict(enumerate(row)) for row in X[:20]]
            assert [model.predict_one(row) for row in rows] == model.predict(X[:20]).tolist()
        with pytest.raises(TypeError, match="explain is unsupported"):
            explain(model, X)
    np.testing.assert_array_equal(model.set_params(class_weight=None).predict_proba(X), plain)


def test_members_draw_shares_of_the_classes():
    model = RandomHyperboxes(None, 5, class_weight="balanced", random_state=0).fit(X, LABELS)
    rare = np.count_nonzero(Y)
    assert model.n_samples_ == pytest.approx(2 * rare, abs=1)
    weights = np.where(Y == 1, 1.0, rare / (len(Y) - rare))
    weighted = RandomHyperboxes(None, 5, random_state=0).fit(X, LABELS, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(X), weighted.predict_proba(X))


@pytest.mark.parametrize("learner", [*BOXES, OTHERS[1]], ids=name)
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (
            {"seldom": 2.0},
            r"class_weight names 'seldom', which is not a class: \['often', 'rarely'",
        ),
        ({"rarely": 0.0}, r"class_weight must be positive and finite, got \{'rarely': 0.0\}"),
    ],
)
def test_wrong_weights(learner, weight, message):
    with pytest.raises(ValueError, match=message):
        clone(learner).set_params(class_weight=weight).fit(X, LABELS)
