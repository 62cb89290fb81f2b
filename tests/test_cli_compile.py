"""`hyperboxes compile`: afterwards, no typical input has anything compiled."""

import sys

import numpy as np
import pandas as pd
import pytest

from hyperboxes._cli import main
from hyperboxes._cli.compile import small_models, use_model

rng = np.random.default_rng(1)
X, y = rng.random((300, 4)), rng.integers(2, size=300)
FRAME = pd.DataFrame(X, columns=[*"abcd"]).assign(d=pd.Categorical(rng.choice([*"uvw"], size=300)))
INPUTS = {
    "float32": X.astype(np.float32),
    "Fortran order": np.asfortranarray(X),
    "strided": np.repeat(X, 2, axis=1)[:, ::2],
    "missing values": np.where(X < 0.1, np.nan, X),
    "frame with categories": FRAME,
    "one feature": X[:, :1],
}


def compiled():
    """Return how many kinds of input each kernel has code for."""
    modules = [m for name, m in sys.modules.items() if name.startswith("hyperboxes.")]
    functions = {id(f): f for m in modules for f in vars(m).values() if hasattr(f, "py_func")}
    return {
        f"{f.__module__}.{f.__name__}": len(f.signatures)
        for f in functions.values()
        if f.__module__.startswith("hyperboxes.") and f.signatures
    }


@pytest.mark.parametrize(
    "name", ["ImprovedOnlineGFMM", "OnlineGFMM", "AdaptiveGFMM", "BoostedHyperboxes"]
)
def test_nothing_is_compiled_afterwards(name):
    models = [*small_models()]
    numbers = [n for n, model in enumerate(models) if type(model).__name__ == name]
    for number in numbers:
        assert use_model(number) == name
    before = compiled()
    for number in numbers:
        model = models[number]
        for kind, data in INPUTS.items():
            if kind == "frame with categories" and name == "AdaptiveGFMM":
                continue
            model.fit(data, y).predict(data)
            model.predict_proba(data)
        if hasattr(model, "partial_fit"):
            model.partial_fit(data, y)
        else:
            model.fit(X, y, sample_weight=rng.integers(1, 4, size=len(y)))
    assert compiled() == before


def test_the_command_compiles_in_processes(monkeypatch, capsys):
    monkeypatch.setattr("hyperboxes._cli.compile.small_models", lambda literature: iter("a"))
    assert main(["compile"]) == 0
    out, err = capsys.readouterr()
    assert "compiled ImprovedOnlineGFMM" in out + err
