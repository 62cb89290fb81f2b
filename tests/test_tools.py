"""Releases: one version everywhere, and the lower bounds that are tested are those declared."""

import re
from pathlib import Path

import pytest

import hyperboxes
from tools.check_prose import find_phrases, prose_of
from tools.oldest import oldest

ROOT = Path(__file__).parent.parent

PROJECT = {
    "dependencies": ["numpy>=1.26", "scikit-learn>=1.9"],
    "optional-dependencies": {
        "plot": ["matplotlib>=3.8"],
        "demo": ["hyperboxes[plot,table]"],
        "table": ["pandas>=2"],
        "test": ["hyperboxes[demo]", "pytest>=8"],
        "loose": ["ruff"],
        "capped": ["pandas>=2,<3"],
        "newer": ["numpy>=1.100"],
    },
}


def test_lower_bounds_of_an_extra_and_of_the_extras_in_it():
    core = {"numpy": "1.26", "scikit-learn": "1.9"}
    assert oldest(PROJECT, "plot") == core | {"matplotlib": "3.8"}
    assert oldest(PROJECT, "newer") == core | {"numpy": "1.100"}
    assert oldest(PROJECT, "test") == core | {"matplotlib": "3.8", "pandas": "2", "pytest": "8"}


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("loose", "'ruff' in pyproject.toml must be of the form name>=version"),
        ("capped", "'pandas>=2,<3' in pyproject.toml must be of the form"),
    ],
)
def test_bounds_that_would_not_be_tested(extra, message):
    with pytest.raises(ValueError, match=message):
        oldest(PROJECT, extra)


def find(file, pattern):
    return re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE).groups()


def test_package_changelog_and_citation_name_the_same_release():
    latest = find("CHANGELOG.md", r"^## \[([0-9.]+)\] - (\S+)$")
    assert find("CITATION.cff", r"^version: (\S+)\ndate-released: (\S+)$") == latest
    if "dev" not in hyperboxes.__version__:
        assert hyperboxes.__version__ == latest[0]


def test_prose_with_replaced_phrases_is_found(tmp_path):
    module = tmp_path / "module.py"
    module.write_text('"""The box.\n\nIt knows `x`."""\nsays = 1  # asks for\n', encoding="utf-8")
    phrases = [{"pattern": r"\b(knows|says|asks)\b", "use": "has"}]
    found = list(find_phrases(prose_of(module), phrases))
    assert found == ["3: 'knows': write has", "4: 'asks': write has"]


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="an sdist has no workflows")
def test_workflow_tests_the_declared_pythons():
    declared = re.findall(
        r"Language :: Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    )
    (tested,) = find(".github/workflows/tests.yml", r"^        python: \[(.*)\]$")
    assert re.findall(r"[\d.]+", tested) == declared
