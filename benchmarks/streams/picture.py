"""A picture of accuracy over time, around abrupt drifts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.streams.contenders import ARF, HAT, OURS, contenders, prequential
from benchmarks.streams.data import STREAMS
from benchmarks.timing import progress

_WINDOW = 200
_LOOKS = {
    OURS: ("#0072B2", "-"),
    HAT: ("#D55E00", "--"),
    ARF: ("#009E73", ":"),
    "ImprovedOnlineGFMM": ("#999999", "-."),
}


def draw(path: Path, n_samples: int) -> None:
    """Draw the accuracy over the last samples on a stream of four concepts, and save it."""
    import matplotlib.pyplot as plt

    n_samples = min(n_samples, 6_000)
    stream = next(stream for stream in STREAMS if stream.name == "Sine")
    samples = stream.read(n_samples, Path())
    assert samples is not None
    figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for name, make in contenders(samples[0]).items():
        if name in _LOOKS:
            progress(f"picture: {name}")
            run = prequential(make(), *samples, limit=np.inf)
            hits = np.convolve(run.predicted == run.y, np.ones(_WINDOW) / _WINDOW, "valid")
            colour, line = _LOOKS[name]
            times = np.arange(_WINDOW, _WINDOW + len(hits))
            ax.plot(times, 100 * hits, line, c=colour, label=name, lw=1.8)
    for change in range(n_samples // 4, n_samples, n_samples // 4):
        ax.axvline(change, c="0.75", lw=1, zorder=0)
    ax.set(
        xlabel="samples", ylabel=f"accuracy, last {_WINDOW}, %", ylim=(0, 102), xlim=(0, n_samples)
    )
    ax.set_title("Sine: the concept changes at each line", loc="left", fontsize=10)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
