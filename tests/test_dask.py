"""Training and predicting on Dask: partitions apart, merged, and one after the other."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression

import hyperboxes.dask
from hyperboxes import (
    AdaptiveGFMM,
    AgglomerativeGFMM,
    HyperboxClustering,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    RandomHyperboxes,
    load,
    merge,
    save,
)
from hyperboxes.dask._fit import lower_counts
from tests.learners import same_boxes

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
SPECIES = np.array(["setosa", "versicolor", "virginica"])
FRAME = pd.DataFrame(X, columns=NAMES).assign(species=SPECIES[Y])
RANGES = [X.min(axis=0), X.max(axis=0)]


@pytest.fixture(autouse=True)
def in_one_thread():
    """Compute here and now, without threads."""
    with dask.config.set(scheduler="synchronous"):
        yield


def arrays(*chunks, y=Y):
    """Return the iris data as Dask arrays with so many rows in each partition."""
    return da.from_array(X, chunks=(chunks, 4)), da.from_array(y, chunks=(chunks,))


def delayed(*values):
    """Return values as delayed parts."""
    return [dask.delayed(value) for value in values]


LEARNERS = [
    ImprovedOnlineGFMM(0.3, random_state=0),
    OnlineGFMM(0.3, random_state=0),
    AgglomerativeGFMM(0.3),
]
every_learner = pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)


@every_learner
def test_one_partition_gives_the_model_of_fit(model):
    fitted = hyperboxes.dask.fit(clone(model), *arrays(150))
    plain = clone(model).fit(X, Y)
    assert same_boxes(fitted, plain)
    assert fitted.get_params() == plain.get_params()
    np.testing.assert_array_equal(fitted.predict_proba(X), plain.predict_proba(X))


@every_learner
def test_a_few_partitions_give_what_merge_makes_of_their_models(model):
    fitted = hyperboxes.dask.fit(clone(model), *arrays(60, 50, 40), n_repairs=0)
    alike = clone(model).set_params(scaling=RANGES, calibrate=False)
    parts = [clone(alike).fit(X[rows], Y[rows]) for rows in np.split(np.arange(150), [60, 110])]
    assert same_boxes(fitted, merge(parts))
    # Calibrated on the samples that `fit` takes of so few: all.
    for ours, plain in zip(
        vars(fitted._model.calibration).values(),
        vars(clone(model).fit(X, Y)._model.calibration).values(),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, plain)


def test_partitions_in_a_tree_and_out_of_order(monkeypatch):
    monkeypatch.setattr("hyperboxes._estimators.merge.AT_ONCE", 3)
    data = arrays(*[15] * 10)
    models = [
        hyperboxes.dask.fit(ImprovedOnlineGFMM(0.3, random_state=0), *data),
        hyperboxes.dask.fit(ImprovedOnlineGFMM(0.3, random_state=0), *data),
    ]
    with dask.config.set(scheduler="threads"):
        models.append(hyperboxes.dask.fit(ImprovedOnlineGFMM(0.3, random_state=0), *data))
    assert same_boxes(models[0], models[1])
    assert same_boxes(models[0], models[2])
    assert models[0].hyperboxes_.counts.sum() == 150
    assert models[0].score(X, Y) > 0.9


def overlapping(n_samples):
    """Return samples of two classes that overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_samples)
    return rng.normal(y[:, np.newaxis], 1.0, size=(n_samples, 6)), y


def test_partitions_learn_again_what_merging_has_lost():
    data, y = overlapping(600)
    parts = da.from_array(data, chunks=(150, 6)), da.from_array(y, chunks=150)
    models = [
        hyperboxes.dask.fit(ImprovedOnlineGFMM(0.5, random_state=0), *parts, n_repairs=n)
        for n in range(3)
    ]
    held = [np.mean(m.membership(data)[np.arange(600), y] == 1.0) for m in models]
    assert held[0] < held[1] - 0.05
    assert held[1] < held[2]
    for model in models:
        boxes = model.hyperboxes_
        totals = [boxes.counts[boxes.labels == label].sum() for label in range(2)]
        assert totals == np.bincount(y).tolist()  # nothing is counted twice
        assert boxes.counts.min() == 1
        assert model._model.boxes.n_seen == 600
    plain = OnlineGFMM(0.3, random_state=0)  # contracts boxes: what is lost, is
    fitted = [hyperboxes.dask.fit(clone(plain), *parts, n_repairs=n) for n in range(2)]
    assert same_boxes(*fitted)
    with pytest.raises(ValueError, match="n_repairs == -1"):
        hyperboxes.dask.fit(models[0], *parts, n_repairs=-1)


