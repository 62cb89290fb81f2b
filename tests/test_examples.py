"""The examples run to their end and leave their pictures."""

import sys

import pytest

from examples import choosing, clustering, plots


@pytest.mark.parametrize("example", [choosing, clustering])
def test_examples_of_one_picture(example, monkeypatch, tmp_path):
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", ["example.py", "--output", str(picture)])
    example.main()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_plots(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["plots.py", "--output", str(tmp_path)])
    plots.main()
    drawn = sorted(picture.stem for picture in tmp_path.iterdir())
    assert drawn == ["plots-boxes", "plots-growth", "plots-parallel", "plots-sizes"]
    for picture in tmp_path.iterdir():
        assert picture.read_bytes().startswith(b"\x89PNG")
