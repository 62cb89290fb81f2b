"""Runs of the command line that end early: kills, Ctrl-C, closed pipes; and going on afterwards."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest

from hyperboxes import ImprovedOnlineGFMM, OnlineGFMM, load
from hyperboxes._cli import main
from hyperboxes._cli._checkpoint import CheckpointInterval
from tests.learners import same_boxes
from tests.marks import on_posix

N_ROWS = 1000
ARGV = ["fit", "data.csv", "--target", "y", "--theta", "0.05", "--chunk-size", "100"]
LONG = ["fit", "long.csv", *ARGV[2:]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return a folder with data, and the model that an undisturbed run gives."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write_data(folder / "data.csv", N_ROWS)
    with contextlib.chdir(folder):
        assert main([*ARGV, "-o", "whole", "-q"]) == 0
    return folder


@pytest.fixture
def folder(undisturbed, tmp_path, monkeypatch):
    """Work in such a folder."""
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_data(path, n_rows):
    """Write noise with holes, which makes many boxes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((n_rows, 3)).round(6), columns=list("abc"))
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    frame.assign(y=rng.integers(0, 3, n_rows)).to_csv(path, index=False)


def interrupt_after(n_chunks, monkeypatch, error=KeyboardInterrupt):
    """Have the learner fail when it has learned so many chunks."""
    count = 0
    for cls in (ImprovedOnlineGFMM, OnlineGFMM):
        original = cls.partial_fit

        def partial_fit(self, *args, _original=original, **kwargs):
            nonlocal count
            count += 1
            if count > n_chunks:
                raise error
            return _original(self, *args, **kwargs)

        monkeypatch.setattr(cls, "partial_fit", partial_fit)


def run_process(*argv, **options):
    """Start the command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "hyperboxes", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def n_learned(path):
    """Return how many rows a checkpoint has learned, 0 if there is none."""
    return load(path).n_samples_seen_ if path.exists() else 0


def end_once_saved(folder, end, n_rows=20_000):
    """Start a run of many rows, end it once it has a checkpoint, and return exit code and notes."""
    write_data("long.csv", n_rows)
    process = run_process(*LONG, "-o", "model", "--checkpoint-every", "100")
    saved = folder / "model.checkpoint" / "model.hyperboxes"
    while process.poll() is None and not saved.exists():
        time.sleep(0.005)
    end(process)
    out, err = process.communicate()
    assert out == ""
    return process.returncode, err


def test_a_killed_run_goes_on_to_the_same_file(folder, capsys):
    end_once_saved(folder, subprocess.Popen.kill)
    n_rows = n_learned(folder / "model.checkpoint" / "model.hyperboxes")
    assert n_rows > 0
    assert n_rows % 100 == 0
    assert main([*LONG, "-o", "model", "--resume"]) == 0
    assert f"Going on after {n_rows:,} of 20,000 rows" in capsys.readouterr().err
    assert not (folder / "model.checkpoint").exists()
    assert main([*LONG, "-o", "whole"]) == 0
    assert (folder / "model").read_bytes() == (folder / "whole").read_bytes()


@pytest.fixture
def ctrl_c():
    """Hear Ctrl-C, and so do processes that are started: jobs in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_an_object_dies(folder, monkeypatch, capsys):
    class Dying:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    learn = ImprovedOnlineGFMM.partial_fit

    def learn_and_die(self, *args, **kwargs):
        Dying()
        return learn(self, *args, **kwargs)

    monkeypatch.setattr(ImprovedOnlineGFMM, "partial_fit", learn_and_die)
    assert main([*ARGV, "-o", "model"]) == 130
    assert n_learned(folder / "model.checkpoint" / "model.hyperboxes") == 100
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@on_posix
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c(folder):
    interrupt = partial(subprocess.Popen.send_signal, sig=signal.SIGINT)
    code, err = end_once_saved(folder, interrupt, n_rows=50_000)
    assert code == 130
    n_rows = n_learned(folder / "model.checkpoint" / "model.hyperboxes")
    assert f"The first {n_rows:,} rows are kept in model.checkpoint" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("learner", ["improved", "online"])
