"""The command line as a whole: help, errors in one line, and progress."""

import csv
import gzip
import os
import subprocess
import sys

import pandas as pd
import pytest

import hyperboxes
from hyperboxes import (
    AgglomerativeGFMM,
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    load,
)
from hyperboxes._cli import COMMANDS, main
from hyperboxes.literature import FuzzyMinMax
from tests.iris_tables import FEATURES
from tests.marks import on_posix

FIT = ["fit", "train.csv", "-o", "new"]
BAD_DATA = [
    ([*FIT, "--target", "colour"], "train.csv has no column 'colour'; its columns are sepal"),
    ([*FIT, "--target", "species", "--drop", "id,x"], "no columns 'id', 'x'; its columns"),
    ([*FIT, "--target", "species", "--features", "species"], "species is the target"),
    (["fit", "none.csv", "-o", "new", "--target", "a"], "No such file or directory: none.csv"),
    (["fit", ".", "-o", "new", "--target", "a"], "Is a directory: ."),
    (["fit", "train.csv", "-o", "no/new", "--target", "species"], "No such folder: no"),
    (["fit", "train.csv", "-o", ".", "--target", "species"], "Is a folder, not a file: ."),
    (
        ["evaluate", "model.hyperboxes", "test.csv", "--target", "petal width (cm)"],
        "petal width (cm) is a feature of the model, so it cannot be the target",
    ),
    (["evaluate", "model.hyperboxes", "test.csv", "--target", "colour"], "no column 'colour'"),
    (["predict", "none", "test.csv"], "No such file or directory: none"),
    (["predict", "train.csv", "test.csv"], "Cannot load 'train.csv'"),
    (["predict", "model.hyperboxes", "short.csv"], "short.csv has no column 'sepal width (cm)'"),
    (
        ["predict", "model.hyperboxes", "test.csv", "--keep", "--column", "species"],
        "another --column",
    ),
    (
        ["predict", "model.hyperboxes", "test.csv", "--proba", "--column", "proba_setosa"],
        "two columns named 'proba_setosa'",
    ),
    (["explain", "model.hyperboxes", "test.csv", "--row", "51"], "has 50 rows, so there is no row"),
    (["explain", "model.hyperboxes", "oops.csv", "--row", "1", "3"], "row 3 of petal width (cm)"),
    (["evaluate", "model.hyperboxes", "holes.csv", "--target", "species"], "row 3 has no species"),
    (["fit", "holes.csv", "-o", "new", "--target", "species"], 'add --unlabeled ""'),
    (["fit", "empty.csv", "-o", "new", "--target", "species"], "empty.csv is empty"),
    (["fit", "header.csv", "-o", "new", "--target", "y"], "header.csv has no rows"),
    (["predict", "model.hyperboxes", "names.csv"], "names.csv has no rows"),
    (
        ["fit", "mac.csv", "-o", "new", "--target", "y"],
        "mac.csv has lines that end with a carriage",
    ),
    (["fit", "blank.csv", "-o", "new", "--target", "y"], "a column has no name"),
    (["fit", "twice.csv", "-o", "new", "--target", "y"], "two columns are named 'x'"),
    (["fit", "only.csv", "-o", "new", "--target", "y"], "only.csv has no columns but y"),
    (["fit", "words.csv", "-o", "new", "--target", "y"], "not numbers: day, hour (row 1 of"),
    (["fit", "ragged.csv", "-o", "new", "--target", "y"], "row 2: expected 2 cells, got 3"),
    (["fit", "latin.csv", "-o", "new", "--target", "y"], "latin.csv: it is not in UTF-8"),
    (["fit", "infinite.csv", "-o", "new", "--target", "y"], "row 2 of x is infinite"),
    (["fit", "header.csv", "-o", "new", "--target", "y", "--sep", ";"], "no column 'y'"),
    (["fit", "none.csv.gz", "-o", "new", "--target", "y"], "No such file"),
    (["fit", "cut.csv.gz", "-o", "new", "--target", "y"], "cut.csv.gz is damaged or cut off ("),
    (["fit", "wrong.csv.gz", "-o", "new", "--target", "y"], "wrong.csv.gz is damaged or cut off ("),
    (
        ["fit", "marks.csv", "-o", "new", "--target", "y", "--unlabeled", "?", "--batch-rows", "9"],
        "no row has a label, every y is '?'",
    ),
    (
        ["fit", "header.csv", "-o", "new", "--target", "y", "--batch-rows", "9"],
        "header.csv has no rows",
    ),
    (
        [
            "fit",
            "marks.csv",
            "-o",
            "new",
            "--target",
            "y",
            "--unlabeled",
            "?",
            "--learner",
            "agglo2",
        ],
        "y holds no label",
    ),
]


