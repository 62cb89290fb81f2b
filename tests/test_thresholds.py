"""Decision thresholds of scikit-learn around models."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hyperboxes import (
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    ModelFileError,
    explain,
    export_html,
    export_sql,
    export_text,
    load,
    save,
)
from hyperboxes._estimators.pipelines import split_model
from hyperboxes._files.archive import pack, parse_arrays, unpack
from tests.databases import ask_duckdb

NUMBERS, CODES = make_classification(300, 4, n_informative=3, n_redundant=0, random_state=1)
X = pd.DataFrame(NUMBERS, columns=["size", "age", "weight", "height"])
Y = np.array(["no", "yes"])[CODES]
BOOSTED = BoostedHyperboxes(random_state=0)
MODELS = {
    "fixed": FixedThresholdClassifier(BOOSTED, threshold=0.3),
    "other class": FixedThresholdClassifier(BOOSTED, threshold=0.3, pos_label="no"),
    "score": FixedThresholdClassifier(BOOSTED, threshold=-1, response_method="decision_function"),
    "tuned": TunedThresholdClassifierCV(BOOSTED, cv=3),
    "nearest": FixedThresholdClassifier(ImprovedOnlineGFMM(random_state=0), threshold=0.3),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def saved(model):
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    return file


@every_model
def test_files_keep_thresholds(model):
    model.fit(X, Y)
    loaded = load(saved(model))
    assert isinstance(loaded, FixedThresholdClassifier)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.feature_names_in_.tolist() == list(X.columns)
    assert saved(loaded).read() == saved(model).read()


@pytest.mark.parametrize("name", ["fixed", "other class", "score", "tuned"])
def test_additive_boxes_are_read_with_the_threshold(name):
    model = MODELS[name].fit(X, Y)
    assert (model.predict(X) != model.estimator_.predict(X)).any()
    explanations = explain(model, X)
    np.testing.assert_array_equal(explanations.predictions, model.predict(X))
    np.testing.assert_allclose(explanations.probabilities, model.predict_proba(X))
    found = [found for e in explanations[:20] if (found := e.counterfactual) is not None]
    assert found
    changed = pd.DataFrame([change.lower for change in found], columns=X.columns)
    assert [change.prediction for change in found] == model.predict(changed).tolist()
    of_class = np.searchsorted(model.classes_, [change.prediction for change in found])
    expected = model.predict_proba(changed)[np.arange(len(found)), of_class]
    np.testing.assert_allclose([change.probability for change in found], expected)
    remark = r"\w+ is predicted from a probability of 0\.\d+ on\. The intercept includes this"
    assert re.search(remark, " ".join(export_text(model).split()))
    assert re.search(remark, export_html(model, X, Y))
    query = export_sql(model, table="data")
    assert ask_duckdb(query, NUMBERS, list(X.columns)) == model.predict(X).tolist()


def test_nearest_boxes_are_listed_only():
    model = MODELS["nearest"].fit(X, Y)
    assert export_text(model) == export_text(model.estimator_)
    for read in (lambda m: explain(m, X), export_sql, lambda m: export_html(m, X, Y)):
        with pytest.raises(TypeError, match=r"a threshold moves .* \(estimator_ has none\)"):
            read(model)


def test_pipelines_within_and_around():
    numbers = X[["size"]]
    within = FixedThresholdClassifier(make_pipeline(StandardScaler(), BOOSTED), threshold=0.3)
    around = make_pipeline(StandardScaler(), FixedThresholdClassifier(BOOSTED, threshold=0.3))
    for model in (within, around):
        steps, estimator, threshold = split_model(model.fit(numbers, Y))
        assert [type(step) for step in steps] == [StandardScaler]
        assert isinstance(estimator, BoostedHyperboxes)
        assert threshold == (0.3, "yes")
        np.testing.assert_array_equal(explain(model, numbers).predictions, model.predict(numbers))


@pytest.mark.parametrize("threshold", [[0.3], [2.0, 1], [0.3, 2], ["0.3", 1], [0.3, "yes"]])
def test_wrong_thresholds_in_files(threshold):
    header, members = unpack(saved(MODELS["fixed"].fit(X, Y)))
    with pytest.raises(ModelFileError, match="its threshold is not a probability of one of two"):
        load(io.BytesIO(pack(header | {"threshold": threshold}, parse_arrays(members))))
