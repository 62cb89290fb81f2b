"""Fixtures of the tests of the command line, of the displays, and of the report in a browser."""

import matplotlib.pyplot as plt
import pytest

from hyperboxes import BoostedHyperboxes, ImprovedOnlineGFMM, export_html, save
from hyperboxes._cli import main
from tests.browser import Window, start_browser
from tests.iris_tables import FEATURES, TEST, TRAIN

for helper in ("graphs", "learners", "model_files"):
    pytest.register_assert_rewrite(f"tests.{helper}")


@pytest.fixture
def close_figures():
    """Close what a test has drawn."""
    yield
    plt.close("all")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with the data and a model of it."""
    monkeypatch.chdir(tmp_path)
    TRAIN.to_csv("train.csv", index=False)
    TEST.to_csv("test.csv", index=False)
    model = ImprovedOnlineGFMM(theta=0.3, shuffle=False).fit(
        TRAIN[FEATURES], TRAIN["species"].to_numpy(str)
    )
    save(model, "model.hyperboxes")
    return tmp_path


@pytest.fixture
def boosted(folder):
    """Save a model of boosted boxes next to the data, and return it."""
    model = BoostedHyperboxes(6, random_state=0).fit(TRAIN[FEATURES], TRAIN["species"])
    save(model, "boosted")
    return model


@pytest.fixture
def run(folder, capsys):
    """Run a command and return its exit code, output and errors."""

    def run(*argv):
        capsys.readouterr()
        try:
            code = main([str(arg) for arg in argv])
        except SystemExit as exit_:
            code = exit_.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def get(run):
    """Run a command that succeeds and return its output."""

    def get(*argv):
        code, out, err = run(*argv)
        assert code == 0, err
        return out

    return get


@pytest.fixture
def refuse(run):
    """Run a command that fails and return its one line of complaint."""

    def refuse(*argv, code=1):
        found, out, err = run(*argv)
        assert found == code, err
        assert out == ""
        lines = [line for line in err.splitlines() if not line.startswith("Columns that are no")]
        assert len(lines) == 1, err
        assert lines[0].startswith("hyperboxes: error: ")
        return lines[0]

    return refuse


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """Start a browser."""
    driver = start_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def show(driver, tmp_path):
    """Write a report and open it; at the end nobody has complained."""
    windows = []

    def show(model, X, y, *, width=1200, scheme="light", **options):
        path = tmp_path / "report.html"
        path.write_text(export_html(model, X, y, **options), "utf-8")
        windows.append(Window(driver, path, width, scheme))
        return windows[-1]

    yield show
    for window in windows:
        assert window.complaints() == []
