"""Readers take a fitted Pipeline: its last step, names of input columns, samples transformed."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from hyperboxes import (
    AdaptiveGFMM,
    BoostedHyperboxes,
    BoxesDisplay,
    ContributionsDisplay,
    MemoryDisplay,
    ParallelCoordinatesDisplay,
    explain,
    export_frame,
    export_html,
    export_sql,
    export_text,
)
from tests.databases import databases
from tests.learners import ImprovedOnlineGFMM
from tests.tables import make_table

pytestmark = pytest.mark.usefixtures("close_figures")

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data, IRIS.target_names[IRIS.target]
NAMES = list(X.columns)
UNITS = "Values are as transformed by StandardScaler."
LEARNERS = {
    "covers": ImprovedOnlineGFMM(theta=0.3),
    "votes": BoostedHyperboxes(4, random_state=0),
    "memory": AdaptiveGFMM(),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def fit(*steps):
    return make_pipeline(*steps).fit(X, Y)


@every_learner
def test_samples_are_transformed_and_names_are_those_of_the_input(learner):
    pipeline = fit(StandardScaler(), learner)
    rows = X[40:110:10]
    explanations = explain(pipeline, rows)
    assert explanations.predictions.tolist() == pipeline.predict(rows).tolist()
    bare = explain(pipeline[-1], pipeline[:-1].transform(rows), feature_names=NAMES)
    for told, expected in zip(explanations, bare, strict=True):
        notes = [*expected.notes, UNITS]
        assert told.to_dict() == {**expected.to_dict(), "notes": notes}
        assert str(told) == f"{expected}\n{UNITS}"
    assert not hasattr(pipeline[-1], "_read_from")  # the step itself is left alone
    assert not hasattr(pipeline[-1], "feature_names_in_")


@every_learner
def test_rules(learner):
    pipeline = fit(StandardScaler(), learner)
    transformed = pipeline[:-1].transform(X)
    text = export_text(pipeline, X, Y)
    assert UNITS in text.split("\n\n")[0].splitlines()
    bare = export_text(pipeline[-1], transformed, Y, feature_names=NAMES)
    assert text.replace(f"{UNITS}\n", "").replace(f"\n{UNITS}", "") == bare
    frame = export_frame(pipeline, X, Y)
    assert frame.equals(export_frame(pipeline[-1], transformed, Y, feature_names=NAMES))


@pytest.mark.parametrize("name", ["covers", "votes"])
def test_the_report_says_what_was_transformed(name):
    pipeline = fit(StandardScaler(), LEARNERS[name])
    page = export_html(pipeline, X, Y)
    assert f"<dt>Notes</dt><dd>{UNITS}</dd>" in page
    assert f" rules, {len(X)} rows</h1>" in page
    assert all(f'"name":"{name}"' in page for name in NAMES)
    assert UNITS not in export_html(LEARNERS[name].fit(X, Y), X, Y)


def test_plots():
    pipeline = fit(StandardScaler(), ImprovedOnlineGFMM(theta=0.3))
    transformed = pipeline[:-1].transform(X)
    drawn = BoxesDisplay.from_estimator(
        pipeline, X, Y, features=NAMES[2:], at=X.iloc[0], grid_resolution=5
    )
    labels = [f"{name}, transformed" for name in NAMES]
    assert drawn.feature_names == labels[2:]
    np.testing.assert_array_equal(drawn.samples, transformed[:, 2:])
    bare = BoxesDisplay.from_estimator(
        pipeline[-1], features=[2, 3], at=transformed[0], grid_resolution=5
    )
    np.testing.assert_array_equal(drawn.nearness, bare.nearness)
    parallel = ParallelCoordinatesDisplay.from_estimator(pipeline, X.iloc[60].to_numpy())
    assert parallel.feature_names == labels
    np.testing.assert_array_equal(parallel.samples[0], transformed[60])


def test_plots_of_votes():
    pipeline = fit(StandardScaler(), BoostedHyperboxes(4, random_state=0))
    display = ContributionsDisplay.from_estimator(pipeline, X[:1])
    np.testing.assert_allclose(display.probabilities, pipeline.predict_proba(X[:1])[0])


def test_plots_of_a_memory():
    pipeline = fit(StandardScaler(), AdaptiveGFMM())
    display = MemoryDisplay.from_estimator(pipeline)
    np.testing.assert_array_equal(display.ages, pipeline[-1].box_ages_)
    transformed = pipeline[:-1].transform(X)
    drawn = MemoryDisplay.from_estimator(pipeline, X, Y)
    bare = MemoryDisplay.from_estimator(pipeline[-1], transformed, Y)
    np.testing.assert_array_equal(drawn.ages, bare.ages)


def names_of(pipeline, samples=X):
    """Return the names in which the boxes are told, after a look at what else could fail."""
    assert explain(pipeline, samples).predictions.tolist() == pipeline.predict(samples).tolist()
    return explain(pipeline, samples)[0].feature_names


def test_names_are_those_that_the_steps_give():
    model = ImprovedOnlineGFMM(theta=0.3)
    split = make_column_transformer((StandardScaler(), NAMES[2:]), remainder="passthrough")
    expected = [f"standardscaler__{name}" for name in NAMES[2:]]
    assert names_of(fit(split, model)) == expected + [f"remainder__{name}" for name in NAMES[:2]]
    split.set_params(verbose_feature_names_out=False)
    assert names_of(fit(split, model)) == NAMES[2:] + NAMES[:2]
    assert names_of(fit(PCA(2), model)) == ["pca0", "pca1"]
    assert names_of(fit(FunctionTransformer(np.log1p, feature_names_out="one-to-one"), model)) == (
        NAMES
    )
    unnamed = FunctionTransformer(lambda samples: np.asarray(samples)[:, :2])
    assert names_of(fit(unnamed, model)) == ["x0", "x1"]
    frames = Pipeline(
        [("scale", StandardScaler().set_output(transform="pandas")), ("boxes", model)]
    )
    assert names_of(frames.fit(X, Y)) == NAMES
    arrays = make_pipeline(MinMaxScaler(), model).fit(X.to_numpy(), Y)
    assert names_of(arrays, X.to_numpy()) == ["x0", "x1", "x2", "x3"]


def test_steps_that_do_nothing_and_pipelines_in_pipelines():
    model = ImprovedOnlineGFMM(theta=0.3)
    pipeline = Pipeline([("none", None), ("pass", "passthrough"), ("boxes", model)]).fit(X, Y)
    assert names_of(pipeline) == NAMES
    assert "transformed" not in export_text(pipeline)
    assert names_of(make_pipeline(model).fit(X, Y)) == NAMES
    inner = make_pipeline(SimpleImputer(), "passthrough")
    nested = fit(inner, make_pipeline(StandardScaler(), model))
    assert names_of(nested) == NAMES
    assert "as transformed by SimpleImputer, then StandardScaler." in export_text(nested)


def test_categories_come_through_a_column_transformer():
    """Names and text stay what they are where steps give data frames."""
    table, y = make_table()
    split = make_column_transformer(
        (SimpleImputer(), ["size"]), remainder="passthrough", verbose_feature_names_out=False
    )
    model = BoostedHyperboxes(random_state=0)
    pipeline = make_pipeline(split.set_output(transform="pandas"), model).fit(table, y)
    assert list(pipeline[-1].categories_) == ["colour", "sold"]
    assert pipeline[-1].feature_names_in_.tolist() == ["size", "colour", "sold"]
    assert "colour in {" in export_text(pipeline)
    assert explain(pipeline, table[:1])[0].feature_names == ["size", "colour", "sold"]
    arrays = make_pipeline(split.set_output(transform="default"), model)
    with pytest.raises(ValueError, match=r"column 1 holds .* in row 0, .*set_output"):
        arrays.fit(table, y)
    arrays[-1].set_params(categorical_features=[1, 2])
    assert "colour in {" in export_text(arrays.fit(table, y))


def test_table_vectorizer_keeps_names():
    skrub = pytest.importorskip("skrub")
    table, y = make_table()
    pipeline = make_pipeline(skrub.TableVectorizer(), ImprovedOnlineGFMM()).fit(table, y)
    assert "size" in names_of(pipeline, table)


READERS = {
    "explain": lambda model: explain(model, X),
    "export_text": export_text,
    "export_frame": export_frame,
    "export_sql": export_sql,
    "export_html": lambda model: export_html(model, X, Y),
    "BoxesDisplay": BoxesDisplay.from_estimator,
    "ParallelCoordinatesDisplay": lambda model: ParallelCoordinatesDisplay.from_estimator(
        model, X[:1]
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_fitted_pipeline_of_ours_is_refused(name):
    with pytest.raises(NotFittedError):
        READERS[name](make_pipeline(StandardScaler(), ImprovedOnlineGFMM()))
    message = f"^{name} takes an estimator of hyperboxes, not DecisionTreeClassifier"
    with pytest.raises(TypeError, match=message):
        READERS[name](fit(StandardScaler(), DecisionTreeClassifier()))
    with pytest.raises(TypeError, match=r"last step .* does nothing"):
        READERS[name](fit(StandardScaler(), "passthrough"))


def test_intervals_are_not_for_pipelines():
    with pytest.raises(ValueError, match="points, not intervals: leave out X_upper"):
        explain(fit(StandardScaler(), ImprovedOnlineGFMM()), X, X_upper=X)


STEPS = {
    "standard": [StandardScaler()],
    "only divided": [StandardScaler(with_mean=False)],
    "only centred": [RobustScaler(with_scaling=False)],
    "imputed, then robust": [SimpleImputer(strategy="median"), RobustScaler()],
    "min-max of largest": [MaxAbsScaler(), MinMaxScaler((-1, 2))],
}


@databases
@pytest.mark.parametrize("name", ["covers", "votes"])
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_sql_asks_columns_of_the_input(ask_database, steps, name):
    data = X.to_numpy() / 3  # of many digits
    data[::7, 1] = np.nan
    pipeline = make_pipeline(*steps, LEARNERS[name]).fit(data[::2], Y[::2])
    sql = export_sql(pipeline, table="data")
    assert ask_database(sql, data) == pipeline.predict(data).tolist()


@databases
@pytest.mark.parametrize("nearest", [True, False])
@pytest.mark.parametrize("name", ["covers", "votes"])
@pytest.mark.parametrize("step", [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler()])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the scalers
def test_sql_of_a_column_without_values(ask_database, step, name, nearest):
    data = X.to_numpy().copy()
    data[:, 1] = np.nan
    pipeline = make_pipeline(step, LEARNERS[name]).fit(data, Y)
    sql = export_sql(pipeline, table="data", nearest=nearest)
    samples = data.copy()
    samples[::3, 1] = 2.5
    assert ask_database(sql, samples) == pipeline.predict(samples).tolist()


@databases
@pytest.mark.parametrize("step", [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler()])
def test_sql_of_a_pipeline_fitted_to_float32_computes_in_double_precision(ask_database, step):
    data = X.to_numpy().astype(np.float32)
    model = ImprovedOnlineGFMM(theta=0.3, random_state=0)
    pipeline = make_pipeline(step, model).fit(data, Y)
    expected = pipeline.predict(data.astype(np.float64)).tolist()
    assert ask_database(export_sql(pipeline, table="data"), data) == expected


def test_sql_of_the_crisp_part_has_names_of_the_input():
    pipeline = fit(StandardScaler(), ImprovedOnlineGFMM(theta=0.3, decision="nearest"))
    assert '(("petal width (cm)" - 1.19' in export_sql(pipeline, nearest=False)
    sql = export_sql(pipeline, column_names=["a", "b", "l", "w"], nearest=False)
    assert '(("w" - 1.19' in sql


@pytest.mark.parametrize(
    "step", [PCA(2), MinMaxScaler(clip=True), SimpleImputer(add_indicator=True)]
)
def test_steps_without_sql_are_named(step):
    with pytest.raises(
        TypeError, match=f"cannot write this {type(step).__name__}.* pass the last step"
    ):
        export_sql(fit(step, ImprovedOnlineGFMM()))
