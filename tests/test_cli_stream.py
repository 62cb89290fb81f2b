"""`hyperboxes stream`: predicting and learning row by row, live, and going on after a break."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from hyperboxes import AdaptiveGFMM, load
from hyperboxes._cli import main
from hyperboxes._cli._prequential import Tally
from hyperboxes._compiling import compiling

N_ROWS = 1200
OPTIONS = ["--target", "y", "--max-boxes", "60"]


@pytest.fixture(scope="module")
def frame():
    """Return a stream whose classes change places halfway, with gaps in features and labels."""
    rng = np.random.default_rng(0)
    X = rng.random((N_ROWS, 2)).round(5)
    y = np.where((X[:, 0] > X[:, 1]) ^ (np.arange(N_ROWS) >= N_ROWS // 2), "up", "down")
    frame = pd.DataFrame(X, columns=["b", "a"]).mask(rng.random(X.shape) < 0.02)
    return frame.assign(y=np.where(rng.random(N_ROWS) < 0.03, "", y))


@pytest.fixture(autouse=True)
def _stream_in(folder, frame):
    """Work in a folder with the stream."""
    frame.to_csv("stream.csv", index=False)


def expected(frame):
    """Return what the model that learns row by row says of each row."""
    model, predicted = AdaptiveGFMM(max_boxes=60), []
    for *x, y in frame[["b", "a", "y"]].itertuples(index=False):
        predicted.append(model.predict_one(x) or "")
        if y:
            model.learn_one(x, y)
    return model, predicted


def written(path="predictions.csv"):
    """Return labels and predictions in a file."""
    header, *rows = csv.reader(Path(path).read_text().splitlines())
    assert header == ["y", "prediction"]
    return [row[0] for row in rows], [row[1] for row in rows]


def test_it_predicts_before_it_learns(get, frame):
    model, predicted = expected(frame)
    files = ["-o", "model", "--predictions", "predictions.csv"]
    scores = json.loads(get("stream", "stream.csv", *OPTIONS, *files, "--json"))
    assert written() == (frame["y"].tolist(), predicted)
    known = frame["y"].to_numpy() != ""
    hits = frame["y"].to_numpy()[known] == np.array(predicted)[known]
    assert scores["n_rows"] == N_ROWS
    assert scores["n_labels"] == known.sum()
    assert scores["accuracy"] == pytest.approx(hits.mean(), abs=1e-6)
    kappa = cohen_kappa_score(frame["y"][known], np.array(predicted)[known])
    assert scores["kappa"] == pytest.approx(kappa, abs=1e-6)
    labels = frame["y"].to_numpy()[known]
    repeats = (labels[1:] == labels[:-1]).sum() / len(labels)
    assert scores["repeat_last_label_accuracy"] == pytest.approx(repeats, abs=1e-6)
    assert scores["n_boxes"] == 60
    saved = load("model")
    assert saved.feature_names_in_.tolist() == ["b", "a"]
    np.testing.assert_array_equal(saved.hyperboxes_.lower, model.hyperboxes_.lower)


def test_scores_are_printed_for_people(get, run):
    text = get("stream", "stream.csv", *OPTIONS)
    assert text.startswith("rows                  1,200\nof these with a label ")
    assert "\nrepeat the last label 0." in text
    code, out, err = run("stream", "stream.csv", *OPTIONS, "--predictions", "-")
    assert code == 0
    assert out.startswith("y,prediction\n")
    assert "\naccuracy " in err


def test_parquet_gives_the_same(get, frame):
    frame.to_parquet("stream.parquet")
    one = json.loads(get("stream", "stream.csv", *OPTIONS, "--json"))
    two = json.loads(get("stream", "stream.parquet", *OPTIONS, "--json"))
    for scores in (one, two):
        del scores["rows_per_second"], scores["seconds_compiling"]
    assert one == two


def test_rows_are_predicted_as_they_arrive():
    """A row is answered before the next one is sent."""
    command = [sys.executable, "-m", "hyperboxes", "stream", "-", "--target", "y"]
    with subprocess.Popen(
        [*command, "--predictions", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
        env=os.environ | {"HYPERBOXES_QUIET": "1"},
    ) as process:
        process.stdin.write("x,y\n1.0,a\n")
        assert process.stdout.readline() == "y,prediction\n"
        assert process.stdout.readline() == "a,\n"
        process.stdin.write("1.1,\n")
        assert process.stdout.readline() == ",a\n"
        process.stdin.write('9.0,"b\nc"\n')
        assert next(csv.reader(io.StringIO(process.stdout.readline()))) == ["b\n"]
        process.stdin.close()
        process.stdout.read()
    assert process.returncode == 0


@pytest.mark.parametrize("n_rows", [1, 300, 777])
def test_a_run_that_was_interrupted_goes_on(run, frame, n_rows):
    whole = ["stream", "stream.csv", *OPTIONS, "--predictions"]
    assert run(*whole, "whole.csv", "-o", "whole")[0] == 0
    learn_one, count = AdaptiveGFMM.learn_one, 0

    def interrupted(self, x, y):
        nonlocal count
        count += 1
        if count > n_rows:
            raise KeyboardInterrupt
        learn_one(self, x, y)

    with patch.object(AdaptiveGFMM, "learn_one", interrupted):
        code, _, err = run(*whole, "parts.csv", "-o", "parts")
    assert code == 130
    assert f"What was learned of {n_rows:,} rows is kept in parts.checkpoint" in err
    assert "has not ended: add --resume" in run(*whole, "parts.csv", "-o", "parts")[2]
    code, out, _ = run(*whole, "parts.csv", "-o", "parts", "--resume", "--json")
    assert code == 0
    assert json.loads(out)["n_rows"] == N_ROWS
    assert Path("parts").read_bytes() == Path("whole").read_bytes()
    assert written("parts.csv") == written("whole.csv")


@pytest.mark.parametrize("options", [[], ["-o", "model"]])
def test_ctrl_c_before_anything_was_learned(run, options):
    """It may come while a kernel is compiled for the first row."""
    with patch("hyperboxes._estimators.adaptive.learn_row", side_effect=KeyboardInterrupt):
        code, _, err = run("stream", "stream.csv", *OPTIONS, *options)
    assert code == 130
    assert "interrupted" in err
    again = [*options, "--resume"] if options else []
    assert run("stream", "stream.csv", *OPTIONS, *again)[0] == 0


def test_ctrl_c_shows_the_scores_so_far(run):
    learn_one, labels = AdaptiveGFMM.learn_one, []

    def interrupted(self, x, y):
        labels.append(y)
        if len(labels) > 500:
            raise KeyboardInterrupt
        learn_one(self, x, y)

    with patch.object(AdaptiveGFMM, "learn_one", interrupted):
        code, out, _ = run("stream", "stream.csv", *OPTIONS, "--json")
    assert code == 130
    scores = json.loads(out)
    assert scores["n_labels"] == len(labels) == 501
    assert scores["accuracy"] > 0.8


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--resume"], 2, "name it with -o"),
        (["-o", "-"], 2, "cannot be written to standard output"),
        (["--json", "--predictions", "-"], 2, "both write to standard output"),
        (["--predictions", "stream.csv"], 2, "stream.csv is read from"),
        (["--features", "a,z"], 1, "has no column 'z'"),
        (["--drop", "a,b"], 1, "no columns but y and those of --drop"),
    ],
)
def test_options_that_do_not_go(refuse, options, code, message):
    assert message in refuse("stream", "stream.csv", "--target", "y", *options, code=code)


def test_words_are_refused_by_row(refuse):
    Path("words.csv").write_text("x,y\n1,a\nred,b\n")
    assert "row 2 of x is 'red'" in refuse("stream", "words.csv", "--target", "y")


def test_help_names_it(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "predict and learn the rows of a stream" in capsys.readouterr().out


def test_the_time_to_compile_is_told_apart(get, monkeypatch):
    tally = Tally()
    tally.add("up", "up")
    speed = tally.speed
    monkeypatch.setattr(compiling, "seconds", compiling.seconds - 100.0)  # as if it had taken less
    assert tally.seconds_compiling == pytest.approx(-100.0)
    assert tally.speed < speed
    monkeypatch.setattr(Tally, "seconds_compiling", 2.5)
    assert ", after 2.5 s to compile, once\n" in get("stream", "stream.csv", *OPTIONS)
