"""The layers of CONTRIBUTING.md hold, and extras are imported only where they are used."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import hyperboxes

ROOT = Path(__file__).parent.parent
PACKAGE = Path(hyperboxes.__file__).parent
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# The columns of the table: layer, files, what they are for.
LAYER, FILES = slice(0, 13), slice(13, 58)
MAX_LINES = 500


class Row(NamedTuple):
    """A row of the table: a layer or a part of one, and what is in it."""

    layer: str
    patterns: list[str]


class Import(NamedTuple):
    """An import of a module, by its dotted name or, in this package, its file."""

    name: str
    at_top: bool  # of the module, and not for types only


def rows() -> list[Row]:
    """Read the table of CONTRIBUTING.md, from the top layer down."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = re.search(r"```\n(command line .*?)```", page, re.DOTALL)[1]
    found: list[Row] = []
    files = ""
    for line in table.splitlines():
        layer = line[LAYER].strip() or found[-1].layer
        if files.endswith(","):  # the row goes on
            files += line[FILES].strip()
            found.pop()
        else:
            files = line[FILES].strip()
        found.append(Row(layer, spell_out(files)))
    return found


def spell_out(files: str) -> list[str]:
    """Repeat the folder, which a row names once: `_kernels/a.py, b.py`."""
    folder, patterns = "", []
    for name in re.split(r",\s*", files.strip(",")):
        if name.endswith("/"):
            patterns.append(name + "*")
            continue
        if "/" in name:
            folder = name[: name.rindex("/") + 1]
        patterns.append(folder + name.removeprefix(folder))
    return patterns


ROWS = rows()
PLACE = {
    module: [i for i, row in enumerate(ROWS) if any(fnmatch(module, p) for p in row.patterns)]
    for module in MODULES
}


def find_imports(module: str) -> Iterator[Import]:
    """List all imports of a module, also those inside functions.

    The version does not count: it stands in `__init__.py`, where tools look for it, and needs
    nothing else.
    """
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        for name in imported_names(node, tree):
            if name != "hyperboxes.__version__":
                yield Import(file_of(name), at_top=node in tree.body)


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
    return sorted(m for m, places in PLACE.items() for i in places if ROWS[i].layer in layers)


STANDARD = set(sys.stdlib_module_names)
CORE = installed_by(PROJECT["dependencies"]) | {"llvmlite"}  # a part of Numba
EXTRAS = {
    module
    for extra in ("plot", "pandas", "progress", "onnx", "cli")
    for module in installed_by(PROJECT["optional-dependencies"][extra])
}


def test_each_module_has_one_place():
    assert {module for module, places in PLACE.items() if len(places) != 1} == set()


def test_the_table_names_nothing_that_is_not_there():
    patterns = [pattern for row in ROWS for pattern in row.patterns]
    assert [p for p in patterns if not any(fnmatch(module, p) for module in MODULES)] == []


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_point_downwards(module):
    upwards = {found.name for found in own_imports(module) if PLACE[found.name] < PLACE[module]}
    assert upwards == set()


def test_no_module_needs_itself():
    needs = {m: {found.name for found in own_imports(m) if found.at_top} - {m} for m in MODULES}
    assert len(list(TopologicalSorter(needs).static_order())) == len(MODULES)


@pytest.mark.parametrize("module", modules_of("readers"))
def test_readers_leave_kernels_and_learners_alone(module):
    layers = {ROWS[PLACE[found.name][0]].layer for found in own_imports(module)}
    assert not layers & {"kernels", "learners"}


@pytest.mark.parametrize("module", modules_of("learners", "boxes", "kernels"))
def test_scikit_learn_stays_above_the_learners(module):
    assert "sklearn" not in {found.name for found in find_imports(module)}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_extras_are_imported_where_they_are_used(module):
    others = [f for f in find_imports(module) if f.name not in MODULES.keys() | STANDARD]
    assert {found.name for found in others if found.at_top} <= CORE
    assert {found.name for found in others} <= CORE | EXTRAS


def test_files_are_short():
    here = [*MODULES.values(), *(ROOT / "tests").glob("*.py")]
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in here}
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


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
