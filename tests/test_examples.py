"""The examples run to their end and leave their pictures."""

import sys

import pytest

from examples import boosted, choosing, clustering, ensembles, introduction, paper, plots


@pytest.mark.parametrize(
    ("example", "pictures"),
    [
        (boosted, ["interval", "stages"]),
        (choosing, [""]),
        (clustering, [""]),
        (ensembles, ["votes"]),
        (introduction, ["boxes", "growth", "membership", "theta"]),
        (paper, ["boxes", "candidates", "network"]),
        (
            plots,
            ["boxes", "contributions", "cut", "growth", "memory", "parallel", "rules", "theta"],
        ),
    ],
)
def test_examples(example, pictures, monkeypatch, tmp_path):
    name = example.__name__.rpartition(".")[2]
    monkeypatch.setattr(sys, "argv", ["example.py", "--output", str(tmp_path)])
    example.main()
    drawn = sorted(picture.stem for picture in tmp_path.iterdir())
    assert drawn == [f"{name}-{picture}".rstrip("-") for picture in pictures]
    for picture in tmp_path.iterdir():
        assert picture.read_bytes().startswith(b"\x89PNG")