def test_lost_samples_are_taken_off_counts_in_proportion():
    labels, counts = np.array([0, 1, 0, 0, -1]), np.array([11, 4, 5, 1, 9])
    assert lower_counts(labels, counts, np.array([7, 0])).tolist() == [6, 4, 3, 1, 9]
    assert lower_counts(labels, counts, np.array([99, 2])).tolist() == [1, 2, 1, 1, 9]


def test_the_result_needs_no_dask(tmp_path):
    model = ImprovedOnlineGFMM(random_state=0)
    assert hyperboxes.dask.fit(model, *arrays(50, 50, 50)) is model
    save(model, tmp_path / "model.hyperboxes")
    again = load(tmp_path / "model.hyperboxes")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    model.partial_fit(X[:5], Y[:5])
    assert model.hyperboxes_.counts.sum() == 155


def test_data_frames_keep_names_and_index():
    frame = dd.from_pandas(FRAME, npartitions=3)
    model = hyperboxes.dask.fit(ImprovedOnlineGFMM(0.3, random_state=0), frame, "species")
    assert model.feature_names_in_.tolist() == NAMES
    assert model.classes_.tolist() == SPECIES.tolist()
    assert model.score(FRAME[NAMES], FRAME["species"]) > 0.9
    same = hyperboxes.dask.fit(
        ImprovedOnlineGFMM(0.3, random_state=0), frame[NAMES], frame["species"]
    )
    assert same_boxes(model, same)
    samples = frame[NAMES]
    found = frame.assign(
        prediction=hyperboxes.dask.predict(model, samples),
        box=hyperboxes.dask.apply(model, samples),
    ).compute()
    assert found["prediction"].tolist() == model.predict(FRAME[NAMES]).tolist()
    assert found["box"].tolist() == model.apply(FRAME[NAMES]).tolist()
    shares = hyperboxes.dask.predict_proba(model, samples).compute()
    assert shares.columns.tolist() == SPECIES.tolist()
    assert shares.index.equals(FRAME.index)
    np.testing.assert_array_equal(shares, model.predict_proba(FRAME[NAMES]))
    with pytest.raises(ValueError, match="feature names"):
        hyperboxes.dask.predict(model, frame)
    with pytest.raises(ValueError, match="no column 'kind'"):
        hyperboxes.dask.fit(ImprovedOnlineGFMM(), frame, "kind")


def test_arrays_are_asked_lazily_and_parts_of_any_size():
    model = ImprovedOnlineGFMM(random_state=0).fit(X, Y)
    samples = da.from_array(X, chunks=((100, 0, 50), (2, 2)))
    for method in ("predict", "predict_proba", "apply"):
        answer = getattr(hyperboxes.dask, method)(model, samples)
        expected = getattr(model, method)(X)
        assert answer.dtype == expected.dtype
        assert answer.shape == expected.shape
        np.testing.assert_array_equal(answer.compute(), expected)
    first, second = hyperboxes.dask.predict(model, delayed(X[:70], X[70:]))
    assert first.compute().tolist() + second.compute().tolist() == model.predict(X).tolist()


def test_labels_are_divided_as_samples_are():
    samples, _ = arrays(75, 75)
    model = hyperboxes.dask.fit(LEARNERS[0], samples, da.from_array(Y, chunks=40))
    assert same_boxes(model, hyperboxes.dask.fit(clone(model), *arrays(75, 75)))


def test_intervals_missing_values_and_samples_without_a_label():
    width = np.linspace(0.0, 0.3, 4)
    lower, y = X.copy(), Y.copy()
    lower[::7, 2] = np.nan
    y[::5] = -1
    y[:50] = -1  # a partition without any
    model = ImprovedOnlineGFMM(0.3, random_state=0, unlabeled=-1)
    ends = [da.from_array(array, chunks=(50, 4)) for array in (lower, lower + width)]
    labels = da.from_array(y, chunks=50)
    fitted = hyperboxes.dask.fit(clone(model), ends[0], labels, X_upper=ends[1])
    plain = clone(model).fit(lower, y, lower + width)
    assert fitted.data_max_.tolist() == plain.data_max_.tolist()
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.hyperboxes_.counts.sum() == 150
    expected = fitted.predict(lower, lower + width)
    assert hyperboxes.dask.predict(fitted, ends[0], X_upper=ends[1]).compute().tolist() == list(
        expected
    )
    assert np.mean(expected == Y) > 0.85


def test_one_class_a_partition_and_empty_ones():
    by_class = np.argsort(Y, kind="stable")
    parts = np.split(by_class, [50, 50, 100])
    model = hyperboxes.dask.fit(
        ImprovedOnlineGFMM(0.3, random_state=0),
        delayed(*(X[rows] for rows in parts)),
        delayed(*(Y[rows] for rows in parts)),
    )
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, Y) > 0.9
    # Probabilities know that classes meet, which no partition does.
    assert model._model.calibration.n_gaps > 50


