"""The examples run to their end and leave their pictures."""

import sys

from examples import choosing, demo, plots


def test_demo(monkeypatch, tmp_path, capsys):
    picture = tmp_path / "demo.png"
    monkeypatch.setattr(sys, "argv", ["demo.py", "--output", str(picture)])
    demo.main()
    printed = capsys.readouterr().out
    for passage in ("cross-validation", "worst radius", "from a stream", str(picture)):
        assert passage in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_choosing(monkeypatch, tmp_path):
    picture = tmp_path / "choosing.png"
    monkeypatch.setattr(sys, "argv", ["choosing.py", "--output", str(picture)])
    choosing.main()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_plots(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["plots.py", "--output", str(tmp_path)])
    plots.main()
    drawn = sorted(picture.stem for picture in tmp_path.iterdir())
    assert drawn == ["plots-boxes", "plots-growth", "plots-parallel", "plots-sizes"]
    for picture in tmp_path.iterdir():
        assert picture.read_bytes().startswith(b"\x89PNG")
