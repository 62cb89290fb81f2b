"""How the command line reads files: formats, chunks, numbers, and labels that stay as they are."""

import gzip
import io
import json
import os
import sys
import threading
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperboxes import load, save
from hyperboxes._cli import main, tables
from hyperboxes._cli.columns import MISSING, read_labels, read_numbers
from hyperboxes._cli.tables import Chunk, open_table
from tests.iris_tables import FEATURES, TEST, TRAIN
from tests.learners import ImprovedOnlineGFMM, same_boxes
from tests.marks import on_posix

# Views are of pyarrow 16.
STRING_VIEW = pa.string_view() if hasattr(pa, "string_view") else pa.string()


def read(path, columns=None, **options):
    """Return all rows as dictionaries."""
    table = open_table(str(path))
    chunks = table.chunks(columns or table.columns, **options)
    return [row for chunk in chunks for row in chunk.table.to_pylist()]


def write(path, content):
    """Write bytes and return the path."""
    path.write_bytes(content)
    return path


def column(values, kind=None):
    """Return a chunk with one column."""
    return Chunk("file", 0, pa.table({"x": pa.array(values, kind)}))


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,x\n2,y\n",
        b"\xef\xbb\xbfa,b\r\n1,x\r\n2,y\r\n",
        b"\n\na,b\n1,x\n\n2,y",
        b"a;b\n1;x\n2;y\n",
        b"a\tb\n1\tx\n2\ty\n",
        b"a|b\n1|x\n2|y\n",
        b' a ,"b"\n1,"x"\n2,y\n',
        b"\xef\xbb\xbf\r\n\r\na,b\r\n1,x\r\n2,y\r\n",
        gzip.compress(b"a,b\n1,x\n2,y\n"),
    ],
    ids=["plain", "windows", "blank", "semicolon", "tab", "bar", "quoted", "mark", "gzip"],
)
@pytest.mark.parametrize("from_stdin", [False, True])
def test_csv_of_every_kind(tmp_path, monkeypatch, content, from_stdin):
    path = write(tmp_path / "data", content)
    if from_stdin:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
        path = "-"
    assert read(path) == [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]


def test_cells_with_commas_quotes_and_line_breaks(tmp_path):
    path = write(tmp_path / "data", b'a,"b,c"\n"1,5","say ""x""\nand y"\n')
    assert read(path) == [{"a": "1,5", "b,c": 'say "x"\nand y'}]


@on_posix
def test_pipes_are_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=write, args=(tmp_path / "pipe", b"a,b\n1,x\n"))
    writer.start()
    assert read(tmp_path / "pipe") == [{"a": "1", "b": "x"}]
    writer.join()


def test_names_with_line_ends(tmp_path):
    """Spreadsheets write them."""
    path = write(tmp_path / "data", b'"a\n(cm)";" 5"" b, ";c\n1;2;"x\ny"\n')
    assert read(path) == [{"a\n(cm)": "1", '5" b,': "2", "c": "x\ny"}]
    path = write(tmp_path / "data", b'5" pipe,"b\r\n"\n1,2\n')
    assert read(path) == [{'5" pipe': "1", "b": "2"}]


def test_missing_values_of_a_single_column_are_rows(tmp_path):
    path = write(tmp_path / "data", b'\nx\n1.0\n\n5.0\n""\n')
    assert read(path) == [{"x": "1.0"}, {"x": ""}, {"x": "5.0"}, {"x": ""}]


@pytest.mark.parametrize("from_stdin", [False, True])
def test_long_rows(tmp_path, monkeypatch, from_stdin):
    names = [f"column {i}" for i in range(60_000)]
    content = "\n".join(map(",".join, [names, ["1" * 20] * len(names), ["x" * 99] * len(names)]))
    path = write(tmp_path / "data", content.encode())
    if from_stdin:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(path.open("rb")))
        path = "-"
    assert [row["column 9"] for row in read(path, ["column 9"])] == ["1" * 20, "x" * 99]


def test_a_quote_that_is_not_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_BLOCK_BYTES", 1 << 20)
    path = write(tmp_path / "data", b'x,y\n1,2\n3,"' + b"4,5\n" * 600_000)
    with pytest.raises(ValueError, match=r"a row is longer than 1 MB: .* a quote that is not clo"):
        read(path)


