"""Folders are layers: imports point downwards only, and extras are imported where they are used."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import hyperboxes

ROOT = Path(__file__).parent.parent
PACKAGE = Path(hyperboxes.__file__).parent
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# The folders, and the modules beside them, from the top layer down.
LAYERS = (
    ("_cli", "__main__"),
    ("__init__",),
    ("_report", "_plots", "literature"),
    ("_readers",),
    ("_files", "river", "dask"),
    ("_estimators",),
    ("_learning",),
    ("_models",),
    ("_kernels",),
    ("_extras", "_compat", "_compiling", "_docstrings"),
)
PLACE = {name: place for place, names in enumerate(LAYERS) for name in names}
MAX_LINES = 800


class Import(NamedTuple):
    """An import of a module, by its dotted name or, in this package, its file."""

    name: str
    at_top: bool  # of the module, and not for types only


def layer_of(module: str) -> str:
    """Return the folder of a module, or its name if it is beside the folders."""
    return module.split("/")[0].removesuffix(".py")


@cache
def find_imports(module: str) -> list[Import]:
    """List all imports of a module, also those inside functions.

    The version does not count: it stands in `__init__.py`, where tools look for it, and needs
    nothing else.
    """
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return [
        Import(file_of(name), at_top=node in tree.body)
        for node in ast.walk(tree)
        for name in imported_names(node, tree)
        if name != "hyperboxes.__version__"
    ]


def imported_names(node: ast.AST, tree: ast.Module) -> Iterator[str]:
    """List what a statement imports; `import hyperboxes` stands for all that is read from it."""
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name == "hyperboxes":
                yield from (f"hyperboxes.{name}" for name in read_from("hyperboxes", tree))
            else:
                yield alias.name


def read_from(name: str, tree: ast.Module) -> set[str]:
    """Return the attributes of a name that the module reads."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {n.attr for n in nodes if isinstance(n.value, ast.Name) and n.value.id == name}


def file_of(name: str) -> str:
    """Return the file of this package that an import reads, or the name of another package."""
    package, *parts = name.split(".")
    if package != "hyperboxes":
        return package
    while parts:
        for file in ("/".join(parts) + ".py", "/".join([*parts, "__init__.py"])):
            if file in MODULES:
                return file
        parts.pop()  # it was a name in a module
    return "__init__.py"


def own_imports(module: str) -> list[Import]:
    """List a module's imports from this package."""
    return [found for found in find_imports(module) if found.name in MODULES]


def installed_by(requirements: list[str]) -> set[str]:
    """Return the modules that requirements install."""
    found = {re.match(r"[A-Za-z0-9-]+", requirement)[0] for requirement in requirements}
    return {{"scikit-learn": "sklearn"}.get(name, name) for name in found}


def modules_of(*layers: str) -> list[str]:
    """List the modules of some layers."""
    return sorted(module for module in MODULES if layer_of(module) in layers)


STANDARD = set(sys.stdlib_module_names)
CORE = installed_by(PROJECT["dependencies"]) | {"llvmlite"}  # a part of Numba
EXTRAS = {
    module
    for extra in ("plot", "pandas", "progress", "onnx", "river", "dask", "cli")
    for module in installed_by(PROJECT["optional-dependencies"][extra])
}


def test_each_module_is_in_a_layer():
    assert {layer_of(module) for module in MODULES} == PLACE.keys()


def test_contributing_shows_the_layers_in_order():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = re.search(r"```\n(_cli/.*?)```", page, re.DOTALL)[1]
    folders = re.findall(r"^(\w+)/", tree, re.MULTILINE)
    in_order = [name for names in LAYERS for name in names if f"{name}/__init__.py" in MODULES]
    assert folders == in_order


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_point_downwards(module):
    place = PLACE[layer_of(module)]
    upwards = {f.name for f in own_imports(module) if PLACE[layer_of(f.name)] < place}
    assert upwards == set()


@pytest.mark.parametrize("module", sorted(MODULES))
def test_nothing_imports_the_literature_but_itself(module):
    if layer_of(module) != "literature":
        assert "literature" not in {layer_of(found.name) for found in own_imports(module)}


def test_the_main_road_does_not_load_the_literature():
    code = (
        "import sys, io, hyperboxes as hb\n"
        "model = hb.ImprovedOnlineGFMM().fit([[0.0], [1.0], [2.0]], ['a', 'a', 'b'])\n"
        "file = io.BytesIO()\n"
        "hb.save(model, file); file.seek(0); hb.load(file)\n"
        "model.predict_proba([[0.5]]), hb.export_text(model), hb.explain(model, [[0.5]])[0]\n"
        "assert not [name for name in sys.modules if name.startswith('hyperboxes.literature')]"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_no_module_needs_itself():
    needs = {m: {found.name for found in own_imports(m) if found.at_top} - {m} for m in MODULES}
    assert len(list(TopologicalSorter(needs).static_order())) == len(MODULES)


@pytest.mark.parametrize("module", modules_of("_cli", "_report", "_plots", "_readers"))
def test_readers_leave_kernels_and_learning_alone(module):
    assert not {layer_of(f.name) for f in own_imports(module)} & {"_kernels", "_learning"}


@pytest.mark.parametrize("module", modules_of("_learning", "_models", "_kernels"))
def test_scikit_learn_stays_above_the_learners(module):
    assert "sklearn" not in {found.name for found in find_imports(module)}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_extras_are_imported_where_they_are_used(module):
    others = [f for f in find_imports(module) if f.name not in MODULES.keys() | STANDARD]
    assert {found.name for found in others if found.at_top} <= CORE
    assert {found.name for found in others} <= CORE | EXTRAS


def test_public_names_are_sorted_and_found_when_asked_for():
    assert hyperboxes.__all__ == sorted(set(hyperboxes.__all__))
    assert set(hyperboxes.__all__) <= set(dir(hyperboxes))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hyperboxes.nothing


@pytest.mark.parametrize("name", hyperboxes.__all__)
def test_public_names_say_what_they_are(name):
    public = getattr(hyperboxes, name)
    assert inspect.getdoc(public)
    if inspect.isclass(public):
        members = inspect.getmembers(public, is_documented_kind)
        bare = [n for n, member in members if n[0] != "_" and not inspect.getdoc(member)]
        assert bare == []


def is_documented_kind(member: object) -> bool:
    """Tell methods and properties from plain values."""
    return inspect.isroutine(member) or isinstance(member, property)


# Modules that still use private attributes of estimators. Remove them here, add none.
USES_PRIVATE = {
    "_files/saving.py",
    "_readers/ensembles.py",
    "_readers/explain.py",
    "_readers/explanation.py",
    "_readers/fitted.py",
    "river.py",
}


def private_names(module: str) -> set[str]:
    """Return the private methods and attributes of the classes of a module."""
    names = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            functions = (n for n in node.body if isinstance(n, ast.FunctionDef))
            names |= {function.name for function in functions}
            attributes = (n for n in ast.walk(node) if isinstance(n, ast.Attribute))
            names |= {n.attr for n in attributes if isinstance(n.ctx, ast.Store)}
    return {name for name in names if name.startswith("_") and not name.endswith("__")}


def test_private_attributes_of_estimators_stay_private():
    names = {name for module in modules_of("_estimators") for name in private_names(module)}
    users = set()
    for module in modules_of("_cli", "_report", "_plots", "_readers", "_files", "river"):
        for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in names:
                is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                users |= set() if is_own else {module}
    assert users <= USES_PRIVATE
