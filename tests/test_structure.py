"""How short the ways are: frames to the kernels, base classes, hooks, and loaded modules."""

import inspect
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import hyperboxes
from hyperboxes import ImprovedOnlineGFMM
from hyperboxes._estimators.registry import all_learners
from hyperboxes._kernels import nearest, online

PACKAGE = str(Path(hyperboxes.__file__).parent)

every_estimator = pytest.mark.parametrize(
    "cls", [entry.estimator for entry in all_learners()], ids=lambda cls: cls.__name__
)


def count_frames(module, name, call):
    """Return how many frames of the package are on the stack where a kernel is called last."""
    kernel, counts = getattr(module, name), []

    def stub(*args):
        frame, n_frames = sys._getframe(1), 0
        while frame is not None:
            n_frames += frame.f_code.co_filename.startswith(PACKAGE)
            frame = frame.f_back
        counts.append(n_frames)
        return kernel(*args)

    with patch.object(module, name, stub):
        call()
    return counts[-1]


@pytest.fixture
def samples():
    """Return samples of two classes."""
    X = np.random.default_rng(0).random((60, 2))
    return X, X.sum(axis=1) > 1


def test_fit_reaches_the_kernel_in_seven_frames(samples):
    assert count_frames(online, "learn", lambda: ImprovedOnlineGFMM().fit(*samples)) <= 7


@pytest.mark.parametrize("name", ["nearest_per_class", "winners", "calibrated"])
def test_predict_proba_reaches_the_kernels_in_five_frames(samples, name):
    X, y = samples
    model = ImprovedOnlineGFMM(decision="nearest", random_state=0).fit(X, y)
    assert count_frames(nearest, name, lambda: model.predict_proba(X)) <= 5


@every_estimator
def test_estimators_are_three_classes_deep_and_have_one_mixin(cls):
    own = [base for base in cls.__mro__ if base.__module__.startswith("hyperboxes")]
    own = [base for base in own if base.__module__ != "hyperboxes._compat"]  # scikit-learn's
    mixins = [base for base in own if base.__name__.endswith("Mixin")]
    assert len(own) - len(mixins) <= 3
    assert len(mixins) <= 1


@every_estimator
def test_estimators_have_at_most_25_private_methods(cls):
    own = [base for base in cls.__mro__ if base.__module__.startswith("hyperboxes")]
    private = {
        name
        for base in own
        for name, value in vars(base).items()
        if name.startswith("_") and not name.startswith("__") and is_method(value)
    }
    assert len(private) <= 25, sorted(private)


def is_method(value):
    """Tell methods and properties from plain values."""
    return inspect.isroutine(value) or isinstance(value, property)


def test_boosted_boxes_load_no_kernel_of_other_learners():
    code = (
        "import sys, numpy as np, hyperboxes as hb\n"
        "X = np.arange(40.0)[:, np.newaxis]\n"
        "model = hb.BoostedHyperboxes(2, random_state=0).fit(X, X[:, 0] > 9)\n"
        "model.predict(X), model.predict_proba(X), model.hyperboxes_, model.score(X, X[:, 0] > 9)\n"
        "print(*(name.rsplit('.')[-1] for name in sys.modules if '._kernels.' in name))"
    )
    run = [sys.executable, "-W", "ignore", "-c", code]
    loaded = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    own = {"additive", "boosting", "partition", "quantize", "simd", "structs"}
    assert set(loaded) <= own | {"jit", "numba_pipeline"}
