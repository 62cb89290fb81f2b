"""Numbers of features as bars."""

from __future__ import annotations

from html import escape

import numpy as np

_MOST_BARS = 20


def draw_bars(names: list[str], values: np.ndarray) -> str:
    """Return bars for the largest values, the longest first, and how many more there are."""
    n_used = np.count_nonzero(values)
    order = np.argsort(-values, kind="stable")[: min(n_used, _MOST_BARS)]
    largest = values.max(initial=0.0) or 1.0
    bars = "".join(
        f'<div class="bar"><span>{escape(names[j])}</span>'
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="winning" width="{100 * values[j] / largest:.1f}" height="10"/></svg>'
        f'<span class="degree">{values[j]:.3f}</span></div>'
        for j in order
    )
    parts = []
    if n_used > len(order):
        parts.append(f"{n_used - len(order):,} more have less")
    if n_used < len(values):
        parts.append(f"{len(values) - n_used:,} others are not used")
    return f"{bars}<p>{'; '.join(parts)}.</p>" if parts else bars
