"""Rules as a text and as a table: what they say of samples, and how they read."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from hyperboxes import HyperboxClustering, export_frame, export_text
from hyperboxes._models.samples import MinMaxScale
from tests.decisions import decide_by
from tests.learners import ImprovedOnlineGFMM, OnlineGFMM, every_learner, models

X, Y = load_iris(return_X_y=True)
nan = float("nan")


def held_by(row, lower, upper, tolerance=0.0):
    """Return which samples the bounds of a row of the table hold."""
    features = range(lower.shape[1])
    low = np.array([row.get(f"x{j} lower", nan) for j in features], float) - tolerance
    high = np.array([row.get(f"x{j} upper", nan) for j in features], float) + tolerance
    return ~((lower < low) | (upper > high)).any(axis=1)


@given(models())
def test_coverage_and_precision_by_brute_force(case):
    model, problem = case
    frame = export_frame(model, problem.xl, problem.y, X_upper=problem.xu)
    for box, row in frame.iterrows():
        held = held_by(row, problem.xl, problem.xu)
        if model.scaling is not None:  # which may round values to bounds
            span = np.nan_to_num(np.fmax.reduce(problem.xu) - np.fmin.reduce(problem.xl))
            near = held_by(row, problem.xl, problem.xu, 1e-15 * span)
            assert held.mean() <= row["coverage"] <= near.mean()
            continue
        assert row["coverage"] == held.mean()
        labels = problem.y[held & (problem.y >= 0)]
        label = model.hyperboxes_.labels[box]
        if len(labels):
            assert row["precision"] == (label >= 0) * np.mean(labels == model.classes_[label])
        else:
            assert np.isnan(row["precision"])


@given(models())
def test_the_table_holds_the_very_boxes(case):
    model, _ = case
    frame, boxes = export_frame(model), model.hyperboxes_
    used = np.flatnonzero(~np.isnan(boxes.lower).all(axis=0))
    columns = [f"x{j} {end}" for j in used for end in ("lower", "upper")]
    assert frame.columns.tolist() == ["class", "support", "rule", *columns]
    np.testing.assert_array_equal(frame["support"], boxes.counts)
    np.testing.assert_array_equal(frame[columns[::2]], boxes.lower[:, used])
    np.testing.assert_array_equal(frame[columns[1::2]], boxes.upper[:, used])
    for label, code in zip(frame["class"], boxes.labels, strict=True):
        assert label is None if code < 0 else label == model.classes_[code]


CONDITION = re.compile(
    r"(x\d+)  (?:= (?P<same>\S+)|<= (?P<most>\S+)|>= (?P<least>\S+)|(?P<low>\S+) to (?P<high>\S+))"
)


@given(models(), st.booleans())
def test_the_text_tells_every_bound_that_parts_training_samples(case, all_bounds):
    model, _ = case
    boxes = model.hyperboxes_
    first, *paragraphs = export_text(model, all_bounds=all_bounds).split("\n\n")
    assert first.startswith(f"{len(boxes)} box")
    order = [int(paragraph.split()[1]) for paragraph in paragraphs]
    assert order == sorted(range(len(boxes)), key=lambda box: -boxes.counts[box])
    smallest = np.fmin(np.fmin.reduce(boxes.lower, axis=0), model.data_min_)
    largest = np.fmax(np.fmax.reduce(boxes.upper, axis=0), model.data_max_)
    span = np.where(largest > smallest, largest - smallest, 1)
    for box, paragraph in zip(order, paragraphs, strict=True):
        told = {match[1]: match.groupdict() for match in CONDITION.finditer(paragraph)}
        assert ("always" in paragraph) == (not told)
        for j, (low, high) in enumerate(zip(boxes.lower[box], boxes.upper[box], strict=True)):
            from_start = low == smallest[j] and not all_bounds
            to_end = high == largest[j] and not all_bounds
            if np.isnan(low) or (from_start and to_end):
                assert f"x{j}" not in told
                continue
            parts = {name: float(text) for name, text in told[f"x{j}"].items() if text}
            if low == high and "same" in parts:
                expected = {"same": low}
            elif from_start:
                expected = {"most": high}
            elif to_end:
                expected = {"least": low}
            else:
                expected = {"low": low, "high": high}
                assert parts["low"] < parts["high"]
            assert parts.keys() == expected.keys()
            for name, value in expected.items():
                assert abs(parts[name] - value) <= 0.011 * max(span[j], abs(value))


def told_by(model, text, samples):
    """Return for each box, feature and sample whether the written condition lets it pass.

    Numbers are compared as the model does it, after scaling.
    """
    boxes, scale = model.hyperboxes_, MinMaxScale(model.data_min_, model.data_max_)
    passes = np.ones((*boxes.lower.shape, len(samples)), bool)
    for paragraph in text.split("\n\n")[1:]:
        box = int(paragraph.split()[1])
        for match in CONDITION.finditer(paragraph):
            parts = {name: float(end) for name, end in match.groupdict().items() if end}
            j = int(match[1][1:])
            ends = np.full((2, boxes.lower.shape[1]), nan)
            ends[0, j] = parts.get("same", parts.get("least", parts.get("low", -np.inf)))
            ends[1, j] = parts.get("same", parts.get("most", parts.get("high", np.inf)))
            low, high = scale.transform(ends)[:, j]
            values = scale.transform(samples)[:, j]
            passes[box, j] = ~((values < low) | (values > high))
    return passes


def held_in_each(model, samples):
    """Return for each box, feature and sample whether the box contains the sample there."""
    boxes, scale = model.hyperboxes_, MinMaxScale(model.data_min_, model.data_max_)
    values = scale.transform(samples).T[None]
    low, high = (scale.transform(ends)[:, :, None] for ends in (boxes.lower, boxes.upper))
    return ~((values < low) | (values > high))


@st.composite
def skewed(draw):
    """Draw data as people have it: typed or measured, often skewed, with and without outliers."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    data = rng.lognormal(sigma=draw(st.sampled_from([0.1, 1, 4])), size=(40, 3))
    data = data * 10.0 ** draw(st.integers(-9, 9)) + draw(st.sampled_from([0.0, 100.0]))
    if draw(st.booleans()):
        data = np.round(data, draw(st.integers(0, 5)))
    data[0] *= draw(st.sampled_from([1, 1e4]))
    y = rng.integers(0, 2, len(data))
    model = ImprovedOnlineGFMM(theta=draw(st.sampled_from([0.05, 0.5])))
    return model.fit(data, y), data, y


