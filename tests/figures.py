"""What the tests of the displays share: models to draw, and what is to be seen in a figure."""

import functools
import itertools

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.text import Text
from sklearn.datasets import load_iris

from hyperboxes import ImprovedOnlineGFMM


@functools.cache
def iris():
    """Return samples and labels with names, and a model of them."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y, ImprovedOnlineGFMM(theta=0.3, shuffle=False).fit(X, y)


def iris_arrays():
    """Return samples and labels without names."""
    X, y, _ = iris()
    return X.to_numpy(), y.to_numpy()


@functools.cache
def letters(n_classes=26, n_features=2, n_samples=1500, width=0.06, name="class {}"):
    """Return a model of so many overlapping classes, and its samples."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, n_samples)
    X = rng.random((n_classes, n_features))[labels] + width * rng.normal(
        size=(n_samples, n_features)
    )
    y = np.array([name.format(label) for label in labels])
    return ImprovedOnlineGFMM(theta=0.2, shuffle=False).fit(X, y), X, y


def shown_texts(figure):
    """Return the texts that are drawn, with their places in pixels."""
    figure.canvas.draw()
    hidden = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                    hidden |= {tick.label1, tick.label2}
    return [
        (text.get_text(), text.get_window_extent())
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text() and text not in hidden
    ]


def assert_legible(figure):
    """Check that no two texts overlap, and that none is cut off."""
    texts = shown_texts(figure)
    assert texts
    frame = figure.bbox
    for text, box in texts:
        assert box.x0 >= frame.x0 - 1, text
        assert box.y0 >= frame.y0 - 1, text
        assert box.x1 <= frame.x1 + 1, text
        assert box.y1 <= frame.y1 + 1, text
    for (one, a), (other, b) in itertools.combinations(texts, 2):
        wide = min(a.x1, b.x1) - max(a.x0, b.x0)
        high = min(a.y1, b.y1) - max(a.y0, b.y0)
        # Lines of text may touch: their boxes are taller than their letters.
        assert wide <= 1 or high <= 3, f"{one!r} overlaps {other!r}"


def outlines(display):
    """Return the one collection of boxes in the plane."""
    (found,) = [c for c in display.ax_.collections if type(c) is PolyCollection]
    return found


def legend_names(ax):
    """Return the entries of a legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]
