"""The files of saved models: every kind of path, and replaced whole or not at all."""

import io
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from hyperboxes import load, save
from tests.learners import ImprovedOnlineGFMM, OnlineGFMM
from tests.marks import on_posix
from tests.model_files import assert_same_model, saved

X, Y = load_iris(return_X_y=True)


@pytest.fixture
def model():
    """Return a fitted model."""
    return ImprovedOnlineGFMM().fit(X, Y)


def test_paths_of_every_kind(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    long = tmp_path / ("x" * 255)
    for path in ("plain", "./ünï cødé", tmp_path / "a.hyperboxes", str(long)):
        save(model, path)
        assert Path(path).read_bytes() == saved(model)
        assert_same_model(load(path), model)


def test_open_files(model, tmp_path):
    path = tmp_path / "model"
    for buffering in (-1, 0):
        with path.open("wb", buffering=buffering) as file:
            file.write(b"before")
            save(model, file)
        with path.open("rb", buffering=buffering) as file:
            assert file.read(6) == b"before"
            assert_same_model(load(file), model)
    with path.open("w") as file, pytest.raises(TypeError, match="mode 'wb'"):
        save(model, file)
    with path.open("r") as file, pytest.raises(TypeError, match="mode 'rb'"):
        load(file)


def test_a_slow_file_gets_all(model):
    class Slow(io.BytesIO):
        def write(self, content):
            return super().write(content[:1000])

    file = Slow()
    save(model, file)
    assert file.getvalue() == saved(model)


@pytest.mark.parametrize("path", [3, None, b"\0", ["model"]])
def test_other_paths_are_refused(model, path):
    with pytest.raises((TypeError, ValueError)):
        save(model, path)
    with pytest.raises((TypeError, ValueError)):
        load(path)


def test_files_that_are_not_there(model, tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "model")
    with pytest.raises(FileNotFoundError):
        save(model, tmp_path / "folder" / "model")
    with pytest.raises(OSError, match="Not a regular file"):
        save(model, tmp_path)


@on_posix
def test_devices_are_not_replaced(model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        save(model, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


@on_posix
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_permissions_are_those_of_other_files(model, tmp_path, umask):
    path = tmp_path / "model"
    before = os.umask(umask)
    try:
        save(model, path)
        assert path.stat().st_mode & 0o777 == 0o666 & ~umask
        path.chmod(0o640)
        save(model, path)
        assert path.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)


@on_posix
def test_read_only_files_are_left_alone(model, tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"precious")
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write to all
    with pytest.raises(PermissionError):
        save(model, path)
    assert path.read_bytes() == b"precious"


@on_posix
def test_links_stay(model, tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "folder" / "model")
    save(model, link)
    save(model, link)
    assert link.is_symlink()
    assert_same_model(load(tmp_path / "folder" / "model"), model)
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["model"]


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_an_error_leaves_the_old_file_and_nothing_else(model, tmp_path, monkeypatch, step, error):
    path = tmp_path / "model"
    save(OnlineGFMM().fit(X, Y), path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(os if step == "fsync" else Path, step, fail)
    with pytest.raises(type(error)):
        save(model, path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@on_posix
def test_file_systems_that_cannot_sync_folders(model, tmp_path, monkeypatch):
    sync = os.fsync

    def sync_files(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError("Invalid argument")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", sync_files)
    save(model, tmp_path / "model")
    assert_same_model(load(tmp_path / "model"), model)


_KILLED_WHILE_WRITING = """
import os, random, signal, sys, time
from pathlib import Path
from hyperboxes._files.archive import replace_file

path = Path(sys.argv[1])
contents = [b"old" * 50_000, b"new" * 200_000]
replace_file(path, contents[0])
for _ in range(40):
    pid = os.fork()
    if pid == 0:
        while True:
            for content in contents:
                replace_file(path, content)
    time.sleep(random.uniform(0.0, 0.03))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert path.read_bytes() in contents
"""


@on_posix
def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path):
    command = [sys.executable, "-c", _KILLED_WHILE_WRITING, tmp_path / "file"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
