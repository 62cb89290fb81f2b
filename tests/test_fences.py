"""Fences around what the kernels do that Numba does not promise."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hyperboxes

SOURCES = sorted(Path(hyperboxes.__file__).parent.rglob("*.py"))

# Numba of a release that is still to come compiles a kernel and what it calls.
WITH_NEWER_NUMBA = """
import sys
import warnings
import numba

numba.version_info = numba.version_info._replace(short=(99, 0))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from hyperboxes._kernels.jit import internal, kernel

@internal
def double(x):
    return 2 * x

@kernel
def quadruple(x):
    return double(double(x))

print(*(w.message for w in caught if w.category is RuntimeWarning))
print(quadruple(3), "hyperboxes._kernels.numba_pipeline" in sys.modules)
"""

WITH_CHECKED_BOUNDS = """
import numpy as np
from hyperboxes._kernels.jit import check_index, kernel

@kernel
def pick(values, place):
    return values[place]

@kernel
def check(place):
    check_index(place, 3)
    return place

for use in (lambda: pick(np.arange(3), 3), lambda: check(-1), lambda: check(3)):
    try:
        print(use())
    except IndexError as error:
        print("out of range")
print(pick(np.arange(3), 2), check(2))
"""


def find_dangling(tree: ast.AST) -> Iterator[str]:
    """List calls of `pass_by_pointer` with something else than what Python keeps alive.

    That is a parameter of a `@kernel` function, which is bound again by this statement only.
    """
    safe = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and is_kernel(function):
            parameters = {argument.arg for argument in function.args.args}
            for statement in function.body:
                if isinstance(statement, ast.Assign):
                    bound = names_bound_in(function)
                    for call in calls_in(statement):
                        name = ast.unparse(call.args[0])
                        is_bound_here = name in names_bound_in(statement)
                        if name in parameters and is_bound_here and bound.count(name) == 1:
                            safe.add(call)
    return (f"line {call.lineno}" for call in calls_in(tree) if call not in safe)


def is_kernel(function: ast.FunctionDef) -> bool:
    """Return whether Python calls a function, so that its arguments outlive it."""
    return "kernel" in map(ast.unparse, function.decorator_list)


def calls_in(tree: ast.AST) -> list[ast.Call]:
    """List the calls of `pass_by_pointer`."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if ast.unparse(call.func) == "pass_by_pointer"]


def names_bound_in(tree: ast.AST) -> list[str]:
    """List the names that statements bind, as often as they do."""
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return [name.id for name in names if isinstance(name.ctx, ast.Store)]


@pytest.mark.parametrize(
    "source",
    [
        "@kernel\ndef f(a):\n    a = pass_by_pointer(a)",
        "@kernel\ndef f(a, b):\n    a, b = pass_by_pointer(a), pass_by_pointer(b)",
    ],
)
def test_parameters_of_kernels_may_be_passed_by_pointer(source):
    assert list(find_dangling(ast.parse(source))) == []


@pytest.mark.parametrize(
    "source",
    [
        "@internal\ndef f(a):\n    a = pass_by_pointer(a)",
        "@kernel\ndef f(a):\n    b = pass_by_pointer(a)",
        "@kernel\ndef f(a):\n    a = pass_by_pointer(Boxes(a))",
        "@kernel\ndef f(a):\n    b = Boxes(a)\n    b = pass_by_pointer(b)",
        "@kernel\ndef f(a):\n    a = Boxes(a)\n    a = pass_by_pointer(a)",
        "@kernel\ndef f(a):\n    a = pass_by_pointer(a)\n    a = Boxes(a)",
        "@kernel\ndef f(a):\n    g(pass_by_pointer(a))",
    ],
)
def test_nothing_else_may_be_passed_by_pointer(source):
    assert list(find_dangling(ast.parse(source))) == ["line " + str(find_line(source))]


def find_line(source: str) -> int:
    """Return the line of the call."""
    return next(n for n, line in enumerate(source.splitlines(), 1) if "pass_by" in line)


def test_kernels_pass_on_what_python_keeps_alive():
    """A tuple made in a kernel is freed after its last use, while a pointer to it is in use."""
    trees = {path.name: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert sum(len(calls_in(tree)) for tree in trees.values()) > 0
    found = {name: list(find_dangling(tree)) for name, tree in trees.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_bounds_are_checked_if_the_environment_says_so(tmp_path):
    run = [sys.executable, "-c", WITH_CHECKED_BOUNDS]
    environment = os.environ | {
        "HYPERBOXES_CHECK_BOUNDS": "1",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines() == [*["out of range"] * 3, "2 2"]


def test_newer_numba_compiles_by_its_own_pipeline_and_a_warning_says_so():
    run = [sys.executable, "-c", WITH_NEWER_NUMBA]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    warning, result = done.stdout.splitlines()
    assert "Numba 99.0" in warning
    assert "twice" in warning
    assert result == "12 False"
