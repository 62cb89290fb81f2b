"""The looks of classes in all displays, and the legend.

The six colours are those of Okabe and Ito, distinct for any kind of colour vision on light and dark
backgrounds. Markers and lines vary too, so that there can be more classes than colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7")
NO_LABEL = "no label"
NO_LABEL_COLOUR = "#8C8C8C"

# Seven markers for six colours: no pair occurs twice in 42 classes.
_MARKERS = ("o", "^", "s", "D", "v", "P", "X")

# The next one for each further six classes: no pair with a colour occurs twice in 30 classes.
_LINES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))

_HATCHES = (None, "////", "....", "xxxx", "||||")

_LONGEST_NAME = 24

# Of a legend. Lengths are in points.
_MOST_COLUMNS = 3
_ENTRY_HEIGHT = 14.0
_HANDLE = 36.0
_LETTER = 5.5


class Style(NamedTuple):
    """The look of one class."""

    colour: str
    marker: str
    line: Any


def style_of(label: int) -> Style:
    """Return the look of a class, given its index; -1 means no label."""
    if label < 0:
        return Style(NO_LABEL_COLOUR, ".", "-")
    line = _LINES[label // len(COLOURS) % len(_LINES)]
    return Style(COLOURS[label % len(COLOURS)], _MARKERS[label % len(_MARKERS)], line)


def labels_present(labels: np.ndarray) -> list[int]:
    """Return the class indices that occur, with -1 for no label last."""
    found = np.unique(labels).tolist()
    return [label for label in found if label >= 0] + [-1] * (-1 in found)


def shorten(name: Any, width: int = _LONGEST_NAME) -> str:
    """Return a name as text of bounded length, without its middle if necessary.

    Long names often differ at their ends only.
    """
    text = str(name)
    if len(text) <= width:
        return text
    n_last = (width - 1) // 2
    return f"{text[: width - 1 - n_last]}…{text[-n_last:]}"


def escape_math(text: str) -> str:
    """Return a text in which Matplotlib finds no formula."""
    return text.replace("$", r"\$")


def display_names(classes: np.ndarray, no_label: str = NO_LABEL) -> list[str]:
    """Return the names of the classes in pictures, with the name of the label -1 last."""
    return [escape_math(shorten(label)) for label in (*classes, no_label)]


def text_colour() -> Any:
    """Return the colour of what belongs to no class: that of text in the current style."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def has_dark_background(ax: Axes) -> bool:
    """Return whether axes have a dark background."""
    from matplotlib.colors import to_rgba

    red, green, blue, opacity = to_rgba(ax.get_facecolor())
    if opacity < 0.5:
        red, green, blue, _ = to_rgba(ax.figure.get_facecolor())
    return 0.3 * red + 0.6 * green + 0.1 * blue < 0.5


def size_in_points(ax: Axes) -> np.ndarray:
    """Return width and height of axes, before any layout."""
    box = ax.get_window_extent()
    return np.array([box.width, box.height]) * 72 / ax.figure.dpi


def add_class_entries(
    ax: Axes, labels: Sequence[int], names: list[str], *, lines: bool, markers: bool
) -> None:
    """Add entries for a legend: artists without data, so that `ax.legend()` finds them."""
    from matplotlib.lines import Line2D

    for label in labels:
        style = style_of(label)
        look: dict[str, Any] = {
            "ls": style.line if lines else "",
            "marker": style.marker if markers else "",
        }
        ax.add_line(Line2D([], [], color=style.colour, ms=5, label=names[label], **look))


def bar_look(label: int) -> dict[str, Any]:
    """Return the look of a bar of a class, which is hatched where colours repeat."""
    hatch = _HATCHES[label // len(COLOURS) % len(_HATCHES)]
    return {"color": style_of(label).colour, "hatch": hatch, "edgecolor": "white", "lw": 0}


def add_bar_entries(ax: Axes, labels: Sequence[int], names: list[str]) -> None:
    """Add entries for a legend of bars."""
    for label in labels:
        ax.barh(0, 0, label=names[label], **bar_look(label))


def draw_legend(ax: Axes, *, below: bool = False, title: str = "", width: float = 0.0) -> None:
    """Draw the legend on the right of the axes, or below.

    On the right it has up to three columns. Names are shortened as necessary, and if there are too
    many entries, the last ones are left out. `width` is that of the picture, if it is more than
    that of these axes.
    """
    from matplotlib.lines import Line2D

    handles, names = ax.get_legend_handles_labels()
    if not handles:
        return
    own_width, height = size_in_points(ax)
    n_rows = len(names) if below else max(3, int(height / _ENTRY_HEIGHT) - title.count("\n") - 1)
    n_columns = min(_MOST_COLUMNS, -(-len(names) // n_rows))
    if not below:
        n_letters = int((0.55 * max(own_width, width) / n_columns - _HANDLE) / _LETTER)
        longest = min(_LONGEST_NAME, max(8, n_letters))
        names = [
            name
            if len(name) <= longest
            else escape_math(shorten(name.replace(r"\$", "$"), longest))
            for name in names
        ]
    if (n_shown := n_rows * n_columns) < len(names):
        n_more = len(names) - n_shown + 1
        names = [*names[: n_shown - 1], f"and {n_more} more"]
        handles = [*handles[: n_shown - 1], Line2D([], [], ls="")]
    ax.legend(
        handles,
        names,
        loc="upper right" if below else "upper left",
        bbox_to_anchor=(1.0, 0.0) if below else (1.0, 1.0),
        borderaxespad=0.3,
        fontsize="small",
        frameon=False,
        handlelength=2.4,
        columnspacing=1.0,
        ncols=n_columns,
        title=title or None,
        title_fontsize="small",
        alignment="left",
    )
