"""`hyperboxes rules`, `explain` and `report`: what they print is what Python returns."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd

import hyperboxes
from hyperboxes import (
    ImprovedOnlineGFMM,
    explain,
    export_frame,
    export_html,
    export_sql,
    export_text,
    load,
    save,
)
from tests.databases import ask_sqlite
from tests.iris_tables import FEATURES, TEST, TRAIN


def test_rules(get):
    model = load("model.hyperboxes")
    text = hyperboxes.export_text(model, max_rules=2)
    assert get("rules", "model.hyperboxes", "--max-rules", 2) == text + "\n"
    frame = pd.read_csv(io.StringIO(get("rules", "model.hyperboxes", "--format", "csv")))
    assert len(frame) == len(model.hyperboxes_)
    assert frame["support"].is_monotonic_decreasing
    lower = model.hyperboxes_.lower[frame["box"]]
    np.testing.assert_array_equal(frame[[f"{name} lower" for name in FEATURES]], lower)


def test_rules_as_sql_answer_every_row(get):
    model = load("model.hyperboxes")
    argv = ["rules", "model.hyperboxes", "--format", "sql", "--table", "flowers"]
    frame = pd.read_csv("test.csv")[FEATURES]
    samples, asked = frame.to_numpy(), {"columns": FEATURES, "table": "flowers"}
    predicted = model.predict(frame).tolist()
    assert ask_sqlite(get(*argv), samples, **asked) == predicted
    crisp = ask_sqlite(get(*argv, "--crisp"), samples, **asked)
    assert None in crisp
    assert all(told in (None, label) for told, label in zip(crisp, predicted, strict=True))


def test_rules_measured_on_data(get):
    argv = ["rules", "model.hyperboxes", "--data", "train.csv"]
    assert "coverage" in get(*argv)
    assert "precision" not in get(*argv)
    rules = json.loads(get(*argv, "--target", "species", "--format", "json", "--max-rules", 3))
    assert len(rules) == 3
    model = load("model.hyperboxes")
    frame = hyperboxes.export_frame(model, TRAIN[FEATURES], TRAIN["species"])
    for rule in rules:
        assert rule["precision"] == frame["precision"][rule["box"]]
        assert rule["coverage"] == frame["coverage"][rule["box"]]
        assert rule["support"] == model.hyperboxes_.counts[rule["box"]]
        assert rule["class"] == model.classes_[model.hyperboxes_.labels[rule["box"]]]
        ends = list(
            zip(
                model.hyperboxes_.lower[rule["box"]],
                model.hyperboxes_.upper[rule["box"]],
                strict=True,
            )
        )
        assert [tuple(pair) for pair in rule["bounds"].values()] == ends
        assert list(rule["bounds"]) == FEATURES


def test_bounds_that_are_not_known_are_null(get):
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [np.nan, 5.0]})
    save(ImprovedOnlineGFMM(theta=0.1, shuffle=False).fit(X, ["x", "y"]), "holes")
    rules = json.loads(get("rules", "holes", "--format", "json"))
    assert [rule["bounds"] for rule in rules] == [
        {"a": [1, 1], "b": None},
        {"a": [2, 2], "b": [5, 5]},
    ]


def test_rules_of_boosted_boxes_as_text_and_csv(get, boosted):
    assert get("rules", "boosted", "--max-rules", 2) == export_text(boosted, max_rules=2) + "\n"
    data = ["--data", "test.csv", "--target", "species"]
    expected = export_text(boosted, TEST[FEATURES], TEST["species"])
    assert get("rules", "boosted", *data) == expected + "\n"
    out = io.StringIO(get("rules", "boosted", "--format", "csv"))
    frame = export_frame(boosted)
    read = lambda text: float(text or "nan")  # noqa: E731
    numbers = frame.select_dtypes(float).columns  # of which Pandas may not read the last digit
    table = pd.read_csv(out, index_col="box", converters=dict.fromkeys(numbers, read))
    pd.testing.assert_frame_equal(table.sort_index(), frame, check_exact=True)
    assert table["support"].is_monotonic_decreasing


def test_rules_as_json_have_no_infinite_ends(get, boosted):
    rules = json.loads(get("rules", "boosted", "--format", "json"))
    boxes = boosted.hyperboxes_
    assert sorted(rule["box"] for rule in rules) == list(range(6))
    used = np.isfinite([boxes.lower, boxes.upper]).any(axis=(0, 1))
    for rule in rules:
        box = rule["box"]
        assert rule["weight for setosa"] == boxes.weights[box, 0]
        for ends, low, high in zip(
            rule["bounds"].values(), boxes.lower[box][used], boxes.upper[box][used], strict=True
        ):
            expected = [end if np.isfinite(end) else None for end in (low, high)]
            assert ends == (expected if any(np.isfinite([low, high])) else None)


def test_rules_of_boosted_boxes_as_sql(get, boosted):
    expected = export_sql(boosted, table="flowers")
    assert get("rules", "boosted", "--format", "sql", "--table", "flowers") == expected + "\n"


def test_explain(get):
    model = load("model.hyperboxes")
    expected = hyperboxes.explain(model, TEST[FEATURES].iloc[[6, 0]])
    out = get("explain", "model.hyperboxes", "test.csv", "--row", 7, 1)
    assert out == f"Row 7\n{expected[0]}\n\nRow 1\n{expected[1]}\n"
    values = json.loads(get("explain", "model.hyperboxes", "test.csv", "--row", 7, 1, "--json"))
    assert [value["row"] for value in values] == [7, 1]
    assert values[1]["prediction"] == model.predict(TEST[FEATURES].iloc[[0]])[0]
    assert get("explain", "model.hyperboxes", "test.csv").startswith("Row 1\n")


def test_explain_boosted_boxes(get, boosted):
    expected = explain(boosted, TEST[FEATURES])
    out = get("explain", "boosted", "test.csv", "--row", 7, 2)
    assert out == f"Row 7\n{expected[6]}\n\nRow 2\n{expected[1]}\n"
    told = json.loads(get("explain", "boosted", "test.csv", "--row", 7, "--json"))
    assert told == [{"row": 7, **expected[6].to_dict()}]


def test_report(get, boosted):
    get("report", "boosted", "test.csv", "--target", "species", "-o", "page", "--title", "Iris")
    page = export_html(boosted, TEST[FEATURES], TEST["species"], title="Iris")
    assert Path("page").read_text(encoding="utf-8") == page
