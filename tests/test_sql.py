"""The SQL of a model gives what `predict` gives wherever a box holds the row, in real databases."""

import sqlite3
from dataclasses import dataclass

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_iris

import hyperboxes
from hyperboxes._models.model import FUNCTIONS
from tests.databases import ask_duckdb, ask_sqlite, databases
from tests.decisions import decide_by
from tests.learners import LEARNERS, ImprovedOnlineGFMM, OnlineGFMM, every_function, every_learner

X, Y = load_iris(return_X_y=True)
nan = float("nan")


def export_sql(model, **options):
    """Write the crisp part of a model, in which one box of each class decides."""
    is_fitted = hasattr(model, "classes_")
    return hyperboxes.export_sql(
        decide_by(model, 1) if is_fitted else model, nearest=False, **options
    )


@dataclass
class Case:
    """A fitted model and samples to ask about."""

    model: object
    samples: np.ndarray


@st.composite
def cases(draw, missing=False):
    """Draw models whose boxes often share points, on a grid where no arithmetic rounds."""
    n_features = draw(st.integers(1, 3))
    grid = st.integers(0, 8).map(float)
    shape = (draw(st.integers(2, 25)), n_features)
    data = draw(hnp.arrays(np.float64, shape, elements=grid))
    data[0], data[1] = 0, 8  # the range is a power of two
    y = draw(hnp.arrays(np.int64, len(data), elements=st.integers(-1, 3)))
    y[:1] = 0
    if missing:
        data[draw(hnp.arrays(np.bool_, data.shape))] = nan
    options = {
        "theta": draw(st.sampled_from([0.25, 0.5, 1.0])),
        "membership_function": draw(st.sampled_from(FUNCTIONS)),
        "unlabeled": -1,
    }
    learner = draw(st.sampled_from(LEARNERS))
    if learner is not OnlineGFMM and draw(st.booleans()):
        options["overlap"] = "paper"
    samples = draw(hnp.arrays(np.float64, (30, n_features), elements=st.integers(-1, 18)))
    if missing:
        samples[draw(hnp.arrays(np.bool_, samples.shape))] = nan
    return Case(learner(**options).fit(data, y), np.vstack([samples / 2, data]))


def expected(model, samples):
    """Return what `predict` says where a box contains the sample, None elsewhere."""
    held = model.membership(samples).max(axis=1) == 1
    return [
        label if inside else None
        for label, inside in zip(model.predict(samples).tolist(), held.tolist(), strict=True)
    ]


@databases
@given(case=cases())
def test_sql_is_predict_where_a_box_holds_the_row(ask_database, case):
    sql = export_sql(case.model, table="data")
    assert ask_database(sql, case.samples) == expected(case.model, case.samples)


@databases
@given(case=cases(missing=True))
def test_missing_values_are_null(ask_database, case):
    sql = export_sql(case.model, table="data", nullable=True)
    assert ask_database(sql, case.samples) == expected(case.model, case.samples)


@given(case=cases(missing=True))
def test_by_default_rows_with_null_get_the_right_class_or_none(case):
    answers = ask_sqlite(export_sql(case.model, table="data"), case.samples)
    wanted = expected(case.model, case.samples)
    complete = ~np.isnan(case.samples).any(axis=1)
    for answer, want, known in zip(answers, wanted, complete, strict=True):
        assert answer == want or (answer is None and not known)


@databases
@every_learner
@every_function
def test_training_samples_in_their_own_units(ask_database, cls, function):
    model = cls(theta=0.2, membership_function=function).fit(X, Y)
    answers = ask_database(export_sql(model, table="data"), X)
    assert answers == expected(model, X)
    assert answers.count(None) == (0 if cls is not OnlineGFMM else expected(model, X).count(None))


def test_only_boxes_that_share_points_are_compared():
    plain = export_sql(ImprovedOnlineGFMM(theta=0.2).fit(X, Y))
    assert plain.count("CASE") == 1
    assert plain.count("WHEN") == len(ImprovedOnlineGFMM(theta=0.2).fit(X, Y).hyperboxes_)


def touching():
    """Return a model whose boxes of three classes meet in a point, and the point."""
    model = OnlineGFMM(theta=1.0, scaling=None)
    data = [[0.0, 0.5], [0.5, 0.5], [0.5, 0.5], [1.0, 0.5], [0.5, 0.0], [0.5, 0.5]]
    return model.fit(data, ["b", "b", "c", "c", "a", "a"]), [0.5, 0.5]


