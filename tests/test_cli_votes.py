"""The command line on models whose boxes vote: what they take and what they refuse."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hyperboxes import (
    BoostedHyperboxes,
    explain,
    export_frame,
    export_html,
    export_sql,
    export_text,
    load,
    save,
)
from tests.iris_tables import FEATURES, TEST, TRAIN

FIT = ["fit", "train.csv", "--target", "species", "-o", "boosted", "--learner", "boosted"]


@pytest.fixture
def model(get):
    """Fit a model by the command line and return it."""
    get(*FIT, "--max-boxes", 6)
    return load("boosted")


def test_fit_tells_how_many_samples_there_were(run):
    code, out, err = run(*FIT, "--max-boxes", 6, "--json")
    assert code == 0
    assert "6 boxes from 100 samples of 3 classes, 4 features" in err
    assert json.loads(out)["n_samples"] == 100
    expected = BoostedHyperboxes(6, random_state=0).fit(TRAIN[FEATURES], TRAIN["species"])
    assert load("boosted").get_params() == expected.get_params()
    assert export_text(load("boosted")) == export_text(expected)


def test_predict(get, model):
    out = get("predict", "boosted", "test.csv", "--proba", "--chunk-size", 8, "--jobs", 2)
    header, *rows = csv.reader(out.splitlines())
    assert header == ["prediction", *(f"proba_{name}" for name in model.classes_)]
    assert [row[0] for row in rows] == model.predict(TEST[FEATURES]).tolist()
    numbers = np.array([row[1:] for row in rows], float)
    np.testing.assert_array_equal(numbers, model.predict_proba(TEST[FEATURES]))


def test_classes_are_those_of_predict_where_probabilities_tie(get, model):
    model.intercept_ = np.array([0.1, np.nextafter(0.1, 1.0), -50.0])
    save(model, "boosted")
    nothing = pd.DataFrame(np.full((1, 4), np.nan), columns=FEATURES)  # which no box holds
    nothing.to_csv("nothing.csv", index=False, na_rep="NA")
    proba = model.predict_proba(nothing)[0]
    assert proba[0] == proba[1]
    out = get("predict", "boosted", "nothing.csv", "--proba").splitlines()
    assert out[1].split(",")[0] == model.predict(nothing)[0] == model.classes_[1]


def test_evaluate(get, model):
    scores = json.loads(get("evaluate", "boosted", "test.csv", "--target", "species", "--json"))
    assert scores["accuracy"] == model.score(TEST[FEATURES], TEST["species"])
    assert (scores["n_samples"], scores["n_boxes"]) == (len(TEST), 6)
    few = TEST.assign(species=TEST["species"].where(np.arange(len(TEST)) % 5 == 0, "?"))
    few.to_csv("few.csv", index=False)
    argv = ["evaluate", "boosted", "few.csv", "--target", "species", "--json", "--unlabeled", "?"]
    assert json.loads(get(*argv))["n_samples"] == 10


def test_rules_as_text_and_csv(get, model):
    assert get("rules", "boosted", "--max-rules", 2) == export_text(model, max_rules=2) + "\n"
    data = ["--data", "test.csv", "--target", "species"]
    expected = export_text(model, TEST[FEATURES], TEST["species"])
    assert get("rules", "boosted", *data) == expected + "\n"
    out = io.StringIO(get("rules", "boosted", "--format", "csv"))
    frame = export_frame(model)
    numbers = frame.select_dtypes(float).columns  # of which Pandas may not read the last digit
    table = pd.read_csv(out, index_col="box", converters=dict.fromkeys(numbers, float))
    pd.testing.assert_frame_equal(table.sort_index(), frame, check_exact=True)
    assert table["support"].is_monotonic_decreasing


def test_rules_as_json_have_no_infinite_ends(get, model):
    rules = json.loads(get("rules", "boosted", "--format", "json"))
    boxes = model.hyperboxes_
    assert sorted(rule["box"] for rule in rules) == list(range(6))
    for rule in rules:
        box = rule["box"]
        assert rule["vote for setosa"] == boxes.weights[box, 0]
        assert list(rule["bounds"]) == FEATURES
        for ends, low, high in zip(
            rule["bounds"].values(), boxes.lower[box], boxes.upper[box], strict=True
        ):
            expected = [end if np.isfinite(end) else None for end in (low, high)]
            assert ends == (expected if any(np.isfinite([low, high])) else None)


def test_rules_as_sql(get, model):
    expected = export_sql(model, table="flowers")
    assert get("rules", "boosted", "--format", "sql", "--table", "flowers") == expected + "\n"


def test_explain(get, model):
    expected = explain(model, TEST[FEATURES])
    out = get("explain", "boosted", "test.csv", "--row", 7, 2)
    assert out == f"Row 7\n{expected[6]}\n\nRow 2\n{expected[1]}\n"
    told = json.loads(get("explain", "boosted", "test.csv", "--row", 7, "--json"))
    assert told == [{"row": 7, **expected[6].to_dict()}]


def test_report(get, model):
    get("report", "boosted", "test.csv", "--target", "species", "-o", "page", "--title", "Iris")
    page = export_html(model, TEST[FEATURES], TEST["species"], title="Iris")
    assert Path("page").read_text(encoding="utf-8") == page


def test_what_boxes_that_vote_do_not_have_is_refused(model, refuse):
    message = refuse("predict", "boosted", "test.csv", "--membership")
    assert "boosted is a BoostedHyperboxes, which has no memberships; " in message
    assert message.endswith("--proba gives probabilities")


def test_options_of_other_learners_are_refused(refuse):
    assert "--learner boosted has no --theta" in refuse(*FIT, "--theta", 0.5, code=2)
    assert "--learner boosted has no --unlabeled" in refuse(*FIT, "--unlabeled", "", code=2)
    agglo2 = ["fit", "train.csv", "--target", "species", "-o", "new", "--learner", "agglo2"]
    assert "--learner agglo2 has no --max-boxes" in refuse(*agglo2, "--max-boxes", 5, code=2)


@pytest.mark.parametrize("learner", ["boosted", "adaptive"])
def test_cross_validation(get, learner):
    """Also of rows some of which have no label, which these learners leave out."""
    species = TRAIN["species"].where(np.arange(len(TRAIN)) % 10 != 3)
    TRAIN.assign(species=species).to_csv("gaps.csv", index=False)
    get(*FIT[:-1], learner)
    rows = "gaps.csv", "--target", "species", "--unlabeled", ""
    scores = json.loads(get("evaluate", "boosted", *rows, "--cv", 3, "--json"))
    assert scores["n_samples"] == 90
    assert scores["accuracy"] > 0.8
