"""Every example of the gallery has the form that sphinx-gallery needs; `make docs` runs them."""

import ast
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))


def test_gallery_has_examples_and_a_header():
    assert SCRIPTS
    assert (GALLERY / "GALLERY_HEADER.rst").read_text().startswith("Examples\n========\n")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_is_short_and_has_what_sphinx_gallery_needs(script):
    text = script.read_text()
    assert script.stem.startswith("plot_")  # others are not run
    assert len(text.splitlines()) < 85
    title, underline = ast.get_docstring(ast.parse(text)).splitlines()[:2]
    assert underline == "=" * len(title)
    assert "\n# %%\n" in text
    assert "\nplt.show()\n" in text
