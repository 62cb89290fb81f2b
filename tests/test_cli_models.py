"""The commands that take a model: predict, evaluate, rules and explain."""

import csv
import gzip
import io
import json

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
from hyperboxes import HyperboxClustering, load, save
from hyperboxes._cli.columns import match_spelling
from tests.databases import ask_sqlite
from tests.iris_tables import FEATURES, IRIS, TEST, TRAIN
from tests.learners import ImprovedOnlineGFMM


def test_predict(get):
    model = load("model.hyperboxes")
    out = get("predict", "model.hyperboxes", "test.csv", "--chunk-size", 8)
    assert out.splitlines() == ["prediction", *model.predict(TEST[FEATURES])]
    out = get("predict", "model.hyperboxes", "test.csv", "--proba", "--membership", "--jobs", 2)
    header, *rows = csv.reader(out.splitlines())
    names = model.classes_.tolist()
    assert header == [
        "prediction",
        *(f"proba_{name}" for name in names),
        *(f"membership_{name}" for name in names),
    ]
    assert [row[0] for row in rows] == model.predict(TEST[FEATURES]).tolist()
    numbers = np.array([row[1:] for row in rows], float)
    np.testing.assert_array_equal(numbers[:, :3], model.predict_proba(TEST[FEATURES]))
    np.testing.assert_array_equal(numbers[:, 3:], model.membership(TEST[FEATURES]))


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


def test_json_has_only_finite_numbers(get):
    TEST[:3].assign(extra=[np.inf, np.nan, 0.5]).to_parquet("extra.parquet")
    lines = get("predict", "model.hyperboxes", "extra.parquet", "--keep", "--json").splitlines()
    assert [json.loads(line)["extra"] for line in lines] == [None, None, 0.5]


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


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_a_failed_prediction_leaves_the_old_file(refuse, folder, name):
    (folder / name).write_text("precious")
    text = (folder / "test.csv").read_text()
    (folder / "bad.csv").write_text(text + "1,2,3,oops,setosa\n")
    argv = ["predict", "model.hyperboxes", "bad.csv", "-o", name, "--chunk-size", 10]
    message = refuse(*argv)
    assert (
        "bad.csv: not numbers: petal width (cm) (row 51 of petal width (cm) is 'oops')" in message
    )
    assert (folder / name).read_text() == "precious"
    assert not list(folder.glob(".*"))


def test_evaluate(get):
    scores = json.loads(
        get("evaluate", "model.hyperboxes", "test.csv", "--target", "species", "--json")
    )
    model = load("model.hyperboxes")
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
        rules = json.loads(out)
        assert all(rule["precision"] == 1 for rule in rules)
        assert {str(rule["class"]) for rule in rules} == {str(label) for label in classes}
        assert all(type(rule["support"]) is int for rule in rules)


def test_large_numbers_as_classes_are_told_apart():
    """As floats they would be the same."""
    classes = np.array([2**53, 2**53 + 1])
    texts = [str(label) for label in classes]
    assert match_spelling(np.array([*texts, "9007199254740992.0"]), classes)[:2].tolist() == texts


def test_marks_of_no_label_that_are_numbers(get, folder):
    labels = np.where(np.arange(50) % 5 == 0, IRIS.target[TEST.index], -1)
    save(ImprovedOnlineGFMM(unlabeled=-1).fit(TEST[FEATURES], labels), "few")
    for kind in (int, float):
        TEST.assign(species=labels.astype(kind)).to_csv("few.csv", index=False)
        argv = ["few.csv", "--target", "species"]
        assert json.loads(get("evaluate", "few", *argv, "--json"))["n_samples"] == 10
        rules = json.loads(get("rules", "few", "--data", *argv, "--format", "json"))
        assert all(rule["precision"] in (None, 1) for rule in rules)


def test_clusterings(get, refuse):
    model = HyperboxClustering(theta=0.3).fit(TRAIN[FEATURES])
    save(model, "clusters")
    expected = ["prediction", *map(str, model.predict(TEST[FEATURES]))]
    assert get("predict", "clusters", "test.csv").splitlines() == expected
    for argv in (
        ["predict", "clusters", "test.csv", "--proba"],
        ["evaluate", "clusters", "test.csv", "--target", "species"],
        ["explain", "clusters", "test.csv"],
        ["rules", "clusters", "--format", "sql"],
        ["report", "clusters", "test.csv", "--target", "species", "-o", "page.html"],
    ):
        assert "clusters is not a classifier but a HyperboxClustering" in refuse(*argv)


def test_rules(get):
    model = load("model.hyperboxes")
    text = hyperboxes.export_text(model, max_rules=2)
    assert get("rules", "model.hyperboxes", "--max-rules", 2) == text + "\n"
    frame = pd.read_csv(io.StringIO(get("rules", "model.hyperboxes", "--format", "csv")))
    assert len(frame) == len(model.hyperboxes_)
    assert frame["support"].is_monotonic_decreasing
    lower = model.hyperboxes_.lower[frame["box"]]
    np.testing.assert_array_equal(frame[[f"{name} lower" for name in FEATURES]], lower)


def test_rules_as_sql_answer_every_row(get):
    model = load("model.hyperboxes")
    argv = ["rules", "model.hyperboxes", "--format", "sql", "--table", "flowers"]
    frame = pd.read_csv("test.csv")[FEATURES]
    samples, asked = frame.to_numpy(), {"columns": FEATURES, "table": "flowers"}
    predicted = model.predict(frame).tolist()
    assert ask_sqlite(get(*argv), samples, **asked) == predicted
    crisp = ask_sqlite(get(*argv, "--crisp"), samples, **asked)
    assert None in crisp
    assert all(told in (None, label) for told, label in zip(crisp, predicted, strict=True))


def test_rules_measured_on_data(get):
    argv = ["rules", "model.hyperboxes", "--data", "train.csv"]
    assert "coverage" in get(*argv)
    assert "precision" not in get(*argv)
    rules = json.loads(get(*argv, "--target", "species", "--format", "json", "--max-rules", 3))
    assert len(rules) == 3
    model = load("model.hyperboxes")
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


def test_explain(get):
    model = load("model.hyperboxes")
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
