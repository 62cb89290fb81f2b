"""The tools of the release: the lower bounds that are tested are those that are declared."""

import pytest

from tools.oldest import oldest

PROJECT = {
    "dependencies": ["numpy>=1.26", "scikit-learn>=1.9"],
    "optional-dependencies": {
        "plot": ["matplotlib>=3.8"],
        "demo": ["hyperboxes[plot,table]"],
        "table": ["pandas>=2"],
        "test": ["hyperboxes[demo]", "pytest>=8"],
        "loose": ["ruff"],
        "capped": ["pandas>=2,<3"],
        "other": ["numpy>=2"],
    },
}


def test_lower_bounds_of_an_extra_and_of_the_extras_in_it():
    core = {"numpy": "1.26", "scikit-learn": "1.9"}
    assert oldest(PROJECT, "plot") == core | {"matplotlib": "3.8"}
    assert oldest(PROJECT, "test") == core | {"matplotlib": "3.8", "pandas": "2", "pytest": "8"}


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("loose", "'ruff' in pyproject.toml must be of the form name>=version"),
        ("capped", "'pandas>=2,<3' in pyproject.toml must be of the form"),
        ("other", "two lower bounds for numpy; keep one"),
    ],
)
def test_bounds_that_would_not_be_tested(extra, message):
    with pytest.raises(ValueError, match=message):
        oldest(PROJECT, extra)
