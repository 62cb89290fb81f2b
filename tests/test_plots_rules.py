"""`RulesDisplay`: bars are the bounds of the rules, and texts are legible."""

import numpy as np
import pandas as pd
import pytest

from hyperboxes import AdaptiveGFMM, BoostedHyperboxes, HyperboxClustering, RulesDisplay
from tests.boosted import known_model
from tests.figures import assert_legible, iris, legend_names

pytestmark = pytest.mark.usefixtures("close_figures")


def test_bars_are_the_bounds_of_the_largest_boxes():
    X, _, model = iris()
    display = RulesDisplay.from_estimator(model, max_rules=4, max_features=2)
    boxes = model.hyperboxes_
    rows = np.argsort(-boxes.counts, kind="stable")[:4]
    assert {name.split(",")[0] for name in display.rule_names} == {f"box {row}" for row in rows}
    rows = [int(name.split()[1].rstrip(",")) for name in display.rule_names]
    low, span = X.to_numpy().min(axis=0)[2:], np.ptp(X.to_numpy(), axis=0)[2:]
    np.testing.assert_allclose(display.lower * span + low, boxes.lower[rows][:, [2, 3]])
    np.testing.assert_allclose(display.upper * span + low, boxes.upper[rows][:, [2, 3]])
    assert display.labels.tolist() == boxes.labels[rows].tolist()
    assert display.title.startswith(f"4 of {len(boxes)} rules, 2 of 4 features")
    assert_legible(display.figure_)


def test_rules_have_no_bars_where_they_are_open():
    display = RulesDisplay.from_estimator(known_model())
    assert len(display.rule_names) == 3
    n_bounded = (~np.isnan(display.lower)).sum()
    record = known_model().hyperboxes_
    assert n_bounded == (np.isfinite(record.lower) | np.isfinite(record.upper)).sum()
    assert display.rule_names[0].endswith("+2.10")
    assert set(legend_names(display.ax_)) == {"a", "b"}


@pytest.mark.parametrize("cls", [AdaptiveGFMM, HyperboxClustering, BoostedHyperboxes])
def test_rules_of_other_models(cls):
    X, y, _ = iris()
    display = RulesDisplay.from_estimator(cls().fit(X, y))
    assert 0 < len(display.rule_names) <= 15
    display.figure_.canvas.draw()


def test_categories_are_named():
    jobs = ["own", "firm", "none"] * 30
    X = pd.DataFrame({"job": jobs, "age": np.arange(90) % 7})
    y = np.where((X["job"] == "none") ^ (X["age"] > 3), "yes", "no")
    display = RulesDisplay.from_estimator(BoostedHyperboxes(random_state=0).fit(X, y))
    name = next(name for name in display.feature_names if name.startswith("job"))
    assert set(name.split()) == {"job", "|", "own", "firm", "none"}
    with pytest.raises(ValueError, match="max_rules must be a whole number of at least 1"):
        RulesDisplay.from_estimator(BoostedHyperboxes(random_state=0).fit(X, y), max_rules=0)
