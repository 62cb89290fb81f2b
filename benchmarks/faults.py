"""Attacks on files, tables, running commands and exports; prints how many there were and failed.

- files: numbers in saved models are changed, with right checksums. `load` rejects the file, or the
  model predicts as the slow executor does with the arrays as loaded, learns, prints and is saved.
- tables: CSV files are damaged, and trained on. An error is one of the command line's own.
- kills: `fit`, `stream --save-every` and `save` are killed at a random moment. What was saved
  loads, and a resumed stream ends with the predictions of an uninterrupted one.
- exports: predictions in Python, SQL (SQLite), ONNX and the page (Chromium, if there is one) are
  compared.
- threads: three predict, copy and save, while another one learns. What they find must be what the
  model finds before or after some batch.
- writers: four processes save to one file, which loads at any time; a third of them is killed.
- dask: a worker or the scheduler is killed while models are fitted or predict. The result is the
  same, or an error says that the scheduler is lost.
- months: samples come one by one, and their ranges drift to several times those of the first
  batch. Time, memory and accuracy are shown, and the model as last saved learns the rest alike.

All are tried in processes of their own, so that a crash is counted.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import hyperboxes as hb
from benchmarks.harness import command, machine, progress, table
from hyperboxes._cli import main as command_line
from hyperboxes._estimators.capabilities import read_record
from hyperboxes._estimators.validation import NUMBERS, validate_samples
from hyperboxes._learning import boosting
from hyperboxes._models import executor
from hyperboxes.literature import MixedGFMM

# Attacks of a process, which takes a second to start.
_BATCH = 1_000

FLOATS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1.0, 2.0, 5e-324, 1e-200, 1e150, -1e300, 1.7e308)
INTEGERS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 255, 2**31, 2**53, 2**62, 2**63 - 1)
VALUES = (None, True, -1, 0, 1, 7, 2**63, 10**400, -1.0, 0.0, 0.5, 1e308, "", "x", [], [0], {})

# What the package raises where input is wrong; anything else is a fault.
ERRORS = (ValueError, NotImplementedError)


def make_table(seed: int, n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers, categories and missing values, of three classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["a", "b", "c"])
    frame["kind"] = rng.choice(["u", "v", "w"], n)
    y = np.digitize(frame["a"] + (frame["kind"] == "u"), [-0.3, 0.7])
    return frame.mask(rng.uniform(size=frame.shape) < 0.03), y


def make_models(seed: int) -> dict[str, Any]:
    """Return a small fitted model of each kind."""
    X, y = make_table(seed)
    models = {
        "nearest": hb.ImprovedOnlineGFMM(0.4, random_state=0),
        "additive": hb.BoostedHyperboxes(6, random_state=0),
        "neighbors": hb.AdaptiveGFMM(0.4, max_boxes=40),
        "ensemble": hb.RandomHyperboxes(n_estimators=4, random_state=0),
        "counts": MixedGFMM(random_state=0),
    }
    numbers = X[["a", "b", "c"]]
    fitted = {
        name: model.fit(numbers if name == "neighbors" else X, y) for name, model in models.items()
    }
    return fitted | {"clusters": hb.HyperboxClustering(0.3).fit(numbers)}


# --- Files ----------------------------------------------------------------------------------------


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Return a saved model in which some numbers are others, with right checksums."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    del members["SHA256SUMS"]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        name = rng.choice(sorted(members))
        change = _mutate_header if name == "model.json" else _mutate_array
        members[name] = change(members[name], rng)
    lines = [f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members)]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, member in (members | {"SHA256SUMS": "".join(lines).encode()}).items():
            archive.writestr(name, member)
    return file.getvalue()


def _mutate_array(content: bytes, rng: random.Random) -> bytes:
    array = np.load(io.BytesIO(content)).copy()
    flat = array.reshape(-1)
    how = rng.random()
    if how < 0.1:
        array = array[1:] if rng.random() < 0.5 else np.concatenate([array, array[-1:]])
    elif how < 0.2:
        rng.shuffle(flat)  # type: ignore[arg-type]
    elif len(flat):
        for place in rng.choices(range(len(flat)), k=rng.choice((1, 1, 2, len(flat)))):
            flat[place] = _other_value(flat, rng)
    file = io.BytesIO()
    np.lib.format.write_array(file, array, (1, 0))
    return file.getvalue()


def _other_value(flat: np.ndarray, rng: random.Random) -> Any:
    if flat.dtype.kind == "f":
        return rng.choice((*FLOATS, flat[0], -flat[-1], flat.max() + 1.0, rng.uniform(-2, 2)))
    if flat.dtype.kind == "i":
        return rng.choice((*INTEGERS, int(flat.max()), int(flat.max()) // 2))
    if flat.dtype.kind == "U":
        return rng.choice(("", "zz", "\x1b[31m", "\0"))
    return rng.choice(range(256)) if flat.dtype.kind == "u" else rng.random() < 0.5


def _mutate_header(content: bytes, rng: random.Random) -> bytes:
    header = json.loads(content)
    parent: Any = header
    while True:
        keys = range(len(parent)) if isinstance(parent, list) else sorted(parent)
        key = rng.choice(keys)
        if not (isinstance(parent[key], list | dict) and parent[key]) or rng.random() < 0.1:
            break
        parent = parent[key]
    parent[key] = rng.choice(VALUES)
    return json.dumps(header).encode()


def try_file(content: bytes, X: pd.DataFrame, y: np.ndarray) -> str:
    """Return what came of loading a file and using the model."""
    try:
        model = hb.load(io.BytesIO(content))
    except hb.ModelFileError:
        return "rejected"
    X = X.iloc[:, : model.n_features_in_]
    X = X.set_axis(getattr(model, "feature_names_in_", X.columns), axis=1)
    for use in (_agree, _read, _learn):
        if found := _trial(lambda use=use: use(model, X, y)):
            return found
    return "loaded and right"


def _trial(use: Callable[[], str]) -> str:
    try:
        return use()
    except ERRORS as error:
        return "" if str(error) else "an error without a message"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"


def _agree(model: Any, X: pd.DataFrame, y: np.ndarray) -> str:
    predicted = model.predict(X)
    if isinstance(model, MixedGFMM) or not hasattr(model, "classes_"):
        return ""
    samples = validate_samples(model, X, reset=False, **NUMBERS)
    expected = model.classes_[executor.evaluate(read_record(model), samples, samples).winners]
    return "" if (predicted == expected).all() else "predict differs from the executor"


def _read(model: Any, X: pd.DataFrame, y: np.ndarray) -> str:
    if hasattr(model, "predict_proba"):
        model.predict_proba(X)
    hb.export_text(model)
    hb.save(model, io.BytesIO())
    if hasattr(model, "classes_") and not isinstance(model, MixedGFMM):
        str(hb.explain(model, X[:2])[0])
    return ""


def _learn(model: Any, X: pd.DataFrame, y: np.ndarray) -> str:
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)
        model.predict(X)
    return ""


def try_files(seed: int, count: int) -> Iterator[str]:
    """Yield what came of some mutated files."""
    rng = random.Random(seed)
    X, y = make_table(0)
    saved = []
    for model in make_models(0).values():
        file = io.BytesIO()
        hb.save(model, file)
        saved.append(file.getvalue())
    for number in range(count):
        yield try_file(mutate(saved[number % len(saved)], rng), X, y)


# --- Tables ---------------------------------------------------------------------------------------


def damage(content: bytes, rng: random.Random) -> bytes:
    """Return a CSV file with cells, quotes, ends of lines or bytes changed."""
    pieces = (b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"1e999", b"-inf", b"nan")
    cells = (b"", b"1,5", b"2024-01-01", b"\x1b[31m", b"=1+1", b"9" * 400, b"True", b"u\xc3")
    for _ in range(rng.choice((1, 1, 2, 4))):
        start = rng.randrange(len(content) + 1)
        stop = start + rng.choice((0, 0, 1, 5, 200))
        content = content[:start] + rng.choice(pieces + cells) + content[stop:]
    return content


def try_tables(seed: int, count: int) -> Iterator[str]:
    """Yield what came of training on some damaged tables, and predicting them."""
    rng = random.Random(seed)
    frame, y = make_table(1)
    content = frame.assign(y=y).to_csv(index=False).encode()
    with tempfile.TemporaryDirectory() as folder:
        data, model = str(Path(folder, "d.csv")), str(Path(folder, "m"))
        for _ in range(count):
            Path(data).write_bytes(damage(content, rng))
            words = ["fit", data, "--target", "y", "-o", model, "--force", "-q", "--debug"]
            found = _run(words) or _run(["predict", model, data, "-q", "--debug"])
            yield found or "trained"


def _run(words: list[str]) -> str:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            command_line(words)
        except SystemExit:
            return "rejected"
        except (*ERRORS, OSError) as error:
            return "rejected" if str(error) else "an error without a message"
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:80]}"
    return ""


# --- Kills ----------------------------------------------------------------------------------------

# A forked process has the package in memory, and the kernels that it compiles are cached on disk.
# So most kills come while it works, not while Python starts.
_FORK = get_context("fork")


def start(work: Callable[..., None], *arguments: str) -> Any:
    """Start work in a process of its own."""
    process = _FORK.Process(target=work, args=arguments)
    process.start()
    return process


def _command(*words: str) -> None:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        command_line(list(words))


def _save_on(path: str, *sources: str) -> None:
    models = [hb.load(source) for source in sources]
    while True:
        for model in models:
            hb.save(model, path)


def run(words: list[str]) -> float:
    """Run a command, which must succeed, and return how long it took."""
    begun = time.perf_counter()
    process = start(_command, *words)
    process.join()
    if process.exitcode:
        raise RuntimeError(f"{words[0]} ended with {process.exitcode}")
    return time.perf_counter() - begun


def kill(process: Any, rng: random.Random, longest: float) -> bool:
    """Kill a process at a random moment, and return whether it was still running."""
    process.join(rng.uniform(0.0, longest))
    process.kill()
    process.join()
    return bool(process.exitcode == -signal.SIGKILL)


def try_kills(seed: int, count: int) -> Iterator[str]:
    """Yield what was left after a fit, a stream or a save was killed."""
    rng = random.Random(seed)
    frame, y = make_table(2, 6000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, model, other = (str(folder / part) for part in ("d.csv", "m", "other"))
        frame[["a", "b", "c"]].assign(y=y).to_csv(data, index=False)
        stream = ["stream", data, "--target", "y", "-q", "--save-every", "200"]
        fit = ["fit", data, "--target", "y", "-q", "--force", "-o"]
        whole = folder / "whole.csv"
        for _ in range(2):  # the first one may compile
            for path in (folder / "stream", whole):
                path.unlink(missing_ok=True)
            of_stream = run([*stream, "-o", str(folder / "stream"), "--predictions", str(whole)])
            of_fit = run([*fit, model])
        run([*fit, other, "--theta", "0.2"])
        n_kills = {"fit": 0, "save": 0, "stream": 0}
        while sum(n_kills.values()) < count:
            what, found = min(n_kills, key=n_kills.__getitem__), "nothing lost"
            if what == "stream":
                n_killed, found = _kill_stream(stream, folder, whole, rng, of_stream)
            elif what == "fit":
                n_killed = int(kill(start(_command, *fit, model), rng, of_fit))
            else:
                n_killed = int(kill(start(_save_on, model, model, other), rng, 0.5))
            hb.load(model)
            n_kills[what] += n_killed
            yield from [f"{what}: {found}"] * n_killed


def _kill_stream(
    stream: list[str], folder: Path, whole: Path, rng: random.Random, longest: float
) -> tuple[int, str]:
    """Return how often a stream was killed until it ended, and what was lost."""
    model, predictions = folder / "s", folder / "s.csv"
    for path in (model, predictions):
        path.unlink(missing_ok=True)
    words = [*stream, "-o", str(model), "--predictions", str(predictions)]
    n_kills = n_safe = 0
    while kill(start(_command, *words), rng, longest):
        n_kills += 1
        if not model.exists():
            predictions.unlink(missing_ok=True)
            continue
        n_learned = hb.load(model).n_samples_seen_
        n_written = predictions.read_bytes().count(b"\n") - 1
        if n_learned < n_safe or n_written < n_learned:
            return n_kills, f"LOST: {n_written} predictions of {n_learned} rows, {n_safe} before"
        n_safe = n_learned
        if "--resume" not in words:
            words.append("--resume")
    is_same = predictions.read_bytes() == whole.read_bytes()
    return n_kills, "nothing lost" if is_same else "DIFFERENT from an uninterrupted stream"


# --- Exports --------------------------------------------------------------------------------------


_PREDICT_ALL = """<script>document.title = JSON.stringify(ROWS.map((row) => {
  const values = row.map((value) => value ?? NaN);
  return explainValues(report.samples[0], values, values).predicted;
}));</script></body>"""


def predict_in_page(model: Any, X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """Return what the page of a model predicts in Chromium; its policy against scripts is off."""
    samples = validate_samples(model, X, reset=False, **NUMBERS)
    rows = json.dumps(np.where(np.isnan(samples), None, samples).tolist())
    page = hb.export_html(model, X[:2], y[:2], max_rules=None)
    page = re.sub("<meta[^>]*Content-Security-Policy[^>]*>", "", page)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(page.replace("</body>", _PREDICT_ALL.replace("ROWS", rows)), "utf-8")
        words = ["chromium", "--headless=new", "--no-sandbox", f"--user-data-dir={folder}/profile"]
        words += ["--dump-dom", path.as_uri()]
        shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    title = re.search("<title>(.*?)</title>", shown)
    return model.classes_[json.loads(title[1] if title else "[]")]


def try_exports(seed: int, count: int) -> Iterator[str]:
    """Yield for each row whether exports predict as Python does."""
    import onnxruntime

    models = make_models(seed)
    for name in ("nearest", "additive"):
        X, y = make_table(seed + 1, count // 2)
        X.loc[::50, "kind"] = "never seen"
        model = models[name]
        expected = model.predict(X)
        frame = X.astype(object).where(X.notna(), None)
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE TABLE data (a REAL, b REAL, c REAL, kind TEXT)")
            connection.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", frame.values.tolist())
            rows = connection.execute(hb.export_sql(model, table="data")).fetchall()
        answered = np.array([row[-1] for row in rows])
        for is_same in answered == expected:
            yield f"SQL, {name}: {'equal' if is_same else 'DIFFERENT'}"
        session = onnxruntime.InferenceSession(hb.to_onnx(model).SerializeToString())
        inputs = {
            "numbers": X[["a", "b", "c"]].to_numpy(np.float64),
            "categories": X[["kind"]].fillna("").to_numpy(object),
        }
        for is_same in session.run(["label"], inputs)[0] == expected:
            yield f"ONNX, {name}: {'equal' if is_same else 'DIFFERENT'}"
        if shutil.which("chromium"):
            for is_same in predict_in_page(model, X, y) == expected:
                yield f"page, {name}: {'equal' if is_same else 'DIFFERENT'}"


# --- Threads and processes ------------------------------------------------------------------------


def make_learners() -> dict[str, Any]:
    """Return learners of streams, with a limit of boxes and without."""
    return {
        "AdaptiveGFMM": hb.AdaptiveGFMM(),
        "ImprovedOnlineGFMM": hb.ImprovedOnlineGFMM(0.3),
        "ImprovedOnlineGFMM(max_boxes=1000)": hb.ImprovedOnlineGFMM(0.3, max_boxes=1000),
        "OnlineGFMM": hb.OnlineGFMM(),
        "OnlineGFMM(max_boxes=1000)": hb.OnlineGFMM(max_boxes=1000),
    }


def draw_stream(
    rng: np.random.Generator, start: int, stop: int, length: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of a stream whose ranges move to several times their width, and labels."""
    when = np.arange(start, stop) / length
    within = rng.uniform(size=(stop - start, 4))
    moved = np.column_stack([6 * when, 4 * np.sin(6 * when), -3 * when, 0 * when])
    y = (within[:, 0] + within[:, 1] / 2 > 0.75) ^ (within[:, 2] > 0.8)
    return within + moved, (y ^ (rng.uniform(size=len(y)) < 0.02)).astype(int)


