"""Passages that the docstrings of all displays share, written once."""

from __future__ import annotations

from typing import TypeVar

from hyperboxes._docstrings import fill_docstrings

T = TypeVar("T")

_PASSAGES = {
    "plot": """
Parameters
----------
{first_panel}
{legend}

{itself}
""",
    "place": """
ax : matplotlib Axes, default=None
    Where to draw. None: in a new figure.
""",
    "first_panel": """
ax : matplotlib Axes, default=None
    Where to draw; it becomes the first panel. None: in a new figure.
""",
    "legend": """
legend : bool, default=True
    Whether to draw a legend, on the right.
""",
    "drawn": """
Returns
-------
display : {name}
    The display, drawn.
""",
    "itself": """
Returns
-------
self : {name}
    The display.
""",
    "drawn_on": """
ax_ : matplotlib Axes
    The axes drawn on.
figure_ : matplotlib Figure
    Their figure.
""",
    "first_of_panels": """
ax_ : matplotlib Axes
    The first of them.
figure_ : matplotlib Figure
    Their figure.
""",
}


def shared_docs(cls: type[T]) -> type[T]:
    """Fill the passages into the docstrings of a display."""
    fill_docstrings(cls, {**_PASSAGES, "name": cls.__name__})
    return cls