@settings(max_examples=60)
@given(skewed())
def test_rules_are_true_of_the_samples_given(case):
    """What a box holds in a feature passes the written condition, and nothing else does."""
    model, data, y = case
    text = export_text(model, data, y, all_bounds=True)
    np.testing.assert_array_equal(told_by(model, text, data), held_in_each(model, data))


@settings(max_examples=60)
@given(skewed())
def test_without_samples_rules_are_true_of_all_bounds_and_all_that_is_held(case):
    model, data, _ = case
    boxes = model.hyperboxes_
    text = export_text(model, all_bounds=True)
    bounds = np.concatenate([boxes.lower, boxes.upper])
    np.testing.assert_array_equal(told_by(model, text, bounds), held_in_each(model, bounds))
    assert told_by(model, text, data)[held_in_each(model, data)].all()


def test_skewed_features_do_not_collapse():
    """Rounding by the range made "<= 0.00" of 0.003745."""
    values = np.array([0.0, 0.001, 0.003745, 0.004, 0.9, 1.0])[:, None]
    model = ImprovedOnlineGFMM(theta=0.5).fit(values, [0, 0, 0, 1, 1, 1])
    assert "x0  <= 0.003745\n" in export_text(model)
    assert (told_by(model, export_text(model), values) == held_in_each(model, values)).all()


def test_bounds_at_the_ends_of_the_range_are_left_out():
    model = ImprovedOnlineGFMM(theta=0.5).fit([[0.0], [4.0], [6.0], [10.0]], ["a", "a", "b", "b"])
    assert export_text(model) == (
        "2 boxes from 4 training samples.\nBounds at an end of the samples' range are left out.\n\n"
        "box 0  a  2 samples\n    x0  <= 4\n\n"
        "box 1  b  2 samples\n    x0  >= 6"
    )
    assert export_text(model, all_bounds=True) == (
        "2 boxes from 4 training samples.\n\n"
        "box 0  a  2 samples\n    x0  0 to 4\n\n"
        "box 1  b  2 samples\n    x0  6 to 10"
    )


