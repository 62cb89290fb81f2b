"""Blocks of code end with their last line, not with the empty one that doctest wants after it."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def trim(_app: Sphinx, doctree: nodes.document) -> None:
    """Drop empty lines at the end of blocks."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        if block.rawsource == block.astext():  # else it holds more than text
            block.rawsource = text
            block[:] = [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the change."""
    app.connect("doctree-read", trim)
    return {"parallel_read_safe": True}
