"""The command line: what the commands write and say."""

import csv
import gzip
import inspect
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_recall_fscore_support,
)

import hyperboxes
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM, load, save
from hyperboxes._cli import COMMANDS, fit
from tests.commands import FEATURES, IRIS, TEST, TRAIN
from tests.test_online import same_boxes


def model_now(name="model.hyperboxes"):
    """Return what the model file holds."""
    return load(name)


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
        "agglo": AgglomerativeGFMM().theta,
    }
    assert ", ".join(f"{theta} ({name})" for name, theta in thetas.items()) in out


def test_help_imports_no_learner():
    code = "import sys, hyperboxes._cli as c; c._make_parser(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "hyperboxes._cli.fit" in loaded.split()
    assert not {"sklearn", "numba", "pandas", "pyarrow", "rich"} & set(loaded.split())


def test_public_names_are_found_when_asked_for():
    assert set(hyperboxes.__all__) <= set(dir(hyperboxes))
    for name in hyperboxes.__all__:
        assert inspect.getmodule(getattr(hyperboxes, name)) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hyperboxes.nothing


def test_runs_as_a_module(folder):
    command = [sys.executable, "-m", "hyperboxes", "evaluate", "model.hyperboxes", "test.csv"]
    done = subprocess.run([*command, "--target", "species"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    done = subprocess.run([*command, "--target", "colour"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("learner", fit.LEARNERS)
def test_fit_gives_the_model_of_the_estimator(get, learner):
    get("fit", "train.csv", "--target", "species", "-o", "new", "--learner", learner)
    class_name, parameters = fit.LEARNERS[learner]
    expected = getattr(hyperboxes, class_name)(**parameters)
    expected.fit(TRAIN[FEATURES], TRAIN["species"].to_numpy(str))
    found = model_now("new")
    assert same_boxes(found, expected)
    assert found.get_params() == expected.get_params()
    assert found.feature_names_in_.tolist() == FEATURES
    assert found.classes_.tolist() == sorted(IRIS.target_names)


@pytest.mark.parametrize("learner", ["improved", "online"])
@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_chunks_change_nothing(get, learner, size):
    common = ["fit", "train.csv", "--target", "species", "--learner", learner, "--theta", 0.2]
    get(*common, "-o", "chunks", "--chunk-size", size)
    get(*common, "-o", "whole")
    whole, chunks = model_now("whole"), model_now("chunks")
    assert same_boxes(chunks, whole)
    np.testing.assert_array_equal(chunks.data_max_, whole.data_max_)
    np.testing.assert_array_equal(chunks.predict(TEST[FEATURES]), whole.predict(TEST[FEATURES]))


def test_fit_parameters(get):
    common = ["fit", "train.csv", "--target", "species", "-o", "new"]
    get(*common, "--theta", "0.1", "--gamma", "2", "--drop", "sepal width (cm)")
    model = model_now("new")
    assert (model.theta, model.gamma) == (0.1, 2.0)
    assert model.feature_names_in_.tolist() == [FEATURES[0], *FEATURES[2:]]
    get(*common, "--features", "petal width (cm),petal length (cm)", "--gamma", "1,3")
    model = model_now("new")
    assert model.gamma == [1.0, 3.0]
    assert model.feature_names_in_.tolist() == ["petal width (cm)", "petal length (cm)"]


def test_fit_tells_what_it_did(run):
    argv = ["fit", "train.csv", "--target", "species", "-o", "new"]
    code, out, err = run(*argv)
    assert (code, out) == (0, "")
    n_boxes = len(model_now("new").hyperboxes_)
    assert f"new: {n_boxes} boxes from 100 samples of 3 classes, 4 features" in err
    code, out, err = run(*argv, "--json", "--quiet")
    assert (code, err) == (0, "")
    summary = json.loads(out)
    assert summary["n_boxes"] == n_boxes
    assert summary["classes"] == ["setosa", "versicolor", "virginica"]
    assert summary["model"] == "new"


@pytest.mark.parametrize("learner", fit.LEARNERS)
def test_samples_without_a_label(get, learner):
    few = TRAIN.assign(species=TRAIN["species"].where(np.arange(100) % 5 == 0, ""))
    few.to_csv("few.csv", index=False)
    argv = ["fit", "few.csv", "--target", "species", "-o", "new", "--learner", learner]
    get(*argv, "--unlabeled", "")
    model = model_now("new")
    assert model.hyperboxes_.counts.sum() == 100
    assert model.classes_.tolist() == sorted(IRIS.target_names)
    assert model.unlabeled == ""
    scores = json.loads(get("evaluate", "new", "few.csv", "--target", "species", "--json"))
    assert scores["n_samples"] == 20
    few.replace("", "?").to_csv("few.csv", index=False)
    get(*argv, "--unlabeled", "?")
    twin = model_now("new")
    for name in ("lower", "upper", "labels", "counts"):
        np.testing.assert_array_equal(
            getattr(twin.hyperboxes_, name), getattr(model.hyperboxes_, name)
        )


def test_missing_values(get):
    holes = TRAIN[FEATURES].mask(np.arange(400).reshape(100, 4) % 7 == 0).join(TRAIN["species"])
    holes.to_csv("holes.csv", index=False, na_rep="NA")
    get("fit", "holes.csv", "--target", "species", "-o", "new", "--chunk-size", 9)
    expected = ImprovedOnlineGFMM().fit(holes[FEATURES], holes["species"].to_numpy(str))
    assert same_boxes(model_now("new"), expected)
    out = get("predict", "new", "holes.csv")
    assert out.split()[1:] == expected.predict(holes[FEATURES]).tolist()


def test_predict(get):
    model = model_now()
    out = get("predict", "model.hyperboxes", "test.csv", "--chunk-size", 8)
    assert out.splitlines() == ["prediction", *model.predict(TEST[FEATURES])]
    out = get("predict", "model.hyperboxes", "test.csv", "--proba", "--membership", "--jobs", 2)
    frame = pd.read_csv(pd.io.common.StringIO(out), float_precision="round_trip")
    names = model.classes_.tolist()
    assert list(frame) == [
        "prediction",
        *(f"proba_{name}" for name in names),
        *(f"membership_{name}" for name in names),
    ]
    assert frame["prediction"].tolist() == model.predict(TEST[FEATURES]).tolist()
    np.testing.assert_array_equal(frame.iloc[:, 1:4], model.predict_proba(TEST[FEATURES]))
    np.testing.assert_array_equal(frame.iloc[:, 4:], model.membership(TEST[FEATURES]))


def test_predict_keeps_the_text_of_the_input(get, folder):
    (folder / "odd.csv").write_text(
        "id,petal width (cm),sepal width (cm),sepal length (cm),petal length (cm)\n"
        '"a, ""b""",0.20,3,5.10,1.4\n007, 2 ,NA,6e0,5.50\n'
    )
    rows = list(csv.reader(get("predict", "model.hyperboxes", "odd.csv", "--keep").splitlines()))
    assert rows[0][-1] == "prediction"
    assert rows[1] == ['a, "b"', "0.20", "3", "5.10", "1.4", "setosa"]
    assert rows[2] == ["007", " 2 ", "NA", "6e0", "5.50", "virginica"]


def test_predict_json_lines(get):
    lines = get("predict", "model.hyperboxes", "test.csv", "--json", "--proba").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == len(TEST)
    assert all(
        row["prediction"]
        == max(("setosa", "versicolor", "virginica"), key=lambda name: row[f"proba_{name}"])
        for row in rows
    )


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_predict_to_files(get, name):
    expected = get("predict", "model.hyperboxes", "test.csv", "--keep")
    assert get("predict", "model.hyperboxes", "test.csv", "--keep", "-o", name) == ""
    if name.endswith(".parquet"):
        frame = pd.read_parquet(name)
        assert frame.to_csv(index=False) == expected
    else:
        opener = gzip.open if name.endswith(".gz") else open
        with opener(name, "rt") as file:
            assert file.read() == expected


def test_a_failed_prediction_leaves_the_old_file(refuse, folder):
    (folder / "out.csv").write_text("precious")
    text = (folder / "test.csv").read_text()
    (folder / "bad.csv").write_text(text + "1,2,3,oops,setosa\n")
    argv = ["predict", "model.hyperboxes", "bad.csv", "-o", "out.csv", "--chunk-size", 10]
    message = refuse(*argv)
    assert (
        "bad.csv: not numbers: petal width (cm) (row 51 of petal width (cm) is 'oops')" in message
    )
    assert (folder / "out.csv").read_text() == "precious"
    assert not list(folder.glob(".*"))


def test_evaluate(get):
    scores = json.loads(
        get("evaluate", "model.hyperboxes", "test.csv", "--target", "species", "--json")
    )
    model = model_now()
    true, predicted = TEST["species"], model.predict(TEST[FEATURES])
    assert scores["accuracy"] == accuracy_score(true, predicted)
    assert scores["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, predicted))
    assert scores["n_boxes"] == len(model.hyperboxes_)
    matrix = scores["confusion_matrix"]
    assert matrix["rows"] == confusion_matrix(true, predicted).tolist()
    expected = precision_recall_fscore_support(true, predicted)
    for i, name in enumerate(matrix["classes"]):
        found = scores["by_class"][name]
        values = [found[key] for key in ("precision", "recall", "f1", "support")]
        assert values == pytest.approx([column[i] for column in expected])
    out = get("evaluate", "model.hyperboxes", "test.csv", "--target", "species", "--chunk-size", 7)
    assert f"accuracy           {scores['accuracy']:.4f}" in out
    assert "true class in rows" in out


def test_labels_that_the_model_does_not_know_are_mistakes(get, folder):
    strange = TEST.assign(species=TEST["species"].replace("setosa", "rosa"))
    strange.to_csv("strange.csv", index=False)
    argv = ["evaluate", "model.hyperboxes", "strange.csv", "--target", "species"]
    scores = json.loads(get(*argv, "--json"))
    assert scores["by_class"]["rosa"]["recall"] == 0
    assert scores["by_class"]["rosa"]["precision"] is None
    assert scores["by_class"]["setosa"]["recall"] is None
    assert scores["accuracy"] < 0.8
    assert "rosa" in get(*argv)


@pytest.mark.parametrize("classes", [[0, 1, 2], [0.0, 1.0, 2.0], [False, True, True]], ids=str)
def test_models_with_numbers_as_classes(get, classes):
    """Such come from Python; files may write the numbers in several ways."""
    labels = np.array(classes)[IRIS.target[TEST.index]]
    model = ImprovedOnlineGFMM().fit(TEST[FEATURES], labels)
    save(model, "numbers")
    for texts in (labels.astype(float), labels.astype(int), labels):
        TEST.assign(species=texts).to_csv("numbers.csv", index=False)
        argv = ["numbers.csv", "--target", "species"]
        assert json.loads(get("evaluate", "numbers", *argv, "--json"))["accuracy"] == 1
        out = get("rules", "numbers", "--data", *argv, "--format", "json")
        assert json.loads(out)[0]["precision"] == 1


def test_rules(get):
    model = model_now()
    text = hyperboxes.export_text(model, max_rules=2)
    assert get("rules", "model.hyperboxes", "--max-rules", 2) == text + "\n"
    frame = pd.read_csv(pd.io.common.StringIO(get("rules", "model.hyperboxes", "--format", "csv")))
    assert len(frame) == len(model.hyperboxes_)
    assert frame["support"].is_monotonic_decreasing
    lower = model.hyperboxes_.lower[frame["box"]]
    np.testing.assert_array_equal(frame[[f"{name} lower" for name in FEATURES]], lower)
    sql = get("rules", "model.hyperboxes", "--format", "sql", "--table", "flowers")
    assert sql == hyperboxes.export_sql(model, table="flowers") + "\n"


def test_rules_measured_on_data(get):
    argv = ["rules", "model.hyperboxes", "--data", "train.csv"]
    assert "coverage" in get(*argv)
    assert "precision" not in get(*argv)
    rules = json.loads(get(*argv, "--target", "species", "--format", "json", "--max-rules", 3))
    assert len(rules) == 3
    model = model_now()
    frame = hyperboxes.export_frame(model, TRAIN[FEATURES], TRAIN["species"])
    for rule in rules:
        assert rule["precision"] == frame["precision"][rule["box"]]
        assert rule["coverage"] == frame["coverage"][rule["box"]]
        assert rule["support"] == model.hyperboxes_.counts[rule["box"]]
        assert rule["class"] == model.classes_[model.hyperboxes_.labels[rule["box"]]]
        ends = list(
            zip(
                model.hyperboxes_.lower[rule["box"]],
                model.hyperboxes_.upper[rule["box"]],
                strict=True,
            )
        )
        assert [tuple(pair) for pair in rule["bounds"].values()] == ends
        assert list(rule["bounds"]) == FEATURES


def test_bounds_that_are_not_known_are_null(get):
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [np.nan, 5.0]})
    save(ImprovedOnlineGFMM(theta=0.1).fit(X, ["x", "y"]), "holes")
    rules = json.loads(get("rules", "holes", "--format", "json"))
    assert [rule["bounds"] for rule in rules] == [
        {"a": [1, 1], "b": None},
        {"a": [2, 2], "b": [5, 5]},
    ]


def test_explain(get, run):
    model = model_now()
    expected = hyperboxes.explain(model, TEST[FEATURES].iloc[[6, 0]])
    out = get("explain", "model.hyperboxes", "test.csv", "--row", 7, 1)
    assert out == f"Row 7\n{expected[0]}\n\nRow 1\n{expected[1]}\n"
    values = json.loads(get("explain", "model.hyperboxes", "test.csv", "--row", 7, 1, "--json"))
    assert [value["row"] for value in values] == [7, 1]
    assert values[1]["prediction"] == model.predict(TEST[FEATURES].iloc[[0]])[0]
    assert get("explain", "model.hyperboxes", "test.csv").startswith("Row 1\n")


def test_models_without_names_of_features(get, refuse):
    model = ImprovedOnlineGFMM().fit(TRAIN[FEATURES].to_numpy(), TRAIN["species"].to_numpy(str))
    save(model, "nameless")
    expected = ["prediction", *model.predict(TEST[FEATURES].to_numpy())]
    TEST[FEATURES].to_csv("plain.csv", index=False)
    assert get("predict", "nameless", "plain.csv").splitlines() == expected
    named = ["--features", ",".join(FEATURES)]
    assert get("predict", "nameless", "test.csv", *named).splitlines() == expected
    assert get("evaluate", "nameless", "test.csv", "--target", "species")
    assert "without names of its 4 features" in refuse("predict", "nameless", "test.csv")
    message = refuse("predict", "nameless", "test.csv", "--features", "species")
    assert "names 1 columns, but the model has 4 features" in message


def test_progress_is_shown_in_terminals(run, monkeypatch):
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    commands = (
        ["fit", "train.csv", "--target", "species", "-o", "new", "--chunk-size", "10"],
        ["fit", "train.csv", "--target", "species", "-o", "new", "--learner", "agglo2"],
        ["predict", "model.hyperboxes", "test.csv", "-o", "out.csv"],
        ["evaluate", "model.hyperboxes", "test.csv", "--target", "species", "--json"],
    )
    for argv, title in zip(
        commands, ("Looking", "Learning", "Predicting", "Evaluating"), strict=True
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


def test_demo(get, folder, monkeypatch):
    out = get("demo", "-o", "sub/demo")
    commands = [line for line in out.splitlines() if line.startswith("$ hyperboxes ")]
    assert [line.split()[2] for line in commands] == ["fit", "evaluate", "rules", "explain"]
    for passage in ("accuracy", "worst radius", "Why does the model say", "Now try"):
        assert passage in out
    assert (folder / "sub/demo/demo.png").read_bytes().startswith(b"\x89PNG")
    # What it says to try works.
    tries = [line.split()[1:] for line in out.partition("== Now try\n")[2].splitlines()]
    for argv in tries[:-1]:
        get(*argv)
    assert len(model_now("agglo.hyperboxes").hyperboxes_) > 1


def test_demo_without_matplotlib(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("demo")
    assert code == 0
    assert "No picture is drawn. It needs matplotlib: pip install 'hyperboxes[plot]'" in err
    assert "Now try" in out
