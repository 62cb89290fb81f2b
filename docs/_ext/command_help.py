"""The directive `command-help`: what `hyperboxes COMMAND --help` prints, as a literal block."""

from __future__ import annotations

import os
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hyperboxes._cli import _make_parsers


class CommandHelp(SphinxDirective):
    """The help of the command that is the argument."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the literal block."""
        os.environ["COLUMNS"] = "80"
        text = _make_parsers()["".join(self.arguments)].format_help().rstrip()
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
