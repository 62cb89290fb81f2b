"""`hyperboxes fit`: models, batches, parameters, and columns of categories."""

import json

import numpy as np
import pandas as pd
import pytest

import hyperboxes
from hyperboxes import (
    AgglomerativeGFMM,
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    export_text,
    load,
)
from hyperboxes._cli import main
from hyperboxes._cli.fit import ONLINE, _suspicion, learner_name
from hyperboxes._estimators.registry import commands
from tests.iris_tables import FEATURES, IRIS, TEST, TRAIN
from tests.learners import same_boxes
from tests.tables import make_table

FIT = ["fit", "train.csv", "--target", "species", "-o", "new"]
BOOSTED = ["fit", "train.csv", "--target", "species", "-o", "boosted", "--learner", "boosted"]


def plain(parameters):
    """Return parameters as files keep them: tuples become lists."""
    return {n: list(v) if isinstance(v, tuple) else v for n, v in parameters.items()}


@pytest.mark.parametrize("learner", commands())
def test_fit_gives_the_model_of_the_estimator(get, learner):
    get("fit", "train.csv", "--target", "species", "-o", "new", "--learner", learner)
    entry = commands()[learner]
    expected = entry.estimator(**entry.commands[learner])
    expected.fit(TRAIN[FEATURES], TRAIN["species"].to_numpy(str))
    found = load("new")
    if hasattr(expected, "hyperboxes_"):
        assert same_boxes(found, expected)
    np.testing.assert_array_equal(found.predict(TEST[FEATURES]), expected.predict(TEST[FEATURES]))
    assert plain(found.get_params()) == plain(expected.get_params())
    assert found.feature_names_in_.tolist() == FEATURES
    assert found.classes_.tolist() == sorted(IRIS.target_names)


@pytest.mark.parametrize("learner", ["improved", "online", "adaptive", "mixed"])
def test_batches_are_learned_as_partial_fit_does(get, learner):
    get(*FIT, "--learner", learner, "--batch-rows", 30)
    entry = commands()[learner]
    expected = entry.estimator(**entry.commands[learner])
    X, y = TRAIN[FEATURES], TRAIN["species"].to_numpy(str)
    if "scaling" in expected.get_params():
        expected.set_params(scaling=[X.min().tolist(), X.max().tolist()])
    for start in range(0, 100, 30):
        rows = slice(start, start + 30)
        expected.partial_fit(X[rows], y[rows], classes=np.unique(y))
    found = load("new")
    assert same_boxes(found, expected)
    assert plain(found.get_params()) == plain(expected.get_params())
    np.testing.assert_array_equal(found.predict(TEST[FEATURES]), expected.predict(TEST[FEATURES]))


def test_batches_are_for_learners_with_partial_fit(refuse):
    models = {name: entry.estimator(**entry.commands[name]) for name, entry in commands().items()}
    assert set(ONLINE) == {name for name, model in models.items() if hasattr(model, "partial_fit")}
    message = "--learner agglo2 needs all rows at once"
    assert message in refuse(*FIT, "--learner", "agglo2", "--batch-rows", 9, code=2)


