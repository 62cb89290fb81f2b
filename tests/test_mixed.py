"""`MixedGFMM` (EIOL-GFMM) compared with its slow reference, and what reads it."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperboxes import (
    ImprovedOnlineGFMM,
    ModelFileError,
    export_frame,
    export_sql,
    export_text,
    load,
    to_onnx,
)
from hyperboxes._cli import main
from hyperboxes.literature import MixedGFMM
from tests import reference_mixed as reference
from tests.learners import deep_trees
from tests.model_files import saved, sealed

TENTHS = st.integers(0, 10).map(lambda number: number / 10) | st.just(np.nan)
LETTERS = st.sampled_from(["a", "b", "c", None])


@st.composite
def tables(draw):
    """Draw rows of numbers and categories with ties, duplicates and missing values; and labels."""
    n_numbers, n_categorical = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(any))
    row = st.tuples(
        st.tuples(*[TENTHS] * n_numbers), st.tuples(*[LETTERS] * n_categorical), st.integers(0, 2)
    )
    rows = draw(st.lists(row, min_size=2, max_size=30))
    numbers = np.array([row[0] for row in rows], float).reshape(len(rows), n_numbers)
    return numbers, [row[1] for row in rows], np.array([row[2] for row in rows])


@st.composite
def choices(draw):
    """Draw parameters that the learner and its reference share."""
    return {
        "theta": draw(st.sampled_from([0.1, 0.3, 0.5, 1.0])),
        "delta": draw(st.sampled_from([0.0, 0.3, 0.6, 0.95, 1.0])),
        "alpha": draw(st.sampled_from([0.0, 0.1, 0.5, 0.7, 1.0])),
        "gamma": draw(st.sampled_from([0.5, 1.0, 2.0])),
        "entropy": draw(st.sampled_from(["mean", "each"])),
        "overlap": draw(st.sampled_from(["values", "frequencies"])),
    }


def as_table(numbers: np.ndarray, values: list[tuple]) -> np.ndarray:
    """Put categories first and numbers last into one table."""
    table = np.empty((len(numbers), len(values[0]) + numbers.shape[1]), object)
    for i, row in enumerate(values):
        table[i, : len(row)] = row
    table[:, len(values[0]) :] = numbers
    return table


def fitted(numbers, values, y, chosen, selection, **more):
    """Fit in the order of the samples."""
    model = MixedGFMM(
        **chosen,
        selection=selection,
        scaling=None,
        shuffle=False,
        categorical_features=list(range(len(values[0]))),
        **more,
    )
    with deep_trees:
        return model.partial_fit(as_table(numbers, values), y, classes=[0, 1, 2])


def assert_same(model: MixedGFMM, expected: reference.Model, n_categorical: int) -> None:
    boxes = model.hyperboxes_
    found = expected.boxes
    np.testing.assert_array_equal(boxes.lower[:, n_categorical:], [box.lower for box in found])
    np.testing.assert_array_equal(boxes.upper[:, n_categorical:], [box.upper for box in found])
    assert np.isnan(boxes.lower[:, :n_categorical]).all()
    assert boxes.labels.tolist() == [box.label for box in found]
    assert boxes.counts.tolist() == [box.count for box in found]
    for feature, counts in model.category_counts_.items():
        known = model.categories_[feature]
        expected_counts = [[box.counters[feature][value] for value in known] for box in found]
        assert counts.tolist() == expected_counts


@settings(max_examples=80)
@given(tables(), choices())
def test_boxes_are_those_of_the_reference(table, chosen):
    numbers, values, y = table
    models = {name: fitted(*table, chosen, name) for name in ("all", "lemma", "index")}
    for selection in ("all", "lemma"):
        told = reference.Settings(**chosen, selection=selection)
        expected = reference.learn(numbers, numbers, values, y, told)
        assert_same(models[selection], expected, len(values[0]))
        assert models[selection].n_candidates_ == expected.n_candidates
    assert_same(models["index"], expected, len(values[0]))
    wanted = [
        reference.predict(expected, row, row, asked)
        for row, asked in zip(numbers, values, strict=True)
    ]
    assert models["index"].predict(as_table(numbers, values)).tolist() == wanted


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=20), st.sampled_from("abcd"))
def test_rise_of_entropy_is_that_of_the_paper(values, value):
    counter = Counter(values)
    rise = reference.entropy_rise(counter, value)
    assert rise == pytest.approx(reference.literal_rise(counter, value), abs=1e-12)


def test_rises_as_published():
    """A new value in a box of 1 to 8 equal ones."""
    rises = [reference.entropy_rise(Counter("a" * n), "b") for n in range(1, 9)]
    assert [round(rise, 3) for rise in rises] == [1, 0.918, 0.811, 0.722, 0.65, 0.592, 0.544, 0.503]


EXAMPLE = (
    np.array([[0.2], [0.3], [0.25], [0.35], [0.3]]),
    [("a",), ("a",), ("b",), ("a",), ("b",)],
    np.array([0, 0, 0, 0, 1]),
)


@pytest.mark.parametrize("selection", ["all", "lemma", "index"])
def test_worked_example(selection):
    chosen = {"theta": 0.3, "delta": 0.95, "alpha": 0.5}
    model = fitted(*EXAMPLE, chosen, selection, calibrate=False)
    assert model.hyperboxes_.lower[:, 1].tolist() == [0.2, 0.3]
    assert model.hyperboxes_.upper[:, 1].tolist() == [0.35, 0.3]
    assert model.category_counts_[0].tolist() == [[3, 1], [0, 1]]
    asked = np.array([["b", 0.3]], object)
    assert model.membership(asked).tolist() == [[0.625, 1.0, 0.0]]
    assert model.predict(asked).tolist() == [1]
    assert model.apply(asked).tolist() == [1]
    model = fitted(*EXAMPLE, chosen | {"delta": 0.9}, selection)
    assert model.category_counts_[0].tolist() == [[3, 0], [0, 1], [0, 1]]


@given(tables(), choices(), st.integers(1, 5))
@settings(max_examples=30)
def test_any_batching_gives_the_same_boxes(table, chosen, size):
    numbers, values, y = table
    whole = fitted(*table, chosen, "index")
    rows = as_table(numbers, values)
    model = MixedGFMM(**whole.get_params())
    for start in range(0, len(y), size):
        batch = slice(start, start + size)
        model.partial_fit(rows[batch], y[batch], classes=[0, 1, 2])
    np.testing.assert_array_equal(model.hyperboxes_.lower, whole.hyperboxes_.lower)
    np.testing.assert_array_equal(model.hyperboxes_.counts, whole.hyperboxes_.counts)
    for feature, counts in whole.category_counts_.items():
        known = model.categories_[feature]
        order = [known.index(value) for value in whole.categories_[feature]]
        np.testing.assert_array_equal(model.category_counts_[feature][:, order], counts)


def make_frame(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with numbers in units of their own, text and Booleans."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": random.uniform(100, 900, n).round(),
            "colour": random.choice(["red", "green", "blue"], n),
            "sold": random.choice([True, False], n),
        }
    )
    y = np.where((frame["colour"] == "red") & (frame["size"] > 300), "yes", "no")
    frame.loc[::17, "colour"] = None
    return frame, y


def test_tables_in_their_own_units():
    frame, y = make_frame()
    model = MixedGFMM(random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.8
    assert list(model.categories_) == ["colour", "sold"]
    known = frame["colour"].notna()
    assert model.category_counts_["colour"].sum() == known.sum()
    assert model.category_counts_["sold"].sum() == len(frame)
    probabilities = model.predict_proba(frame)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(frame)).all()
    assert (model.hyperboxes_.labels[model.apply(frame)] == probabilities.argmax(axis=1)).all()


def test_new_values_in_later_batches():
    frame, y = make_frame()
    model = MixedGFMM(scaling=[[100, 0, 0], [900, 1, 1]]).partial_fit(frame, y, ["no", "yes"])
    more, labels = make_frame(seed=1)
    more["colour"] = "gold"
    before = model.hyperboxes_.counts.sum()
    with pytest.raises(ValueError, match="not in classes_"):
        model.partial_fit(more, np.full(len(more), "maybe"))
    assert "gold" not in model.categories_["colour"]
    model.partial_fit(more, labels)
    assert model.categories_["colour"][-1] == "gold"
    assert model.category_counts_["colour"][:, -1].sum() == len(more)
    assert model.hyperboxes_.counts.sum() == before + len(more)
    n_seen = model.n_samples_seen_
    model.learn_one(more.iloc[0].to_dict(), labels[0])
    assert model.n_samples_seen_ == n_seen + 1


def test_rules_say_what_is_counted():
    frame, y = make_frame()
    model = MixedGFMM(random_state=0).fit(frame, y)
    text = export_text(model, max_rules=1)
    box = int(model.hyperboxes_.counts.argmax())
    counts = model.category_counts_["sold"][box]
    shown = ", ".join(
        f"{model.categories_['sold'][value]} {counts[value]}"
        for value in np.argsort(-counts, kind="stable")
        if counts[value]
    )
    assert f"sold: {shown}\n" in text
    assert "none is a condition" in " ".join(text.split())
    frame_of_rules = export_frame(model)
    assert frame_of_rules["sold counts"][box] == shown
    assert "colour lower" not in frame_of_rules


def test_without_categories_it_is_the_improved_learner():
    frame, y = make_frame()
    numbers = frame[["size"]]
    chosen = {"theta": 0.3, "shuffle": False}
    mixed = MixedGFMM(**chosen).fit(numbers, y)
    as_published = {"membership_function": "min", "decision": "nearest"}
    other = ImprovedOnlineGFMM(**chosen, **as_published).fit(numbers, y)
    np.testing.assert_array_equal(mixed.hyperboxes_.lower, other.hyperboxes_.lower)
    np.testing.assert_array_equal(mixed.predict_proba(numbers), other.predict_proba(numbers))
    assert "CASE" in export_sql(mixed)


def with_arrays(content: bytes, changes: dict) -> bytes:
    """Return a file with other arrays, whose checksums are right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, change in changes.items():
        array = change(np.load(io.BytesIO(members[f"{name}.npy"])))
        file = io.BytesIO()
        np.save(file, np.ascontiguousarray(array))
        members[f"{name}.npy"] = file.getvalue()
    return sealed(members)


