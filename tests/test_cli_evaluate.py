"""`hyperboxes evaluate`: scores, labels as files write them, and cross-validation."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from hyperboxes import AgglomerativeGFMM, ImprovedOnlineGFMM, OnlineGFMM, load, save
from hyperboxes._cli.columns import match_spelling
from hyperboxes.literature import MixedGFMM
from tests.iris_tables import FEATURES, IRIS, TEST, TRAIN

CV = ["evaluate", "model.hyperboxes", "train.csv", "--target", "species", "--cv"]


def test_evaluate(get):
    scores = json.loads(
        get("evaluate", "model.hyperboxes", "test.csv", "--target", "species", "--json")
    )
    model = load("model.hyperboxes")
    true, predicted = TEST["species"], model.predict(TEST[FEATURES])
    assert scores["accuracy"] == accuracy_score(true, predicted)
    assert scores["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, predicted))
    assert scores["n_boxes"] == len(model.hyperboxes_)
    assert scores["majority_accuracy"] == true.value_counts(normalize=True).max()
    proba = model.predict_proba(TEST[FEATURES])
    assert scores["auc"] == pytest.approx(roc_auc_score(true, proba, multi_class="ovr"))
    assert scores["log_loss"] == pytest.approx(log_loss(true, proba))
    largest, is_right = proba.max(axis=1), (true == predicted).to_numpy()
    for found in scores["calibration"]:
        rows = (largest >= found["from"]) & (largest < found["to"] + (found["to"] == 1))
        assert found["n_samples"] == rows.sum() > 0
        assert found["mean_probability"] == pytest.approx(largest[rows].mean())
        assert found["accuracy"] == pytest.approx(is_right[rows].mean())
    assert sum(found["n_samples"] for found in scores["calibration"]) == len(TEST)
    matrix = scores["confusion_matrix"]
    assert matrix["rows"] == confusion_matrix(true, predicted).tolist()
    expected = precision_recall_fscore_support(true, predicted)
    for i, name in enumerate(matrix["classes"]):
        found = scores["by_class"][name]
        values = [found[key] for key in ("precision", "recall", "f1", "support")]
        assert values == pytest.approx([column[i] for column in expected])
    out = get("evaluate", "model.hyperboxes", "test.csv", "--target", "species", "--chunk-size", 7)
    assert f"accuracy           {scores['accuracy']:.4f}" in out
    assert "true class in rows" in out


def test_the_target_is_that_of_the_training(get, refuse):
    get("fit", "train.csv", "--target", "species", "-o", "new")
    named = get("evaluate", "new", "test.csv", "--target", "species")
    save(load("new"), "new")
    assert get("evaluate", "new", "test.csv") == named
    assert get("evaluate", "new", "train.csv", "--cv", 3)
    TEST.rename(columns={"species": "kind"}).to_csv("kinds.csv", index=False)
    assert get("evaluate", "new", "kinds.csv", "--target", "kind") == named
    assert "kinds.csv has no column 'species'" in refuse("evaluate", "new", "kinds.csv")
    for command in ("evaluate", "report"):
        message = refuse(command, "model.hyperboxes", "test.csv", code=2)
        assert "model.hyperboxes does not name its target: add --target COLUMN" in message


def test_useless_models_are_called_so(get):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.random(60), "y": np.repeat(["a", "b", "c"], [50, 9, 1])})
    rows.to_csv("rows.csv", index=False)
    get("fit", "rows.csv", "--target", "y", "-o", "new", "--learner", "boosted", "--max-boxes", 1)
    rows.assign(y=np.repeat(["a", "c"], [50, 10])).to_csv("rows.csv", index=False)
    out = get("evaluate", "new", "rows.csv")
    assert "The model does not beat the majority: always predicting a is right at least" in out
    assert "\nNever predicted: c.\n" in out
    good = get("evaluate", "model.hyperboxes", "test.csv", "--target", "species")
    assert "majority: " not in good
    assert "Never" not in good


def test_a_file_of_one_class(get):
    TEST[TEST["species"] == "setosa"].to_csv("setosa.csv", index=False)
    argv = ["evaluate", "model.hyperboxes", "setosa.csv", "--target", "species"]
    scores = json.loads(get(*argv, "--json"))
    assert "auc" not in scores
    assert scores["majority_accuracy"] == 1
    assert not {"majority:", "Never"} & set(get(*argv).split())


def test_evaluate_boosted_boxes(get, boosted):
    scores = json.loads(get("evaluate", "boosted", "test.csv", "--target", "species", "--json"))
    assert scores["accuracy"] == boosted.score(TEST[FEATURES], TEST["species"])
    assert (scores["n_samples"], scores["n_boxes"]) == (len(TEST), 6)
    few = TEST.assign(species=TEST["species"].where(np.arange(len(TEST)) % 5 == 0, "?"))
    few.to_csv("few.csv", index=False)
    argv = ["evaluate", "boosted", "few.csv", "--target", "species", "--json", "--unlabeled", "?"]
    assert json.loads(get(*argv))["n_samples"] == 10


def test_labels_that_the_model_does_not_know_are_mistakes(get, folder):
    strange = TEST.assign(species=TEST["species"].replace("setosa", "rosa"))
    strange.to_csv("strange.csv", index=False)
    argv = ["evaluate", "model.hyperboxes", "strange.csv", "--target", "species"]
    scores = json.loads(get(*argv, "--json"))
    assert scores["by_class"]["rosa"]["recall"] == 0
    assert scores["by_class"]["rosa"]["precision"] is None
    assert scores["by_class"]["setosa"]["recall"] is None
    assert scores["accuracy"] < 0.8
    assert "rosa" in get(*argv)


@pytest.mark.parametrize("classes", [[0, 1, 2], [0.0, 1.0, 2.0], [False, True, True]], ids=str)
def test_models_with_numbers_as_classes(get, classes):
    """Such come from Python; files may write the numbers in several ways."""
    labels = np.array(classes)[IRIS.target[TEST.index]]
    model = ImprovedOnlineGFMM(shuffle=False).fit(TEST[FEATURES], labels)
    save(model, "numbers")
    for texts in (labels.astype(float), labels.astype(int), labels):
        TEST.assign(species=texts).to_csv("numbers.csv", index=False)
        argv = ["numbers.csv", "--target", "species"]
        assert json.loads(get("evaluate", "numbers", *argv, "--json"))["accuracy"] == 1
        out = get("rules", "numbers", "--data", *argv, "--format", "json")
        rules = json.loads(out)
        assert all(rule["precision"] == 1 for rule in rules)
        assert {str(rule["class"]) for rule in rules} == {str(label) for label in classes}
        assert all(type(rule["support"]) is int for rule in rules)


def test_large_numbers_as_classes_are_told_apart():
    """As floats they would be the same."""
    classes = np.array([2**53, 2**53 + 1])
    texts = [str(label) for label in classes]
    assert match_spelling(np.array([*texts, "9007199254740992.0"]), classes)[:2].tolist() == texts


def test_marks_of_no_label_that_are_numbers(get, folder):
    labels = np.where(np.arange(50) % 5 == 0, IRIS.target[TEST.index], -1)
    save(ImprovedOnlineGFMM(unlabeled=-1, shuffle=False).fit(TEST[FEATURES], labels), "few")
    for kind in (int, float):
        TEST.assign(species=labels.astype(kind)).to_csv("few.csv", index=False)
        argv = ["few.csv", "--target", "species"]
        assert json.loads(get("evaluate", "few", *argv, "--json"))["n_samples"] == 10
        rules = json.loads(get("rules", "few", "--data", *argv, "--format", "json"))
        assert all(rule["precision"] in (None, 1) for rule in rules)


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


def test_bad_numbers_of_folds(run, refuse):
    assert "--cv needs at least 2 folds" in refuse(*CV, "1", code=2)
    assert "not a positive integer: 'x'" in run(*CV, "x")[2]


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
    assert f"\nin a box           {share:.4f}  (" in get(*command)
    assert 0 < json.loads(get(*CV, "4", "--json"))["held"] < 1


@pytest.mark.parametrize("learner", ["boosted", "adaptive"])
def test_cross_validation_leaves_unlabeled_rows_out(get, learner):
    """Also of rows some of which have no label, which these learners leave out."""
    species = TRAIN["species"].where(np.arange(len(TRAIN)) % 10 != 3)
    TRAIN.assign(species=species).to_csv("gaps.csv", index=False)
    get("fit", "train.csv", "--target", "species", "-o", "boosted", "--learner", learner)
    rows = "gaps.csv", "--target", "species", "--unlabeled", ""
    scores = json.loads(get("evaluate", "boosted", *rows, "--cv", 3, "--json"))
    assert scores["n_samples"] == 90
    assert scores["accuracy"] > 0.8
