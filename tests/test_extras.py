"""Every target of the Makefile works first on a fresh clone: its extra names what it imports."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import NEEDED_BY
from tools.oldest import needs

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RULES = re.findall(r"^(\S+?):(?: bench-%:)? (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

# What the targets run, apart from the package; its own imports are the business of `test_layers`.
RUN_BY = {
    "demo": [],
    "test": ["conftest.py", "tests/*.py", "README.md", "docs/*.md"],
    "test-bounds": ["conftest.py", "tests/*.py"],
    "test-oldest": ["conftest.py", "tests/*.py", "README.md", "docs/*.md"],
    "dist": ["tools/check_dist.py"],
    "lint": ["tools/check_prose.py"],
    "format": [],
    "pictures": ["examples/*.py"],
    "docs": ["docs/conf.py", "docs/_ext/*.py", "examples/gallery/*.py"],
    "$(BENCHMARKS)": ["benchmarks/**/*.py"],
    "$(ON_PAPER_SETS)": ["benchmarks/paper_sets.py"],
    "bench-gate": ["benchmarks/gate.py"],
    "reproduce": ["benchmarks/reproduce/*.py"],
    "reproduce-quick": ["benchmarks/reproduce/*.py"],
}

# Packages whose modules have another name than they have.
MODULES = {"hyperbox_brain": "hbbrain", "interpret_core": "interpret", "scikit_learn": "sklearn"}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def extras():
    """Return the extra that each target installs, its own or that of the target it needs."""
    found, waiting = {}, {}
    for target, prerequisites in RULES:
        prerequisites = prerequisites.replace("$(OLDEST)", "test-core")
        if extra := re.search(r"\$\(VENV\)(?:-oldest)?/\.([\w-]+)", prerequisites):
            found.setdefault(target, extra[1])
        elif target in RUN_BY:
            waiting[target] = prerequisites
    return found | {target: found[other] for target, other in waiting.items() if other in found}


def installed_by(extra):
    """Return the modules that the package and an extra install, without what these bring along."""
    requirements = [*PROJECT["dependencies"], *needs(PROJECT, extra)]
    names = [re.match(r"[\w-]+", each)[0].replace("-", "_") for each in requirements]
    return {MODULES.get(name, name) for name in names} | {"llvmlite"}  # a part of Numba


def source_of(path):
    """Return a script, or the imports in the examples of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    return "\n".join(re.findall(r"^>>> ((?:import|from) .*)", text, re.MULTILINE))


def statements(node, *, also_in_functions):
    """Yield all statements that run, those for type checkers are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, FUNCTIONS) and not also_in_functions:
            continue
        yield child
        yield from statements(child, also_in_functions=also_in_functions)


def imported_by(path, *, also_in_functions):
    """Yield the dotted names that a file imports, and those that Sphinx imports for it."""
    for node in statements(ast.parse(source_of(path)), also_in_functions=also_in_functions):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif path.name == "conf.py" and is_assignment(node, "extensions", "html_theme"):
            value = ast.literal_eval(node.value)
            yield from [value] if isinstance(value, str) else value


def is_assignment(node, *names):
    """Tell whether a statement gives one of these names a value."""
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in names


def own_files(name):
    """Return the files of the checkout that an import of a dotted name runs."""
    parts = name.split(".")
    paths = [
        folder.joinpath(*parts[:length])
        for folder in (ROOT, ROOT / "docs/_ext")
        for length in range(1, len(parts) + 1)
    ]
    files = [file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py")]
    return [file for file in files if file.exists()]


def needed_by(files):
    """Return the modules of other packages that files import, and the files imported by them."""
    found, waiting, seen = set(), [(file, True) for file in files], set(files)
    while waiting:
        path, is_run = waiting.pop()
        # What a file that is only imported does in functions may be for others.
        for name in imported_by(path, also_in_functions=is_run):
            own = own_files(name)
            waiting += [(file, False) for file in own if file not in seen]
            seen.update(own)
            if not own:
                found.add(name.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"hyperboxes"}


def find_files(patterns):
    """Return the files of the checkout that match a pattern."""
    return {file for pattern in patterns for file in ROOT.glob(pattern)}


def test_targets_are_those_of_the_makefile():
    assert extras().keys() == RUN_BY.keys()


@pytest.mark.parametrize("target", RUN_BY)
def test_extra_of_a_target_names_what_it_imports(target):
    files = find_files(RUN_BY[target])
    assert len(files) >= len(RUN_BY[target])
    installed = installed_by(extras()[target])
    for module, patterns in NEEDED_BY.items():
        if module.split(".")[0] not in installed:
            files -= find_files(patterns)
    assert needed_by(files) <= installed
