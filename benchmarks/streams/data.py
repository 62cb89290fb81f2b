"""The streams: real ones in the order of their files, and river's generators.

A stream belongs to one of two groups: those by which the defaults of `AdaptiveGFMM` were chosen,
and those that were looked at only afterwards, with other seeds, concepts, parts and orders.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from river.datasets import synth

from benchmarks.data import Samples


@dataclass(frozen=True)
class Stream:
    """A stream, made by `read`, which returns None where its data are missing."""

    name: str
    chosen_by: bool
    read: Callable[[int, Path], Samples | None]


def real(name: str, start: int = 0, *, shuffle: bool = False) -> Callable[..., Samples | None]:
    """Return a reader of a file's rows from `start` on, in their order or shuffled."""

    def read(n_samples: int, folder: Path) -> Samples | None:
        path = next((p for p in folder.rglob(f"{name}.csv.gz") if p.parent.name != "authors"), None)
        if path is None:
            return None
        rows = None if shuffle else n_samples
        table = pd.read_csv(path, dtype={"class": str}, skiprows=range(1, 1 + start), nrows=rows)
        if shuffle:
            table = table.sample(n=min(n_samples, len(table)), random_state=0)
        y = pd.factorize(table.pop("class"))[0]
        for column in table.select_dtypes(exclude="number"):
            table[column] = pd.factorize(table[column])[0]
        return np.ascontiguousarray(table, float), y

    return read


def turned(name: str, *, shuffle: bool) -> Callable[..., Samples | None]:
    """Return a reader of a file whose labels change places halfway: an abrupt drift."""

    def read(n_samples: int, folder: Path) -> Samples | None:
        samples = real(name, shuffle=shuffle)(n_samples, folder)
        if samples is not None:
            _, y = samples
            y[len(y) // 2 :] = (y[len(y) // 2 :] + 1) % (y.max() + 1)
        return samples

    return read


def generated(*concepts: Callable[[], Any]) -> Callable[..., Samples]:
    """Return a reader of one concept after the other, for equal shares of the stream."""

    def read(n_samples: int, _: Path) -> Samples:
        share = -(-n_samples // len(concepts))
        pairs = itertools.islice(_in_turn(concepts, share), n_samples)
        rows, labels = zip(*((list(x.values()), int(y)) for x, y in pairs), strict=True)
        return np.array(rows, float), np.array(labels)

    return read


def _in_turn(concepts: tuple[Callable[[], Any], ...], share: int) -> Iterator[tuple[dict, Any]]:
    for make in concepts:
        yield from make().take(share)


def _concepts(cls: Any, key: str, values: tuple[int, ...], seed: int, **params: Any) -> Any:
    """Return a reader of concepts of a generator that differ in one parameter."""
    return generated(
        *(
            lambda value=value, place=place: cls(**{key: value}, seed=seed + place, **params)
            for place, value in enumerate(values)
        )
    )


def _rbf(seed: int, speed: float, n_classes: int) -> Any:
    return generated(
        lambda: synth.RandomRBFDrift(
            seed, seed, n_classes, n_features=10, change_speed=speed, n_drift_centroids=25
        )
    )


def _led(seed: int, drifting: tuple[int, ...]) -> Any:
    return generated(
        *(
            lambda n=n, place=place: synth.LEDDrift(seed + place, 0.1, True, n)
            for place, n in enumerate(drifting)
        )
    )


def _plane(seed: int, n_features: int, magnitude: float) -> Any:
    return generated(lambda: synth.Hyperplane(seed, n_features, n_features // 2, magnitude))


def _tree(*seeds: int) -> Any:
    return generated(*(lambda s=s: synth.RandomTree(s, s, n_classes=3) for s in seeds))


_FUNCTION, _VARIANT = "classification_function", "variant"

STREAMS = [
    Stream("electricity", True, real("electricity")),
    Stream("covertype", True, real("covertype")),
    Stream("moving_squares", True, real("moving_squares")),
    Stream("kddcup99", True, real("kddcup99_10pct")),
    Stream("shuttle", True, real("shuttle")),
    Stream("ijcnn1", True, real("ijcnn1")),
    Stream("SEA", True, _concepts(synth.SEA, _VARIANT, (0, 1, 2, 3), 1, noise=0.1)),
    Stream("RandomRBFDrift", True, _rbf(1, 0.001, 3)),
    Stream("Agrawal", True, _concepts(synth.Agrawal, _FUNCTION, (0, 1, 2, 3), 1)),
    Stream("LED", True, _led(1, (1, 3, 5, 7))),
    Stream("Hyperplane", True, _plane(1, 10, 0.001)),
    Stream("Sine", True, _concepts(synth.Sine, _FUNCTION, (0, 1, 2, 3), 1)),
    Stream("electricity, later", False, real("electricity", 22_000)),
    Stream("covertype, later", False, real("covertype", 300_000)),
    Stream("covertype, shuffled", False, real("covertype", shuffle=True)),
    Stream("moving_squares, later", False, real("moving_squares", 100_000)),
    Stream("kddcup99, later", False, real("kddcup99_10pct", 130_000)),
    Stream("kddcup99, shuffled", False, real("kddcup99_10pct", shuffle=True)),
    Stream("shuttle, labels turned", False, turned("shuttle", shuffle=True)),
    Stream("ijcnn1, later", False, real("ijcnn1", 60_000)),
    Stream("adult", False, real("adult")),
    Stream("skin, shuffled", False, real("skin_segmentation", shuffle=True)),
    Stream("pendigits, labels turned", False, turned("pendigits", shuffle=False)),
    Stream("landsat, labels turned", False, turned("landsat", shuffle=True)),
    Stream("spambase, shuffled", False, real("spambase", shuffle=True)),
    Stream("SEA, seed 2", False, _concepts(synth.SEA, _VARIANT, (3, 0, 2, 1), 20, noise=0.1)),
    Stream("RandomRBFDrift, seed 2", False, _rbf(2, 0.0005, 5)),
    Stream("Agrawal, seed 2", False, _concepts(synth.Agrawal, _FUNCTION, (4, 6, 8, 9), 20)),
    Stream("LED, seed 2", False, _led(20, (7, 0, 4))),
    Stream("Hyperplane, seed 2", False, _plane(2, 6, 0.01)),
    Stream("Sine, seed 2", False, _concepts(synth.Sine, _FUNCTION, (3, 0, 2), 20, has_noise=True)),
    Stream("Mixed", False, _concepts(synth.Mixed, _FUNCTION, (0, 1, 0), 3)),
    Stream("STAGGER", False, _concepts(synth.STAGGER, _FUNCTION, (0, 1, 2), 3)),
    Stream("Waveform", False, generated(lambda: synth.Waveform(3, has_noise=True))),
    Stream("RandomTree", False, _tree(3, 4, 5)),
]
