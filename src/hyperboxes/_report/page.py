"""The parts put together: one file, and a policy that lets the browser run nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from hyperboxes import __version__
from hyperboxes._report.page_data import (
    Contents,
    EnsembleContents,
    MemoryContents,
    Results,
    VoteContents,
    describe_horizons,
    describe_importances,
    describe_intercepts,
    describe_neighbors,
    describe_weights,
    editing_of_covers,
    editing_of_votes,
    ensemble_data,
    memory_data,
    page_data,
    vote_data,
)
from hyperboxes._report.summary import (
    describe_distance,
    describe_ensemble,
    describe_memory,
    describe_model,
    describe_scores,
    describe_voting_model,
)

# In the order in which they build on one another.
_SCRIPTS = {
    "covers": (
        *("dom", "format", "model", "bounds", "rules", "strips", "plane", "covers"),
        *("nearest", "samples", "editor", "start"),
    ),
    "memory": (
        *("dom", "format", "model", "bounds", "rules", "strips", "memory"),
        *("samples", "editor", "start"),
    ),
    "votes": (
        *("dom", "format", "model", "bars", "votes", "voting", "rules"),
        *("samples", "editor", "start"),
    ),
    "ensembles": (
        *("dom", "format", "model", "bars", "ensembles", "rules"),
        *("samples", "editor", "start"),
    ),
}


def write_page(contents: Contents, title: str) -> str:
    """Return the page on a model whose boxes cover samples."""
    about = {"model": describe_model(contents), "distance": describe_distance(contents)}
    data = page_data(contents) | {"editing": editing_of_covers(contents)}
    return _write("covers", title, contents, about, data)


def write_vote_page(contents: VoteContents, title: str) -> str:
    """Return the page on a model whose boxes vote."""
    about = {
        "model": describe_voting_model(contents),
        "importances": describe_importances(contents),
        "intercepts": describe_intercepts(contents),
    }
    data = vote_data(contents) | {"editing": editing_of_votes(contents)}
    return _write("votes", title, contents, about, data)


def write_memory_page(contents: MemoryContents, title: str) -> str:
    """Return the page on a memory that adapts."""
    about = {
        "model": describe_memory(contents),
        "neighbors": describe_neighbors(),
        "horizons": describe_horizons(contents),
        "weights": describe_weights(contents),
    }
    return _write("memory", title, contents, about, memory_data(contents))


def write_ensemble_page(contents: EnsembleContents, title: str) -> str:
    """Return the page on an ensemble."""
    about = {
        "model": describe_ensemble(contents),
        "importances": describe_importances(contents, "do not help"),
    }
    return _write("ensembles", title, contents, about, ensemble_data(contents))


def _write(
    kind: str, title: str, contents: Results, about: dict[str, str], data: dict[str, Any]
) -> str:
    """Return the page of a kind: the frame that all have, filled with its own parts."""
    style = _read("style.css")
    names = _SCRIPTS[kind]
    script = "\n".join(['"use strict";', *(_read("js", f"{name}.js") for name in names)])
    return Template(_read("page.html")).substitute(
        _parts(kind, about),
        policy=_policy(style, script),
        title=escape(title),
        version=escape(__version__),
        scores=describe_scores(contents),
        uncertain=data["uncertain"],
        style=style,
        data=script_json(data),
        script=script,
    )


def _parts(kind: str, about: dict[str, str]) -> dict[str, str]:
    """Return the parts of a kind of page: each stands below a comment with its name."""
    _, *pieces = re.split(r"<!-- (\w+) -->\n", _read(f"{kind}.html") + "\n")
    named = zip(pieces[::2], pieces[1::2], strict=True)
    parts = {name: Template(part.rstrip()).substitute(about) for name, part in named}
    return parts | _describe_columns(parts["rule_columns"])


def _describe_columns(text: str) -> dict[str, str]:
    """Return the columns of the table of rules, of which each line names one, and the orders."""
    columns = [line.split() for line in text.splitlines()]
    heads = (
        f'<th scope="col" data-key="{key}"><button type="button">{name}</button></th>'
        for key, name in columns
    )
    orders = [(key, name.lower()) for key, name in columns]
    orders += [("index", "box number"), ("label", "class")]
    options = (f'<option value="{key}">{name}</option>' for key, name in orders)
    return {"rule_columns": "\n".join(heads), "rule_orders": "\n".join(options)}


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
