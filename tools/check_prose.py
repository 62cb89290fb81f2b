"""Check prose against the glossary: `python tools/check_prose.py`.

Strings and comments of the package and the examples, its report templates and scripts, README.md,
CONTRIBUTING.md, CHANGELOG.md and the pages in `docs/` must not contain the phrases that
`tools/glossary.toml` replaces.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

# Parts of f-strings are tokens of their own from Python 3.12 on.
PROSE = (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))


def main() -> int:
    """Print the lines with replaced phrases; return the exit code."""
    phrases = tomllib.loads((ROOT / "tools/glossary.toml").read_text(encoding="utf-8"))["phrase"]
    files = [
        *(file for suffix in ("py", "js", "html") for file in (ROOT / "src").rglob(f"*.{suffix}")),
        *(ROOT / "examples").rglob("*.py"),
        *(ROOT / f"{page}.md" for page in ("README", "CONTRIBUTING", "CHANGELOG")),
        *(ROOT / "docs").glob("*.md"),
    ]
    problems = [
        f"{file.relative_to(ROOT)}:{problem}"
        for file in sorted(files)
        for problem in find_phrases(prose_of(file), phrases)
    ]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def prose_of(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page, or those of a module's strings and comments, with numbers."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in PROSE:
            yield from enumerate(token.string.splitlines(), token.start[0])


def find_phrases(prose: Iterator[tuple[int, str]], phrases: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the number of each line with a phrase, the phrase, and what to write instead."""
    for number, line in prose:
        for phrase in phrases:
            if found := re.search(phrase["pattern"], line, re.IGNORECASE):
                yield f"{number}: {found[0]!r}: write {phrase['use']}"


if __name__ == "__main__":
    sys.exit(main())
