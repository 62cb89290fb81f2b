"""The commands in docs/command-line.md print what the page says."""

import doctest
import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from hyperboxes._cli import demo, main

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"


def sessions():
    """Yield each command on the page and what it prints."""
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for session in re.split(r"^\$ hyperboxes ", block, flags=re.MULTILINE)[1:]:
            command, _, output = session.partition("\n")
            yield command, output


def without_seconds(text):
    """Leave out how long it took."""
    return re.sub(r"\(\d+\.\d s( and once \d+\.\d s to compile)?, ", "(", text)


def test_the_commands_on_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo._split(demo._load(), "train.csv", "test.csv")
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        for command, expected in sessions():
            terminal.seek(0)
            terminal.truncate()
            main(shlex.split(command))
            found = without_seconds(terminal.getvalue())
            checker = doctest.OutputChecker()
            assert checker.check_output(without_seconds(expected), found, doctest.ELLIPSIS), found
    assert len(list(sessions())) > 7
    assert len(Path("predicted.csv").read_text().splitlines()) == 191
