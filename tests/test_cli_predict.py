"""`hyperboxes predict`: classes, probabilities, and the formats of its output."""

import csv
import gzip
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from hyperboxes import HyperboxClustering, ImprovedOnlineGFMM, load, save
from tests.boosted import set_fitted
from tests.iris_tables import FEATURES, TEST, TRAIN


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


def test_predict_with_boosted_boxes(get, boosted):
    out = get("predict", "boosted", "test.csv", "--proba", "--chunk-size", 8, "--jobs", 2)
    header, *rows = csv.reader(out.splitlines())
    assert header == ["prediction", *(f"proba_{name}" for name in boosted.classes_)]
    assert [row[0] for row in rows] == boosted.predict(TEST[FEATURES]).tolist()
    numbers = np.array([row[1:] for row in rows], float)
    np.testing.assert_array_equal(numbers, boosted.predict_proba(TEST[FEATURES]))


def test_classes_are_those_of_predict_where_probabilities_tie(get, boosted):
    scores = np.array([0.1, np.nextafter(0.1, 1.0), -50.0])
    weights = 1e-300 * boosted.hyperboxes_.weights
    set_fitted(boosted, intercept=scores, missing_scores=scores, weights=weights)
    save(boosted, "boosted")
    nothing = pd.DataFrame(np.full((1, 4), np.nan), columns=FEATURES)
    nothing.to_csv("nothing.csv", index=False, na_rep="NA")
    proba = boosted.predict_proba(nothing)[0]
    assert proba[0] == proba[1]
    out = get("predict", "boosted", "nothing.csv", "--proba").splitlines()
    assert out[1].split(",")[0] == boosted.predict(nothing)[0] == boosted.classes_[1]


def test_boosted_boxes_have_no_memberships(boosted, refuse):
    message = refuse("predict", "boosted", "test.csv", "--membership")
    assert "boosted is a BoostedHyperboxes, which has no memberships; " in message
    assert message.endswith("--proba gives probabilities")


def test_models_without_names_of_features(get, refuse):
    model = ImprovedOnlineGFMM(shuffle=False).fit(
        TRAIN[FEATURES].to_numpy(), TRAIN["species"].to_numpy(str)
    )
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


def test_a_closed_pipe_is_no_error(folder):
    pd.concat([pd.read_csv("test.csv")] * 200).to_csv("long.csv", index=False)  # fills a pipe
    argv = ["predict", "model.hyperboxes", "long.csv", "--keep", "--chunk-size", "1000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperboxes", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().endswith(",species,prediction\n")
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert "Traceback" not in err
    assert "Error" not in err