def test_saved_models_are_the_same_and_learn_on():
    frame, y = make_frame()
    model = MixedGFMM(random_state=0).fit(frame, y)
    twin = load(io.BytesIO(saved(model)))
    pickled = pickle.loads(pickle.dumps(model))
    more, labels = make_frame(seed=3)
    more["colour"] = more["colour"].replace("red", "rose")
    for other in (twin, pickled):
        np.testing.assert_array_equal(other.predict_proba(frame), model.predict_proba(frame))
    for each in (model, twin, pickled):
        each.partial_fit(more, labels)
    for other in (twin, pickled):
        np.testing.assert_array_equal(other.hyperboxes_.lower, model.hyperboxes_.lower)
        for feature, counts in model.category_counts_.items():
            np.testing.assert_array_equal(other.category_counts_[feature], counts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value_counts": lambda counts: counts - 1}, "less than never"),
        ({"value_counts": lambda counts: counts + 10**6}, "too often"),
        ({"value_counts": lambda counts: counts[:, 1:]}, "other categories are counted"),
        ({"lower": np.nan_to_num, "upper": np.nan_to_num}, "bounds in a categorical"),
        (dict.fromkeys(["scale_low", "scale_high"], lambda ends: ends - 1e6), "is scaled"),
    ],
)
def test_files_that_cannot_be_are_refused(change, message):
    frame, y = make_frame()
    content = saved(MixedGFMM(random_state=0).fit(frame, y))
    with pytest.raises(ModelFileError, match=message):
        load(io.BytesIO(with_arrays(content, change)))


