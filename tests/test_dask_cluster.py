"""Dask on a real cluster of processes, whose workers die, run out of memory or lose the scheduler.

Workers are killed by their own hand, at a place that a test chooses. The nanny starts another in
their stead, which knows nothing of that. Nothing here hangs on which worker is first, or on how
long anything takes; waits are bounded by `PATIENCE`, so that a test that fails ends.
"""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import load_iris

import hyperboxes.dask
from hyperboxes import BoostedHyperboxes, ImprovedOnlineGFMM
from hyperboxes._learning import boosting
from hyperboxes.dask import _boosting, _fit
from tests.learners import same_boxes
from tests.marks import on_posix

X, Y = load_iris(return_X_y=True)
PARTS = [slice(start, None, 5) for start in range(5)]
MEMORY = 1_500_000_000
PATIENCE = 600  # seconds, on the busiest of machines


@pytest.fixture(scope="module")
def client():
    """Start two workers, each a process with one thread."""
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=MEMORY, dashboard_address=":0"
    )
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def impatient(client):
    """Have the scheduler give up a task that a worker has died of."""

    def allow(n_failures, dask_scheduler):
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, n_failures
        return before

    before = client.run_on_scheduler(allow, 0)
    yield
    client.run_on_scheduler(allow, before)


def data(read=None):
    """Return iris in delayed partitions, read by a function of their numbers."""
    read = read or (lambda number: X[PARTS[number]])
    samples = [dask.delayed(read)(number) for number in range(len(PARTS))]
    return samples, [dask.delayed(Y[rows]) for rows in PARTS]


@pytest.fixture(scope="module")
def expected():
    """Return the model of the partitions, trained here."""
    with dask.config.set(scheduler="synchronous"):
        return hyperboxes.dask.fit(ImprovedOnlineGFMM(0.3, random_state=0), *data())


def die_in(module, place):
    """Let this worker die as soon as it is to do something."""

    def die(*args):
        os.kill(os.getpid(), signal.SIGKILL)

    die.__name__, die.alive = place, getattr(module, place)
    setattr(module, place, die)
    return os.getpid()


def stay_alive_in(module, place):
    """Undo `die_in` where this worker has not come to it."""
    function = getattr(module, place)
    setattr(module, place, getattr(function, "alive", function))
    return os.getpid()


def fit(client, *samples):
    """Fit a new model."""
    return hyperboxes.dask.fit(ImprovedOnlineGFMM(0.3, random_state=0), *samples, client=client)


def test_a_cluster_gives_the_model_of_one_process(client, expected):
    model = fit(client, *data())
    assert same_boxes(model, expected)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    with client.as_current():  # the default one
        again = hyperboxes.dask.fit(ImprovedOnlineGFMM(0.3, random_state=0), *data())
        assert same_boxes(again, expected)
        futures = client.scatter([X[rows] for rows in PARTS])
        assert same_boxes(fit(None, futures, data()[1]), expected)


def test_two_clients_at_once(client, expected):
    with (
        Client(client.scheduler.address, set_as_default=False) as other,
        ThreadPoolExecutor(4) as pool,
    ):
        for model in pool.map(lambda which: fit(which, *data()), [client, other, client, other]):
            assert same_boxes(model, expected)


def test_errors_of_partitions_come_through(client):
    def read(number):
        return X[PARTS[number]] * (np.inf if number == 2 else 1.0)

    with pytest.raises(ValueError, match=r"Partition 2: .*infinity"):
        fit(client, *data(read))


@contextmanager
def dying(client, module, place):
    """Have all workers die of something; at least one must come to it.

    The first that does it is one of them, whichever it is, and each dies at most once.
    """
    before = set(client.run(die_in, module, place).values())
    try:
        yield
    finally:
        after = set(client.run(stay_alive_in, module, place).values())
    assert before - after


@on_posix
@pytest.mark.parametrize("place", ["learn_partition", "merge_partitions"])
def test_workers_that_die_are_made_up_for(client, expected, place):
    with dying(client, _fit, place):
        assert same_boxes(fit(client, *data()), expected)


@on_posix
def test_samples_that_are_lost_while_boxes_vote_are_read_again(client, monkeypatch):
    monkeypatch.setattr(boosting, "MAX_SEARCHED", 50)
    model = BoostedHyperboxes(3, random_state=0)
    with dying(client, _boosting, "count_cells"):
        hyperboxes.dask.fit(model, *data(), client=client)
    rows = np.concatenate([np.arange(len(X))[part] for part in PARTS])
    expected = BoostedHyperboxes(3, random_state=0).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(model.hyperboxes_.lower, expected.hyperboxes_.lower)


def kept_by(client):
    """Return the names of results that workers keep for a client."""
    return [key for key in list(client.futures) if str(key).startswith("hyperboxes")]


def test_an_error_between_boxes_leaves_nothing_behind(client, monkeypatch):
    monkeypatch.setattr(boosting, "MAX_SEARCHED", 50)
    calls = []

    def fail_later(self, *args):
        calls.append(self)
        raise MemoryError

    monkeypatch.setattr(_boosting.DistributedSamples, "count_classes", fail_later)
    model = BoostedHyperboxes(3, random_state=0)
    with pytest.raises(MemoryError):
        hyperboxes.dask.fit(model, *data(), client=client)
    assert calls
    assert not hasattr(model, "classes_")
    end = time.monotonic() + PATIENCE
    while (left := kept_by(client)) and time.monotonic() < end:
        time.sleep(0.01)  # futures are let go by a thread of the client
    assert not left


class Hoard:
    """Samples that take all memory that a worker has."""

    def __len__(self):
        hoard = [np.ones(2_000_000) for _ in range(MEMORY // 16_000_000)]
        deadline = time.monotonic() + PATIENCE
        while hoard and time.monotonic() < deadline:
            time.sleep(0.05)  # until the nanny intervenes
        return 0


@on_posix
def test_a_partition_too_large_for_memory_is_named_and_changes_nothing(client, impatient):
    model = ImprovedOnlineGFMM().fit(X, Y)
    before = model.hyperboxes_
    # The only one: of several that wait on a worker that dies, Dask may suspect any.
    samples = [dask.delayed(Hoard)()], [dask.delayed(Y)]
    with pytest.raises(RuntimeError, match=r"'look at partition 0' was given up: .* more memory"):
        hyperboxes.dask.fit(model, *samples, client=client)
    assert model.hyperboxes_ is before


STARTED, LOST = threading.Event(), threading.Event()


def read_late(number):
    """Wait until the client knows that the scheduler is lost."""
    STARTED.set()
    LOST.wait(PATIENCE)
    return X[PARTS[number]]


def test_a_lost_scheduler_is_reported_and_changes_nothing(monkeypatch):
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    client = Client(cluster, set_as_default=False)
    # All are connected by now; connecting again will be in vain.
    monkeypatch.setitem(dask.config.get("distributed.comm.timeouts"), "connect", "1s")

    def lose():
        STARTED.wait(PATIENCE)
        cluster.scheduler.loop.add_callback(cluster.scheduler.close)

    loser = threading.Thread(target=lose)
    loser.start()
    model = ImprovedOnlineGFMM()
    try:
        with pytest.raises(RuntimeError, match="connection to Dask's scheduler was lost"):
            hyperboxes.dask.fit(model, *data(read_late), client=client)
    finally:
        STARTED.set()
        LOST.set()
        loser.join()
        client.close()
        cluster.close()
    assert not hasattr(model, "classes_")
    with pytest.raises(RuntimeError, match="connection to Dask's scheduler was lost"):
        hyperboxes.dask.fit(model, *data(), client=client)
