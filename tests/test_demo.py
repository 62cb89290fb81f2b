"""`make demo` runs to its end and leaves a picture."""

import sys

from examples import demo


def test_demo(monkeypatch, tmp_path, capsys):
    picture = tmp_path / "demo.png"
    monkeypatch.setattr(sys, "argv", ["demo.py", "--output", str(picture)])
    demo.main()
    printed = capsys.readouterr().out
    for passage in ("cross-validation", "worst radius", "from a stream", str(picture)):
        assert passage in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