def saved(model: Any) -> io.BytesIO:
    """Return a file of a model."""
    file = io.BytesIO()
    hb.save(model, file)
    file.seek(0)
    return file


def try_threads(seed: int, count: int) -> Iterator[str]:
    """Yield whether each reading of a model that learns is that of a whole number of batches."""
    sys.setswitchinterval(1e-6)
    learners = make_learners()
    n_batches = 40
    for name, learner in learners.items():
        for number in range(-(-count // (3 * len(learners)))):
            rng = np.random.default_rng([seed, number])
            X, y = draw_stream(rng, 0, 100 * n_batches, 100 * n_batches)
            batches = [(X[row : row + 100], y[row : row + 100]) for row in range(0, len(X), 100)]
            read: dict[str, Callable[[Any], bytes]] = {
                "predict_proba": lambda model, X=X: model.predict_proba(X[:50]).tobytes(),
                "predict_one": lambda model, X=X: bytes([model.predict_one(X[0])]),
                "save": lambda model: saved(model).getvalue(),
            }
            known: dict[str, set[bytes]] = {what: set() for what in read}
            alone, shared = clone(learner), clone(learner)
            for batch in batches:
                alone.partial_fit(*batch, classes=[0, 1])
                for what in read:
                    known[what].add(read[what](alone))
            shared.partial_fit(*batches[0], classes=[0, 1])
            is_over = threading.Event()

            def read_on(
                what: str, shared: Any = shared, read: Any = read, over: Any = is_over
            ) -> list[bytes]:
                found = [read[what](shared)]
                while not over.is_set():
                    found.append(read[what](shared))
                return found

            with ThreadPoolExecutor(len(read)) as threads:
                tasks = {what: threads.submit(read_on, what) for what in read}
                for batch in batches[1:]:
                    shared.partial_fit(*batch)
                is_over.set()
                for what, task in tasks.items():
                    is_whole = set(task.result()) <= known[what]
                    yield f"{name}, {what}: {'whole batches' if is_whole else 'DIFFERENT'}"


def try_writers(seed: int, count: int) -> Iterator[str]:
    """Yield what a file holds while several processes save to it, some of which are killed."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        paths = [str(Path(name, text)) for text in ("model", "one", "two")]
        models = make_models(seed)
        for path, kind in zip(paths, ("nearest", "nearest", "additive"), strict=True):
            hb.save(models[kind], path)
        writers: list[Any] = []
        try:
            for number in range(count):
                while len(writers) < 4:
                    writers.append(start(_save_on, *paths))
                time.sleep(rng.uniform(0.0, 0.05))
                yield f"loaded a whole model: {type(hb.load(paths[0])).__name__}"
                if number % 100 == 99:
                    kill(writers.pop(0), rng, 0.0)
        finally:
            for writer in writers:
                kill(writer, rng, 0.0)


# --- Dask -----------------------------------------------------------------------------------------


def make_work() -> dict[str, Callable[[Any], bytes]]:
    """Return what is done on Dask by name: functions of a client, which return what came of it."""
    import dask.array as da
    from distributed import Client

    import hyperboxes.dask

    X, y = draw_stream(np.random.default_rng(0), 0, 8000, 8000)
    samples, labels = da.from_array(X, chunks=(1000, -1)), da.from_array(y, chunks=1000)
    model = hb.ImprovedOnlineGFMM(0.3, random_state=0).fit(X, y)

    def fit(estimator: Any, client: Any) -> bytes:
        return saved(hyperboxes.dask.fit(clone(estimator), samples, labels, client=client)).read()

    def fit_twice(estimator: Any, client: Any) -> bytes:
        with (
            Client(client.scheduler.address, set_as_default=False) as other,
            ThreadPoolExecutor(2) as threads,
        ):
            models = set(threads.map(partial(fit, estimator), (client, other)))
        return b"".join(models)

    def predict(client: Any) -> bytes:
        return bytes(client.compute(hyperboxes.dask.predict_proba(model, samples)).result())

    return {
        "fit": partial(fit, clone(model)),
        "boosting": partial(fit, hb.BoostedHyperboxes(10, random_state=0)),
        "two clients": partial(fit_twice, clone(model)),
        "predict": predict,
    }


@contextmanager
def start_cluster() -> Iterator[Any]:
    """Yield a client of two workers and a scheduler, each a process of its own."""
    import dask
    from distributed import Client

    dask.config.set({"distributed.comm.timeouts.connect": "3s"})
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "scheduler.json"))
        of_both = ["--scheduler-file", file, "--no-dashboard"]
        parts = ["scheduler", "--port", "0"], ["worker", "--nworkers", "2", "--nthreads", "1"]
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "dask", *part, *of_both],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for part in parts
        ]
        client = Client(scheduler_file=file, timeout=60)
        try:
            client.wait_for_workers(2)
            yield client
        finally:
            with suppress(OSError, TimeoutError):  # because the scheduler may be dead
                client.close()
            for process in reversed(processes):
                process.terminate()
                process.wait()


def find_workers(client: Any, killed: int) -> list[int]:
    """Return the process ids of both workers, as soon as another one has replaced the killed."""
    while True:
        with suppress(OSError):
            pids = sorted(client.run(os.getpid).values())
            if len(pids) == 2 and killed not in pids:
                return pids
        time.sleep(0.05)


def try_dask(seed: int, count: int) -> Iterator[str]:
    """Yield what came of work on Dask while a worker was killed or, a tenth, the scheduler."""
    boosting.MAX_SEARCHED = 2000  # so that the workers keep the samples
    rng, work, n_of_workers = random.Random(seed), make_work(), count - count // 10
    with start_cluster() as client:
        expected, longest, number, killed = {}, {}, 0, 0
        for name, do in work.items():
            do(client)
            begun = time.perf_counter()
            expected[name], longest[name] = do(client), time.perf_counter() - begun
        while number < n_of_workers:
            name = list(work)[number % len(work)]
            pid = rng.choice(find_workers(client, killed))
            timer = threading.Timer(rng.uniform(0.0, longest[name]), os.kill, (pid, signal.SIGKILL))
            timer.start()
            found = _trial(lambda name=name: work[name](client).hex())
            if timer.is_alive():
                timer.cancel()
                continue
            number, killed = number + 1, pid
            what = "the same result" if found == expected[name].hex() else f"DIFFERENT {found[:80]}"
            yield f"{name}, a worker killed: {what}"
    for number in range(count // 10):
        name = ("fit", "boosting")[number % 2]
        with start_cluster() as client:
            work[name](client)
            pid = client.run_on_scheduler(os.getpid)
            moment = rng.uniform(0.0, longest[name] / 2)
            threading.Timer(moment, os.kill, (pid, signal.SIGKILL)).start()
            try:
                found = "was over" if work[name](client) == expected[name] else "DIFFERENT"
            except RuntimeError as error:
                found = str(error).partition("(")[0]
            yield f"{name}, the scheduler killed: {found}"


# --- Months ---------------------------------------------------------------------------------------


def memory() -> float:
    """Return the megabytes that this process has in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def try_months(seed: int, count: int) -> Iterator[str]:
    """Yield figures of each learner after a tenth of a stream and at its end, and of recovery."""
    for name, learner in make_learners().items():
        rng = np.random.default_rng(seed)
        model = clone(learner).partial_fit(*draw_stream(rng, 0, 1000, count), classes=[0, 1])
        before, n_tenth = memory(), count // 10
        spent, hits = 0.0, []
        for start in range(1000, count, 1000):
            X, y = draw_stream(rng, start, min(start + 1000, count), count)
            rows, labels = X.tolist(), y.tolist()
            hits += [
                model.predict_one(row) == label
                for row, label in zip(rows[::10], labels[::10], strict=True)
            ]
            if start + 1000 >= count:
                recovered = hb.load(saved(model))
                for row, label in zip(rows, labels, strict=True):
                    recovered.learn_one(row, label)
            begun = time.process_time()
            for row, label in zip(rows, labels, strict=True):
                model.learn_one(row, label)
            spent += time.process_time() - begun
            if start + 1000 in (n_tenth, count):
                yield (
                    f"{name}: {start + 1000:,} samples, the last tenth at "
                    f"{spent / (10 * len(hits)) * 1e6:.0f} us, accuracy {np.mean(hits):.2f}, "
                    f"{len(model.hyperboxes_):,} boxes, {memory() - before:.0f} MB more"
                )
            if (start + 1000) % n_tenth == 0:
                spent, hits = 0.0, []
        is_same = (model.predict_proba(X) == recovered.predict_proba(X)).all()
        for part in ("lower", "upper", "labels", "counts"):
            pair = getattr(model.hyperboxes_, part), getattr(recovered.hyperboxes_, part)
            is_same &= np.array_equal(*pair)
        yield f"{name}: recovered {'the same model' if is_same else 'a DIFFERENT model'}"


PARTS = {
    "files": try_files,
    "tables": try_tables,
    "kills": try_kills,
    "exports": try_exports,
    "threads": try_threads,
    "writers": try_writers,
    "dask": try_dask,
    "months": try_months,
}
COUNTS = {
    "files": 20_000,
    "tables": 200,
    "kills": 500,
    "exports": 100_000,
    "threads": 150,
    "writers": 500,
    "dask": 80,
    "months": 1_000_000,
}


def attack(part: str, seed: int, count: int) -> Counter[str]:
    """Return how often each result came, from processes of their own."""
    results: Counter[str] = Counter()
    batch = _BATCH if part in ("files", "tables") else max(count, 1)
    for start in range(0, count, batch):
        progress(f"{part}, {start:,} of {count:,}")
        words = [sys.executable, "-W", "ignore", "-m", "benchmarks.faults", "--worker", part]
        words += ["--seed", str(seed + start), "--number", str(min(batch, count - start))]
        done = subprocess.run(words, capture_output=True, text=True)
        results.update(json.loads(line) for line in done.stdout.splitlines())
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or [f"signal {-done.returncode}"]
            results[f"CRASH after seed {seed + start}: {last[0]}"] += 1
    return results


def main() -> None:
    """Print how often each result came."""
    parser = command("bench-faults", __doc__, quick="a tenth of the attacks", data=False)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="what to try")
    for part, count in COUNTS.items():
        parser.add_argument(f"--{part}", type=int, default=count, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", choices=PARTS, help="attack in this process")
    parser.add_argument("--number", type=int, default=_BATCH, help="of attacks of a worker")
    options = parser.parse_args()
    if options.worker:
        warnings.simplefilter("ignore")
        for found in PARTS[options.worker](options.seed, options.number):
            print(json.dumps(found), flush=True)
        return
    print(machine("numpy", "numba"))
    rows = []
    for part in options.only:
        count = getattr(options, part) // (10 if options.quick else 1)
        found = attack(part, options.seed, count)
        rows += [[part, result, f"{number:,}"] for result, number in found.most_common()]
    print(table(["attack", "result", "times"], rows, left=2))


if __name__ == "__main__":
    main()
