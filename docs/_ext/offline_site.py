"""The site shows whole pages without a network: a page that would fetch anything ends the build."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # those who test need not have Sphinx
    from sphinx.application import Sphinx

# What a browser fetches to show a page; links, which people follow, may lead anywhere.
_FETCHED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "script": "src",
    "source": "src",
    "video": "src",
}
_NOT_FETCHED = {"author", "canonical", "index", "license", "next", "prev", "search"}


class _Fetched(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        address = values.get(_FETCHED.get(tag, "")) or ""
        is_remote = address.startswith(("http:", "https:", "//"))
        if is_remote and values.get("rel") not in _NOT_FETCHED:
            self.addresses.append(address)


def fetched_from_elsewhere(page: str) -> list[str]:
    """Return the addresses at other hosts that a page loads scripts, styles and pictures from."""
    parser = _Fetched()
    parser.feed(page)
    return parser.addresses


def _problems(folder: Path) -> Iterator[str]:
    for page in sorted(folder.rglob("*.html")):
        for address in fetched_from_elsewhere(page.read_text(encoding="utf-8")):
            yield f"{page.relative_to(folder)} fetches {address}"


def check_pages(app: Sphinx, error: Exception | None) -> None:
    """Look at all pages once they are built."""
    if error is None and (problems := list(_problems(Path(app.outdir)))):
        raise ValueError("The site needs a network: " + "; ".join(problems))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the check."""
    app.connect("build-finished", check_pages)
    return {"parallel_read_safe": True}
