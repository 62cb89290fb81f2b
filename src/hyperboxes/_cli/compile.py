"""Compile ahead, so that no later fit or prediction waits.

Compiled code is kept in the folder NUMBA_CACHE_DIR or, without it, next to the installed package.
Compile as the user that will use it, on the same kind of processor, and again after each update
of hyperboxes or Numba.
"""

import argparse
import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from hyperboxes._cli.common import note

HELP = "compile ahead, for container images and clusters"
EXAMPLES = """\
  hyperboxes compile --quiet
  NUMBA_CACHE_DIR=/opt/hyperboxes hyperboxes compile --all
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--all", action="store_true", help="also the estimators of hyperboxes.literature"
    )


_MANY = 300  # boosted boxes, which are found by code of their own


def run(args: argparse.Namespace) -> None:
    """Compile in one process for each core."""
    start = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as processes:
        for name in processes.map(use_model, range(len([*small_models(args.all)]))):
            note(args, f"compiled {name}")
    note(args, f"Compiled in {time.monotonic() - start:.0f} s.")


def small_models(literature: bool = True) -> Iterator[Any]:
    """Yield an estimator for each set of kernels, those of the literature last."""
    from hyperboxes._estimators.registry import all_learners

    entries = sorted(all_learners(), key=is_literature)
    for entry in entries:
        if literature or not is_literature(entry):
            for parameters in entry.commands.values() or [{}]:
                yield entry.estimator(**parameters)
            if entry.kind == "additive":
                yield entry.estimator(max_boxes=_MANY, random_state=0)


def is_literature(entry: Any) -> bool:
    """Return whether an estimator is one of `hyperboxes.literature`."""
    return entry.path.startswith("hyperboxes.literature")


def use_model(number: int) -> str:
    """Fit the model of a number and call its methods; return its name.

    Labels are random, so that boxes of two classes meet often. Boosting and ensembles have code of
    their own for single precision.
    """
    import numpy as np

    model = [*small_models()][number]
    random = np.random.default_rng(0)
    values, y = random.random((600, 3)), random.integers(3, size=600)
    for X in (values, values.astype(np.float32)):
        model.fit(X, y)
        if getattr(model, "max_boxes", None) == _MANY:
            model.fit(X, y, np.full(len(y), 5.0))  # weights make them many samples
        for name in ("predict", "predict_proba", "apply", "membership"):
            if hasattr(model, name):
                getattr(model, name)(X)
    if hasattr(model, "partial_fit"):
        model.partial_fit(values, y)
    return type(model).__name__
