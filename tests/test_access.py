"""Threads that predict while another one learns."""

import io
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from hyperboxes import AdaptiveGFMM, ImprovedOnlineGFMM, OnlineGFMM, load, save
from hyperboxes._estimators.access import Access, access_of
from hyperboxes.literature import MixedGFMM

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(3000, 4))
Y = np.where(X[:, 0] > X[:, 1], "a", "b")
SAMPLES = X[:40]
BATCHES = [slice(start, start + 100) for start in range(0, len(X), 100)]
CLASSIFIERS = [
    AdaptiveGFMM(0.01),
    AdaptiveGFMM(max_boxes=30),
    ImprovedOnlineGFMM(0.05),
    ImprovedOnlineGFMM(0.05, max_boxes=40),
    OnlineGFMM(0.05),
    MixedGFMM(0.05),
]
READERS = {
    "predict_proba": lambda model: model.predict_proba(SAMPLES).tolist(),
    "predict_proba_one": lambda model: model.predict_proba_one(SAMPLES[0].tolist()),
    "hyperboxes_": lambda model: model.hyperboxes_.lower.tolist(),
    "save": lambda model: load(saved(model)).predict_proba(SAMPLES).tolist(),
}


def begun(estimator):
    return clone(estimator).partial_fit(X[:100], Y[:100], ["a", "b"])


def saved(model):
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    return file


def name_of(value):
    return repr(value) if hasattr(value, "get_params") else None


@pytest.fixture(autouse=True)
def many_switches():
    """Let threads take turns as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
@pytest.mark.parametrize("reader", READERS)
def test_readers_see_the_model_before_or_after_a_batch(estimator, reader):
    """No error, no crash, and no state in which a batch is learned in part."""
    read = READERS[reader]
    states = []
    twin = pickle.loads(pickle.dumps(estimator)).partial_fit(
        X[BATCHES[0]], Y[BATCHES[0]], ["a", "b"]
    )
    for batch in BATCHES[1:]:
        states.append(read(twin))
        twin.partial_fit(X[batch], Y[batch])
    states.append(read(twin))
    model = pickle.loads(pickle.dumps(estimator)).partial_fit(
        X[BATCHES[0]], Y[BATCHES[0]], ["a", "b"]
    )
    is_over = threading.Event()

    def read_on():
        found = []
        while not is_over.is_set():
            found.append(read(model))
        return found

    with ThreadPoolExecutor(2) as threads:
        reading = [threads.submit(read_on) for _ in range(2)]
        try:
            for batch in BATCHES[1:]:
                model.partial_fit(X[batch], Y[batch])
        finally:
            is_over.set()
        seen = [state for each in reading for state in each.result(timeout=60)]
    assert all(state in states for state in seen)
    assert read(model) == states[-1]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
def test_single_samples_in_several_threads(estimator):
    model = begun(estimator)

    def learn(start):
        for row in range(start, 600, 2):
            model.learn_one(X[row].tolist(), Y[row])

    def read(_):
        return {model.predict_one(row.tolist()) for row in X[:600]}

    with ThreadPoolExecutor(4) as threads:
        learning = threads.map(learn, [100, 101])
        reading = threads.map(read, range(2))
        assert [*learning, *map(sorted, reading)] == [None, None, ["a", "b"], ["a", "b"]]
    assert model.n_samples_seen_ == 600


def test_a_class_that_is_new_while_others_predict():
    model = ImprovedOnlineGFMM(0.05, scaling=None)
    for row in range(100):
        model.learn_one(X[row].tolist(), Y[row])
    is_over = threading.Event()

    def read_on():
        while not is_over.is_set():
            shares = model.predict_proba_one(SAMPLES[0].tolist())
            assert len(shares) >= 2
            assert set(model.predict(SAMPLES)) <= {"a", "b", *map(str, range(60))}

    with ThreadPoolExecutor(2) as threads:
        reading = [threads.submit(read_on) for _ in range(2)]
        for number in range(60):
            model.learn_one(X[100 + number].tolist(), str(number))
        is_over.set()
        assert [each.result(timeout=60) for each in reading] == [None, None]
    assert len(model.classes_) == 62


def test_readers_enter_together_and_again_and_let_one_change_in_between():
    access, order = Access(), []
    both, is_waiting = threading.Barrier(2, timeout=60), threading.Event()

    def read():
        with access.reading():
            both.wait()
            is_waiting.wait(60)
            with access.reading():  # it has entered, so it need not wait for the change
                order.append("read")

    def change():
        is_waiting.set()
        with access.changing(), access.changing(), access.reading():
            order.append("changed")

    with ThreadPoolExecutor(4) as threads:
        reading = [threads.submit(read) for _ in range(2)]
        while len(access._users) < 2:
            pass
        changing = [threads.submit(change) for _ in range(2)]
        for each in (*reading, *changing):
            each.result(timeout=60)
    assert order == ["read", "read", "changed", "changed"]
    assert not access._users
    assert access._n_waiting == 0


def test_an_error_ends_access():
    model = AdaptiveGFMM().partial_fit(X[:100], Y[:100])
    for wrong in (lambda: model.predict([[1.0]]), lambda: model.partial_fit(X[:1, :2], Y[:1])):
        with pytest.raises(ValueError, match="features"):
            wrong()
    with pytest.raises(ValueError, match="features"):
        model.learn_one([1.0], "a")
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(model.partial_fit, X[:1], Y[:1]).result(timeout=60) is model


def test_copies_have_a_lock_of_their_own():
    model = AdaptiveGFMM().partial_fit(X[:100], Y[:100])
    twin = pickle.loads(pickle.dumps(model))
    with access_of(model).changing(), ThreadPoolExecutor(1) as threads:
        found = threads.submit(twin.predict, SAMPLES).result(timeout=60)
    assert found.tolist() == model.predict(SAMPLES).tolist()