@pytest.mark.parametrize(("argv", "message"), BAD_DATA, ids=lambda value: str(value)[:40])
def test_bad_data(refuse, folder, argv, message):
    zipped = gzip.compress(b"x,y\n1,a\n2,b\n")
    names = ",".join(FEATURES).encode()
    files = {
        "short.csv": b"sepal length (cm),petal length (cm),petal width (cm)\n1,2,3\n",
        "holes.csv": names + b",species\n1,2,3,4,a\n1,2,3,4,b\n1,2,3,4,\n",
        "oops.csv": names + b"\n1,2,3,4\n1,2,3,4\n1,2,3,oops\n",
        "empty.csv": b"\n\n",
        "header.csv": b"x,y\n",
        "names.csv": names,
        "mac.csv": b"x,y\r1,a\r",
        "blank.csv": b"x,,y\n1,2,a\n",
        "twice.csv": b"x,x,y\n1,2,a\n",
        "only.csv": b"y\na\n",
        "words.csv": b"x,day,hour,y\n1,2020-01-01,10:30,a\n",
        "ragged.csv": b"x,y\n1,a\n1,a,5\n",
        "latin.csv": "x,y\n1,é\n".encode("latin-1"),
        "infinite.csv": b"x,y\n1,a\ninf,b\n",
        "marks.csv": b"x,y\n1,?\n2,?\n",
        "cut.csv.gz": zipped[:-9],
        "wrong.csv.gz": zipped[:-8] + bytes(8),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert message in refuse(*argv)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


BAD_USAGE = [
    ([*FIT, "--target", "species", "--gamma", "1,2"], "--gamma has 2 numbers, but there are 4"),
    (["fit", "train.csv", "-o", "train.csv", "--target", "species"], "-o train.hyperboxes"),
    (["fit", "model.hyperboxes", "-o", "model.hyperboxes", "--target", "a"], "is read from"),
    (["stream", "train.csv", "--target", "species", "-o", "x.csv"], "--predictions x.csv"),
    (["fit", "train.csv", "-o", "-", "--target", "species"], "name a file"),
    (["stream", "-", "-o", "new", "--target", "species", "--resume"], "--resume needs a file"),
    (["stream", os.devnull, "-o", "new", "--target", "species", "--resume"], "needs a file"),
    (["predict", "model.hyperboxes", "test.csv", "-o", "test.csv"], "test.csv is read from"),
    (["predict", "model.hyperboxes", "test.csv", "-o", "model.hyperboxes"], "is read from"),
    (["predict", "model.hyperboxes", "test.csv", "--json", "-o", "a.parquet"], "Parquet"),
    (["rules", "model.hyperboxes", "--target", "species"], "--data, which is not given"),
    (["rules", "model.hyperboxes", "--sep", ";"], "--data, which is not given"),
    (["rules", "model.hyperboxes", "--format", "sql", "--max-rules", "3"], "takes all rules"),
    (["rules", "model.hyperboxes", "--table", "t"], "--table needs --format sql"),
    (["rules", "model.hyperboxes", "--crisp"], "--crisp needs --format sql"),
]


@pytest.mark.parametrize(("argv", "message"), BAD_USAGE, ids=lambda value: str(value)[:40])
def test_options_that_do_not_go_together(refuse, argv, message):
    assert message in refuse(*argv, code=2)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["fit", "train.csv"], "required: --target\n"),
        ([*FIT, "--target", "species", "--theta", "0"], "not a positive number: '0'"),
        ([*FIT, "--target", "species", "--theta", "nan"], "not a positive number: 'nan'"),
        ([*FIT, "--target", "species", "--theta", "big"], "not a positive number: 'big', nor auto"),
        ([*FIT, "--target", "species", "--gamma", "1,x"], "not a positive number: 'x'"),
        ([*FIT, "--target", "species", "--batch-rows", "0"], "not a positive integer: '0'"),
        ([*FIT, "--target", "species", "--batch-rows", "x"], "not a positive integer: 'x'"),
        ([*FIT, "--target", "species", "--drop", "a,,b"], "no names of columns: 'a,,b'"),
        ([*FIT, "--target", "species", "--drop", "a\nb"], "no names of columns"),
        ([*FIT, "--target", "species", "--drop", "a,a"], "a name occurs twice"),
        ([*FIT, "--target", "species", "--drop", "a", "--features", "b"], "not allowed with"),
        ([*FIT, "--target", "species", "--sep", "::"], "not a single character"),
        (["explain", "model.hyperboxes", "test.csv", "--row", "0"], "not a positive integer: '0'"),
        (["report", "model.hyperboxes", "a.csv", "b.csv", "--target", "x", "-o", "r"], "one file"),
        (["rules", "model.hyperboxes", "test.csv"], "names its file with --data"),
        ([*FIT, "--target", "species", "--fast"], "unrecognized arguments: --fast\n"),
    ],
    ids=str,
)
def test_usage_errors(run, argv, message):
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 2
    assert err.splitlines()[1].startswith("hyperboxes")


