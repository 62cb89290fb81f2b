"""Errors about the environment: what is missing or too old, and what to install."""

from importlib.util import find_spec

import pytest

from hyperboxes import ImprovedOnlineGFMM, _extras

REQUIREMENTS = [
    "numpy>=1.26",
    "scikit-learn>=1.6",
    "rich>=14.1; extra == 'progress'",
    "rich>=15; extra == 'other'",
]


@pytest.fixture
def installed(monkeypatch):
    """Return the versions of packages that are said to be installed, to be filled in."""
    versions = {"numpy": "1.26.4", "scikit-learn": "1.10.0", "rich": "14.1"}
    caches = _extras.check_core, _extras._oldest_releases, _extras._check_version
    for function in caches:
        function.cache_clear()
    monkeypatch.setattr(_extras, "requires", lambda package: REQUIREMENTS)
    monkeypatch.setattr(_extras, "version", versions.__getitem__)
    yield versions
    for function in caches:
        function.cache_clear()


def test_releases_that_are_new_enough(installed):
    _extras.check_core()
    assert _extras.need("rich", "progress", "A bar").__name__ == "rich"


def test_old_core_dependency_is_named(installed):
    installed["scikit-learn"] = "1.5.2"
    message = (
        r"needs scikit-learn 1\.6 or newer, but 1\.5\.2 is installed: "
        r"pip install 'scikit-learn>=1\.6'"
    )
    with pytest.raises(ImportError, match=message):
        _extras.check_core()


def test_old_extra_is_named_when_it_is_used(installed):
    installed["rich"] = "13.9.4"
    _extras.check_core()
    with pytest.raises(ImportError, match=r"needs rich 14\.1 or newer, but 13\.9\.4 is"):
        _extras.need("rich", "progress", "A bar")


def test_missing_extra_is_named():
    with pytest.raises(
        ImportError, match=r"A bar needs nothing: pip install 'hyperboxes\[progress"
    ):
        _extras.need("nothing.at_all", "progress", "A bar")


def test_callbacks_work_where_scikit_learn_has_them():
    model = ImprovedOnlineGFMM()
    if find_spec("sklearn.callback"):
        assert model.set_callbacks() is model
    else:
        with pytest.raises(
            ImportError, match=r"Callbacks need scikit-learn 1\.9 or newer, but 1\."
        ):
            model.set_callbacks()
