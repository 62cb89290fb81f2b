"""Tables as Markdown, and the numbers behind them as CSV."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from benchmarks.timing import align


def markdown(header: Iterable[str], rows: Iterable[Iterable[str]], *, left: int = 1) -> str:
    """Lay out a table, the first `left` columns to the left, the others to the right."""
    names = list(header)
    lines = align([names, ["--"] * len(names), *rows], left)
    lines[1] = [
        "-" * (len(cell) - 1) + ("-" if place < left else ":")
        for place, cell in enumerate(lines[1])
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(path: Path, *paragraphs: str) -> None:
    """Write a page of paragraphs and tables; empty ones are left out."""
    path.write_text("\n\n".join(filter(None, paragraphs)) + "\n")


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write the numbers behind a table."""
    frame.to_csv(path, index=False, float_format="%.8g", lineterminator="\n")


def number(value: float) -> str:
    """Print a count or a mean of two; "-" for none."""
    return "-" if pd.isna(value) else f"{value:,.1f}".removesuffix(".0")


def seconds(value: float) -> str:
    """Print seconds with three digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def factor(value: float) -> str:
    """Print a speed-up with three digits."""
    return "-" if pd.isna(value) else f"{value:,.3g}x" if value < 1000 else f"{value:,.0f}x"