def test_small_boxes_are_left_out_on_demand():
    y = np.append(Y[:-1], 3)  # a class of one sample
    model = hyperboxes.dask.fit(
        ImprovedOnlineGFMM(0.1, random_state=0), *arrays(75, 75, y=y), min_box_samples=3
    )
    boxes = model.hyperboxes_
    assert boxes.counts[boxes.labels == 3].tolist() == [1]
    assert boxes.counts[boxes.labels != 3].min() >= 3
    assert 50 < boxes.counts.sum() < 150
    with pytest.raises(ValueError, match="min_box_samples == 0"):
        hyperboxes.dask.fit(model, *arrays(75, 75), min_box_samples=0)


def test_different_categories_in_partitions():
    kinds = [pd.Categorical(list("ab") * 25), pd.Categorical(list("cb") * 25)]
    model = hyperboxes.dask.fit(
        ImprovedOnlineGFMM(), delayed(X[:50], X[50:100]), delayed(*map(pd.Series, kinds))
    )
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_categorical_features_are_placed_as_by_one_process():
    rng = np.random.default_rng(0)
    kinds = np.array(["red", "green", "blue", "rare"])[np.minimum(rng.integers(8, size=150), Y + 1)]
    kinds[:50][kinds[:50] == "blue"] = "red"  # values that some partitions do not have
    table = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(
        colour=kinds, flag=np.where(X[:, 2] > 3, True, False), y=Y
    )
    table.loc[3, "colour"] = None
    samples = table.drop(columns="y")
    frame = dd.from_pandas(table, npartitions=3)
    plain = ImprovedOnlineGFMM(0.3, random_state=0).fit(samples, Y)
    model = hyperboxes.dask.fit(ImprovedOnlineGFMM(0.3, random_state=0), frame, "y")
    assert model.categories_ == plain.categories_
    for j, known in plain._categories.items():
        np.testing.assert_array_equal(model._categories[j].positions, known.positions)
    assert model.data_min_.tolist() == plain.data_min_.tolist()
    assert model.data_max_.tolist() == plain.data_max_.tolist()
    assert model.get_params() == plain.get_params()
    assert model.score(samples, Y) > 0.8
    answers = hyperboxes.dask.predict(model, frame.drop(columns="y")).compute()
    assert answers.tolist() == model.predict(samples).tolist()
    one = dd.from_pandas(table, npartitions=1)
    assert same_boxes(hyperboxes.dask.fit(ImprovedOnlineGFMM(0.3, random_state=0), one, "y"), plain)
    in_order = hyperboxes.dask.partial_fit(ImprovedOnlineGFMM(0.3), frame, "y")
    plain = ImprovedOnlineGFMM(0.3).partial_fit(samples, Y, classes=[0, 1, 2])
    assert same_boxes(in_order, plain)
    assert in_order.predict(samples).tolist() == plain.predict(samples).tolist()


def test_a_column_holds_categories_everywhere_or_nowhere():
    words = pd.DataFrame({"a": ["x", "y", "x"]})
    numbers = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="Partition 1: column 'a' holds categories in some part"):
        hyperboxes.dask.fit(
            ImprovedOnlineGFMM(), delayed(words, numbers), delayed([0, 1, 0], [0, 1, 0])
        )


def test_clusters_are_found_in_parts():
    data, _ = make_moons(400, noise=0.04, random_state=0)
    model = hyperboxes.dask.fit(HyperboxClustering(0.1), da.from_array(data, chunks=(150, 2)))
    assert model.n_clusters_ == 2
    found = hyperboxes.dask.predict(model, da.from_array(data, chunks=(150, 2)))
    assert found.compute().tolist() == model.predict(data).tolist()


@pytest.mark.parametrize(
    "model",
    [ImprovedOnlineGFMM(0.3), OnlineGFMM(0.3), AdaptiveGFMM(), HyperboxClustering()],
    ids=lambda model: type(model).__name__,
)
def test_partitions_in_order_give_the_model_of_partial_fit(model):
    is_clustering = isinstance(model, HyperboxClustering)
    data, y = arrays(70, 0, 80)
    ours = hyperboxes.dask.partial_fit(clone(model), data, None if is_clustering else y)
    options = {} if is_clustering else {"classes": [0, 1, 2]}
    plain = clone(model).partial_fit(X, Y, **options)
    assert same_boxes(ours, plain)
    assert ours.get_params() == plain.get_params()
    if not is_clustering:
        np.testing.assert_array_equal(ours.predict_proba(X), plain.predict_proba(X))
    hyperboxes.dask.partial_fit(ours, data, None if is_clustering else y)
    assert same_boxes(ours, plain.partial_fit(X, Y))


