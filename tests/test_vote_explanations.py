"""Explanations by boxes that vote: what they say adds up, and how they read."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_iris

from hyperboxes import BoostedHyperboxes, VoteExplanations, explain
from tests.boosted import MANY, held, known_model, problems, small_model

X, Y = load_iris(return_X_y=True)
nan = np.nan


@settings(max_examples=25, deadline=None)
@given(problems(), st.sampled_from([3, MANY]))
def test_the_parts_add_up_to_what_the_model_says(problem, max_boxes):
    X, y, weights = problem
    model = small_model(max_boxes, early_stopping=False).fit(X, y, weights)
    explanations = explain(model, X)
    assert_array_equal(explanations.predictions, model.predict(X))
    assert_array_equal(explanations.probabilities, model.predict_proba(X))
    assert_array_equal(explanations.held, held(model, X))
    for row, explanation in enumerate(explanations):
        total = model.intercept_.copy()
        for vote in sorted(explanation.votes, key=lambda vote: vote.index):
            total += vote.weights
        assert_array_equal(explanation.scores, total)
        assert_allclose(explanation.probabilities, softmax(total), rtol=1e-12)
        assert explanation.prediction == model.predict(X[[row]])[0]
        assert {vote.index for vote in explanation.votes} == set(
            np.flatnonzero(explanations.held[row])
        )
        largest = [np.abs(vote.weights).max() for vote in explanation.votes]
        assert all(a >= b for a, b in pairwise(largest))


def test_the_text_is_a_table_of_votes():
    sample = [[2.0000001, nan, 7.0]]
    assert str(explain(known_model(), sample)[0]) == (
        "b, probability 0.783: 2 of 3 boxes hold the sample.\n\n"
        "      b        a\n"
        "  +0.01           intercept\n"
        "  +2.10           box 2  2 < x0 = 2.0000001 <= 4.25\n"
        "           +1.24  box 1  x1 missing\n"
        "   2.11     1.24  score\n"
        "  0.705    0.295  probability"
    )