@on_posix
def test_fit_from_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = b"a,b\n1,x\n2,y\n"
    writer = threading.Thread(target=write, args=(tmp_path / "pipe", content))
    writer.start()
    model = tmp_path / "model"
    assert main(["fit", str(tmp_path / "pipe"), "--target", "b", "-o", str(model)]) == 0
    writer.join()
    assert load(model).classes_.tolist() == ["x", "y"]


def test_separator_given(tmp_path):
    table = open_table(str(write(tmp_path / "data", b"a,b;c\n1,5;2\n")), sep=";")
    assert table.columns == ["a,b", "c"]


@given(
    n_rows=st.integers(0, 30),
    size=st.one_of(st.none(), st.integers(1, 40)),
    group=st.integers(1, 10),
)
def test_chunks_have_the_size_asked_for(tmp_path_factory, n_rows, size, group):
    path = tmp_path_factory.mktemp("t") / "data.parquet"
    pq.write_table(pa.table({"x": range(n_rows)}), path, row_group_size=group)
    chunks = list(open_table(str(path)).chunks(["x"], size))
    starts = range(0, n_rows, size or 99)
    rows = [list(range(n_rows))[i : i + (size or 99)] for i in starts]
    assert [chunk.table["x"].to_pylist() for chunk in chunks] == rows
    assert [chunk.start for chunk in chunks] == list(starts)


def test_chunks_of_a_csv_file(tmp_path, monkeypatch):
    """Also of one that Arrow reads in several blocks."""
    monkeypatch.setattr(tables, "_BLOCK_BYTES", 1 << 20)
    content = b"x,pad\n" + b"".join(b"%d,%s\n" % (i, b"." * 100) for i in range(30_000))
    table = open_table(str(write(tmp_path / "data", content)))
    chunks = list(table.chunks(["x"], 7_000))
    assert [len(chunk) for chunk in chunks] == [7_000] * 4 + [2_000]
    found = np.concatenate([read_numbers(chunk, ["x"]).ravel() for chunk in chunks])
    np.testing.assert_array_equal(found, np.arange(30_000))


def test_parquet_of_every_kind():
    kinds = {
        "int": pa.array([1, None, 3], pa.int32()),
        "unsigned": pa.array([1, None, 3], pa.uint8()),
        "float": pa.array([1.0, float("nan"), 3.0], pa.float32()),
        "text": pa.array(["1", "", " 3.0 "]),
        "large": pa.array(["1", None, "3"], pa.large_string()),
        "view": pa.array(["1", None, "3"], STRING_VIEW),
        "category": pa.array(["1", None, "3"]).dictionary_encode(),
        "decimal": pa.array([1, None, 3], pa.decimal128(5, 2)),
    }
    chunk = Chunk("file", 0, pa.table(kinds))
    expected = np.repeat([[1.0], [np.nan], [3.0]], len(kinds), axis=1)
    np.testing.assert_array_equal(read_numbers(chunk, list(kinds)), expected)
    truth = Chunk("file", 0, pa.table({"x": [True, None, False], "nothing": pa.nulls(3)}))
    expected = [[1, np.nan], [np.nan, np.nan], [0, np.nan]]
    np.testing.assert_array_equal(read_numbers(truth, ["x", "nothing"]), expected)


@pytest.mark.parametrize(
    "values", [[date(2020, 1, 1)], [[1.0]], ["x"], [b"\xff"], ["1_0"], ["1,5"], ["0x10"]], ids=str
)
def test_what_is_no_number(values):
    with pytest.raises(ValueError, match=r"file: not numbers: x .*row 1 of x is"):
        read_numbers(column(values), ["x"])


def test_cells_that_are_missing():
    texts = [text for word in MISSING for text in (word, word.upper(), f" {word} ")]
    assert np.isnan(read_numbers(column([*texts, "1e3"]), ["x"])[:-1]).all()
    assert read_numbers(column(["True", "false", "-0.5", "?"]), ["x"]).ravel()[:3].tolist() == [
        1, 0, -0.5,
    ]  # fmt: skip


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_read_exactly(numbers):
    texts = [repr(number) for number in numbers]
    np.testing.assert_array_equal(read_numbers(column(texts), ["x"]).ravel(), numbers)