def test_later_batches_may_go_beyond_the_first_range():
    model = ImprovedOnlineGFMM(theta=0.5).partial_fit([[0.0], [10.0]], [0, 1], classes=[0, 1])
    model.partial_fit([[12.0], [30.0]], [1, 0])
    text = export_text(model)
    assert "x0  10 to 12" in text
    assert "x0  = 30" in text


def test_a_box_without_conditions():
    model = ImprovedOnlineGFMM(theta=1.0).fit([[0.0, nan], [10.0, nan]], ["a", "a"])
    assert export_text(model).endswith("box 0  a  2 samples\n    always")
    assert export_text(model, all_bounds=True).endswith("    x0  0 to 10")


def test_flat_boxes_and_thin_boxes():
    data = [[3.0, 5.001], [3.0, 5.002], [0.0, 0.0], [9.0, 9.0]]
    text = export_text(ImprovedOnlineGFMM(theta=0.1).fit(data, [0, 0, 1, 1]))
    assert "x0  = 3" in text
    assert "5.001 to 5.002" in text


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.1 + 0.2, 0.7, -1.0, 1.0], "0.3 to 0.7"),
        ([-5.55e-17, 0.7, -1.0, 1.0], "0.0 to 0.7"),
        ([4.3, 5.2, 0.0, 7.9], "4.3 to 5.2"),
        ([4.0, 5.0, 0.0, 8.0], "4 to 5"),
        ([1 / 3, 2 / 3, 0.0, 1.0], "0.33 to 0.67"),
        ([1234.56789, 2345.6789, 0.0, 10000.0], "1234 to 2346"),
        ([3e-12, 4e-12, 0.0, 9e-12], "3e-12 to 4e-12"),
        ([3e20, 4e20, 0.0, 9e20], "3e+20 to 4e+20"),
        ([1e9 + 1, 1e9 + 2, 1e9, 1e9 + 4], "1000000001 to 1000000002"),
    ],
)
def test_numbers_are_rounded_by_the_range(values, expected):
    model = ImprovedOnlineGFMM(theta=0.4).fit(np.array(values)[:, None], ["in", "in", "out", "out"])
    assert f"x0  {expected}\n" in export_text(model) + "\n"


def test_decimals_of_the_callers_choice():
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    assert re.search(r" 2\.900 to 3\.600\b", export_text(model, decimals=3))
    assert re.search(r" 2 to 4\b", export_text(model, decimals=0))  # outwards


def test_the_text_says_how_many_samples_are_held():
    model = ImprovedOnlineGFMM(theta=0.3).fit(X[::2], Y[::2])
    share = (model.membership(X).max(axis=1) == 1).mean()
    assert 0.5 < share < 1
    assert f"They contain {share:.1%} of the 150 samples given.\n" in export_text(model, X)
    assert "They hold" not in export_text(model)


def test_coverage_and_precision_in_the_text():
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    assert "coverage" not in export_text(model)
    assert "precision" not in export_text(model, X)
    text = export_text(model, X[:50] + 100, Y[:50])
    assert "coverage 0.0%  precision -" in text
    text = export_text(model, X, np.where(Y == 0, 7, Y))  # a label that the model does not know
    assert "precision   0.0%" in text


def test_precision_leaves_out_samples_without_a_label():
    model = ImprovedOnlineGFMM(theta=1.0, unlabeled="?").fit([[0.0], [1.0]], ["a", "?"])
    frame = export_frame(model, [[0.1], [0.2], [0.3]], ["?", "a", "b"])
    assert frame.loc[0, "coverage"] == 1
    assert frame.loc[0, "precision"] == 0.5
    for missing in (None, nan, pd.NA):
        frame = export_frame(model, [[0.1], [0.2]], np.array([missing, "a"], object))
        assert frame.loc[0, "precision"] == 1


def test_numbers_of_many_digits_are_covered():
    rng = np.random.default_rng(0)
    data = rng.lognormal(size=(100, 5))
    model = ImprovedOnlineGFMM(theta=0.01).fit(data, np.arange(100) % 2)
    frame = export_frame(model, data, np.arange(100) % 2)
    assert (frame["coverage"] * 100 >= frame["support"] - 1e-9).all()
    assert (frame["precision"] == 1).all()


