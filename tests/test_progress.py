"""Progress through scikit-learn's callbacks, and what an interrupted fit leaves behind."""

import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from hyperboxes import AgglomerativeGFMM
from tests.learners import ImprovedOnlineGFMM, every_online_learner, same_boxes
from tests.marks import on_posix

X, Y = load_iris(return_X_y=True)


class Recorder:
    """A callback that keeps what it is told and may end or break the fit at a step."""

    def __init__(self, stop_at=None, interrupt_at=None):
        self.stop_at = stop_at
        self.interrupt_at = interrupt_at
        self.fitted = []

    def setup(self, estimator, context):
        """Start."""

    def teardown(self, estimator, context):
        """Finish."""

    def on_fit_task_begin(self, estimator, context):
        """Ignore."""

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        """Record the model so far."""
        self.fitted.append(fitted_estimator)
        if len(self.fitted) == self.interrupt_at:
            raise KeyboardInterrupt
        return len(self.fitted) == self.stop_at


@every_online_learner
def test_callbacks_see_the_model_grow(cls):
    recorder = Recorder()
    model = cls().set_callbacks(recorder).fit(X, Y)
    assert same_boxes(model, cls().fit(X, Y))
    seen = [fitted.hyperboxes_.counts.sum() for fitted in recorder.fitted]
    assert seen == [*range(2, len(X) + 1, 2), len(X)]  # 75 steps, then the whole fit
    assert same_boxes(recorder.fitted[-1], model)
    assert recorder.fitted[10].predict(X).shape == Y.shape


@every_online_learner
def test_a_callback_may_end_the_fit(cls):
    model = cls().set_callbacks(Recorder(stop_at=10)).fit(X, Y)
    assert model.hyperboxes_.counts.sum() == 20


@every_online_learner
def test_an_interrupted_fit_leaves_the_estimator_unfitted(cls):
    model = cls().fit(X, Y)
    model.set_callbacks(Recorder(interrupt_at=3))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "n_features_in_")
    assert same_boxes(model.set_callbacks().fit(X, Y), cls().fit(X, Y))


@pytest.mark.parametrize("algorithm", ["agglo2", "agglo-sm"])
def test_callbacks_see_boxes_merge(algorithm, monkeypatch):
    monkeypatch.setattr("hyperboxes._learning.agglomeration.WORK_PER_CALL", 1_000)
    recorder = Recorder()
    model = AgglomerativeGFMM(algorithm=algorithm).set_callbacks(recorder).fit(X, Y)
    n_boxes = [len(fitted.hyperboxes_) for fitted in recorder.fitted]
    assert len(set(n_boxes)) > 3
    assert n_boxes == sorted(n_boxes, reverse=True)
    assert all(fitted.hyperboxes_.counts.sum() == len(X) for fitted in recorder.fitted)
    assert all(fitted.score(X, Y) == 1 for fitted in recorder.fitted)
    stopped = AgglomerativeGFMM(algorithm=algorithm).set_callbacks(Recorder(stop_at=3)).fit(X, Y)
    assert len(stopped.hyperboxes_) == n_boxes[2] > len(model.hyperboxes_)
    model.set_callbacks(Recorder(interrupt_at=3))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "hyperboxes_")


@every_online_learner
def test_an_interrupted_partial_fit_keeps_what_it_learned(cls):
    model = cls(scaling=None).set_callbacks(Recorder(interrupt_at=3))
    data = X / X.max()
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(data, Y, classes=[0, 1, 2])
    learned = model.hyperboxes_.counts.sum()
    assert learned == 6
    model.set_callbacks().partial_fit(data[learned:], Y[learned:])
    assert same_boxes(model, cls(scaling=None).fit(data, Y))