def test_labels_are_texts():
    texts = ["1", "1.0", "007", "NA", "None", "True", " b ", "", "nan"]
    assert read_labels(column(texts), "x").tolist() == [*texts[:6], "b", "", "nan"]
    assert read_labels(column([1, None, 3]), "x").tolist() == ["1", "", "3"]
    assert read_labels(column([1.0, float("nan")]), "x").tolist() == ["1.0", ""]
    assert read_labels(column([True, False]), "x").tolist() == ["True", "False"]
    category = pa.array(["b", None, "a"]).dictionary_encode()
    assert read_labels(column(category), "x").tolist() == ["b", "", "a"]
    view = pa.array([" b", None, "a"], STRING_VIEW)
    assert read_labels(column(view), "x").tolist() == ["b", "", "a"]
    with pytest.raises(ValueError, match="nested values"):
        read_labels(column([[1]]), "x")


@pytest.mark.parametrize("size", [1, 2, 100])
def test_labels_are_the_same_in_every_chunk_and_command(tmp_path, monkeypatch, capsys, size):
    """Whatever they look like: numbers in a chunk and words in the next, zeros in front, NA."""
    monkeypatch.chdir(tmp_path)
    labels = ["1", "2", "1.0", "007", "7", "NA", "True", "b", "null", "1e2"]
    frame = pd.DataFrame({"x": range(10), "y": labels})
    frame.to_csv("data.csv", index=False)
    frame.to_parquet("data.parquet")
    for path in ("data.csv", "data.parquet"):
        main(["fit", path, "--target", "y", "-o", "model", "--batch-rows", str(size), "-q"])
        assert load("model").classes_.tolist() == sorted(labels)
        for other in ("data.csv", "data.parquet"):
            capsys.readouterr()
            main(["predict", "model", other, "-q"])
            assert capsys.readouterr().out.split() == ["prediction", *labels]
            main(["evaluate", "model", other, "--target", "y", "--json"])
            assert json.loads(capsys.readouterr().out)["accuracy"] == 1


@pytest.mark.parametrize("kind", ["csv", "gzip", "parquet"])
def test_fit_and_predict_from_standard_input(tmp_path, monkeypatch, capsys, kind):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"x": np.arange(50.0), "y": np.arange(50) // 10})
    if kind == "parquet":
        frame.to_parquet("data")
    else:
        frame.to_csv("data", index=False, compression="gzip" if kind == "gzip" else None)
    for argv in (
        ["fit", "-", "--target", "y", "-o", "model", "--batch-rows", "7"],
        ["predict", "model", "-", "--chunk-size", "7"],
    ):
        with (tmp_path / "data").open("rb") as file:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
            assert main([*argv, "-q"]) == 0
    assert capsys.readouterr().out.split()[1:] == frame["y"].astype(str).tolist()


def test_names_of_parquet_columns_are_trimmed(tmp_path):
    pq.write_table(pa.table({" a.b ": [1], "c": [2]}), tmp_path / "data")
    table = open_table(str(tmp_path / "data"))
    assert table.columns == ["a.b", "c"]
    assert read(tmp_path / "data", ["c", "a.b"]) == [{"c": 2, "a.b": 1}]


def test_damaged_parquet(tmp_path):
    path = write(tmp_path / "data", b"PAR1" + b"x" * 100)
    with pytest.raises(ValueError, match="data: "):
        open_table(str(path))


def test_an_index_that_pandas_has_written_is_no_feature(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"x": [1.0, 2.0, 5.0, 6.0], "y": list("aabb")}, index=[7, 3, 12, 4])
    frame.to_parquet("nameless.parquet")
    frame.rename_axis("patient").to_parquet("named.parquet")
    pl.read_parquet("nameless.parquet").write_parquet("polars.parquet")
    frame.to_csv("data.csv")
    frame.reset_index(drop=True).to_csv("counted.csv", sep=";")
    pd.read_csv("data.csv").to_csv("read.csv", index=False)
    indices = {
        "nameless.parquet": "__index_level_0__",
        "named.parquet": "patient",
        "polars.parquet": "__index_level_0__",
        "data.csv": "(no name)",
        "counted.csv": "(no name)",
        "read.csv": "Unnamed: 0",
    }
    for file, index in indices.items():
        assert main(["fit", file, "--target", "y", "-o", "model"]) == 0
        note = f"Left out, since it is an index of the rows: {index} (--features chooses otherwise)"
        assert note in capsys.readouterr().err
        assert load("model").feature_names_in_.tolist() == ["x"]


