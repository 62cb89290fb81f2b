"""`hyperboxes evaluate`: cross-validation, and the share of rows in a box."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, MixedGFMM, OnlineGFMM, load, save
from tests.iris_tables import FEATURES, TEST, TRAIN

CV = ["evaluate", "model.hyperboxes", "train.csv", "--target", "species", "--cv"]


@pytest.mark.parametrize(
    "model",
    [
        ImprovedOnlineGFMM(theta=0.3, random_state=0),
        OnlineGFMM(gamma=[1, 2, 3, 4], random_state=0),
        AgglomerativeGFMM(theta=0.4),
        MixedGFMM(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("with_names", [True, False])
def test_cross_validation_is_that_of_scikit_learn(get, folder, model, with_names):
    X, y = TRAIN[FEATURES], TRAIN["species"].to_numpy(str)
    # What the model has learned does not count, only what it is.
    known = TEST[FEATURES] if with_names else TEST[FEATURES].to_numpy()
    save(model.fit(known, TEST["species"].to_numpy(str)), "model.hyperboxes")
    scores = json.loads(get(*CV, "4", "--json"))
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    predicted = cross_val_predict(model, X, y, cv=folds)
    assert scores["accuracy"] == pytest.approx(np.mean(predicted == y))
    accuracies = [np.mean(predicted[fold] == y[fold]) for _, fold in folds.split(X, y)]
    assert scores["fold_accuracies"] == pytest.approx(accuracies)
    sizes = [len(model.fit(X.iloc[rows], y[rows]).hyperboxes_) for rows, _ in folds.split(X, y)]
    assert scores["n_boxes"] == round(np.mean(sizes))
    assert scores["n_samples"] == len(X)


def test_cross_validation_for_people(get):
    lines = get(*CV, "3").splitlines()
    assert lines[0].split() == ["samples", "100"]
    assert lines[1].endswith(" on average")
    assert lines[2].startswith("accuracy")
    assert lines[2].endswith(" in 3 folds)")
    assert "folds" not in get(*CV[:-1])


def test_rows_without_a_label_are_learned_and_not_predicted(get, folder):
    few = TRAIN.copy()
    few.loc[few.index[::3], "species"] = ""
    few.to_csv("few.csv", index=False)
    argv = ["evaluate", "new", "few.csv", "--target", "species", "--cv", "2", "--json"]
    for mark in ([], ["--unlabeled", ""]):
        model = ImprovedOnlineGFMM(theta=0.3, unlabeled=None if mark else "")
        save(model.fit(TRAIN[FEATURES], TRAIN["species"].to_numpy(str)), "new")
        scores = json.loads(get(*argv, *mark))
        assert scores["n_samples"] == (few["species"] != "").sum()
        assert scores["confusion_matrix"]["classes"] == ["setosa", "versicolor", "virginica"]


def test_classes_of_few_rows(run, refuse, folder):
    rare = pd.concat([TRAIN, TEST[:1].assign(species="new")])
    rare.to_csv("train.csv", index=False)
    code, out, err = run(*CV, "3", "--json")
    assert code == 0
    assert "Note: there are fewer than 3 rows of new, so not every fold has one" in err
    assert json.loads(out)["by_class"]["new"]["recall"] == 0
    assert "train.csv: no species has 101 rows, so there cannot be 101 folds" in refuse(*CV, "101")


@pytest.mark.parametrize(("folds", "message"), [("1", "at least 2 folds"), ("x", "positive int")])
def test_bad_numbers_of_folds(run, folds, message):
    code, _, err = run(*CV, folds)
    assert code == 2
    assert message in err


def test_cross_validation_of_an_empty_file(refuse, folder):
    (folder / "train.csv").write_text(",".join([*FEATURES, "species"]))
    assert "train.csv has no rows" in refuse(*CV, "3")


def test_cross_validation_leaves_the_model_alone(get, folder):
    before = (folder / "model.hyperboxes").read_bytes()
    get(*CV, "2")
    assert (folder / "model.hyperboxes").read_bytes() == before
    assert load("model.hyperboxes").n_features_in_ == 4


def test_how_many_rows_a_box_holds(get, folder):
    model = load("model.hyperboxes")
    share = (model.membership(TEST[FEATURES]).max(axis=1) == 1).mean()
    command = ["evaluate", "model.hyperboxes", "test.csv", "--target", "species"]
    assert json.loads(get(*command, "--json"))["held"] == pytest.approx(share)
    assert f"\nheld by a box      {share:.4f}  (" in get(*command)
    assert 0 < json.loads(get(*CV, "4", "--json"))["held"] < 1