@on_posix
@every_online_learner
def test_ctrl_c_is_heard_between_slices_of_work(cls, monkeypatch):
    """A signal during a batch ends it after the running kernel call, with whole samples."""
    monkeypatch.setattr("hyperboxes._learning.online.WORK_PER_CALL", 1000)
    rng = np.random.default_rng(0)
    data, labels = rng.random((20_000, 4)), rng.integers(0, 2, 20_000)
    model = cls(theta=0.01, scaling=None)

    def interrupt(*_):
        raise KeyboardInterrupt

    def learn_for_ever():
        while True:
            model.partial_fit(data, labels, classes=[0, 1])

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            learn_for_ever()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    learned = int(model._model.boxes.counts.sum()) if hasattr(model, "_model") else 0
    whole, rest = divmod(learned, len(labels))
    expected = cls(theta=0.01, scaling=None)
    for _ in range(whole):
        expected.partial_fit(data, labels, classes=[0, 1])
    if rest:
        expected.partial_fit(data[:rest], labels[:rest], classes=[0, 1])
    if learned:
        assert same_boxes(model, expected)


@every_online_learner
def test_ctrl_c_while_room_is_made_changes_nothing(cls, monkeypatch):
    """Rows and trees grow together or not at all."""
    rng = np.random.default_rng(0)
    data, labels = rng.random((500, 3)), rng.integers(0, 2, 500)
    model = cls(theta=0.01, scaling=None).partial_fit(data[:50], labels[:50], classes=[0, 1])

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patches:
        patches.setattr("hyperboxes._kernels.box_index.build", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(data[50:], labels[50:])
    learned = model.hyperboxes_.counts.sum()
    assert 50 < learned < len(labels)
    np.testing.assert_array_equal(model.predict(data[:learned]), labels[:learned])
    model.partial_fit(data[learned:], labels[learned:])
    assert same_boxes(model, cls(theta=0.01, scaling=None).fit(data, labels))


def test_nothing_learned_is_not_fitted():
    model = ImprovedOnlineGFMM().set_callbacks(InterruptAtOnce())
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.set_callbacks().partial_fit(X, Y)
    assert same_boxes(model, ImprovedOnlineGFMM().fit(X, Y))


class InterruptAtOnce(Recorder):
    """Interrupts before the first sample."""

    def on_fit_task_begin(self, estimator, context):
        """Break."""
        raise KeyboardInterrupt


def test_scores_while_training():
    monitor = ScoringMonitor(scoring="accuracy")
    ImprovedOnlineGFMM().set_callbacks(monitor).fit(X, Y)
    assert monitor.get_logs()


def test_progress_bars(capsys):
    search = GridSearchCV(ImprovedOnlineGFMM(), {"theta": [0.1, 0.3]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, Y)
    assert "ImprovedOnlineGFMM" in capsys.readouterr().out


class Breaker(Recorder):
    """A callback that raises an error at one of its calls."""

    def __init__(self, place):
        super().__init__()
        self.place = place

    def _break(self, place):
        if place == self.place:
            raise MemoryError(place)

    def setup(self, estimator, context):
        """Start."""
        self._break("setup")

    def teardown(self, estimator, context):
        """Finish."""
        self._break("teardown")

    def on_fit_task_begin(self, estimator, context):
        """Begin a step."""
        self._break("begin")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        """End a step."""
        self._break("end")


@every_online_learner
@pytest.mark.parametrize("place", ["setup", "begin", "end", "teardown"])
def test_callbacks_that_raise_leave_an_estimator_that_can_be_fitted(cls, place):
    model = cls().fit(X, Y).set_callbacks(Breaker(place))
    with pytest.raises(MemoryError, match=place):
        model.fit(X, Y)
    if place == "teardown":  # the fit is over
        assert same_boxes(model, cls().fit(X, Y))
    else:
        with pytest.raises(NotFittedError):
            model.predict(X)
    model.set_callbacks()
    with ThreadPoolExecutor(1) as threads:  # no lock is left behind
        assert same_boxes(threads.submit(model.fit, X, Y).result(60), cls().fit(X, Y))