def test_columns_that_only_look_like_an_index(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"Unnamed: 0": [1, 1, 2], "x": [1.0, 2.0, 5.0], "y": list("abb")})
    frame.to_csv("twice.csv", index=False)  # not each number once
    frame.assign(**{"Unnamed: 0": [0.5, 1, 2]}).to_csv("decimals.csv", index=False)
    frame[["x", "Unnamed: 0", "y"]].assign(**{"Unnamed: 0": [0, 1, 2]}).to_parquet("second.parquet")
    for file in ("twice.csv", "decimals.csv", "second.parquet"):
        assert main(["fit", file, "--target", "y", "-o", "model"]) == 0
        assert "Left out" not in capsys.readouterr().err
        assert sorted(load("model").feature_names_in_) == ["Unnamed: 0", "x"]


def test_an_index_can_be_chosen(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}, index=pd.Index([5, 3], name="age"))
    frame.to_parquet("data")
    for argv, features in ((["--features", "age,x"], ["age", "x"]), (["--drop", "age"], ["x"])):
        assert main(["fit", "data", "--target", "y", "-o", "model", *argv]) == 0
        assert "Left out" not in capsys.readouterr().err
        assert load("model").feature_names_in_.tolist() == features
    assert main(["fit", "data", "--target", "age", "--drop", "y", "-o", "model"]) == 0
    assert load("model").classes_.tolist() == ["3", "5"]


def test_a_model_without_names_finds_its_features_beside_an_index(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"x": [1.0, 5.0], "z": [2.0, 4.0]}, index=[5, 3])
    frame.to_parquet("data")
    save(ImprovedOnlineGFMM().fit(frame.to_numpy(), ["a", "b"]), "model")
    assert main(["predict", "model", "data"]) == 0
    assert capsys.readouterr().out.split() == ["prediction", "a", "b"]


def test_decimal_commas(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"x": [1.5, -2e-3, np.nan, 4], "y": ["1,5", "1,5", "b", "b"]})
    frame.to_csv("points.csv", index=False)
    frame.to_csv("commas.csv", index=False, sep=";", decimal=",")
    for file, decimal in (("points.csv", "."), ("commas.csv", ",")):
        argv = ["fit", file, "--target", "y", "-o", file[0], "-q", "--decimal", decimal]
        assert main(argv) == 0
    assert same_boxes(load("p"), load("c"))
    assert load("c").classes_.tolist() == ["1,5", "b"]
    for command in (
        ["predict", "p", "points.csv"],
        ["evaluate", "p", "points.csv", "--target", "y"],
        ["explain", "p", "points.csv", "--row", "4"],
        ["rules", "p", "--data", "points.csv", "--target", "y"],
    ):
        assert main([*command, "-q"]) == 0
        expected = capsys.readouterr().out
        with_commas = [word.replace("points.csv", "commas.csv") for word in command]
        assert main([*with_commas, "--decimal", ",", "-q"]) == 0
        assert capsys.readouterr().out == expected


@pytest.mark.parametrize("text", ["1.234,5", "1.5", "1,2,3", "1..5"])
def test_no_numbers_with_decimal_commas(text):
    chunk = Chunk("file", 0, pa.table({"x": [text]}), ",")
    with pytest.raises(ValueError, match=r"not numbers: x .*row 1 of x is"):
        read_numbers(chunk, ["x"])


def test_advice_about_decimals():
    with pytest.raises(ValueError, match="If that is a number with decimals, add --decimal ,"):
        read_numbers(column(["1", "-1,5"]), ["x"])
    with pytest.raises(ValueError, match=r"If that is a number with decimals, add --decimal \."):
        read_numbers(Chunk("file", 0, pa.table({"x": ["1.5"]}), ","), ["x"])
    with pytest.raises(ValueError, match="train without such columns"):
        read_numbers(column(["1,5 m"]), ["x"])


