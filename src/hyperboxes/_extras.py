"""Optional dependencies, imported where they are used, and the oldest releases that work."""

import re
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from types import ModuleType

_AT_LEAST = re.compile(r"([\w.-]+)>=([\d.]+)(;.*)?")


def need(module: str, extra: str, what: str) -> ModuleType:
    """Import a module, or raise an error that names the extra that installs it."""
    package = module.split(".")[0]
    try:
        found = import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install 'hyperboxes[{extra}]'") from error
    if package in (oldest := _oldest_releases()):
        _check_version(package, oldest[package])
    return found


@cache
def check_core() -> None:
    """Raise an error if a core dependency is older than this package supports."""
    for package, oldest in _oldest_releases(extras=False).items():
        _check_version(package, oldest)


@cache
def _oldest_releases(*, extras: bool = True) -> dict[str, str]:
    """Return the oldest supported release of each dependency; none in a plain checkout.

    Where an extra needs a newer release than others, that is left to the package manager.
    """
    try:
        requirements = requires("hyperboxes") or []
    except PackageNotFoundError:
        requirements = []
    bounds = [_AT_LEAST.fullmatch(requirement) for requirement in requirements]
    known = [found for found in bounds if found and (extras or not found[3])]
    newest_first = sorted(known, key=lambda found: _numbers(found[2]), reverse=True)
    return {found[1]: found[2] for found in newest_first}


@cache
def _check_version(package: str, oldest: str) -> None:
    try:
        installed = version(package)
    except PackageNotFoundError:  # put there without a package manager
        return
    if _numbers(installed) < _numbers(oldest):
        raise ImportError(
            f"hyperboxes needs {package} {oldest} or newer, but {installed} is installed: "
            f"pip install '{package}>={oldest}'"
        )


def _numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release: "1.26.0rc1" becomes (1, 26, 0, 1)."""
    return tuple(int(digits) for digits in re.findall(r"\d+", release))
