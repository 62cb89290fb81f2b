"""The parts put together: one file, and a policy that lets the browser run nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from hyperboxes import __version__
from hyperboxes._report._contents import Contents
from hyperboxes._report._data import page_data
from hyperboxes._report._summary import describe_distance, describe_model, describe_scores

# In the order in which they build on one another.
_SCRIPTS = ("dom", "format", "model", "rules", "strips", "plane", "samples", "start")


def write_page(contents: Contents, title: str) -> str:
    """Return the page."""
    style = _read("style.css")
    script = "\n".join(['"use strict";', *(_read("js", f"{name}.js") for name in _SCRIPTS)])
    return Template(_read("page.html")).substitute(
        policy=_policy(style, script),
        title=escape(title),
        version=escape(__version__),
        model=describe_model(contents),
        distance=describe_distance(contents),
        scores=describe_scores(contents),
        style=style,
        data=script_json(page_data(contents)),
        script=script,
    )


def script_json(value: Any) -> str:
    """Return JSON that a script element can hold: nothing in it ends the element or opens another.

    Also U+2028 and the like are escaped, and lone surrogates, which UTF-8 does not have.
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, script: str) -> str:
    """Allow this very style and script, and nothing from anywhere."""
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _read(*path: str) -> str:
    return files(__package__).joinpath(*path).read_text(encoding="utf-8").strip()