@pytest.mark.parametrize("start", [b"PK\x03\x04\x14\x00\x08\xf9", "x,é\n".encode("utf-16")])
def test_files_of_other_kinds_are_refused(tmp_path, start):
    path = write(tmp_path / "data.xlsx", start + bytes(100))
    with pytest.raises(ValueError, match=r"data.xlsx is neither CSV in UTF-8 nor Parquet"):
        open_table(str(path))


PARTS = ["--target", "species", "-o", "parts.hyperboxes"]


@pytest.fixture
def parts(folder):
    """Write the data in parts of several kinds, with columns in different orders."""
    TRAIN[:30].to_csv("part-0.csv", index=False)
    TRAIN[30:31].sample(frac=1, axis=1, random_state=0).to_csv("part-1.csv.gz", index=False)
    TRAIN[31:].to_parquet("part-2.parquet", index=False)
    TEST[:20].to_csv("new-0.csv", index=False)
    TEST[20:].to_csv("new-1.csv", index=False)
    return ["part-0.csv", "part-1.csv.gz", "part-2.parquet"]


@pytest.mark.parametrize("learner", ["improved", "agglo-sm", "boosted"])
def test_parts_are_learned_as_one_file(get, parts, learner):
    get("fit", "train.csv", "--target", "species", "-o", "whole.hyperboxes", "--learner", learner)
    whole = load("whole.hyperboxes").hyperboxes_
    for files in (parts, ["part-*"]):
        get("fit", *files, *PARTS, "--learner", learner)
        boxes = load("parts.hyperboxes").hyperboxes_
        np.testing.assert_array_equal(boxes.lower, whole.lower)
        np.testing.assert_array_equal(boxes.counts, whole.counts)


def test_batches_end_with_their_part(get, parts):
    get("fit", *parts, *PARTS, "--batch-rows", 70)
    get("fit", "train.csv", "--target", "species", "-o", "whole.hyperboxes", "--batch-rows", 100)
    boxes, whole = (load(f"{name}.hyperboxes").hyperboxes_ for name in ("parts", "whole"))
    np.testing.assert_array_equal(boxes.lower, whole.lower)


def test_parts_are_predicted_and_evaluated_in_order(get, parts):
    new = ["new-0.csv", "new-1.csv"]
    predicted = get("predict", "model.hyperboxes", *new)
    assert predicted == get("predict", "model.hyperboxes", "test.csv")
    assert predicted == get("predict", "model.hyperboxes", "new-*.csv")
    options = ["--target", "species", "--json"]
    scores = get("evaluate", "model.hyperboxes", *new, *options)
    assert scores == get("evaluate", "model.hyperboxes", "test.csv", *options)
    folds = get("evaluate", "model.hyperboxes", "new-*.csv", *options, "--cv", 2)
    assert folds == get("evaluate", "model.hyperboxes", "test.csv", *options, "--cv", 2)


def test_errors_name_the_part(refuse, parts):
    TEST[:5].drop(columns=FEATURES[1]).to_csv("part-3.csv", index=False)
    assert "part-3.csv has no column 'sepal width (cm)'" in refuse(
        "fit", *parts, "part-3.csv", *PARTS
    )
    assert "part-3.csv has no" in refuse("predict", "model.hyperboxes", "new-0.csv", "part-3.csv")
    wrong = TEST[:5].astype({FEATURES[2]: object})
    wrong.iloc[3, 2] = "long"
    wrong.to_csv("part-4.csv", index=False)
    message = refuse("fit", *parts, "part-4.csv", *PARTS, "--numeric", FEATURES[2])
    assert "part-4.csv: not numbers" in message
    assert "row 4 of petal length (cm) is 'long'" in message


def test_what_does_not_go_with_parts(refuse, parts):
    assert "standard input is read alone" in refuse("fit", "part-0.csv", "-", *PARTS, code=2)
    assert "./part-0.csv is named twice" in refuse("fit", "./part-0.csv", *parts, *PARTS, code=2)
    assert "part-0.csv is named twice" in refuse("fit", "part-0.csv", "part-*", *PARTS, code=2)
    assert "No file is named no-*" in refuse("fit", "no-*", *PARTS)
    output = ["-o", "new-1.csv"]
    message = refuse("predict", "model.hyperboxes", "new-0.csv", "new-1.csv", *output, code=2)
    assert "new-1.csv is read from" in message
