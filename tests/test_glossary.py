"""Identifiers follow the glossary: names that were replaced do not come back."""

import io
import tokenize
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "src/hyperboxes/"
GLOSSARY = tomllib.loads((ROOT / "tools/glossary.toml").read_text(encoding="utf-8"))["name"]
IGNORED = (tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def read_tokens(text):
    """Return the tokens of a source as text, with names marked by their type."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(t.string, t.type == tokenize.NAME) for t in tokens if t.type not in IGNORED]


def sources():
    """Return the files of the project by name, those of the package without its folder."""
    for folder in ("src", "tests", "benchmarks", "tools", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            yield path.relative_to(ROOT).as_posix().removeprefix(PACKAGE), path


@pytest.fixture(scope="module")
def tokens():
    """Return the tokens of each file."""
    return {name: read_tokens(path.read_text(encoding="utf-8")) for name, path in sources()}


@pytest.fixture(scope="module")
def uses(tokens):
    """Return the files and positions of each name."""
    found = defaultdict(list)
    for file, words in tokens.items():
        for position, (word, is_name) in enumerate(words):
            if is_name:
                found[word].append((file, position))
    return found


def covers(entry, name):
    """Return whether an entry is about a file."""
    folders = entry.get("folders")
    return folders is None or any(name == f or name.startswith(f"{f}/") for f in folders)


def is_replaced(entry, tokens, i):
    """Return whether a name, which may have other uses, is used as the entry says."""
    before, after = tokens[i - 1][0] if i else "", tokens[i + 1][0]
    if "after" in entry:
        return before == "." and tokens[i - 2][0] in entry["after"]
    return {
        "name": True,
        "plain": before != ".",
        "attribute": before in (".", "def"),
        "call": before in (".", "def") and after == "(",
        "decorator": before == "@",
    }[entry.get("kind", "name")]


@pytest.mark.parametrize("entry", GLOSSARY, ids=lambda entry: entry["old"])
def test_replaced_names_do_not_come_back(entry, tokens, uses):
    found = [
        name
        for name, i in uses[entry["old"]]
        if covers(entry, name) and is_replaced(entry, tokens[name], i)
    ]
    assert found == [], f"{entry['old']} is called {entry['new']}"
