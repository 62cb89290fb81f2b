"""The directive `command-help`: what `hyperboxes COMMAND --help` prints, as a literal block."""

from __future__ import annotations

import argparse
import os
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hyperboxes._cli import _make_parser


def find_parser(command: str) -> argparse.ArgumentParser:
    """Return the parser of a command, or of `hyperboxes` itself."""
    parser = _make_parser()
    if not command:
        return parser
    actions = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return actions[0].choices[command]


class CommandHelp(SphinxDirective):
    """The help of the command that is the argument."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the literal block."""
        os.environ["COLUMNS"] = "80"
        text = find_parser(" ".join(self.arguments)).format_help().rstrip()
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
