"""Several files on the command line: read one after the other, as if they were one."""

import numpy as np
import pytest

from hyperboxes import load
from tests.iris_tables import FEATURES, TEST, TRAIN

FIT = ["--target", "species", "-o", "parts.hyperboxes"]


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
        get("fit", *files, *FIT, "--learner", learner)
        boxes = load("parts.hyperboxes").hyperboxes_
        np.testing.assert_array_equal(boxes.lower, whole.lower)
        np.testing.assert_array_equal(boxes.counts, whole.counts)


def test_batches_end_with_their_part(get, parts):
    get("fit", *parts, *FIT, "--batch-rows", 70)
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
        "fit", *parts, "part-3.csv", *FIT
    )
    assert "part-3.csv has no" in refuse("predict", "model.hyperboxes", "new-0.csv", "part-3.csv")
    wrong = TEST[:5].astype({FEATURES[2]: object})
    wrong.iloc[3, 2] = "long"
    wrong.to_csv("part-4.csv", index=False)
    message = refuse("fit", *parts, "part-4.csv", *FIT, "--numeric", FEATURES[2])
    assert "part-4.csv: not numbers" in message
    assert "row 4 of petal length (cm) is 'long'" in message


def test_what_does_not_go_with_parts(refuse, parts):
    assert "standard input is read alone" in refuse("fit", "part-0.csv", "-", *FIT, code=2)
    assert "part-0.csv is named twice" in refuse("fit", "part-0.csv", "part-*", *FIT, code=2)
    assert "No file is named no-*" in refuse("fit", "no-*", *FIT)
    output = ["-o", "new-1.csv"]
    message = refuse("predict", "model.hyperboxes", "new-0.csv", "new-1.csv", *output, code=2)
    assert "new-1.csv is read from" in message
