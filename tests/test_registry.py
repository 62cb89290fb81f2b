"""The registry of learners, and toys that are added by the steps of CONTRIBUTING."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import hyperboxes
from hyperboxes import (
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    export_html,
    export_text,
    literature,
    load,
    merge,
    save,
)
from hyperboxes._estimators import capabilities, registry
from hyperboxes._estimators.base import BoxClassifier
from hyperboxes._estimators.registry import (
    EstimatorEntry,
    MergeSettings,
    all_learners,
    commands,
    find_by_class,
    find_by_name,
)
from hyperboxes._models import executor
from hyperboxes._models.box_store import BoxStore
from hyperboxes._models.records import AdditiveBoxes
from hyperboxes._readers.fitted import read_fitted
from tests.iris_tables import FEATURES, TEST, TRAIN

every_entry = pytest.mark.parametrize(
    "learner", all_learners(), ids=lambda learner: learner.class_name
)


@every_entry
def test_entries_say_what_their_classes_do(learner):
    estimator = learner.estimator
    package = literature if learner.class_name in literature.__all__ else hyperboxes
    assert getattr(package, learner.class_name) is estimator
    assert find_by_class(estimator) is find_by_name(learner.class_name) is learner
    for parameters in learner.commands.values():
        model = estimator(**parameters)
        model._validate_params()
        assert getattr(model, "theta", None) == learner.default_theta


def test_names_are_unique():
    learners = all_learners()
    assert len({learner.class_name for learner in learners}) == len(learners)
    assert len(commands()) == sum(len(learner.commands) for learner in learners)


def test_a_derived_class_is_found_by_its_base():
    class Derived(ImprovedOnlineGFMM):
        pass

    assert find_by_class(Derived).class_name == "ImprovedOnlineGFMM"
    assert find_by_class(dict) is None


def test_own_parameters_come_before_the_settings_of_the_entry():
    settings = MergeSettings(overlap="paper", similarity="mid-max")
    assert settings.for_model(ImprovedOnlineGFMM(overlap="closed")).overlap == "closed"
    assert settings.for_model(ImprovedOnlineGFMM()).similarity == "mid-max"


class EachSampleABox(BoxClassifier):
    """A toy that keeps every sample as a box."""

    def __init__(self, *, gamma=1.0, scaling="minmax", unlabeled=None, n_jobs=None):
        self.gamma = gamma
        self.scaling = scaling
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs

    def _learn(self, samples, model, callbacks):
        model.boxes = BoxStore.of_samples(samples, model.boxes.n_classes)


TOY = EstimatorEntry(
    path=f"{__name__}:EachSampleABox",
    summary="keeps every sample as a box",
    commands={"toy": {"scaling": None}},
    merge_settings=None,
)


@pytest.fixture
def toy(monkeypatch):
    """Register the toy, and fit a model of it."""
    monkeypatch.setattr(registry, "_LEARNERS", [*all_learners(), TOY])
    return EachSampleABox().fit(TRAIN[FEATURES], TRAIN["species"].to_numpy(str))


def test_a_toy_is_saved_and_loaded(toy, tmp_path):
    save(toy, tmp_path / "toy")
    assert b'"estimator": "EachSampleABox"' in (tmp_path / "toy").read_bytes()
    twin = load(tmp_path / "toy")
    assert type(twin) is EachSampleABox
    np.testing.assert_array_equal(twin.predict(TEST[FEATURES]), toy.predict(TEST[FEATURES]))


def test_a_toy_is_reported_and_read_as_rules(toy):
    page = export_html(toy, TEST[FEATURES], TEST["species"])
    assert "EachSampleABox (keeps every sample as a box)" in page
    assert export_text(toy).startswith("100 boxes from 100 training samples.")


def test_a_toy_is_fitted_from_the_command_line(toy, get, refuse):
    unit = TRAIN.assign(**{name: TRAIN[name] / 10 for name in FEATURES})
    unit.to_csv("unit.csv", index=False)
    fit = ["fit", "unit.csv", "--target", "species", "-o", "toy", "--learner", "toy"]
    get(*fit, "--gamma", 2)
    model = load("toy")
    assert (type(model), model.gamma, model.scaling) == (EachSampleABox, 2.0, None)
    assert len(model.hyperboxes_) == len(TRAIN)
    assert len(get("predict", "toy", "unit.csv").splitlines()) == len(TRAIN) + 1
    assert "toy" in " ".join(get("fit", "--help").split())
    assert "--learner toy has no --theta" in refuse(*fit, "--theta", 0.5, code=2)
    mean = ["--membership-function", "mean"]
    assert "--learner toy has no --membership-function" in refuse(*fit, *mean, code=2)
    assert "--learner toy needs all rows at once" in refuse(*fit, "--batch-rows", 9, code=2)


def test_a_toy_that_cannot_be_merged_says_so(toy):
    with pytest.raises(
        TypeError, match="merge is unsupported for EachSampleABox: its boxes are neither merged"
    ):
        merge([toy, toy])


OPERATION = "export_json"  # of the package's own exports a member of `Operation`


@pytest.fixture
def export_json(monkeypatch):
    """Add a toy export of additive boxes."""
    row = capabilities.SUPPORTED["additive"] | {OPERATION}
    table = {**capabilities.SUPPORTED, "additive": row}
    monkeypatch.setattr(capabilities, "SUPPORTED", table)

    def export_json(model):
        fitted = read_fitted(model, OPERATION)
        match fitted.record:
            case AdditiveBoxes() as record:
                names = "lower", "upper", "weights", "intercept"
                return json.dumps({name: getattr(record, name).tolist() for name in names})

    return export_json


def test_a_toy_export_says_what_the_executor_says(export_json):
    X = TEST[FEATURES].to_numpy()
    model = BoostedHyperboxes(9, random_state=0).fit(TRAIN[FEATURES].to_numpy(), TRAIN["species"])
    read = {name: np.array(value) for name, value in json.loads(export_json(model)).items()}
    inside = (read["lower"] <= X[:, None]) & (X[:, None] <= read["upper"])
    scores = read["intercept"] + inside.all(axis=2) @ read["weights"]
    expected = executor.evaluate(capabilities.read_record(model), X, X)
    np.testing.assert_allclose(scores, expected.scores, atol=1e-12)
    assert_array_equal(scores.argmax(axis=1), expected.winners)


def test_a_toy_export_refuses_other_models(export_json, toy):
    with pytest.raises(TypeError, match="export_json is unsupported for EachSampleABox"):
        export_json(toy)