def test_batches_sorted_by_class_get_a_note(run):
    rows = pd.DataFrame({"x": np.arange(600) % 7 / 7, "y": np.arange(600) // 200})
    rows.to_csv("sorted.csv", index=False)
    argv = ["fit", "sorted.csv", "--target", "y", "-o", "new", "--batch-rows", 100]
    assert run(*argv)[2].count("Note: Labels come in long runs") == 1
    assert run(*argv, "-q")[2] == ""
    assert "Note" not in run(*argv[:-2])[2]


def test_fit_parameters(get):
    common = ["fit", "train.csv", "--target", "species", "-o", "new"]
    get(*common, "--theta", "0.1", "--gamma", "2", "--drop", "sepal width (cm)")
    model = load("new")
    assert (model.theta, model.gamma) == (0.1, 2.0)
    assert model.feature_names_in_.tolist() == [FEATURES[0], *FEATURES[2:]]
    get(*common, "--features", "petal width (cm),petal length (cm)", "--gamma", "1,3")
    model = load("new")
    assert model.gamma == [1.0, 3.0]
    assert model.feature_names_in_.tolist() == ["petal width (cm)", "petal length (cm)"]
    get(*common, "--membership-function", "mean")
    expected = ImprovedOnlineGFMM(membership_function="mean", random_state=0)
    expected.fit(TRAIN[FEATURES], TRAIN["species"])
    assert load("new").membership_function == "mean"
    membership = load("new").membership(TEST[FEATURES])
    np.testing.assert_array_equal(membership, expected.membership(TEST[FEATURES]))


def test_choices_that_are_left_to_the_learner(run, refuse):
    code, _, err = run(*FIT, "--learner", "agglo-sm", "--theta", "auto", "--decision", "nearest")
    assert code == 0
    expected = AgglomerativeGFMM("auto", decision="nearest")
    expected.fit(TRAIN[FEATURES], TRAIN["species"].to_numpy(str))
    found = load("new")
    assert (found.theta, found.decision, found.theta_) == ("auto", "nearest", expected.theta_)
    assert same_boxes(found, expected)
    assert f"Theta: {expected.theta_}, chosen by cross-validation" in err
    assert run(*FIT, "--theta", "auto", "--batch-rows", 60)[0] == 0
    first = ImprovedOnlineGFMM("auto", scaling=load("new").scaling, random_state=0)
    first.partial_fit(TRAIN[FEATURES][:60], TRAIN["species"][:60], classes=IRIS.target_names)
    assert load("new").theta_ == first.theta_
    assert run(*BOOSTED, "--max-boxes", "auto", "--class-weight", "balanced")[0] == 0
    assert load("boosted").max_boxes == "auto"
    for option, value in (("--theta", "best"), ("--max-boxes", "all"), ("--decision", "one")):
        code, _, err = run(*FIT, option, value)
        assert code == 2
        assert option in err
        assert f"'{value}'" in err
    assert "at least 50 samples" in refuse(*FIT, "--theta", "auto", "--batch-rows", 9)
    fmnn = [*FIT, "--learner", "fmnn"]
    assert "The 'theta' parameter of FuzzyMinMax must be" in refuse(*fmnn, "--theta", "auto")
    assert "--learner fmnn has no --decision" in refuse(*fmnn, "--decision", "nearest", code=2)


def test_columns_may_be_named_one_by_one(get, refuse):
    drop = ["--drop", "petal width (cm)", "--drop", "petal length (cm),sepal width (cm)"]
    get(*FIT, *drop)
    assert load("new").feature_names_in_.tolist() == [FEATURES[0]]
    features = ["--features", FEATURES[1], "--features", FEATURES[0]]
    get(*FIT, *features)
    assert load("new").feature_names_in_.tolist() == [FEATURES[1], FEATURES[0]]


@pytest.mark.parametrize(
    ("spelling", "expected"),
    {
        "IOL-GFMM": "improved",
        "Onln-GFMM": "online",
        "agglo-2": "agglo2",
        "AGGLO_SM": "agglo-sm",
        "AgglomerativeGFMM": "agglo-sm",
        "Boosted": "boosted",
        "RandomHyperboxes": "random",
        "KNEFMNN": "knefmnn",
        "multi granular": "multi-granular",
        "forest": "forest",
    }.items(),
)
def test_spellings_of_learners(spelling, expected):
    assert learner_name(spelling) == expected


def test_names_of_learners_are_their_own_spelling(get, run):
    assert [learner_name(name) for name in commands()] == list(commands())
    get(*FIT, "--learner", "AGGLO-2")
    assert load("new").algorithm == "agglo2"
    assert "invalid choice: 'forest'" in run(*FIT, "--learner", "forest")[2]


def test_fit_tells_what_it_did(run):
    argv = ["fit", "train.csv", "--target", "species", "-o", "new"]
    code, out, err = run(*argv)
    assert (code, out) == (0, "")
    n_boxes = len(load("new").hyperboxes_)
    assert f"new: {n_boxes} boxes from 100 samples of 3 classes, 4 features" in err
    assert "of 3 classes, 1 feature (" in run(*argv, "--features", FEATURES[0])[2]
    code, out, err = run(*argv, "--json", "--quiet")
    assert (code, err) == (0, "")
    summary = json.loads(out)
    assert summary["n_boxes"] == n_boxes
    assert summary["classes"] == ["setosa", "versicolor", "virginica"]
    assert summary["model"] == "new"


def test_fit_of_boosted_boxes(run):
    code, out, err = run(*BOOSTED, "--max-boxes", 6, "--json")
    assert code == 0
    assert "6 boxes from 100 samples of 3 classes, 4 features" in err
    assert json.loads(out)["n_samples"] == 100
    expected = BoostedHyperboxes(6, random_state=0).fit(TRAIN[FEATURES], TRAIN["species"])
    assert load("boosted").get_params() == expected.get_params()
    assert export_text(load("boosted")) == export_text(expected)


def test_options_of_other_learners_are_refused(refuse):
    assert "--learner boosted has no --theta" in refuse(*BOOSTED, "--theta", 0.5, code=2)
    assert "--learner boosted has no --unlabeled" in refuse(*BOOSTED, "--unlabeled", "", code=2)
    agglo2 = ["fit", "train.csv", "--target", "species", "-o", "new", "--learner", "agglo2"]
    assert "--learner agglo2 has no --max-boxes" in refuse(*agglo2, "--max-boxes", 5, code=2)


@pytest.mark.parametrize("learner", ["improved", "agglo2"])
def test_samples_without_a_label(get, learner):
    few = TRAIN.assign(species=TRAIN["species"].where(np.arange(100) % 5 == 0, ""))
    few.to_csv("few.csv", index=False)
    argv = ["fit", "few.csv", "--target", "species", "-o", "new", "--learner", learner]
    get(*argv, "--unlabeled", "")
    model = load("new")
    assert model.hyperboxes_.counts.sum() == 100
    assert model.classes_.tolist() == sorted(IRIS.target_names)
    assert model.unlabeled == ""
    scores = json.loads(get("evaluate", "new", "few.csv", "--target", "species", "--json"))
    assert scores["n_samples"] == 20
    few.replace("", "?").to_csv("few.csv", index=False)
    get(*argv, "--unlabeled", "?")
    twin = load("new")
    for name in ("lower", "upper", "labels", "counts"):
        np.testing.assert_array_equal(
            getattr(twin.hyperboxes_, name), getattr(model.hyperboxes_, name)
        )


def test_missing_values(get):
    holes = TRAIN[FEATURES].mask(np.arange(400).reshape(100, 4) % 7 == 0).join(TRAIN["species"])
    holes.to_csv("holes.csv", index=False, na_rep="NA")
    get("fit", "holes.csv", "--target", "species", "-o", "new")
    expected = ImprovedOnlineGFMM(random_state=0)
    expected.fit(holes[FEATURES], holes["species"].to_numpy(str))
    assert same_boxes(load("new"), expected)
    out = get("predict", "new", "holes.csv")
    assert out.split()[1:] == expected.predict(holes[FEATURES]).tolist()


def test_targets_that_are_no_class(refuse, run, monkeypatch):
    pd.DataFrame({"x": range(20), "price": np.arange(20) / 7}).to_csv("prices.csv", index=False)
    argv = ["fit", "prices.csv", "--target", "price", "-o", "new"]
    code, _, err = run(*argv)
    assert code == 0
    assert "Note: price has 20 different values. Is it a class?" in err
    monkeypatch.setattr("hyperboxes._cli.fit._MAX_CLASSES", 10)
    assert "price has more than 10 different values, so it is not a class" in refuse(*argv)


@pytest.mark.parametrize("learner", ["improved", "boosted", "random"])
def test_a_category_that_had_no_value_in_training(run, learner):
    frame = pd.DataFrame({"a": range(40), "k": "", "y": ["u", "v"] * 20})
    frame.to_csv("k.csv", index=False)
    assert (
        run(
            "fit", "k.csv", "--target", "y", "--categorical", "k", "--learner", learner, "-o", "new"
        )[0]
        == 0
    )
    pd.DataFrame({"a": [3, 3], "k": ["", "red"]}).to_csv("rows.csv", index=False)
    code, out, err = run("predict", "new", "rows.csv", "--proba")
    assert code == 0
    assert len(set(out.splitlines()[1:])) == 1
    assert (
        "Note: k: rows with a category that was not seen in training (treated as missing): 1\n"
        in err
    )


def test_unknown_categories_are_counted(run, tmp_path):
    table, y = make_table()
    table.assign(label=y).to_csv("data.csv", index=False)
    run("fit", "data.csv", "--target", "label", "-o", "new")
    table.loc[:11, "colour"] = "mauve"
    table.assign(label=y).to_csv("data.csv", index=False)
    for argv in (
        ["predict", "new", "data.csv", "--chunk-size", 7],
        ["evaluate", "new", "data.csv"],
    ):
        note = "Note: colour: rows with a category that was not seen in training"
        assert f"{note} (treated as missing): 12\n" in run(*argv)[2]
        assert note not in run(*argv, "-q")[2]


def test_command_line(tmp_path, capsys):
    table, y = make_table()
    data, model = tmp_path / "data.csv", tmp_path / "m.hyperboxes"
    table.assign(label=y).to_csv(data, index=False)
    fit = ["fit", str(data), "--target", "label", "-o", str(model)]
    for learner in ("improved", "boosted", "random", "mixed"):
        main([*fit, "--learner", learner])
        assert "Categories: colour, sold (" in capsys.readouterr().err
        main(["evaluate", str(model), str(data), "--target", "label"])
        assert "accuracy" in capsys.readouterr().out
        assert main(["evaluate", str(model), str(data), "--target", "label", "--cv", "2"]) == 0
        main(["predict", str(model), str(data), "-o", str(tmp_path / "p.csv")])
        predicted = pd.read_csv(tmp_path / "p.csv")["prediction"]
        assert (predicted == y).mean() > 0.7
        main(["rules", str(model)])
        assert "colour" in capsys.readouterr().out
    main([*fit, "--categorical", "size", "--learner", "boosted"])
    assert list(hyperboxes.load(model).categories_) == ["size", "colour", "sold"]
    for wrong, message in {
        ("--numeric", "colour"): "not numbers: colour",
        ("--categorical", "hue"): "hue is not a feature",
        ("--categorical", "colour", "--learner", "adaptive"): "takes no categories",
    }.items():
        assert main([*fit, *wrong]) != 0
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("learner", ["improved", "mixed"])
def test_batches_may_bring_categories(learner, tmp_path, capsys):
    table, y = make_table()
    order = table["colour"].sort_values(kind="stable").index
    y[::11] = "?"
    mark = [] if learner == "mixed" else ["--unlabeled", "?"]
    data, path = tmp_path / "data.csv", tmp_path / "m.hyperboxes"
    table.assign(label=y).iloc[order].to_csv(data, index=False)
    fit = ["fit", str(data), "--target", "label", "--learner", learner, *mark]
    assert main([*fit, "-o", str(path), "--batch-rows", "50"]) == 0
    model = hyperboxes.load(path)
    assert set(model.categories_["colour"]) == set(table["colour"].dropna())
    has_label = y != "?"
    assert model.score(table[has_label], y[has_label]) > 0.7
    capsys.readouterr()


def test_booleans_are_categories_however_they_are_written(tmp_path, capsys):
    table, y = make_table()
    data, path = tmp_path / "data.csv", tmp_path / "m.hyperboxes"
    table.assign(label=y).to_csv(data, index=False)
    assert main(["fit", str(data), "--target", "label", "-o", str(path)]) == 0
    model = hyperboxes.load(path)
    assert sorted(model.categories_["sold"]) == [False, True]
    capsys.readouterr()
    main(["rules", str(path)])
    assert "sold    = True" in capsys.readouterr().out
    predicted = []
    for name in ("lower.csv", "as-they-are.parquet"):
        other = tmp_path / name
        if name.endswith("csv"):
            table.assign(sold=table["sold"].astype(str).str.lower()).to_csv(other, index=False)
        else:
            table.to_parquet(other)
        main(["predict", str(path), str(other)])
        predicted.append(capsys.readouterr().out.split()[1:])
    assert predicted == [model.predict(table).tolist()] * 2
    main(["fit", str(data), "--target", "label", "-o", str(path), "--numeric", "sold"])
    assert list(hyperboxes.load(path).categories_) == ["colour"]


@pytest.mark.parametrize("text", ["2024-03-01", "01.03.2024", "2024-03-01 10:30:00", "10:30"])
def test_dates_are_refused_with_advice(text, tmp_path, capsys):
    table, y = make_table(20)
    data = tmp_path / "data.csv"
    table.assign(day=text, label=y).to_csv(data, index=False)
    fit = ["fit", str(data), "--target", "label", "-o", str(tmp_path / "m.hyperboxes")]
    assert main(fit) != 0
    error = " ".join(capsys.readouterr().err.split())
    assert "not numbers: day" in error
    advice = (
        "Make numbers of times first, such as the hour" if text == "10:30" else "(fit --dates day)"
    )
    assert advice in error
    assert "(fit --drop day)" in error
    assert main([*fit, "--drop", "day"]) == 0
    assert main([*fit, "--categorical", "day"]) == 0


@pytest.fixture
def loans(folder):
    """Write a table with a date, an identifier, a constant and a copy of the target."""
    table, _ = make_table(200)
    opened = pd.date_range("2025-01-01", periods=200)
    is_late = np.where((opened > "2025-05-01") ^ (table["size"] > 8), "late", "paid")
    table = table.assign(opened=opened.strftime("%d.%m.%Y"), outcome=is_late)
    odd = {"loan id": np.arange(200) + 7001, "bank": "ours", "is_late": is_late == "late"}
    table.assign(**odd).to_csv("loans.csv", index=False)
    table.to_csv("clean.csv", index=False)
    return table


FIT_LOANS = ["fit", "clean.csv", "--target", "outcome", "--learner", "boosted", "--dates", "opened"]


def test_columns_of_no_use_are_noted(run, loans):
    fit = ["fit", "loans.csv", *FIT_LOANS[2:], "-o", "m"]
    code, _, errors = run(*fit)
    assert code == 0
    assert (
        "Note: loan id looks like an identifier, bank is constant, is_late repeats the target. "
        "To leave out: --drop 'loan id,bank,is_late'\n" in errors
    )
    assert "Note" not in run(*fit, "--drop", "loan id,bank,is_late")[2]
    assert "Note" not in run(*fit, "--features", "loan id,bank,opened")[2]
    assert (
        "looks like an identifier"
        in run(
            *["fit", "loans.csv", "--target", "outcome", "--drop", "opened", "-o", "m"],
            *("--batch-rows", 100),
        )[2]
    )


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (np.arange(40) * 1000 + 5, ""),  # whole numbers may differ by chance
        (np.arange(40) * 3 + 5, "looks like an identifier"),
        (np.arange(40) / 7, ""),
        ([f"name {i}" for i in range(40)], "looks like an identifier"),
        ([f"name {i // 2}" for i in range(40)], ""),
        ([None] * 40, "is constant"),
        ([1.0, 0.0] * 20, "repeats the target"),
    ],
)
def test_suspicions(values, found):
    assert _suspicion(pd.Series(values, name="value"), np.array(["b", "a"] * 20)) == found
    if len(set(values)) == 40 and isinstance(values[0], np.integer):
        assert _suspicion(pd.Series(values, name="loan_id"), np.arange(40).astype(str)) != ""


