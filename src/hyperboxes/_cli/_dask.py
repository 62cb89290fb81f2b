"""Files as partitions on Dask: a cluster that runs already, or workers started for one command."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from hyperboxes._cli._common import STDIO, UsageError, positive_integer
from hyperboxes._cli._parts import find_files
from hyperboxes._cli._survey import Columns
from hyperboxes._cli._tables import open_table
from hyperboxes._extras import need


def add_dask(parser: argparse.ArgumentParser) -> None:
    """Add where to compute if not here."""
    group = parser.add_argument_group("on Dask (each file is a partition)")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--dask", metavar="ADDRESS", help="of the scheduler of a cluster: tcp://host:8786"
    )
    which.add_argument(
        "--workers",
        type=positive_integer,
        metavar="N",
        help="start so many processes for this command",
    )


def wants_dask(args: argparse.Namespace) -> bool:
    """Whether to compute on Dask."""
    return args.dask is not None or args.workers is not None


def find_partitions(args: argparse.Namespace) -> list[str]:
    """Return the files that are partitions."""
    files = find_files(args.data)
    if STDIO in files:
        raise UsageError("Dask needs files: standard input is no partition")
    if missing := [file for file in files if not Path(file).exists()]:
        raise ValueError(f"No file is named {missing[0]}")
    return files


@contextmanager
def dask_client(args: argparse.Namespace) -> Iterator[Any]:
    """Connect to a cluster, or start workers that end with the command."""
    distributed = need("distributed", "dask", "--dask" if args.dask else "--workers")
    if args.dask is not None:
        try:
            client = distributed.Client(args.dask, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ValueError(f"No scheduler of Dask answers at {args.dask}: {error}") from error
        with client:
            yield client
        return
    cluster = distributed.LocalCluster(
        n_workers=args.workers,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.ERROR,
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@contextmanager
def _bar_on_stderr(args: argparse.Namespace) -> Iterator[bool]:
    """Yield whether somebody sees Dask's bar, which would else be on standard output."""
    with redirect_stdout(sys.stderr):
        yield not args.quiet and sys.stderr.isatty()


def fit_on_dask(args: argparse.Namespace, model: Any, columns: Columns) -> tuple[Any, int]:
    """Learn files as partitions; return the model and the number of samples."""
    need("dask", "dask", "--dask" if args.dask else "--workers")
    from dask.delayed import delayed

    from hyperboxes.dask._engine import Engine
    from hyperboxes.dask._partitions import partitions_of
    from hyperboxes.dask._training import fit_partitions

    read = delayed(_read, pure=False)
    parts = [read(file, args.sep, args.decimal, columns) for file in find_partitions(args)]
    with dask_client(args) as client, _bar_on_stderr(args) as progress:
        samples, labels = ([part[place] for part in parts] for place in range(2))
        partitions = partitions_of(samples, labels, None)
        return fit_partitions(Engine(client, progress), model, partitions)


def _read(file: str, sep: str | None, decimal: str | None, columns: Columns) -> tuple[Any, Any]:
    """Return the samples of a file, and their labels."""
    table = open_table(file, sep, decimal)
    table.check(columns.all)
    chunk = next(table.chunks(columns.all), None)
    if chunk is None:
        pandas = need("pandas", "cli", "The command line")
        return pandas.DataFrame(columns=columns.features), []
    return columns.read_frame(chunk)


def for_each_file(
    args: argparse.Namespace, work: Callable[..., int], model: Any, outputs: dict[str, str]
) -> int:
    """Have workers do something with each file and the model; return the sum of what they say."""
    from dask.delayed import delayed

    from hyperboxes.dask._engine import Engine

    quiet = argparse.Namespace(**vars(args) | {"quiet": True, "run": None})
    with dask_client(args) as client, _bar_on_stderr(args) as progress:
        engine = Engine(client, progress)
        shared = delayed(model, traverse=False)
        done = [
            engine.task(work, Path(file).name, quiet, shared, file, output)
            for file, output in outputs.items()
        ]
        return int(engine.compute(engine.task(sum, "files", done)))


def find_outputs(args: argparse.Namespace) -> dict[str, str]:
    """Return a file in the folder of results for each file that is read."""
    folder, files = Path(args.output), find_partitions(args)
    if args.output == STDIO or folder.is_file():
        raise UsageError("on Dask, -o names a folder: each file has its results in one of its name")
    outputs = {file: str(folder / Path(file).name) for file in files}
    if len(set(outputs.values())) < len(files):
        raise UsageError("two files in different folders have one name: their results would, too")
    folder.mkdir(parents=True, exist_ok=True)
    return outputs