@pytest.mark.parametrize("n_chunks", [1, 5, 9])
def test_interrupted_runs_go_on_to_the_same_file(folder, monkeypatch, capsys, learner, n_chunks):
    argv = [*ARGV, "--learner", learner]
    assert main([*argv, "-o", "whole"]) == 0
    with monkeypatch.context() as patches:
        interrupt_after(n_chunks, patches)
        capsys.readouterr()
        assert main([*argv, "-o", "model"]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert f"The first {n_chunks * 100:,} rows are kept in model.checkpoint" in err
    assert "--resume" in err
    assert err.endswith("hyperboxes: interrupted\n")
    assert not (folder / "model").exists()
    assert main([*argv, "-o", "model", "--resume"]) == 0
    assert f"Going on after {n_chunks * 100:,} of {N_ROWS:,} rows" in capsys.readouterr().err
    assert (folder / "model").read_bytes() == (folder / "whole").read_bytes()


def test_other_errors_keep_what_was_learned(folder, monkeypatch, capsys):
    with monkeypatch.context() as patches:
        interrupt_after(7, patches, OSError("the disk is gone"))
        assert main([*ARGV, "-o", "model"]) == 1
    assert "the disk is gone" in capsys.readouterr().err
    assert main([*ARGV, "-o", "model", "--resume"]) == 0
    assert (folder / "model").read_bytes() == (folder / "whole").read_bytes()


def test_interrupted_within_a_chunk(folder, monkeypatch):
    """What was learned of the chunk is kept, and the boxes come out the same."""
    original = ImprovedOnlineGFMM.partial_fit

    def learn_some(self, X, y, **kwargs):
        original(self, X[:37], y[:37], **kwargs)
        raise KeyboardInterrupt

    for n_rows in (37, 74, 100):  # chunks still end at multiples of 100
        with monkeypatch.context() as patches:
            patches.setattr(ImprovedOnlineGFMM, "partial_fit", learn_some)
            assert main([*ARGV, "-o", "model", "--resume"]) == 130
        assert n_learned(folder / "model.checkpoint" / "model.hyperboxes") == n_rows
    assert main([*ARGV, "-o", "model", "--resume"]) == 0
    assert same_boxes(load("model"), load("whole"))
    assert load("model").get_params() == load("whole").get_params()


def test_nothing_is_kept_of_a_run_without_checkpoints(folder, monkeypatch, capsys):
    interrupt_after(5, monkeypatch)
    assert main([*ARGV, "-o", "model", "--checkpoint-every", "never"]) == 130
    assert capsys.readouterr().err == "hyperboxes: interrupted\n"
    assert not list(folder.glob("model*"))


def interrupted(folder, monkeypatch, *more):
    """Leave a checkpoint of 500 rows."""
    with monkeypatch.context() as patches:
        interrupt_after(5, patches)
        assert main([*ARGV, "-o", "model", *more]) == 130
    assert n_learned(folder / "model.checkpoint" / "model.hyperboxes") == 500


def test_a_run_with_a_budget_goes_on_to_the_same_file(folder, monkeypatch):
    budget = "--max-boxes", "40"
    interrupted(folder, monkeypatch, *budget)
    assert main([*ARGV, "-o", "model", "--resume", *budget]) == 0
    assert main([*ARGV, "-o", "limited", *budget]) == 0
    assert (folder / "model").read_bytes() == (folder / "limited").read_bytes()
    assert len(load("model").hyperboxes_) == 40


def test_a_checkpoint_is_not_overwritten_unasked(folder, monkeypatch, capsys):
    interrupted(folder, monkeypatch)
    capsys.readouterr()
    assert main([*ARGV, "-o", "model"]) == 1
    assert "add --resume to go on with it, or delete it to start anew" in capsys.readouterr().err
    assert n_learned(folder / "model.checkpoint" / "model.hyperboxes") == 500


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--theta", "0.06"], "made with theta 0.05, not 0.06"),
        (["--learner", "online"], "made with learner 'improved', not 'online'"),
        (["--gamma", "2"], "made with gamma 1.0, not 2.0"),
        (["--membership-function", "min"], "made with membership_function 'mean', not 'min'"),
        (["--max-boxes", "9"], "made with max_boxes None, not 9"),
        (["--drop", "a"], "made with features"),
        (["--unlabeled", "2"], "made with unlabeled None, not '2'"),
    ],
    ids=str,
)
def test_other_options_cannot_go_on(folder, monkeypatch, capsys, more, message):
    interrupted(folder, monkeypatch)
    capsys.readouterr()
    assert main([*ARGV, "-o", "model", "--resume", *more]) == 1
    assert message in capsys.readouterr().err
    assert n_learned(folder / "model.checkpoint" / "model.hyperboxes") == 500


