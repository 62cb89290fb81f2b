"""Links to files outside of docs/ lead to the pages that are made of these files.

So the same link works in the repository and on the site.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

PAGES = {
    **{
        f"../benchmarks/results/{name}.md": "results.md"
        for name in ("counts", "times", "folds", "accuracy")
    },
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
}


def redirect(_app: Sphinx, _docname: str, source: list[str]) -> None:
    """Change the links of a page before it is read."""
    for file, page in PAGES.items():
        source[0] = source[0].replace(f"]({file}", f"]({page}")
    source[0] = re.sub(r"\]\(\.\./examples/(gallery/\w+)\.py", r"](\1.rst", source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the change."""
    app.connect("source-read", redirect)
    return {"parallel_read_safe": True}
