"""`FrequencyGFMM` compared with its slow reference, and what reads it."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperboxes import (
    ModelFileError,
    OnlineGFMM,
    export_frame,
    export_sql,
    export_text,
    load,
    to_onnx,
)
from hyperboxes._cli import main
from hyperboxes.literature import FrequencyGFMM
from tests import reference_frequency as reference
from tests.model_files import saved
from tests.test_mixed import as_table, make_frame, tables, with_arrays

CHOICES = st.fixed_dictionaries(
    {
        "theta": st.sampled_from([0.1, 0.3, 0.5, 1.0]),
        "eta": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        "gamma": st.sampled_from([0.5, 1.0, 2.0]),
    }
)


def fitted(table: np.ndarray, y: np.ndarray, n_categorical: int, **chosen) -> FrequencyGFMM:
    """Fit in the order of the samples."""
    model = FrequencyGFMM(
        **chosen,
        scaling=None,
        shuffle=False,
        calibrate=False,
        categorical_features=list(range(n_categorical)),
    )
    return model.fit(table, y)


@settings(max_examples=150)
@given(tables(), CHOICES)
def test_boxes_and_predictions_are_those_of_the_reference(table, chosen):
    numbers, values, y = table
    n_categorical = len(values[0])
    X = as_table(numbers, values)
    classes, codes = np.unique(y, return_inverse=True)
    model = fitted(X, y, n_categorical, **chosen)
    expected = reference.learn(numbers, numbers, values, codes, reference.Settings(**chosen))
    boxes, found = model.hyperboxes_, expected.boxes
    np.testing.assert_array_equal(boxes.lower[:, n_categorical:], [box.lower for box in found])
    np.testing.assert_array_equal(boxes.upper[:, n_categorical:], [box.upper for box in found])
    assert np.isnan(boxes.lower[:, :n_categorical]).all()
    assert boxes.labels.tolist() == [box.label for box in found]
    assert boxes.counts.tolist() == [box.count for box in found]
    assert model.n_candidates_ == expected.n_candidates
    for feature, ends in model.category_ends_.items():
        assert ends.tolist() == [box.ends[feature] for box in found]
        pairs = [(a, b) for a in model.categories_[feature] for b in model.categories_[feature]]
        distances = [expected.distances[feature][pair] for pair in pairs]
        assert model.category_distances_[feature].ravel().tolist() == distances
    rows = zip(numbers, values, strict=True)
    wanted = [reference.predict(expected, row, row, own) for row, own in rows]
    assert model.predict(X).tolist() == classes[wanted].tolist()
    assert (boxes.labels[model.apply(X)] == wanted).all()
    gaps = [
        [reference.gap_of(expected, box, row, row, own) for box in found]
        for row, own in zip(numbers, values, strict=True)
    ]
    memberships = 1.0 - np.minimum(gaps, 1.0)
    best = [memberships[:, boxes.labels == label].max(axis=1) for label in range(len(classes))]
    np.testing.assert_array_equal(model.membership(X), np.transpose(best))


def test_worked_example():
    """r(a, b) = r(b, c) = 0.5 and r(a, c) = 1, as in the description of the distances.

    (0.1, a) and (0.2, b) of class 1 become a box with both ends. (0.3, b) and (0.4, c) of class 2
    become another, which then shares b with the first. Of the categories in place of its b only a
    is none of its own; but that is an end of the first box. So is b, with which c would have to be
    replaced. The numbers do not meet, so nothing is contracted.
    """
    X = np.array([["a", 0.1], ["b", 0.2], ["a", 0.15], ["c", 0.4], ["b", 0.3], ["c", 0.35]], object)
    y = np.array([1, 1, 1, 2, 2, 2])
    model = fitted(X, y, 1, theta=0.3, eta=0.5)
    assert model.category_distances_[0].tolist() == [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]]
    assert model.category_ends_[0].tolist() == [["a", "b"], ["c", "b"]]
    assert model.hyperboxes_.lower[:, 1].tolist() == [0.1, 0.3]
    assert model.hyperboxes_.upper[:, 1].tolist() == [0.2, 0.4]
    assert model.hyperboxes_.counts.tolist() == [3, 3]
    # (0.25, c): 0 in the first box, for r(a, c) = 1, and 1 - (0.3 - 0.25) in the second.
    asked = np.array([["c", 0.25], ["d", 0.25]], object)
    assert model.membership(asked)[:1].tolist() == [[0.0, 1.0 - (0.3 - 0.25)]]
    assert model.predict(asked[:1]).tolist() == [2]
    # A category that was never learned excludes nothing: numbers alone decide.
    assert model.membership(asked)[1].tolist() == [1.0 - (0.25 - 0.2), 1.0 - (0.3 - 0.25)]


def test_an_end_is_replaced():
    """Of class 1 are all samples with a, half with b, 2/3 with e, 1/4 with d and none with c.

    (c, b) of class 2 shares b with (a, b) of class 1. It may become (c, d) or (c, e). r(c, b) is
    1/2, r(c, d) 1/4 and r(c, e) 2/3, so e changes the least. The other samples are far away.
    """
    values = list("ab" + "cb" + "dddd" + "eee")
    y = np.array([1, 1, 2, 2, 1, 2, 2, 2, 1, 1, 2])
    X = np.array([[value, float(i > 3)] for i, value in enumerate(values)], object)
    model = fitted(X, y, 1, theta=0.5, eta=0.5)
    assert model.category_ends_[0][:2].tolist() == [["a", "b"], ["c", "e"]]
    assert model.hyperboxes_.counts[:2].tolist() == [2, 2]


def test_without_categories_it_is_the_original_learner_where_boxes_do_not_meet():
    X = np.array([[0.1, 0.1], [0.2, 0.3], [0.8, 0.9], [0.7, 0.8]])
    y = np.array(["a", "a", "b", "b"])
    chosen = {"theta": 0.3, "shuffle": False}
    model = FrequencyGFMM(**chosen).fit(X, y)
    other = OnlineGFMM(**chosen, membership_function="min").fit(X, y)
    np.testing.assert_array_equal(model.hyperboxes_.lower, other.hyperboxes_.lower)
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    assert "CASE" in export_sql(model)
    assert load(io.BytesIO(saved(model))).predict(X).tolist() == y.tolist()


def test_features_of_one_value_and_of_none():
    X = pd.DataFrame({"one": ["a", "a", None], "none": [None] * 3, "size": [1.0, 2.0, 9.0]})
    model = FrequencyGFMM(categorical_features=["one", "none"]).fit(X, [1, 1, 2])
    assert model.category_distances_["one"].tolist() == [[0.0]]
    assert model.category_distances_["none"].shape == (0, 0)
    assert model.predict(X).tolist() == [1, 1, 2]
    twin = load(io.BytesIO(saved(model)))
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))


def test_tables_in_their_own_units():
    frame, y = make_frame()
    model = FrequencyGFMM(random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.7
    probabilities = model.predict_proba(frame)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(frame)).all()
    assert (model.hyperboxes_.labels[model.apply(frame)] == probabilities.argmax(axis=1)).all()
    weighted = FrequencyGFMM(shuffle=False).fit(frame, y, sample_weight=np.full(len(y), 2))
    twice = FrequencyGFMM(shuffle=False).fit(frame.loc[frame.index.repeat(2)], np.repeat(y, 2))
    np.testing.assert_array_equal(weighted.hyperboxes_.upper, twice.hyperboxes_.upper)


def test_boxes_are_listed_with_their_categories():
    frame, y = make_frame()
    model = FrequencyGFMM(random_state=0).fit(frame, y)
    ends = model.category_ends_["colour"][model.hyperboxes_.counts.argmax()]
    shown = " or ".join(end for end in ends if end is not None)
    text = export_text(model, max_rules=1)
    assert f"colour: {shown}\n" in text
    assert "Categories have distances" in text
    rules = export_frame(model)
    assert rules["colour categories"][model.hyperboxes_.counts.argmax()] == shown
    assert "colour lower" not in rules


def test_saved_models_are_the_same():
    frame, y = make_frame()
    model = FrequencyGFMM(random_state=0).fit(frame, y)
    for twin in (load(io.BytesIO(saved(model))), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.predict_proba(frame), model.predict_proba(frame))
        for feature, ends in model.category_ends_.items():
            assert twin.category_ends_[feature].tolist() == ends.tolist()
            distances = model.category_distances_[feature]
            np.testing.assert_array_equal(twin.category_distances_[feature], distances)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"category_ends": lambda ends: ends + 9}, "no category"),
        ({"category_ends": lambda ends: ends[:, 1:]}, "other categories"),
        (
            {"category_ends": lambda ends: np.stack([-1 + 0 * ends[..., 0], ends[..., 0]], 2)},
            "one end without",
        ),
        ({"category_distances": lambda distances: distances[1:]}, "other categories"),
        (dict.fromkeys(["scale_low", "scale_high"], lambda ends: ends - 1e6), "is scaled"),
        ({"category_distances": lambda distances: distances + np.nan}, "an invalid distance"),
        ({"lower": np.nan_to_num, "upper": np.nan_to_num}, "bounds in a categorical"),
    ],
)
def test_files_that_cannot_be_are_rejected(change, message):
    frame, y = make_frame()
    content = saved(FrequencyGFMM(random_state=0).fit(frame, y))
    with pytest.raises(ModelFileError, match=message):
        load(io.BytesIO(with_arrays(content, change)))


def test_command_line(tmp_path, capsys):
    frame, y = make_frame()
    data, model = tmp_path / "data.csv", tmp_path / "m.hyperboxes"
    frame.assign(label=y).to_csv(data, index=False)
    asked = ["fit", str(data), "--target", "label", "-o", str(model), "--learner", "frequency"]
    assert main(asked) == 0
    assert main(["rules", str(model)]) == 0
    assert "colour: " in capsys.readouterr().out


@pytest.mark.parametrize("read", [export_sql, to_onnx])
def test_readers_of_the_nearest_box_are_unsupported(read):
    table = pd.DataFrame({"size": [1.0, 2, 3], "colour": ["red", "red", "blue"]})
    with pytest.raises(TypeError, match="categories have distances"):
        read(FrequencyGFMM().fit(table, [1, 1, 2]))