@pytest.mark.parametrize(
    "argv",
    [
        ["fit", "train.csv", "--target", "species", "--drop", "a", "b c"],
        ["fit", "-o", "new", "--drop", "a", "b c", "--target", "species"],
        ["predict", "model.hyperboxes", "test.csv", "--features", "a", "b c"],
        ["report", "model.hyperboxes", "test.csv", "--features", "a", "b c"],
    ],
    ids=str,
)
def test_columns_that_are_not_separated_by_commas(run, argv):
    option = next(text for text in argv if text in ("--drop", "--features"))
    assert f"several columns are one argument: {option} 'a,b c')" in run(*argv)[2]


def test_an_existing_default_output_needs_force(run, refuse, folder):
    fit = ["fit", "train.csv", "--target", "species", "--learner", "boosted", "-q"]
    before = (folder / "model.hyperboxes").read_bytes()
    assert "model.hyperboxes exists: add --force to replace it" in refuse(*fit, code=2)
    assert (folder / "model.hyperboxes").read_bytes() == before
    assert run(*fit, "--force") == (0, "", "")
    assert type(load("model.hyperboxes")) is BoostedHyperboxes
    report = ["report", "model.hyperboxes", "test.csv", "-q"]
    assert run(*report) == (0, "", "")
    page = (folder / "report.html").read_bytes()
    assert "report.html exists: add --force" in refuse(*report, code=2)
    assert run(*report, "-o", "report.html", "--title", "T") == (0, "", "")  # named, so replaced
    assert (folder / "report.html").read_bytes() != page


@pytest.mark.parametrize("name", ["x\x1b]0;title\x07\x9b31m", "a\rb"])
def test_control_characters_are_escaped_in_terminals(run, monkeypatch, name):
    rows = pd.DataFrame({name: [1.0, 2.0, 8.0, 9.0], "y": ["a", "a", name, name]})
    rows.to_csv("rows.csv", index=False, quoting=csv.QUOTE_ALL)
    raw = run("fit", "rows.csv", "--target", "y", "-o", "new")[2]
    assert run("predict", "new", "rows.csv")[1].count(name) == 2
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for argv in (
        ["rules", "new"],
        ["evaluate", "new", "rows.csv"],
        ["predict", "new", "rows.csv"],
        ["explain", "new", "rows.csv"],
    ):
        _, out, err = run(*argv)
        assert repr(name)[1:-1] in out + err
        assert not set("\x1b\x07\x9b\r") & set(raw + out + err)
    assert not set("\x1b\x07\x9b\r") & set(run("fit", "rows.csv", "--target", "z", "-o", "new")[2])


