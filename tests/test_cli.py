"""The command line as a whole, training from files, and progress."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import hyperboxes
from hyperboxes import AgglomerativeGFMM, FuzzyMinMax, ImprovedOnlineGFMM, OnlineGFMM, load
from hyperboxes._cli import COMMANDS
from hyperboxes._estimators.registry import commands
from tests.iris_tables import FEATURES, IRIS, TEST, TRAIN
from tests.learners import same_boxes


def test_version_and_help(run):
    code, out, _ = run("--version")
    assert (code, out) == (0, f"hyperboxes {hyperboxes.__version__}\n")
    code, out, _ = run("--help")
    assert code == 0
    for name in COMMANDS:
        assert name in out
        code, text, _ = run(name, "--help")
        assert code == 0
        assert f"  hyperboxes {name} " in text.partition("examples:")[2] or name == "demo"


def test_help_names_the_defaults(run):
    out = " ".join(run("fit", "--help")[1].split())
    thetas = {
        "improved": ImprovedOnlineGFMM().theta,
        "online": OnlineGFMM().theta,
        "fmnn, efmnn, knefmnn, rfmnn": FuzzyMinMax().theta,
        "agglo-sm, agglo2": AgglomerativeGFMM().theta,
    }
    assert ", ".join(f"{theta} ({name})" for name, theta in thetas.items()) in out


def test_help_imports_no_learner():
    code = "import sys, hyperboxes._cli as c; c._make_parser(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "hyperboxes._cli.fit" in loaded.split()
    assert not {"sklearn", "numba", "pandas", "pyarrow", "rich"} & set(loaded.split())


def test_runs_as_a_module(folder):
    argv = ["predict", "model.hyperboxes", "test.csv", "--json", "-o", "out.parquet"]
    command = [sys.executable, "-m", "hyperboxes", *argv]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "hyperboxes: error: --json does not go with a Parquet file\n"


COVERING = [name for name, learner in commands().items() if learner.boxes == "cover"]


def plain(parameters):
    """Return parameters as files keep them: tuples become lists."""
    return {n: list(v) if isinstance(v, tuple) else v for n, v in parameters.items()}


@pytest.mark.parametrize("learner", commands())
def test_fit_gives_the_model_of_the_estimator(get, learner):
    get("fit", "train.csv", "--target", "species", "-o", "new", "--learner", learner)
    entry = commands()[learner]
    expected = entry.estimator(**entry.commands[learner])
    expected.fit(TRAIN[FEATURES], TRAIN["species"].to_numpy(str))
    found = load("new")
    if hasattr(expected, "hyperboxes_"):
        assert same_boxes(found, expected)
    np.testing.assert_array_equal(found.predict(TEST[FEATURES]), expected.predict(TEST[FEATURES]))
    assert plain(found.get_params()) == plain(expected.get_params())
    assert found.feature_names_in_.tolist() == FEATURES
    assert found.classes_.tolist() == sorted(IRIS.target_names)


@pytest.mark.parametrize("learner", commands())
def test_batches_are_learned_as_partial_fit_does(run, learner):
    argv = ["fit", "train.csv", "--target", "species", "-o", "new", "--learner", learner]
    code, _, err = run(*argv, "--batch-rows", 30)
    entry = commands()[learner]
    expected = entry.estimator(**entry.commands[learner])
    if not hasattr(expected, "partial_fit"):
        assert code == 2
        assert f"--learner {learner} needs all rows at once" in err
        return
    assert code == 0
    X, y = TRAIN[FEATURES], TRAIN["species"].to_numpy(str)
    if "scaling" in expected.get_params():
        expected.set_params(scaling=[X.min().tolist(), X.max().tolist()])
    for start in range(0, 100, 30):
        rows = slice(start, start + 30)
        expected.partial_fit(X[rows], y[rows], classes=np.unique(y))
    found = load("new")
    assert same_boxes(found, expected)
    assert plain(found.get_params()) == plain(expected.get_params())
    np.testing.assert_array_equal(found.predict(TEST[FEATURES]), expected.predict(TEST[FEATURES]))


def test_batches_sorted_by_class_get_a_note(run):
    rows = pd.DataFrame({"x": np.arange(600) % 7 / 7, "y": np.arange(600) // 200})
    rows.to_csv("sorted.csv", index=False)
    argv = ["fit", "sorted.csv", "--target", "y", "-o", "new", "--batch-rows", 100]
    assert run(*argv)[2].count("Note: Labels come in long runs") == 1
    assert run(*argv, "-q")[2] == ""
    assert "Note" not in run(*argv[:-2])[2]


def test_fit_parameters(get):
    common = ["fit", "train.csv", "--target", "species", "-o", "new"]
    get(*common, "--theta", "0.1", "--gamma", "2", "--drop", "sepal width (cm)")
    model = load("new")
    assert (model.theta, model.gamma) == (0.1, 2.0)
    assert model.feature_names_in_.tolist() == [FEATURES[0], *FEATURES[2:]]
    get(*common, "--features", "petal width (cm),petal length (cm)", "--gamma", "1,3")
    model = load("new")
    assert model.gamma == [1.0, 3.0]
    assert model.feature_names_in_.tolist() == ["petal width (cm)", "petal length (cm)"]
    get(*common, "--membership-function", "mean")
    expected = ImprovedOnlineGFMM(membership_function="mean", random_state=0)
    expected.fit(TRAIN[FEATURES], TRAIN["species"])
    assert load("new").membership_function == "mean"
    membership = load("new").membership(TEST[FEATURES])
    np.testing.assert_array_equal(membership, expected.membership(TEST[FEATURES]))


def test_fit_tells_what_it_did(run):
    argv = ["fit", "train.csv", "--target", "species", "-o", "new"]
    code, out, err = run(*argv)
    assert (code, out) == (0, "")
    n_boxes = len(load("new").hyperboxes_)
    assert f"new: {n_boxes} boxes from 100 samples of 3 classes, 4 features" in err
    assert "of 3 classes, 1 feature (" in run(*argv, "--features", FEATURES[0])[2]
    code, out, err = run(*argv, "--json", "--quiet")
    assert (code, err) == (0, "")
    summary = json.loads(out)
    assert summary["n_boxes"] == n_boxes
    assert summary["classes"] == ["setosa", "versicolor", "virginica"]
    assert summary["model"] == "new"


@pytest.mark.parametrize("learner", COVERING)
def test_samples_without_a_label(get, learner):
    few = TRAIN.assign(species=TRAIN["species"].where(np.arange(100) % 5 == 0, ""))
    few.to_csv("few.csv", index=False)
    argv = ["fit", "few.csv", "--target", "species", "-o", "new", "--learner", learner]
    get(*argv, "--unlabeled", "")
    model = load("new")
    assert model.hyperboxes_.counts.sum() == 100
    assert model.classes_.tolist() == sorted(IRIS.target_names)
    assert model.unlabeled == ""
    scores = json.loads(get("evaluate", "new", "few.csv", "--target", "species", "--json"))
    assert scores["n_samples"] == 20
    few.replace("", "?").to_csv("few.csv", index=False)
    get(*argv, "--unlabeled", "?")
    twin = load("new")
    for name in ("lower", "upper", "labels", "counts"):
        np.testing.assert_array_equal(
            getattr(twin.hyperboxes_, name), getattr(model.hyperboxes_, name)
        )


def test_missing_values(get):
    holes = TRAIN[FEATURES].mask(np.arange(400).reshape(100, 4) % 7 == 0).join(TRAIN["species"])
    holes.to_csv("holes.csv", index=False, na_rep="NA")
    get("fit", "holes.csv", "--target", "species", "-o", "new")
    expected = ImprovedOnlineGFMM(random_state=0)
    expected.fit(holes[FEATURES], holes["species"].to_numpy(str))
    assert same_boxes(load("new"), expected)
    out = get("predict", "new", "holes.csv")
    assert out.split()[1:] == expected.predict(holes[FEATURES]).tolist()


def test_progress_is_shown_in_terminals(run, monkeypatch):
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    commands = (
        ["fit", "train.csv", "--target", "species", "-o", "new", "--batch-rows", "10"],
        ["fit", "train.csv", "--target", "species", "-o", "new", "--learner", "agglo2"],
        ["predict", "model.hyperboxes", "test.csv", "-o", "out.csv"],
        ["evaluate", "model.hyperboxes", "test.csv", "--target", "species", "--json"],
    )
    for argv, title in zip(
        commands, ("Finding", "Learning", "Predicting", "Evaluating"), strict=True
    ):
        code, out, err = run(*argv)
        assert code == 0
        assert title in err
        assert title not in out
        assert title not in run(*argv, "--quiet")[2]


def test_fit_works_without_rich(get, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich", None)
    get("fit", "train.csv", "--target", "species", "-o", "new")
