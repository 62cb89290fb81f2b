"""Short rules: few conditions that keep out what all conditions keep out."""

import numpy as np
from hypothesis import given, settings
from sklearn.datasets import load_breast_cancer

from hyperboxes import export_frame, export_text
from hyperboxes._estimators.capabilities import Operation
from hyperboxes._readers.fitted import read_fitted
from hyperboxes._readers.quality import GivenSamples, find_short_rules
from tests.learners import ImprovedOnlineGFMM, models

DATA = load_breast_cancer()


@settings(max_examples=40)
@given(models())
def test_short_rules_keep_out_what_all_conditions_keep_out(case):
    model, problem = case
    fitted = read_fitted(model, Operation.TEXT)
    samples = GivenSamples.check(fitted, problem.xl, problem.y, problem.xu)
    smallest, largest = fitted.learned_range
    boxes = model.hyperboxes_
    low = np.where(boxes.lower <= smallest, -np.inf, boxes.lower)
    high = np.where(boxes.upper >= largest, np.inf, boxes.upper)
    for box, needed in enumerate(find_short_rules(fitted, samples)):
        rivals = (samples.codes >= 0) & (samples.codes != boxes.labels[box])
        out = (problem.xu[rivals] > high[box]) | (problem.xl[rivals] < low[box])
        if model.scaling is None:  # scaling may round values to bounds
            np.testing.assert_array_equal(out[:, needed].any(axis=1), out.any(axis=1))
            for j in needed:  # each is needed
                others = np.setdiff1d(needed, [j])
                assert (out[:, others].any(axis=1) != out.any(axis=1)).any()


def test_rules_of_thirty_conditions_become_short():
    X, y = DATA.data, DATA.target
    model = ImprovedOnlineGFMM(theta=0.5).fit(X, y)
    short, whole = export_text(model, X, y), export_text(model, X, y, all_conditions=True)
    n_short, n_whole = (text.count(" to ") + text.count("= ") for text in (short, whole))
    assert n_short < n_whole / 5
    assert "found greedily" in short
    assert "left out)" in short
    assert "left out)" not in whole
    assert "greedily" not in export_text(model, X)
    assert "greedily" not in export_text(model, X, y, all_bounds=True)


def test_short_rules_in_the_table():
    model = ImprovedOnlineGFMM(theta=1.0).fit([[0.0, 0], [4, 4], [6, 0], [10, 4]], list("aabb"))
    frame = export_frame(model, [[1.0, 1], [7, 1]], ["a", "b"])
    assert frame["rule"].tolist() == ["x0 <= 4", "x0 >= 6"]
