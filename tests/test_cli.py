"""The command line: what the commands write, their errors and exit codes."""

import csv
import gzip
import inspect
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_recall_fscore_support,
)

import hyperboxes
from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM, load, save
from hyperboxes._cli import COMMANDS, fit, main
from tests.test_online import same_boxes

IRIS = load_iris(as_frame=True)
FEATURES = list(IRIS.data.columns)
TABLE = IRIS.data.assign(species=IRIS.target_names[IRIS.target]).sample(frac=1, random_state=0)
TRAIN, TEST = TABLE[:100], TABLE[100:]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with the data and a model of it."""
    monkeypatch.chdir(tmp_path)
    TRAIN.to_csv("train.csv", index=False)
    TEST.to_csv("test.csv", index=False)
    model = ImprovedOnlineGFMM(theta=0.3).fit(TRAIN[FEATURES], TRAIN["species"].to_numpy(str))
    save(model, "model.hyperboxes")
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """Run a command and return its exit code, output and errors."""

    def run(*argv):
        capsys.readouterr()
        try:
            code = main([str(arg) for arg in argv])
        except SystemExit as exit_:
            code = exit_.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def get(run):
    """Run a command that succeeds and return its output."""

    def get(*argv):
        code, out, err = run(*argv)
        assert code == 0, err
        return out

    return get


@pytest.fixture
def refuse(run):
    """Run a command that fails and return its one line of complaint."""

    def refuse(*argv, code=1):
        found, out, err = run(*argv)
        assert found == code, err
        assert out == ""
        lines = [line for line in err.splitlines() if not line.startswith("Columns that are no")]
        assert len(lines) == 1, err
        assert lines[0].startswith("hyperboxes: error: ")
        return lines[0]

    return refuse


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
    frame = pd.read_csv(pd.io.common.StringIO(out))
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


FIT = ["fit", "train.csv", "-o", "new"]
BAD_DATA = [
    ([*FIT, "--target", "colour"], "train.csv has no column 'colour'; its columns are sepal"),
    ([*FIT, "--target", "species", "--drop", "id,x"], "no column 'id', 'x'; its columns"),
    ([*FIT, "--target", "species", "--features", "species"], "species is the target"),
    (["fit", "none.csv", "-o", "new", "--target", "a"], "No such file or directory: none.csv"),
    (["fit", ".", "-o", "new", "--target", "a"], "Is a directory: ."),
    (["fit", "train.csv", "-o", "no/new", "--target", "species"], "No such folder: no"),
    (["fit", "train.csv", "-o", ".", "--target", "species"], "Is a folder, not a file: ."),
    (["predict", "none", "test.csv"], "No such file or directory: none"),
    (["predict", "train.csv", "test.csv"], "Cannot load 'train.csv'"),
    (["predict", "model.hyperboxes", "short.csv"], "short.csv has no column 'sepal width (cm)'"),
    (["predict", "model.hyperboxes", "test.csv", "--keep", "--column", "species"], "a --column"),
    (["explain", "model.hyperboxes", "test.csv", "--row", "51"], "has 50 rows, so there is no row"),
    (["evaluate", "model.hyperboxes", "holes.csv", "--target", "species"], "row 3 has no species"),
    (["fit", "holes.csv", "-o", "new", "--target", "species"], 'add --unlabeled ""'),
    (["fit", "empty.csv", "-o", "new", "--target", "species"], "empty.csv is empty"),
    (["fit", "header.csv", "-o", "new", "--target", "y"], "header.csv has no rows"),
    (["predict", "model.hyperboxes", "names.csv"], "names.csv has no rows"),
    (["fit", "blank.csv", "-o", "new", "--target", "y"], "a column has no name"),
    (["fit", "twice.csv", "-o", "new", "--target", "y"], "two columns are named 'x'"),
    (["fit", "only.csv", "-o", "new", "--target", "y"], "only.csv has no columns but y"),
    (["fit", "words.csv", "-o", "new", "--target", "y"], "not numbers: colour, day (row 1 of"),
    (["fit", "ragged.csv", "-o", "new", "--target", "y"], "row 2: expected 2 cells, got 3"),
    (["fit", "latin.csv", "-o", "new", "--target", "y"], "latin.csv: it is not in UTF-8"),
    (["fit", "infinite.csv", "-o", "new", "--target", "y"], "row 2 of x is infinite"),
    (["fit", "header.csv", "-o", "new", "--target", "y", "--sep", ";"], "no column 'y'"),
    (["fit", "none.csv.gz", "-o", "new", "--target", "y"], "No such file"),
    (
        ["fit", "marks.csv", "-o", "new", "--target", "y", "--unlabeled", "?"],
        "no row has a label, every y is '?'",
    ),
    (
        [
            "fit",
            "marks.csv",
            "-o",
            "new",
            "--target",
            "y",
            "--unlabeled",
            "?",
            "--learner",
            "agglo2",
        ],
        "y holds no label",
    ),
]


@pytest.mark.parametrize(("argv", "message"), BAD_DATA, ids=lambda value: str(value)[:40])
def test_bad_data(refuse, folder, argv, message):
    files = {
        "short.csv": b"sepal length (cm),petal length (cm),petal width (cm)\n1,2,3\n",
        "holes.csv": b",".join(name.encode() for name in FEATURES)
        + b",species\n1,2,3,4,a\n1,2,3,4,b\n1,2,3,4,\n",
        "empty.csv": b"\n\n",
        "header.csv": b"x,y\n",
        "names.csv": b",".join(name.encode() for name in FEATURES),
        "blank.csv": b"x,,y\n1,2,a\n",
        "twice.csv": b"x,x,y\n1,2,a\n",
        "only.csv": b"y\na\n",
        "words.csv": b"x,colour,day,y\n1,red,2020-01-01,a\n",
        "ragged.csv": b"x,y\n1,a\n1,a,5\n",
        "latin.csv": "x,y\n1,é\n".encode("latin-1"),
        "infinite.csv": b"x,y\n1,a\ninf,b\n",
        "marks.csv": b"x,y\n1,?\n2,?\n",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert message in refuse(*argv)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


BAD_USAGE = [
    ([*FIT, "--target", "species", "--learner", "agglo2", "--chunk-size", "9"], "all samples at"),
    ([*FIT, "--target", "species", "--learner", "agglo-sm", "--resume"], "all samples at once"),
    ([*FIT, "--target", "species", "--gamma", "1,2"], "--gamma has 2 numbers, but there are 4"),
    (["fit", "train.csv", "-o", "train.csv", "--target", "species"], "train.csv is read from"),
    (["fit", "train.csv", "-o", "-", "--target", "species"], "name a file"),
    (["fit", "-", "-o", "new", "--target", "species", "--resume"], "checkpoints need a file"),
    (["fit", "/dev/null", "-o", "new", "--target", "species", "--resume"], "need a file"),
    (["predict", "model.hyperboxes", "test.csv", "-o", "test.csv"], "test.csv is read from"),
    (["predict", "model.hyperboxes", "test.csv", "-o", "model.hyperboxes"], "is read from"),
    (["predict", "model.hyperboxes", "test.csv", "--json", "-o", "a.parquet"], "Parquet"),
    (["rules", "model.hyperboxes", "--target", "species"], "--data, which is not given"),
    (["rules", "model.hyperboxes", "--format", "sql", "--max-rules", "3"], "takes all rules"),
    (["rules", "model.hyperboxes", "--table", "t"], "--table needs --format sql"),
]


@pytest.mark.parametrize(("argv", "message"), BAD_USAGE, ids=lambda value: str(value)[:40])
def test_options_that_do_not_go_together(refuse, argv, message):
    assert message in refuse(*argv, code=2)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["fit", "train.csv"], "required: --target, -o"),
        ([*FIT, "--target", "species", "--theta", "0"], "invalid positive number value: '0'"),
        ([*FIT, "--target", "species", "--theta", "nan"], "invalid positive number value: 'nan'"),
        ([*FIT, "--target", "species", "--gamma", "1,x"], "invalid positive number or list"),
        ([*FIT, "--target", "species", "--chunk-size", "0"], "not a positive integer: '0'"),
        ([*FIT, "--target", "species", "--chunk-size", "x"], "not a positive integer: 'x'"),
        ([*FIT, "--target", "species", "--drop", "a,,b"], "no names of columns: 'a,,b'"),
        ([*FIT, "--target", "species", "--drop", "a,a"], "a name occurs twice"),
        ([*FIT, "--target", "species", "--drop", "a", "--features", "b"], "not allowed with"),
        ([*FIT, "--target", "species", "--checkpoint-every", "soon"], "is not a number of rows"),
        ([*FIT, "--target", "species", "--sep", "::"], "not a single character"),
        (["explain", "model.hyperboxes", "test.csv", "--row", "0"], "not a positive integer: '0'"),
    ],
    ids=str,
)
def test_usage_errors(run, argv, message):
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert message in err


def test_debug_shows_where(folder):
    with pytest.raises(ValueError, match="no column 'colour'"):
        main([*FIT, "--target", "colour", "--debug"])


def test_unexpected_errors_are_named(refuse, monkeypatch):
    def fail(*_):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("hyperboxes._cli.fit.run", fail)
    assert "RuntimeError: two lines (--debug shows where)" in refuse(*FIT, "--target", "species")


def test_packages_of_the_extra_are_named(refuse, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refuse(*FIT, "--target", "species")
    assert "The command line needs pyarrow: pip install 'hyperboxes[cli]'" in message


def test_targets_that_are_no_class(refuse, run, monkeypatch):
    pd.DataFrame({"x": range(20), "price": np.arange(20) / 7}).to_csv("prices.csv", index=False)
    argv = ["fit", "prices.csv", "--target", "price", "-o", "new"]
    code, _, err = run(*argv)
    assert code == 0
    assert "most values of price occur once. Is it a class?" in err
    monkeypatch.setattr("hyperboxes._cli._survey._MOST_CLASSES", 10)
    assert "price has more than 10 different values, so it is no class" in refuse(*argv)


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
