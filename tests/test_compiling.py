"""Somebody who waits while kernels are compiled is told once, others never."""

import io
import json
import os
import re
import subprocess
import sys
import types
from contextlib import ExitStack

import pytest
from numba.core.event import trigger_event

from hyperboxes import ImprovedOnlineGFMM
from hyperboxes._compiling import QUIET, Compiling, compiling

NOTICE = "hyperboxes: compiling, once on this machine, up to a minute ..."

# A module that is put into the package, with a kernel that is compiled quickly.
TOY = """
from hyperboxes._kernels.jit import kernel

@kernel
def double(x):
    return 2 * x
"""
SCRIPT = """
import sys, hyperboxes
from hyperboxes import merge
hyperboxes.__path__.append(sys.argv[1])
from hyperboxes.toy import double
print(double(1), double(1.5))
"""


def dispatcher(function=ImprovedOnlineGFMM.fit, cache_path="somewhere"):
    """Return what Numba says that it compiles."""
    stats = types.SimpleNamespace(cache_path=cache_path)
    return types.SimpleNamespace(py_func=function, stats=stats)


def compile_event():
    """Have Numba say that it compiles a kernel."""
    return trigger_event("numba:compile", data={"dispatcher": dispatcher()})


def make_terminal(monkeypatch):
    """Make standard error a terminal; not in a fixture, for pytest sets it anew after these."""
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.delenv(QUIET, raising=False)
    return stream


def run_at_terminal(folder):
    """Run the script with a terminal for standard error, and return what is shown there."""
    pty = pytest.importorskip("pty")
    here, there = pty.openpty()
    os.set_blocking(here, False)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    environment.pop(QUIET, None)
    command = [sys.executable, "-c", SCRIPT, folder]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=there, env=environment)
        shown = os.read(here, 10_000)
    except BlockingIOError:
        shown = b""
    finally:
        os.close(here)
        os.close(there)
    assert done.stdout.split() == [b"2", b"3.0"], shown
    return shown.decode()


def test_a_terminal_is_told_once_and_only_if_the_cache_is_empty(tmp_path):
    (tmp_path / "toy.py").write_text(TOY, encoding="utf-8")
    assert run_at_terminal(tmp_path) == f"{NOTICE}\r\n"
    assert run_at_terminal(tmp_path) == ""


def test_a_full_disk_stops_nothing(tmp_path):
    """Here no file may have a byte: opening files for the cache succeeds, writing fails."""
    pytest.importorskip("resource")
    (tmp_path / "toy.py").write_text(TOY, encoding="utf-8")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    done = subprocess.run(
        [sys.executable, "-c", limit + SCRIPT, tmp_path],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["2", "3.0"], done.stderr
    assert "Compiled code cannot be saved" in done.stderr


def test_the_notice_can_be_silenced(monkeypatch):
    terminal = make_terminal(monkeypatch)
    monkeypatch.setenv(QUIET, "1")
    Compiling().start(dispatcher())
    monkeypatch.delenv(QUIET)
    found = Compiling()
    with found.quiet():
        found.start(dispatcher())
        found.end()
    assert terminal.getvalue() == ""
    found.start(dispatcher())
    assert terminal.getvalue() == f"{NOTICE}\n"


def test_pipes_are_not_told(capsys):
    found = Compiling()
    found.start(dispatcher())
    assert not found.is_announced
    assert capsys.readouterr().err == ""


def test_time_is_counted_once_for_nested_functions(monkeypatch):
    terminal = make_terminal(monkeypatch)
    found = Compiling()
    found.start(dispatcher())
    found.start(dispatcher(json.dumps))
    found.end()
    assert found.seconds == 0.0
    found.end()
    assert found.seconds > 0.0
    assert terminal.getvalue() == f"{NOTICE}\n"


def test_functions_of_users_are_not_our_business(monkeypatch):
    terminal = make_terminal(monkeypatch)
    found = Compiling()
    found.start(dispatcher(json.dumps))
    found.end()
    with trigger_event("numba:compile"):  # says nothing of what it is
        pass
    assert (found.seconds, terminal.getvalue()) == (0.0, "")


def test_without_a_cache_it_is_in_each_process(monkeypatch):
    terminal = make_terminal(monkeypatch)
    Compiling().start(dispatcher(cache_path=None))
    assert terminal.getvalue().startswith("hyperboxes: compiling, in each process (set NUMBA_CAC")


def test_without_a_cache_logs_are_told(capsys):
    Compiling().start(dispatcher(cache_path=None))
    assert capsys.readouterr().err.startswith("hyperboxes: compiling, in each process")


def test_a_notebook_is_told(capsys, monkeypatch):
    shell = types.SimpleNamespace(kernel=None)
    for shells, notice in (([shell], f"{NOTICE}\n"), ([None], ""), ([object()], "")):
        module = types.SimpleNamespace(get_ipython=shells.pop)
        monkeypatch.setitem(sys.modules, "IPython", module)
        Compiling().start(dispatcher())
        assert capsys.readouterr().err == notice


def test_workers_leave_it_to_their_parent(monkeypatch):
    terminal = make_terminal(monkeypatch)
    monkeypatch.setattr("multiprocessing.parent_process", object)
    Compiling().start(dispatcher())
    assert terminal.getvalue() == ""


def test_a_closed_terminal_stops_nothing(monkeypatch):
    terminal = make_terminal(monkeypatch)
    found = Compiling()
    terminal.write = lambda text: (_ for _ in ()).throw(OSError("gone"))
    found.start(dispatcher())
    assert found.is_announced


def test_no_standard_error_at_all(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    found = Compiling()
    found.start(dispatcher())
    assert not found.is_announced


def test_the_command_line_tells_it_apart(run, monkeypatch):
    learn = ImprovedOnlineGFMM.fit

    def compile_and_learn(self, *args, **kwargs):
        with ExitStack() as stack:
            for _ in range(2):
                stack.enter_context(compile_event())
            return learn(self, *args, **kwargs)

    monkeypatch.setattr(ImprovedOnlineGFMM, "fit", compile_and_learn)
    monkeypatch.setattr(compiling, "is_announced", False)
    argv = ["fit", "train.csv", "--target", "species", "-o", "new"]
    _, out, err = run(*argv, "--json")
    summary = json.loads(out)
    assert summary["seconds"] > 0
    assert summary["seconds_compiling"] > 0
    assert re.search(r" \(\d\.\d s and once \d\.\d s to compile, \d+ kB\)\n", err)
    assert NOTICE not in err

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run(*argv, "--quiet")[2] == ""
    assert run(*argv)[2].count(NOTICE) == 1  # though a bar stands in for standard error
    assert NOTICE not in run(*argv)[2]