@on_posix
def test_closed_standard_streams(folder):
    def ends(command, redirection):
        line = f"{sys.executable} -m hyperboxes {command} {redirection}"
        done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    missing = (1, "", "hyperboxes: error: standard input is empty\n")
    assert ends("predict model.hyperboxes -", "<&-") == missing
    closed = (1, "", "hyperboxes: error: standard output is closed\n")
    assert ends("rules model.hyperboxes", ">&-") == closed
    assert ends("predict model.hyperboxes test.csv -q", ">&-") == closed
    assert ends("rules model.hyperboxes", "2>&-")[0] == 0
    assert ends("fit train.csv --target species -o new -q", ">&- 2>&-") == (0, "", "")
    assert type(load("new")) is ImprovedOnlineGFMM


def test_debug_shows_where(folder):
    with pytest.raises(ValueError, match="no column 'colour'"):
        main([*FIT, "--target", "colour", "--debug"])


def test_unexpected_errors_are_named(refuse, monkeypatch):
    def fail(*_):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("hyperboxes._cli.fit.run", fail)
    assert "RuntimeError: two lines (--debug shows where)" in refuse(*FIT, "--target", "species")


def test_packages_of_the_extra_are_named(refuse, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refuse(*FIT, "--target", "species")
    assert "The command line needs pyarrow: pip install 'hyperboxes[cli]'" in message


def test_version_and_help(run):
    code, out, _ = run("--version")
    assert (code, out) == (0, f"hyperboxes {hyperboxes.__version__}\n")
    code, out, _ = run("--help")
    assert code == 0
    for name in COMMANDS:
        assert name in out
        code, text, _ = run(name, "--help")
        assert code == 0
        assert f"  hyperboxes {name} " in text.partition("examples:")[2] or name == "demo"


def test_help_names_the_defaults(run):
    out = " ".join(run("fit", "--help")[1].split())
    defaults = out.partition("standard error of the best; default: ")[2]
    for names, cls in {
        "(improved, mixed, frequency)": ImprovedOnlineGFMM,
        "(online, fmnn, efmnn, knefmnn, rfmnn)": OnlineGFMM,
        "(agglo-sm, agglo2)": AgglomerativeGFMM,
    }.items():
        assert f"{cls().theta} {names}" in defaults
    assert FuzzyMinMax().theta == OnlineGFMM().theta


def test_help_imports_no_learner():
    code = "import sys, hyperboxes._cli as c; c._make_parsers(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "hyperboxes._cli.fit" in loaded.split()
    assert not {"sklearn", "numba", "pandas", "pyarrow", "rich"} & set(loaded.split())


def test_progress_is_shown_in_terminals(run, monkeypatch):
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    commands = (
        ["fit", "train.csv", "--target", "species", "-o", "new", "--batch-rows", "10"],
        ["fit", "train.csv", "--target", "species", "-o", "new", "--learner", "agglo2"],
        ["predict", "model.hyperboxes", "test.csv", "-o", "out.csv"],
        ["evaluate", "model.hyperboxes", "test.csv", "--target", "species", "--json"],
    )
    for argv, title in zip(
        commands, ("Finding", "Learning", "Predicting", "Evaluating"), strict=True
    ):
        code, out, err = run(*argv)
        assert code == 0
        assert title in err
        assert title not in out
        assert title not in run(*argv, "--quiet")[2]


def test_fit_works_without_rich(get, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich", None)
    get("fit", "train.csv", "--target", "species", "-o", "new")