def bad(row, value):
    """Return iris data with a value in a row of the second partition."""
    table = pd.DataFrame(X, columns=NAMES).astype(str)
    table.loc[70 + row, "petal width"] = value
    return delayed(table[:70], table[70:])


@pytest.mark.parametrize(
    ("samples", "labels", "message"),
    [
        (bad(3, "wide"), (Y[:70], Y[70:]), "Partition 1: column 'petal width' holds 'wide' in row"),
        (
            delayed(X[:70], X[70:]),
            (Y[:70], Y[71:]),
            "Partition 1: Found input variables with incon",
        ),
        (delayed(X[:70], X[70:, :3]), (Y[:70], Y[70:]), "Partition 1: It has 3 features, but earl"),
        (delayed(X[:70], X[70:]), (Y[:70], SPECIES[Y[70:]]), "Partition 1: y holds text, such as"),
        (delayed(X[:0], X[:0]), (Y[:0], Y[:0]), "X has no rows: all 2 partitions are empty"),
        (delayed(X[:70] + np.inf, X[70:] + np.inf), (Y[:70], Y[70:]), "0: .*infinity.*: 1 of 2"),
        (delayed(FRAME[:70][NAMES], X[70:]), (Y[:70], Y[70:]), "Its features are without names"),
        (delayed(X[:70], X[70:]), (Y[:70],), "X has 2 partitions, but y has 1"),
    ],
)
def test_bad_partitions_are_named_and_change_nothing(samples, labels, message):
    model = ImprovedOnlineGFMM(random_state=0).fit(X, Y)
    before = model.hyperboxes_
    with pytest.raises(ValueError, match=message):
        hyperboxes.dask.fit(model, samples, delayed(*labels))
    assert model.hyperboxes_ is before


def test_errors_of_the_whole():
    with pytest.raises(ValueError, match=r"Partition 0: .* holds .* in row 0\. Scale"):
        hyperboxes.dask.fit(ImprovedOnlineGFMM(scaling=None), *arrays(75, 75))
    with pytest.raises(ValueError, match="gamma must be a number or one per feature"):
        hyperboxes.dask.fit(ImprovedOnlineGFMM(gamma=[1.0, 2.0]), *arrays(75, 75))
    with pytest.raises(ValueError, match="'theta' parameter"):
        hyperboxes.dask.fit(ImprovedOnlineGFMM(theta=-1), *arrays(75, 75))
    with pytest.raises(ValueError, match="holds no label"):
        hyperboxes.dask.fit(ImprovedOnlineGFMM(unlabeled=-1), *arrays(75, 75, y=np.full(150, -1)))
    with pytest.raises(ValueError, match="Partition 1: y holds labels that are not in classes_"):
        hyperboxes.dask.partial_fit(
            ImprovedOnlineGFMM(), *arrays(75, 75, y=np.arange(150) // 75), classes=[0]
        )


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        (RandomHyperboxes(), arrays(150), "dask.fit is unsupported for RandomHyperboxes"),
        (AdaptiveGFMM(), arrays(150), "Use hyperboxes.dask.partial_fit"),
        (
            LogisticRegression(),
            arrays(150),
            "dask.fit takes an estimator of hyperboxes, not LogisticRegression",
        ),
        (ImprovedOnlineGFMM(), (X, Y), "X must be a Dask array, .* not ndarray"),
    ],
)
def test_what_cannot_be_fitted_in_parts(model, data, message):
    with pytest.raises(TypeError, match=message):
        hyperboxes.dask.fit(model, *data)


def test_what_cannot_be_asked_or_go_on():
    with pytest.raises(TypeError, match="cannot be updated"):
        hyperboxes.dask.partial_fit(AgglomerativeGFMM(), *arrays(150))
    model = ImprovedOnlineGFMM().fit(X, Y)
    with pytest.raises(ValueError, match="learned samples of 4 features"):
        hyperboxes.dask.predict(model, da.zeros((3, 2)))
    with pytest.raises(TypeError, match="HyperboxClustering has no method predict_proba"):
        hyperboxes.dask.predict_proba(HyperboxClustering(), da.zeros((3, 2)))


def test_random_states_and_callbacks_stay_with_the_caller():
    model = ImprovedOnlineGFMM(random_state=np.random.RandomState(0))
    bar = pytest.importorskip("sklearn.callback").ProgressBar()
    model.set_callbacks(bar)
    first = hyperboxes.dask.fit(model, *arrays(75, 75))
    assert first is model
    assert model._skl_callbacks[0] is bar
    assert isinstance(model.random_state, np.random.RandomState)


def test_progress_is_shown_on_demand(capsys):
    with dask.config.set(scheduler="threads"):
        hyperboxes.dask.fit(ImprovedOnlineGFMM(), *arrays(75, 75), progress=True)
    assert "100% Completed" in capsys.readouterr().out