def test_dates_are_read_by_all_commands(get, run, loans):
    get(*FIT_LOANS, "-o", "m")
    model = load("m")
    assert list(model.feature_names_in_) == ["size", "colour", "sold", "opened"]
    predicted = get("predict", "m", "clean.csv", "--column", "p").split()[1:]
    assert predicted == model.predict(loans.drop(columns="outcome")).tolist()
    loans.assign(opened=pd.to_datetime(loans["opened"], dayfirst=True)).to_parquet("t.parquet")
    assert get("predict", "m", "t.parquet").split()[1:] == predicted
    scores = json.loads(get("evaluate", "m", "clean.csv", "--json"))
    assert scores["accuracy"] == model.score(loans.drop(columns="outcome"), loans["outcome"])
    assert json.loads(get("evaluate", "m", "clean.csv", "--cv", 3, "--json"))["accuracy"] > 0.9
    assert "opened_days counts from 2025-01-01" in get("rules", "m")
    assert "opened_days" in get("explain", "m", "clean.csv", "--row", 150)
    get("report", "m", "clean.csv", "-o", "page.html")
    for learner in ("improved", "random"):
        get(*FIT_LOANS[:4], "--learner", learner, "--dates", "opened", "-o", "other")
        assert len(get("predict", "other", "clean.csv").split()) == 201
        get("evaluate", "other", "clean.csv")
    code, _, errors = run("predict", "other", "clean.csv", "--membership")
    assert code == 1
    assert "is a RandomHyperboxes, which has no memberships" in errors