def test_files_of_models_that_know_no_values():
    frame, y = make_frame()
    for table in (frame[["size"]], frame.assign(colour=None, sold=None)):
        model = MixedGFMM(random_state=0, categorical_features=list(table.columns[1:])).fit(
            table, y
        )
        twin = load(io.BytesIO(saved(model)))
        np.testing.assert_array_equal(twin.predict_proba(table), model.predict_proba(table))


def test_command_line(tmp_path, capsys):
    frame, y = make_frame()
    data, model = tmp_path / "data.csv", tmp_path / "m.hyperboxes"
    frame.assign(label=y).to_csv(data, index=False)
    assert (
        main(["fit", str(data), "--target", "label", "-o", str(model), "--learner", "mixed"]) == 0
    )
    assert main(["rules", str(model)]) == 0
    assert "colour: " in capsys.readouterr().out
    assert main(["evaluate", str(model), str(data), "--target", "label"]) == 0


def test_listings_have_the_counts():
    table = pd.DataFrame(
        {"size": [1.0, 2, 3, 9, 10], "colour": ["red", "red", "blue", "red", None]}
    )
    model = MixedGFMM(theta=1, delta=1, alpha=0.5, shuffle=False).fit(table, list("aaabb"))
    assert model.category_counts_["colour"].tolist() == [[1, 2], [0, 1]]
    text = export_text(model, table, list("aaabb"))
    assert "boxes count how many of their samples have them" in text
    first, second = text.split("\n\n")[1:]
    assert first.splitlines()[-1] == "    colour: red 2, blue 1"
    assert second.splitlines()[-1] == "    colour: red 1, not known 1"
    frame = export_frame(model)
    assert frame["colour counts"].tolist() == ["red 2, blue 1", "red 1, not known 1"]


@pytest.mark.parametrize("read", [export_sql, to_onnx])
def test_readers_of_the_nearest_box_are_unsupported(read):
    table = pd.DataFrame({"size": [1.0, 2, 3], "colour": ["red", "red", "blue"]})
    with pytest.raises(TypeError, match=": boxes count categories"):
        read(MixedGFMM().fit(table, [1, 1, 2]))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("y", [[0, 1], [0, 0]])
def test_a_sample_at_an_infinite_distance_has_a_box(y, seed):
    """In the second order of samples the first box is at an infinite distance."""
    far = [[1e200, 0.0]]
    for X in ([[0.0, 0.0], [1e-200, 1.0]], [[1e-200, 1.0], [0.0, 0.0]]):
        model = MixedGFMM(random_state=seed).fit(X, y)
        box = model.apply(far)
        assert box >= 0
        assert model.hyperboxes_.labels[box] == model.predict(far)