@databases
def test_the_sum_of_samples_decides_then_the_first_class(ask_database):
    model, point = touching()
    sql = export_sql(model, table="data")
    samples = np.array([point, [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.1, 0.1]])
    assert ask_database(sql, samples) == expected(model, samples)
    assert ask_database(sql, samples[:1]) == ["a"]
    model.partial_fit([[0.9, 0.5]], ["c"])
    sql = export_sql(model, table="data")
    assert ask_database(sql, samples[:1]) == model.predict([point]).tolist() == ["c"]


def test_sums_of_smaller_boxes_can_outvote_a_larger_one():
    rng = np.random.default_rng(0)
    seen = 0
    for seed in range(40):
        data = rng.integers(0, 9, (40, 2)).astype(float)
        data[0], data[1] = 0, 8
        model = OnlineGFMM(theta=0.5).fit(data, rng.integers(0, 3, 40))
        sql = export_sql(model, table="data")
        seen += "+" in sql
        samples = np.argwhere(np.ones((17, 17))) / 2
        assert ask_sqlite(sql, samples) == expected(model, samples), seed
    assert seen > 5


@databases
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["it's", 'a "b"', "back\\slash"]),
        np.array([-1, 5, 100]),
        np.array([-1.0, 2.0, 3e5]),
        np.array(["x", "y", "z"], dtype=object),
    ],
    ids=["str", "int", "float", "object"],
)
def test_labels_of_every_kind(ask_database, labels):
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, labels[Y])
    assert ask_database(export_sql(model, table="data"), X) == labels[Y].tolist()


def test_boolean_labels():
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y == 1)
    sql = export_sql(model, table="data")
    assert "THEN TRUE" in sql
    assert ask_duckdb(sql, X) == (Y == 1).tolist()
    assert ask_sqlite(sql, X) == (Y == 1).astype(int).tolist()


@databases
def test_class_names_and_default(ask_database):
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    names = ["setosa", "versicolor", "virginica"]
    sql = export_sql(model, table="data", class_names=names, default="it's none")
    far = np.full((1, 4), 99.0)
    assert ask_database(sql, np.vstack([X[:1], far])) == ["setosa", "it's none"]


@databases
def test_names_of_every_kind(ask_database):
    columns = ['a "quoted" name', "select", "t", "größe; --"]
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, Y)
    sql = export_sql(model, table='my "data"', column_names=columns)
    with pytest.raises((sqlite3.Error, duckdb.Error)):
        ask_database(sql, X, columns, table="other")
    sql = export_sql(model, table="my data", column_names=columns)
    assert ask_database(sql, X, columns, table="my data") == Y.tolist()


def test_quotes_of_other_databases():
    model = ImprovedOnlineGFMM().fit([[0.0], [1.0]], ["a\\b", "c"])
    sql = export_sql(model, table=["my schema", "my]table"], column_names=["a]b"], quote="[")
    assert "[a]]b]" in sql
    assert sql.endswith("AS [prediction] FROM [my schema].[my]]table] t")
    sql = export_sql(model, column_names=["a`b"], quote="`")
    assert "`a``b` = " in sql
    assert r"THEN 'a\\b'" in sql
    assert r"THEN 'a\b'" in export_sql(model)


@given(
    seed=st.integers(0, 10**6),
    exponent=st.integers(-200, 200),
    offset=st.sampled_from([0.0, 1.0, 1e6]),
    dtype=st.sampled_from([np.float64, np.float32]),
    function=st.sampled_from(FUNCTIONS),
)
def test_every_training_sample_lies_in_its_box(seed, exponent, offset, dtype, function):
    data = np.random.default_rng(seed).lognormal(sigma=3, size=(12, 3)).astype(dtype) + offset
    data = data.astype(np.float64) * 10.0**exponent
    model = ImprovedOnlineGFMM(theta=0.3, membership_function=function)
    model.fit(data, np.arange(len(data)) % 2)
    assert ask_duckdb(export_sql(model, table="data"), data) == model.predict(data).tolist()


def test_numbers_of_few_digits_are_written_as_typed():
    model = ImprovedOnlineGFMM(theta=0.5).fit([[0.1], [0.3], [0.7], [1.0]], [0, 0, 1, 1])
    assert '"x0" BETWEEN 0.1e0 AND 0.3e0 THEN 0' in export_sql(model)


@given(
    data=hnp.arrays(np.float64, (5, 2), elements=st.floats(-1, 1)),
    gamma=st.sampled_from([0.01, 1, 30]),
)
def test_numbers_of_many_digits_are_exact_to_the_last_bit(data, gamma):
    model = of_many_digits(data, gamma, "min")
    samples = around(bounds_of(model))
    assert ask_duckdb(export_sql(model, table="data"), samples) == expected(model, samples)


