"""The learners under test: how they are fitted to drawn problems, and how models are compared."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hyperboxes
from hyperboxes import AgglomerativeGFMM, literature
from hyperboxes._models.model import FUNCTIONS
from tests import reference
from tests.strategies import Problem, problems

# The online learners as the paper has them: in the order of the samples, on which most tests rest.
ImprovedOnlineGFMM = partial(hyperboxes.ImprovedOnlineGFMM, shuffle=False)
OnlineGFMM = partial(hyperboxes.OnlineGFMM, shuffle=False)
OverlappingFuzzyMinMax = partial(literature.OverlappingFuzzyMinMax, shuffle=False)

ONLINE_LEARNERS = [OnlineGFMM, ImprovedOnlineGFMM]
LEARNERS = [*ONLINE_LEARNERS, AgglomerativeGFMM, partial(AgglomerativeGFMM, algorithm="agglo2")]
OVERLAPS = ("closed", "paper", "printed")

# Each learner with each of its overlap tests.
VARIANTS = {
    "online": (OnlineGFMM, {}),
    "online, printed": (OnlineGFMM, {"overlap": "printed"}),
    "improved": (ImprovedOnlineGFMM, {"overlap": "closed"}),
    "improved, paper": (ImprovedOnlineGFMM, {"overlap": "paper"}),
    "improved, printed": (ImprovedOnlineGFMM, {"overlap": "printed"}),
}

# All estimators of nearest boxes, to be cloned; a new one is added here.
ESTIMATORS = {
    "online": OnlineGFMM(),
    "improved": ImprovedOnlineGFMM(),
    "improved, paper": ImprovedOnlineGFMM(overlap="paper"),
    "agglo2": AgglomerativeGFMM(algorithm="agglo2"),
    "agglo-sm": AgglomerativeGFMM(),
    "fmnn": literature.FuzzyMinMax(shuffle=False),
    "rfmnn": literature.FuzzyMinMax("rfmnn", shuffle=False),
    "exclude": OverlappingFuzzyMinMax(),
}
every_estimator = pytest.mark.parametrize("learner", ESTIMATORS.values(), ids=ESTIMATORS)

every_online_learner = pytest.mark.parametrize("cls", ONLINE_LEARNERS, ids=["online", "improved"])
every_learner = pytest.mark.parametrize(
    "cls", LEARNERS, ids=["online", "improved", "agglo-sm", "agglo2"]
)
every_function = pytest.mark.parametrize("function", FUNCTIONS)
every_overlap = pytest.mark.parametrize("overlap", OVERLAPS)
every_variant = pytest.mark.parametrize(("cls", "params"), VARIANTS.values(), ids=VARIANTS)

# Blocks of four boxes make deep trees of few boxes, and hardly any room, many new trees. The second
# refusal has the index remember what is in the way.
deep_trees = patch.multiple(
    "hyperboxes._models.box_store", _WIDTH=4, _MIN_CAPACITY=4, _REJECTIONS=2, _WALKS=0
)


def learn(problem: Problem, cls=ImprovedOnlineGFMM, **params):
    """Fit on the problem with all its classes known, even those without a sample."""
    model = cls(theta=problem.theta, **problem.membership, scaling=None, unlabeled=-1, **params)
    X_upper = None if problem.xu is problem.xl else problem.xu
    with deep_trees:
        return model.partial_fit(problem.xl, problem.y, range(problem.n_classes), X_upper=X_upper)


def learn_slowly(learner, problem: Problem, **params) -> reference.Model:
    """Run one of the reference's algorithms on the problem."""
    samples = problem.xl, problem.xu, problem.y
    return learner(*samples, theta=problem.theta, **problem.membership, **params)


@st.composite
def models_and_samples(draw):
    """Draw a fitted model and samples around, between and far away from its boxes."""
    problem = draw(problems())
    model = learn(
        problem, draw(st.sampled_from([OnlineGFMM, ImprovedOnlineGFMM, OverlappingFuzzyMinMax]))
    )
    values = st.integers(-20, 30).map(lambda tenths: tenths / 10) | st.floats(-1e6, 1e6)
    shape = (draw(st.integers(1, 10)), problem.xl.shape[1])
    ends = [draw(hnp.arrays(np.float64, shape, elements=values)) for _ in range(2)]
    if draw(st.booleans()):
        ends = [problem.xl, problem.xu]
    return model, problem, np.minimum(*ends), np.maximum(*ends)


@st.composite
def models(draw):
    """Draw a fitted model and its training data, without what probabilities need."""
    problem = draw(problems())
    learner = draw(st.sampled_from(LEARNERS))
    scaling = draw(st.sampled_from(["minmax", None]))
    params = {"scaling": scaling, "unlabeled": -1, "calibrate": False}
    model = learner(theta=problem.theta, **problem.membership, **params)
    return model.fit(problem.xl, problem.y, X_upper=problem.xu), problem


def as_reference(model):
    """Return the fitted boxes as the reference's model."""
    boxes = model.hyperboxes_
    return reference.Model(boxes.lower, boxes.upper, boxes.labels, boxes.counts, 0)


def assert_equals_the_paper(fit, fit_slowly):
    """Compare a learner with the reference by the paper's selections, and the index with these."""
    every, lemma, index = (fit(selection=selection) for selection in ("all", "lemma", "index"))
    assert_same(every, fit_slowly(selection="all"))
    assert_same(lemma, fit_slowly(selection="lemma"))
    assert same_boxes(every, lemma)
    assert same_boxes(every, index)
    assert lemma.n_candidates_ <= every.n_candidates_


def assert_same(model, expected, *, counts_candidates=True):
    """Compare boxes, labels, counts and, if wanted, candidates bit for bit."""
    boxes = model.hyperboxes_
    np.testing.assert_array_equal(boxes.lower, expected.lower)
    np.testing.assert_array_equal(boxes.upper, expected.upper)
    np.testing.assert_array_equal(boxes.labels, expected.labels)
    np.testing.assert_array_equal(boxes.counts, expected.counts)
    assert not counts_candidates or model.n_candidates_ == expected.n_candidates


def same_boxes(first, second):
    """Whether two models have the same boxes, however many candidates they tried."""
    pairs = zip(vars(first.hyperboxes_).values(), vars(second.hyperboxes_).values(), strict=True)
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


def overlapping_pairs(boxes):
    """List the pairs of boxes of two classes that share a point, as far as is known."""
    meet = ~(boxes.lower[:, None] > boxes.upper).any(axis=2)
    rivals = (boxes.labels[:, None] != boxes.labels) & (boxes.labels >= 0)
    return {(i, k) for i, k in np.argwhere(meet & meet.T & rivals & rivals.T) if i < k}
