"""Promises of docs/stability.md: no fused operations, and predictions in several threads."""

from concurrent.futures import ThreadPoolExecutor

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import njit
from sklearn.datasets import load_iris

from hyperboxes import (
    AdaptiveGFMM,
    AgglomerativeGFMM,
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    RandomHyperboxes,
)
from hyperboxes._kernels import jit

X, Y = load_iris(return_X_y=True)

MULTIPLY_AND_ADD = """
define double @multiply_and_add(double %a, double %b, double %c) {
  %product = fmul double %a, %b
  %sum = fadd double %product, %c
  ret double %sum
}
"""


def test_kernels_allow_no_contraction():
    """Numba shows no code of cached kernels, so a function compiled in the same way stands in."""

    def multiply_and_add(a, b, c):
        return a * b + c

    compiled = njit(**jit._OPTIONS, **jit._KERNELS)(multiply_and_add)
    assert compiled(2.0, 3.0, 4.0) == 10.0
    (code,) = compiled.inspect_llvm().values()
    arithmetic = [line for line in code.splitlines() if " fmul " in line or " fadd " in line]
    assert arithmetic
    assert not [line for line in arithmetic if "contract" in line or "fast" in line]
    (assembly,) = compiled.inspect_asm().values()
    assert "fmadd" not in assembly


@pytest.mark.parametrize("triple", ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"])
def test_llvm_contracts_nothing_by_itself(triple):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(triple)
    except RuntimeError:
        pytest.skip("this LLVM compiles for its own processor only")
    features = "+fma" if triple.startswith("x86") else ""
    module = llvm.parse_assembly(MULTIPLY_AND_ADD)
    assembly = target.create_target_machine(features=features, opt=3).emit_assembly(module)
    assert "mul" in assembly
    assert "fmadd" not in assembly


@pytest.mark.parametrize(
    "estimator",
    [
        AdaptiveGFMM(),
        AgglomerativeGFMM(0.2),
        BoostedHyperboxes(6),
        ImprovedOnlineGFMM(0.1, random_state=0),
        OnlineGFMM(0.1, random_state=0),
        RandomHyperboxes(n_estimators=4, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_threads_may_predict_at_once(estimator):
    model = estimator.fit(X, Y)
    samples = np.tile(X, (20, 1))
    expected = model.predict_proba(samples)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(model.predict_proba, [samples] * 16):
            np.testing.assert_array_equal(found, expected)
