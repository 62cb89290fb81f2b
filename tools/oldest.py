"""Print the lower bounds that pyproject.toml declares, as constraints for pip.

`make test-oldest` installs them, so that the bounds are those that were tested. Usage:
`python tools/oldest.py test-core > constraints.txt` for the core dependencies and an extra.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
OWN_EXTRAS = re.compile(r"hyperboxes\[([a-z,-]+)\]")
AT_LEAST = re.compile(r"([A-Za-z0-9._-]+)>=([0-9.]+)")


def oldest(project: dict, extra: str) -> dict[str, str]:
    """Return the lowest version of each package that the core and an extra allow.

    Raises
    ------
    ValueError
        If a requirement is not of the form ``name>=version``, so that nothing is said to be
        tested that is not.
    """
    versions = {}
    for requirement in [*project["dependencies"], *needs(project, extra)]:
        bound = AT_LEAST.fullmatch(requirement)
        if bound is None:
            raise ValueError(f"{requirement!r} in pyproject.toml must be of the form name>=version")
        name, version = bound.groups()
        versions[name.lower()] = max(version, versions.get(name.lower(), "0"), key=numbers)
    return versions


def numbers(version: str) -> list[int]:
    """Return the parts of a version as numbers."""
    return [int(part) for part in version.split(".")]


def needs(project: dict, extra: str) -> Iterator[str]:
    """List what an extra requires, with the package's own extras spelled out."""
    for requirement in project["optional-dependencies"][extra]:
        if own := OWN_EXTRAS.fullmatch(requirement):
            for other in own[1].split(","):
                yield from needs(project, other)
        else:
            yield requirement


if __name__ == "__main__":
    metadata = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    for package, version in sorted(oldest(metadata, sys.argv[1]).items()):
        print(f"{package}=={version}")
