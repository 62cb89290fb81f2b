"""The reference on the site has every public name and command, and pages link to what there is.

`make docs` checks the links on the site; here it is those that are followed in the repository.
"""

import re
from pathlib import Path

import pytest

import hyperboxes
from hyperboxes import literature
from hyperboxes._cli import COMMANDS
from hyperboxes._estimators.registry import all_learners, commands

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*ROOT.glob("*.md"), *DOCS.glob("*.md")]


def test_the_reference_lists_all_public_names():
    module, names = None, {}
    for line in (DOCS / "api.md").read_text().splitlines():
        if re.match(r"\.\. (current)?module:: ", line):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            names.setdefault(module, []).append(line.strip())
    assert sorted(names["hyperboxes"]) == sorted(hyperboxes.__all__)
    assert sorted(names["hyperboxes.literature"]) == sorted(literature.__all__)


def test_the_reference_lists_all_commands():
    text = (DOCS / "command-reference.md").read_text()
    shown = re.findall(r"^## (\w+)\n\n```\{command-help\} (\w+)$", text, re.MULTILINE)
    assert shown == [(command, command) for command in COMMANDS]


def test_pages_name_all_learners():
    pages = [ROOT / "README.md", DOCS / "family.md", DOCS / "command-line.md"]
    readme, family, page = [path.read_text() for path in pages]
    for entry in all_learners():
        assert re.search(rf"`{entry.class_name}\b", readme + family), entry.class_name
    assert [name for name in commands() if f"`{name}`" not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    text = re.sub(r"`[^`]*`", "", page.read_text())
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


def test_pages_have_links():
    assert "](docs/choosing.md)" in (ROOT / "README.md").read_text()
    assert len(PAGES) > 25


def test_two_pages_tell_how_to_install():
    pages = {page.name for page in DOCS.glob("*.md") if "pip install" in page.read_text()}
    assert pages == {"index.md", "quickstart.md"}


def test_the_readme_is_short():
    text = (ROOT / "README.md").read_text()
    words = re.sub(r"```.*?```|\]\([^)]*\)", "", text, flags=re.DOTALL).split()
    assert len(text.splitlines()) <= 120
    assert len(words) <= 700


def test_pages_lead_to_all_examples():
    text = "".join(page.read_text() for page in DOCS.glob("*.md"))
    examples = (ROOT / "examples" / "gallery").glob("*.py")
    assert [e.name for e in examples if f"](../examples/gallery/{e.name})" not in text] == []


def test_pages_that_need_a_network(monkeypatch):
    """`make docs` looks at all pages of the site; here it is shown that it would see one."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    from offline_site import fetched_from_elsewhere

    away = "https://example.org/"
    fetched = f"<script src='{away}a.js'></script><img src='//b.png'><link rel=icon href='{away}c'>"
    followed = f"<a href='{away}'>x</a><link rel=canonical href='{away}'><script>'{away}'</script>"
    own = "<script src='_static/a.js'></script><img src='b.png'><img src='data:,x'>"
    assert fetched_from_elsewhere(followed + own) == []
    assert fetched_from_elsewhere(own + fetched) == [f"{away}a.js", "//b.png", f"{away}c"]