def test_a_limit_says_what_is_left_out():
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    text = export_text(model, max_rules=16)
    assert text.endswith("1 more box from 1 training sample: left out (max_rules=16).")
    assert "left out (" not in export_text(model, max_rules=17)


@every_learner
def test_names(cls):
    frame = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    model = cls(theta=0.3).fit(frame, Y)
    text = export_text(model, frame, Y, class_names=["setosa", "versicolor", "virginica"])
    assert "petal width" in text
    assert "setosa" in text
    assert "class 1" in export_text(model)
    assert "  d  " in export_text(model, feature_names=list("abcd"))
    table = export_frame(model, class_names=["setosa", "versicolor", "virginica"])
    assert set(table["class"]) == {"setosa", "versicolor", "virginica"}
    assert "petal width upper" in table
    assert set(export_frame(model)["class"]) == {0, 1, 2}


def test_several_deciding_boxes_are_mentioned():
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    assert "decide" not in export_text(decide_by(model, 1))
    lines = export_text(decide_by(model, 5)).splitlines()
    assert lines[2:4] == [
        "The 5 nearest boxes of each class decide together. For a single deciding box,",
        'fit with decision="nearest".',
    ]


def test_boxes_without_a_label_say_so():
    model = ImprovedOnlineGFMM(theta=0.1, unlabeled=-1).fit([[0.0], [1.0]], [3, -1])
    assert "box 1  (no label)  1 sample\n" in export_text(model)
    frame = export_frame(model, [[1.0]], [3])
    assert frame["class"].tolist() == [3, None]
    assert frame["class"].isna().tolist() == [False, True]
    assert frame["precision"].tolist()[1] == 0


def test_lines_are_aligned_and_fit_the_terminal():
    rng = np.random.default_rng(0)
    data = rng.random((50, 60))
    model = ImprovedOnlineGFMM(theta=0.9).fit(data, rng.integers(0, 3, 50))
    lines = export_text(model, data).splitlines()
    assert max(map(len, lines)) <= 79
    assert len(lines) < 25 * len(model.hyperboxes_)
    starts = {line.index("coverage") for line in lines if "coverage" in line}
    assert len(starts) == 1
    narrow = export_text(model, data, width=20).splitlines()
    assert all(line.count(" to ") <= 1 for line in narrow)


def test_clusters_are_rules_too():
    data = [[0.0], [0.5], [5.0], [9.5], [10.0]]
    model = HyperboxClustering(theta=0.1, min_samples=2).fit(data)
    text = export_text(model, data)
    assert "box 0  cluster 0  2 samples  coverage 40.0%" in text
    assert "box 2  cluster 1  2 samples" in text
    assert "box 1  (noise)    1 sample " in text
    frame = export_frame(model, data, model.labels_)
    assert frame["class"].tolist() == [0, None, 1]
    np.testing.assert_array_equal(frame["precision"], [1, nan, 1])  # noise is no label
    assert "near" in export_text(model, class_names=["near", "far"])
    with pytest.raises(ValueError, match="class_names has 1 names, but the model has 2 clusters"):
        export_text(model, class_names=["near"])


def test_bad_input():
    model = OnlineGFMM().fit(X, Y)
    with pytest.raises(ValueError, match="max_rules must be a whole number of at least 1"):
        export_text(model, max_rules=0)
    with pytest.raises(ValueError, match="decimals must be a whole number"):
        export_text(model, decimals=1.5)
    for width in (0, None):
        with pytest.raises(ValueError, match="width must be a whole number of at least 1, got"):
            export_text(model, width=width)
    with pytest.raises(ValueError, match="pass X as well"):
        export_text(model, y=Y)
    with pytest.raises(ValueError, match="y has 3 labels, but X has 150 samples"):
        export_frame(model, X, Y[:3])
    with pytest.raises(ValueError, match="feature_names has 1 names, but the model has 4 features"):
        export_text(model, feature_names="petal")
    with pytest.raises(ValueError, match="features"):
        export_text(model, X[:, :2])


def test_pandas_is_asked_for_only_where_it_is_used(monkeypatch):
    model = OnlineGFMM().fit(X, Y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"export_frame needs pandas: pip install 'hyperboxes\[p"):
        export_frame(model)
    assert export_text(model)
