"""The reference on the documentation site has every public name and every command."""

import re
from pathlib import Path

import hyperboxes
from hyperboxes._cli import COMMANDS

DOCS = Path(__file__).parent.parent / "docs"


def test_the_reference_lists_all_public_names():
    blocks = re.findall(r":nosignatures:\n\n(.*?)```", (DOCS / "api.md").read_text(), re.DOTALL)
    names = [name for block in blocks for name in block.split()]
    assert sorted(names) == sorted(hyperboxes.__all__)


def test_the_reference_lists_all_commands():
    text = (DOCS / "command-reference.md").read_text()
    shown = re.findall(r"^## (\w+)\n\n```\{command-help\} (\w+)$", text, re.MULTILINE)
    assert shown == [(command, command) for command in COMMANDS]
