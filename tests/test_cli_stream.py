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

import hyperboxes
from hyperboxes import AdaptiveGFMM, load
from hyperboxes._cli import main
from hyperboxes._cli.stream import PrequentialMetrics
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
    assert saved.target_name_ == "y"
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
        process.stdin.write('1.2,5" pipe\n')  # a quote that opens no cell
        assert next(csv.reader([process.stdout.readline()]))[0] == '5" pipe'
        process.stdin.write('9.0,"b\nc"\n')
        assert next(csv.reader(io.StringIO(process.stdout.readline()))) == ["b\n"]
        process.stdin.close()
        process.stdout.read()
    assert process.returncode == 0


def interrupt_after(n_rows):
    """Have Ctrl-C pressed after so many rows with a label."""
    learn_one, count = AdaptiveGFMM.learn_one, 0

    def interrupted(self, x, y):
        nonlocal count
        count += 1
        if count > n_rows:
            raise KeyboardInterrupt
        learn_one(self, x, y)

    return patch.object(AdaptiveGFMM, "learn_one", interrupted)


WHOLE = ["stream", "stream.csv", *OPTIONS, "--predictions"]
PARTS = [*WHOLE, "parts.csv", "-o", "parts"]


@pytest.mark.parametrize("n_rows", [1, 777])
def test_an_interrupted_run_is_resumed(run, n_rows):
    assert run(*WHOLE, "whole.csv", "-o", "whole")[0] == 0
    with interrupt_after(n_rows):
        code, _, err = run(*PARTS)
    assert code == 130
    assert f"parts: saved after {n_rows:,} rows with a label; --resume continues" in err
    code, out, _ = run(*PARTS, "--resume", "--json")
    assert code == 0
    assert json.loads(out)["n_rows"] == N_ROWS
    assert Path("parts").read_bytes() == Path("whole").read_bytes()
    assert Path("parts.csv").read_bytes() == Path("whole.csv").read_bytes()
    # There is nothing left to learn, and nothing changes.
    assert run(*PARTS, "--resume")[0] == 0
    assert Path("parts").read_bytes() == Path("whole").read_bytes()
    assert Path("parts.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_a_killed_run_is_resumed_from_the_last_save(run, frame):
    """The model is older than the predictions, the last of which is cut off in the middle."""
    assert run(*WHOLE, "whole.csv", "-o", "whole")[0] == 0
    with patch("hyperboxes.save", wraps=hyperboxes.save) as save:
        assert run(*PARTS, "--save-every", 400)[0] == 0
    assert save.call_count == 1200 // 400 + 1
    frame[:800].to_csv("stream.csv", index=False)
    assert run(*PARTS)[0] == 0
    frame.to_csv("stream.csv", index=False)
    Path("parts.csv").write_bytes(Path("whole.csv").read_bytes()[:-20])
    kept = Path("parts.csv").stat().st_size
    with patch("hyperboxes._cli.stream._predict_and_learn", side_effect=KeyboardInterrupt):
        assert run(*PARTS, "--resume")[0] == 130  # early in the run that goes on
    cut = Path("parts.csv").read_bytes()
    assert len(cut) < kept
    assert Path("whole.csv").read_bytes().startswith(cut)
    n_labels = (frame["y"][:800] != "").sum()
    assert sum(label != "" for label in written("parts.csv")[0]) == n_labels
    assert run(*PARTS, "--resume")[0] == 0
    assert Path("parts").read_bytes() == Path("whole").read_bytes()
    assert Path("parts.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_labels_with_line_ends_are_resumed(run):
    rows = [[0.1, "a\nb"], [0.2, 'c,"d'], [0.3, "a\nb"], [0.4, ""]]
    pd.DataFrame(rows, columns=["x", "y"]).to_csv("stream.csv", index=False)
    assert run(*WHOLE, "whole.csv", "-o", "whole")[0] == 0
    with interrupt_after(2):
        assert run(*PARTS)[0] == 130
    assert run(*PARTS, "--resume")[0] == 0
    assert Path("parts.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_what_cannot_be_resumed_changes_nothing(run, refuse, frame):
    with interrupt_after(700):
        assert run(*PARTS)[0] == 130
    before = Path("parts").read_bytes(), Path("parts.csv").read_bytes()
    other = "parts is not a model of this stream"
    assert other in refuse(*PARTS, "--resume", "--theta", 0.1)
    assert other in refuse(*PARTS, "--resume", "--max-boxes", 61)
    assert other in refuse(*PARTS, "--resume", "--drop", "a")
    assert "is not a model of this" in refuse(*PARTS[:-1], "model.hyperboxes", "--resume")
    assert "No such file or directory: none" in refuse(*PARTS[:-1], "none", "--resume")
    lines = before[1].decode().splitlines(keepends=True)
    for content in ("".join(lines[:300]), "".join(lines[1:]), "".join([*lines[:9], "oops\n"])):
        Path("parts.csv").write_text(content)
        assert "does not have the predictions of all" in refuse(*PARTS, "--resume", "-q")
        assert Path("parts.csv").read_text() == content
    Path("parts.csv").write_bytes(before[1])
    assert Path("parts").read_bytes() == before[0]
    frame[:300].to_csv("stream.csv", index=False)
    message = run(*PARTS, "--resume", "-q")[2]
    assert "stream.csv has fewer rows with a label than parts has learned" in message


@pytest.mark.parametrize("options", [[], ["-o", "model"]])
def test_ctrl_c_before_anything_was_learned(run, options):
    """It may come while a kernel is compiled for the first row."""
    with patch("hyperboxes._estimators.adaptive.learn_row", side_effect=KeyboardInterrupt):
        code, _, err = run("stream", "stream.csv", *OPTIONS, *options)
    assert code == 130
    assert err.endswith("hyperboxes: interrupted\n")
    assert not Path("model").exists()


def test_ctrl_c_shows_the_scores_so_far(run):
    with interrupt_after(500):
        code, out, _ = run("stream", "stream.csv", *OPTIONS, "--json")
    assert code == 130
    scores = json.loads(out)
    assert scores["n_labels"] == 501
    assert scores["accuracy"] > 0.8


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--resume"], 2, "--resume needs the file of the model: name it with -o"),
        (["--save-every", "9"], 2, "--save-every needs the file of the model"),
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


def test_the_time_to_compile_is_told_apart(run, monkeypatch):
    metrics = PrequentialMetrics()
    metrics.add("up", "up")
    speed = metrics.scores(1)["rows_per_second"]
    monkeypatch.setattr(compiling, "seconds", compiling.seconds - 100.0)  # as if it had taken less
    scores = metrics.scores(1)
    assert scores["seconds_compiling"] == pytest.approx(-100.0)
    assert scores["rows_per_second"] < speed
    learn_one = AdaptiveGFMM.learn_one

    def learn_slowly(self, x, y):
        compiling.seconds += 0.01
        learn_one(self, x, y)

    with patch.object(AdaptiveGFMM, "learn_one", learn_slowly):
        assert " s to compile, once\n" in run("stream", "stream.csv", *OPTIONS)[1]
