"""The parts put together: one file, and a policy that lets the browser run nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from hyperboxes import __version__
from hyperboxes._readers.explanation_html import read_template
from hyperboxes._report.page_data import Report, page_data
from hyperboxes._report.summary import describe

# The scripts for each kind of record, in the order in which they build on one another.
_SCRIPTS = {
    "nearest": (
        *("dom", "format", "model", "bounds", "rules", "strips", "plane", "covers"),
        *("nearest", "samples", "editor", "start"),
    ),
    "neighbors": (
        *("dom", "format", "model", "bounds", "rules", "strips", "memory"),
        *("samples", "editor", "start"),
    ),
    "additive": (
        *("dom", "format", "model", "bars", "votes", "voting", "rules"),
        *("samples", "editor", "start"),
    ),
    "ensemble": (
        *("dom", "format", "model", "bars", "ensembles", "rules"),
        *("samples", "editor", "start"),
    ),
}


def write_page(report: Report, title: str) -> str:
    """Return the page."""
    kind = report.fitted.record.kind
    style = _read("style.css")
    script = "\n".join(['"use strict";', *(_read("js", f"{name}.js") for name in _SCRIPTS[kind])])
    data = page_data(report)
    return read_template("hyperboxes._report", f"{kind}.html").render(
        describe(report),
        title=title,
        version=__version__,
        uncertain=data["uncertain"],
        policy=_policy(style, script),
        style=style,
        script=script,
        data=script_json(data),
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