def test_other_data_cannot_go_on(folder, monkeypatch, capsys):
    interrupted(folder, monkeypatch)
    data = folder / "data.csv"
    content = data.read_bytes()
    status = data.stat()
    for changed in (content + b"1,2,3,0\n", content[:-2] + b"9\n", content[:-100]):
        data.write_bytes(changed)
        os.utime(data, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
        assert main([*ARGV, "-o", "model", "--resume"]) == 1
        assert "is not the file that model.checkpoint was made from" in capsys.readouterr().err
    data.unlink()
    (folder / "data.csv").write_bytes(content)  # a copy, with another time
    assert main([*ARGV, "-o", "model", "--resume"]) == 0
    assert (folder / "model").read_bytes() == (folder / "whole").read_bytes()


def test_other_chunks_may_go_on(folder, monkeypatch):
    interrupted(folder, monkeypatch)
    assert main([*ARGV, "-o", "model", "--resume", "--chunk-size", "70"]) == 0
    assert same_boxes(load("model"), load("whole"))


def test_resume_starts_anew_where_there_is_nothing(folder):
    (folder / "model.checkpoint").mkdir()  # a kill may leave as little
    assert main([*ARGV, "-o", "model", "--resume"]) == 0
    assert (folder / "model").read_bytes() == (folder / "whole").read_bytes()
    assert not (folder / "model.checkpoint").exists()


def test_resume_after_a_kill_before_the_first_model(folder, monkeypatch):
    interrupted(folder, monkeypatch)
    (folder / "model.checkpoint" / "model.hyperboxes").unlink()
    assert main([*ARGV, "-o", "model", "--resume"]) == 0
    assert (folder / "model").read_bytes() == (folder / "whole").read_bytes()


def test_resume_after_a_kill_before_the_checkpoint_was_removed(folder, monkeypatch):
    with monkeypatch.context() as patches:
        patches.setattr("hyperboxes._cli._checkpoint.Checkpoint.remove", lambda self: None)
        assert main([*ARGV, "-o", "model", "--checkpoint-every", "100"]) == 0
    assert main([*ARGV, "-o", "model", "--resume"]) == 0
    assert (folder / "model").read_bytes() == (folder / "whole").read_bytes()
    assert not (folder / "model.checkpoint").exists()


def test_a_damaged_checkpoint_is_named(folder, monkeypatch, capsys):
    interrupted(folder, monkeypatch)
    capsys.readouterr()
    (folder / "model.checkpoint" / "model.hyperboxes").write_bytes(b"PK")
    assert main([*ARGV, "-o", "model", "--resume"]) == 1
    assert "Cannot load" in capsys.readouterr().err
    (folder / "model.checkpoint" / "run.json").write_text("{")
    assert main([*ARGV, "-o", "model", "--resume"]) == 1
    assert "model.checkpoint is damaged: delete it to start anew" in capsys.readouterr().err


def test_checkpoints_hold_missing_ranges(folder, monkeypatch):
    """A feature without any value has no range, of which JSON knows nothing."""
    pd.read_csv("data.csv").assign(a=np.nan).to_csv("data.csv", index=False)
    assert main([*ARGV, "-o", "whole"]) == 0
    interrupted(folder, monkeypatch)
    run = json.loads((folder / "model.checkpoint" / "run.json").read_text())
    assert run["survey"]["ranges"][0][0] is None
    assert main([*ARGV, "-o", "model", "--resume"]) == 0
    assert (folder / "model").read_bytes() == (folder / "whole").read_bytes()


def test_how_often():
    assert CheckpointInterval.parse("never") is None
    assert (
        CheckpointInterval.parse("500000")
        == CheckpointInterval.parse("500_000")
        == CheckpointInterval(rows=500_000)
    )
    assert CheckpointInterval.parse("30s") == CheckpointInterval(seconds=30)
    assert CheckpointInterval.parse("5m") == CheckpointInterval(seconds=300)
    assert CheckpointInterval.parse("1h") == CheckpointInterval(seconds=3600)


def test_a_closed_pipe_is_no_error(folder):
    write_data(folder / "long.csv", 10_000)  # more than a pipe takes before it is read
    process = run_process("predict", "whole", "long.csv", "--keep", "--chunk-size", "1000")
    assert process.stdout.readline() == "a,b,c,y,prediction\n"
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert "Traceback" not in err
    assert "Error" not in err
