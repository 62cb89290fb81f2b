"""The demonstration: published counts, equal boxes, files, and commands that paste and run."""

import re
import shlex
import subprocess
import sys

import pytest

from hyperboxes import load
from hyperboxes._cli import _make_parsers, demo

PUBLISHED = {
    "Onln-GFMM": ("20,880", "0"),
    "IOL-GFMM": ("20,880", "0"),
    "AGGLO-2": ("41,760", "0"),
    "AGGLO-SM": ("18,032", "0"),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Make the slow parts short."""
    monkeypatch.setattr(demo, "N_SPLITS", 2)
    monkeypatch.setattr(demo, "N_ROWS", 400)
    monkeypatch.setattr(demo, "EVERY", 200)


def test_demo(get, folder):
    out = get("demo", "-o", "sub/demo")
    sections = re.split(r"^== .*\n", out, flags=re.MULTILINE)
    counts, searches, *_, scores, stream, _, tries = sections[1:]

    rows = [line.split() for line in counts.splitlines()]
    found = {row[0]: row[1:] for row in rows if row and row[0] in PUBLISHED}
    for name, (original, lemma) in PUBLISHED.items():
        assert found[name] == [original, original, lemma, lemma, "0"]
    equal = re.findall(r"^  (\S+-\S+) .* (\S+)$", searches, re.MULTILINE)
    assert equal == [(name, "yes") for name in PUBLISHED] * 2

    means = dict(re.findall(r"^  (.+?) +(0\.\d{3})$", scores, re.MULTILINE))
    assert float(means["boosted boxes, 20 rules"]) > float(means["decision tree, 20 leaves"])
    accuracies = re.findall(r"^  (AdaptiveGFMM|random forest) +0\.\d{3} +\d+\.\d$", stream, re.M)
    assert accuracies == ["AdaptiveGFMM", "random forest"]
    sizes = dict(re.findall(r"^(partial_fit, 379 samples|fit, all .*?)  +(\d+ .*)", out, re.M))
    assert len(sizes) == 2
    assert len(set(sizes.values())) == 1
    assert "</html>" in (folder / "sub/demo/report.html").read_text(encoding="utf-8")
    assert (folder / "sub/demo/demo.png").read_bytes().startswith(b"\x89PNG")

    run = [shlex.split(line[2:]) for line in out.splitlines() if line.startswith("$ ")]
    python = next(command for command in run if command[-1].endswith("update.py"))
    assert subprocess.run([*python[:-1], "--version"]).returncode == 0
    run.remove(python)
    program = run[0][: run[0].index("fit")]
    names = [command[len(program)] for command in run]
    assert names == ["fit", "evaluate", "rules", "explain", "report", "stream"]
    commands = [shlex.split(line) for line in tries.splitlines() if line.startswith("  ")]
    for command in [*run, *commands[:-1]]:
        assert command[: len(program)] == program
        _make_parsers()[""].parse_args(command[len(program) :])
    done = subprocess.run(commands[-1], capture_output=True, text=True)
    assert done.stdout.startswith("usage: hyperboxes fit")
    for command in commands[:-1]:
        get(*command[len(program) :])
    assert len(load("sub/demo/agglo.hyperboxes").hyperboxes_) > 1


def test_demo_without_matplotlib(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("demo")
    assert code == 0
    assert "No picture is drawn. It needs matplotlib: pip install 'hyperboxes[plot]'" in err
    assert "Now try" in out
