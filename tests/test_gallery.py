"""Every example of the gallery runs, draws legible figures, warns of nothing, leaves no files."""

import ast
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tests.drawn import assert_legible

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))


def test_gallery_has_examples_and_a_header():
    assert SCRIPTS
    assert (GALLERY / "GALLERY_HEADER.rst").read_text().startswith("Examples\n========\n")


@pytest.fixture
def shown(monkeypatch):
    """Return the figures that `plt.show` was called with; a window would wait for somebody."""
    figures = []

    def show():
        figures.extend(plt.figure(number) for number in plt.get_fignums())

    plt.close("all")
    monkeypatch.setattr(plt, "show", show)
    yield figures
    plt.close("all")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_runs(script, shown, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with plt.rc_context({"backend": "agg"}):
        runpy.run_path(str(script), run_name="__main__")  # warnings are errors
        assert shown
        for figure in shown:
            assert_legible(figure)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_is_short_and_has_what_sphinx_gallery_needs(script):
    text = script.read_text()
    assert script.stem.startswith("plot_")  # others are not run
    assert len(text.splitlines()) < 80
    title, underline = ast.get_docstring(ast.parse(text)).splitlines()[:2]
    assert underline == "=" * len(title)
    assert "\n# %%\n" in text