@given(
    data=hnp.arrays(np.float64, (5, 2), elements=st.floats(-1, 1)),
    gamma=st.sampled_from([0.01, 1, 30]),
    feature=st.integers(0, 1),
)
def test_with_the_mean_they_are_exact_where_one_feature_is_off(data, gamma, feature):
    model = of_many_digits(data, gamma, "mean")
    samples = around(bounds_of(model), feature)
    assert ask_duckdb(export_sql(model, table="data"), samples) == expected(model, samples)
    # Where both are off, a row may be inside though its membership is a rounding error less than 1.
    samples = around(bounds_of(model))
    answers = ask_duckdb(export_sql(model, table="data"), samples)
    is_inside = np.array([answer is not None for answer in answers])
    membership = model.membership(samples).max(axis=1)
    assert is_inside[membership == 1].all()
    assert not is_inside[membership < 1 - 2.0**-51].any()


def of_many_digits(data, gamma, function):
    """Fit a model none of whose features has bounds of few digits."""
    data[:2] = [[1 / 3, -0.7], [-2 / 3, 1e5 / 3]]
    model = ImprovedOnlineGFMM(theta=0.5, gamma=gamma, membership_function=function)
    return model.fit(data, [0, 1, 0, 1, 0])


def bounds_of(model):
    """Return the corners of the boxes."""
    return np.concatenate([model.hyperboxes_.lower, model.hyperboxes_.upper])


def around(points, features=slice(None)):
    """Return points, and those off by up to four numbers in some features."""
    samples = [points]
    for direction in (-np.inf, np.inf):
        near = points.copy()
        for _ in range(4):
            near[:, features] = np.nextafter(near[:, features], direction)
            samples.append(near.copy())
    return np.vstack(samples)


@databases
def test_many_boxes_and_many_features(ask_database):
    rng = np.random.default_rng(0)
    data = rng.random((4000, 2))
    model = ImprovedOnlineGFMM(theta=0.001).fit(data, rng.integers(0, 2, len(data)))
    assert len(model.hyperboxes_) > 3500
    sql = export_sql(model, table="data")
    assert ask_database(sql, data[:20]) == expected(model, data[:20])
    data = rng.random((20, 300))
    model = ImprovedOnlineGFMM().fit(data, rng.integers(0, 2, len(data)))
    sql = export_sql(model, table="data", nullable=True)
    assert ask_database(sql, data) == expected(model, data)


@databases
def test_sums_of_many_boxes(ask_database):
    rng = np.random.default_rng(0)
    data = np.repeat(rng.random((1500, 2)), 2, axis=0)
    model = ImprovedOnlineGFMM(theta=0.001).fit(data, rng.integers(0, 2, 1500).repeat(2))
    samples = np.array([[nan, nan], [nan, 2.0], [nan, data[0, 1]], data[0]])
    sql = export_sql(model, table="data", nullable=True)
    assert ask_database(sql, samples) == expected(model, samples)


def test_a_feature_that_no_box_knows():
    model = ImprovedOnlineGFMM().fit([[nan], [nan]], [1, 1])
    samples = np.array([[1.0], [nan]])
    assert ask_sqlite(export_sql(model, table="data"), samples) == [1, 1]


def test_unlabelled_boxes_give_no_class():
    model = ImprovedOnlineGFMM(theta=0.1, unlabeled=-1).fit([[0.0], [1.0]], [3, -1])
    assert ask_sqlite(export_sql(model, table="data"), np.array([[0.0], [1.0]])) == [3, None]
    model = ImprovedOnlineGFMM(scaling=None, unlabeled=-1)
    model.partial_fit([[0.0]], [-1], classes=[0, 1])
    with pytest.raises(ValueError, match="No box has a label"):
        export_sql(model)


def test_bad_input():
    model = ImprovedOnlineGFMM().fit(X, Y)
    with pytest.raises(ValueError, match="quote must be one of"):
        export_sql(model, quote="'")
    for table in ("", [], ["schema", ""]):
        with pytest.raises(ValueError, match="table must be a name, or a schema and a name"):
            export_sql(model, table=table)
    with pytest.raises(ValueError, match="SQL has no literal for the number nan"):
        export_sql(model, default=float("nan"))
    with pytest.raises(TypeError, match="class_names must be a list, in the order of the classes"):
        export_sql(model, class_names={0: "a", 1: "b", 2: "c"})
    with pytest.raises(ValueError, match="column_names has 2 names, but the model has 4 features"):
        export_sql(model, column_names=["a", "b"])
    with pytest.raises(ValueError, match="Two features are named 'a': pass column_names"):
        export_sql(model, column_names=list("abca"))
    with pytest.raises(ValueError, match="class_names has 1 names, but the model has 3 classes"):
        export_sql(model, class_names=["a"])