def test_thresholds_are_stored_and_applied(get, refuse, run, loans):
    X = loans.drop(columns="outcome")
    get(*FIT_LOANS, "-o", "plain")
    proba = load("plain").predict_proba(X)
    _, _, notes = run(*FIT_LOANS, "-o", "m", "--threshold", "paid=0.2")
    assert "Threshold: paid is predicted from a probability of 0.2 on." in notes
    expected = np.where(proba[:, 1] >= 0.2, "paid", "late").tolist()
    assert get("predict", "m", "clean.csv").split()[1:] == expected
    with_proba = get("predict", "m", "clean.csv", "--proba").splitlines()[1:]
    assert [row.split(",")[0] for row in with_proba] == expected
    scores = json.loads(get("evaluate", "m", "clean.csv", "--json"))
    assert scores["accuracy"] == np.mean(expected == loans["outcome"])
    assert scores["threshold"] == {"class": "paid", "probability": 0.2}
    assert "threshold          0.2000  (for paid)" in get("evaluate", "m", "clean.csv", "--cv", 2)
    get("report", "m", "clean.csv", "-o", "page.html")
    get(*FIT_LOANS, "-o", "m", "--threshold", "late=0.7")
    expected = np.where(proba[:, 0] >= 0.7, "late", "paid").tolist()
    assert get("predict", "m", "clean.csv").split()[1:] == expected
    rarer = loans["outcome"].value_counts().index[-1]
    for auto in ("auto", f"{rarer}=auto"):
        notes = run(*FIT_LOANS, "-o", "m", "--threshold", auto)[2]
        assert f"{rarer} is predicted from a probability of 0." in notes
    three = ["fit", "train.csv", "--target", "species", "-o", "m", "--threshold", "0.5"]
    assert "--threshold is for two classes, but species has 3" in refuse(*three, code=2)
    nearest = [*FIT_LOANS[:4], "--dates", "opened", "-o", "m"]
    get(*nearest, "--threshold", "auto")
    assert "explain is unsupported" in refuse("explain", "m", "clean.csv")
    get(*nearest, "--class-weight", "balanced")
    assert load("m")[-1].class_weight == "balanced"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threshold", "1.5"], "not a probability below 1: '1.5'"),
        (["--threshold", "soon=0.5"], "for one of two classes, not soon of late, paid"),
        (["--batch-rows", "9", "--learner", "improved"], "--dates needs all rows at once"),
        (["--dates", "closed"], "closed is not a feature"),
        (["--class-weight", "odd"], "invalid choice: 'odd'"),
    ],
)
def test_wrong_options_of_dates_and_decisions(run, loans, options, message):
    code, _, errors = run(*FIT_LOANS, "-o", "m", *options)
    assert code in (1, 2)
    assert message in errors
