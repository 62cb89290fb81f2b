"""Samples changed in the report: what the page then predicts is what `predict` does."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris

from hyperboxes import AgglomerativeGFMM, BoostedHyperboxes, explain
from hyperboxes._readers import explanation_text as words
from hyperboxes._report.page_data import list_sliders
from hyperboxes.literature import MultiGranularGFMM
from tests.boosted import MANY, around, known_model, set_fitted
from tests.browser import needs_browser
from tests.decisions import decide_by
from tests.learners import ImprovedOnlineGFMM, OnlineGFMM, OverlappingFuzzyMinMax

pytestmark = needs_browser
nan = float("nan")
IRIS = load_iris(as_frame=True)
X, Y = IRIS.data[1::2], IRIS.target[1::2]
NAMES = list(IRIS.target_names)

# Asks the page about samples; what is missing comes as null.
ASK = """
const known = (values) => values.map((value) => value ?? NaN);
const first = report.samples[0];
return arguments[0].map(([low, high]) => explainValues(first, known(low), known(high)));
"""


def plain(values):
    """Return numbers for JSON, None for NaN."""
    return [None if value != value else value for value in np.asarray(values, float).tolist()]


def ask(window, lower, upper=None):
    """Return what the page says of samples."""
    ends = zip(lower, lower if upper is None else upper, strict=True)
    return window.evaluate(ASK, [[plain(low), plain(high)] for low, high in ends])


def on_a_grid(seed, n_samples=90, n_features=3):
    """Return samples of few values, so that many memberships tie, some of them missing."""
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, 5, (n_samples, n_features)) / 4
    samples[rng.random(samples.shape) < 0.1] = nan
    return samples, rng.integers(0, 3, n_samples)


def asked_about(seed, samples):
    """Return samples, others between and beside them, and some far away."""
    rng = np.random.default_rng(seed)
    shape = samples.shape
    between = rng.integers(-2, 11, shape) / 8
    far = rng.normal(size=shape) * 10.0 ** rng.integers(0, 9, shape)
    rows = np.concatenate([samples, between, rng.random(shape), far])
    rows[rng.random(rows.shape) < 0.05] = nan
    return rows


COVERS = {
    "mean": ImprovedOnlineGFMM(theta=0.3),
    "min": ImprovedOnlineGFMM(theta=0.3, membership_function="min", gamma=[1.0, 4.0, 2.0]),
    "steep mean": ImprovedOnlineGFMM(theta=0.2, gamma=5.0),
    "points within boxes": OnlineGFMM(theta=0.6),
    "contracted": OnlineGFMM(theta=0.6, membership_function="min"),
    "agglomerative": AgglomerativeGFMM(theta=0.5),
    "overlapping": OverlappingFuzzyMinMax(theta=0.6),
    "a level of several": MultiGranularGFMM((0.2, 0.5), random_state=0),
}


@pytest.mark.parametrize("name", COVERS)
def test_the_nearest_box_is_that_of_predict(show, name):
    samples, labels = on_a_grid(1)
    shift = [0.0, 1000.0, -0.1] if name == "contracted" else 0.0  # coarser than the model's units
    model = decide_by(COVERS[name].fit(samples + shift, labels), 1)
    window = show(model, samples[:3] + shift, labels[:3], max_rules=None)
    asked = asked_about(2, samples) + shift
    answers = ask(window, asked)
    explanations = explain(model, asked)
    assert_array_equal([answer["predicted"] for answer in answers], model.predict(asked))
    assert_array_equal([answer["winning"] for answer in answers], model.apply(asked))
    competing = [one.boxes[1].index if len(one.boxes) > 1 else -1 for one in explanations]
    assert_array_equal([answer["competing"] for answer in answers], competing)
    assert_array_equal([answer["memberships"] for answer in answers], model.membership(asked))
    assert [answer["why"] for answer in answers] == [words.headline(one) for one in explanations]
    ties = [answer["tie"] for answer in answers]
    assert ties == [words.tie(one) for one in explanations]
    assert 0 < ties.count("") < len(ties)


@pytest.mark.parametrize(("name", "n_neighbors", "width"), [("mean", 2, 0), ("min", 5, 2)])
def test_several_boxes_decide_as_in_predict_proba(show, name, n_neighbors, width):
    samples, labels = on_a_grid(1)
    model = decide_by(COVERS[name].fit(samples, labels), n_neighbors, width)
    window = show(model, samples[:3], labels[:3], max_rules=None)
    asked = asked_about(2, samples)
    answers, explanations = ask(window, asked), explain(model, asked)
    probabilities = model.predict_proba(asked)
    found = np.array([answer["memberships"] for answer in answers])
    assert_allclose(found, probabilities, rtol=0, atol=1e-9)
    ordered = np.sort(probabilities, axis=1)
    is_clear = ordered[:, -1] - ordered[:, -2] > 1e-9
    predicted = np.array([answer["predicted"] for answer in answers])
    assert_array_equal(predicted[is_clear], model.predict(asked)[is_clear])
    for k in np.flatnonzero(is_clear):
        answer, explanation = answers[k], explanations[int(k)]
        assert answer["why"].endswith(
            f": the {n_neighbors} nearest boxes of each class decide together."
        )
        shares = dict(answer["shares"])
        expected = [box.membership for box in explanation.boxes[: len(shares)]]
        assert_allclose(list(shares.values()), expected, rtol=0, atol=1e-9)
        own = explanation.winning.membership
        assert own == pytest.approx(shares.get(answer["winning"], own), abs=1e-9)


def test_intervals(show):
    samples, labels = on_a_grid(3)
    upper = samples + 0.125
    model = ImprovedOnlineGFMM(theta=0.4).fit(samples, labels, X_upper=upper)
    window = show(model, samples[:3], labels[:3], X_upper=upper[:3])
    asked = asked_about(4, samples)
    width = np.abs(np.random.default_rng(0).normal(size=asked.shape))
    answers = ask(window, asked, asked + width)
    predicted = model.predict(asked, asked + width)
    assert_array_equal([answer["predicted"] for answer in answers], predicted)
    window.write("#sample-row", "1")
    window.click("#edit summary")
    assert " to " in window.find("#edit-0").get_attribute("placeholder")
    window.write("#edit-0", "0.5")
    changed = [row.copy() for row in (samples[0], upper[0])]
    for row in changed:
        row[0] = 0.5
    expected = model.predict(*(row[None] for row in changed))[0]
    assert window.text("#edit-result b") == f"class {expected}"


@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_explanations_in_the_page_are_those_of_explain(show, n_neighbors):
    """Each sample asked about anew is explained as it came with the page."""
    model = ImprovedOnlineGFMM(theta=0.3).fit(IRIS.data[::2], IRIS.target[::2])
    decide_by(model, n_neighbors)
    window = show(model, X, Y, class_names=NAMES)
    names = ["predicted", "winning", "competing", "deciding", "worst", "weighty", "why", "tie"]
    pairs = window.evaluate(
        "const again = (sample) => explainValues(sample, ...endsAsGiven(sample));"
        "const told = (sample) => arguments[0].map((name) => sample[name]);"
        "return report.samples.map((sample) => [told(sample), told(again(sample))])",
        names,
    )
    assert len(pairs) == len(X)
    for told, found in pairs:
        assert found == told


@pytest.mark.parametrize("n_boxes", [8, MANY])
def test_votes_add_up_to_those_of_predict(show, n_boxes):
    samples, labels = on_a_grid(5, 200, 4)
    samples[:, :2] = np.nan_to_num(samples[:, :2], nan=0.5)
    model = BoostedHyperboxes(n_boxes, early_stopping=False, random_state=0).fit(samples, labels)
    window = show(model, samples[:3], labels[:3])
    asked = around(model.hyperboxes_, asked_about(6, samples))
    answers = ask(window, asked)
    explanations = explain(model, asked)
    assert_array_equal([answer["predicted"] for answer in answers], model.predict(asked))
    assert_array_equal(
        [answer["scores"] for answer in answers], [one.scores for one in explanations]
    )
    assert_allclose([answer["memberships"] for answer in answers], explanations.probabilities)
    for answer, explanation in zip(answers, explanations, strict=True):
        assert answer["nHeld"] == len(explanation.boxes)
        assert [held["box"] for held in answer["held"]] == [
            vote.index for vote in explanation.boxes[:30]
        ]
        assert answer["why"] == words.headline(explanation)
        assert answer["tie"] == " ".join(explanation.notes)
        assert_allclose(answer["baseline"], explanation.baseline, atol=1e-12)


def test_every_kind_of_condition(show):
    model = known_model()
    window = show(model, [[3.5, 1.5, 600.5]], ["a"])
    asked = around(model.hyperboxes_, np.array([[2.5, 1.0, 3.0], [nan, nan, nan]]))
    for answer, explanation in zip(ask(window, asked), explain(model, asked), strict=True):
        conditions = [explanation.conditions(vote) for vote in explanation.boxes]
        assert [held["conditions"] for held in answer["held"]] == conditions
        assert answer["scores"] == explanation.scores.tolist()


def test_equal_scores_are_the_first_class(show):
    data = np.array([[0.0], [1.0]] * 40)
    labels = np.array(["b", "a"] * 40)
    model = BoostedHyperboxes(2, random_state=0).fit(data, labels)
    set_fitted(model, intercept=np.zeros(2))
    window = show(model, data[:4], labels[:4])
    (answer,) = ask(window, [[nan]])
    assert answer["scores"] == [0.0, 0.0]
    assert model.predict([[nan]]) == ["a"]
    assert answer["predicted"] == 0


@pytest.mark.parametrize("make", [ImprovedOnlineGFMM, BoostedHyperboxes])
def test_what_would_change_it_does(show, make):
    """The change that the page tells gives the class that it tells, for every sample."""
    cancer = load_breast_cancer()
    model = make(random_state=0).fit(cancer.data[::2], cancer.target[::2])
    window = show(model, cancer.data[1:80:2], cancer.target[1:80:2], class_names=["bad", "good"])
    tried = window.evaluate(
        "return report.samples.map(sample => { chooseSample(sample);"
        "const told = byId('sample-change').textContent;"
        "const button = document.querySelector('.try'); button?.click();"
        "const numbers = [...editState.changed].map(j => String(editState.ends[0][j]));"
        "const answer = byId('edit-result').querySelector('b').textContent;"
        "return [button !== null, told, answer, numbers]; })"
    )
    assert len(tried) == 40
    assert sum(found for found, *_ in tried) > 35
    for found, told, answer, numbers in tried:
        assert not found or f"To get {answer}:" in told or f"It would be {answer} " in told
        assert all(len(number) < 9 for number in numbers)


def edited_row(window, sample, feature, text):
    """Type a value into a field of the first sample, and return the sample with it."""
    window.write(f"#edit-{feature}", text)
    sample = np.array(sample, float)
    sample[feature] = float(text)
    return sample


def test_fields_sliders_and_reset(show):
    model = ImprovedOnlineGFMM(theta=0.3).fit(IRIS.data[::2].to_numpy(), IRIS.target[::2])
    samples = X.to_numpy()
    decide_by(model, 1)
    window = show(model, samples, Y, class_names=NAMES)
    row = 38
    window.write("#sample-row", str(row + 1))
    title, why = window.text("#sample-title"), window.text("#sample-why")
    assert not window.find("#edit-fields").is_displayed()
    window.click("#edit summary")
    assert not window.find("#edit-reset").is_enabled()
    sample = edited_row(window, samples[row], 2, "1.5")
    sample = edited_row(window, sample, 3, "0.2")
    (expected,) = explain(model, [sample], class_names=NAMES)
    assert expected.class_name == "setosa"
    assert window.text("#edit-result p") == "Prediction: setosa (before: versicolor)"
    assert (
        window.text("#sample-title")
        == f"Row {row + 1}, changed: predicted setosa, before versicolor"
    )
    assert window.text("#sample-why") == str(expected).splitlines()[0]
    assert window.texts("#sample-change li") == ["x2 5 → 1.5", "x3 1.7 → 0.2"]
    assert f"box {expected.winning.index}, setosa" in window.text("#strip-table thead")
    slider = window.find("#edit-fields .field[data-feature='2'] input[type='range']")
    assert slider.get_attribute("value") == "15"
    window.evaluate(
        "arguments[0].value = 48; arguments[0].dispatchEvent(new Event('input'))", slider
    )
    assert window.find("#edit-2").get_attribute("value") == "4.8"
    sample[2] = 4.8
    assert window.text("#edit-result b") == NAMES[model.predict([sample])[0]]
    window.click("#edit-fields .field[data-feature='2'] button")
    assert window.find("#edit-2").get_attribute("value") == "5"
    assert window.texts("#sample-change li") == ["x3 1.7 → 0.2"]
    window.click("#edit-reset")
    assert (window.text("#sample-title"), window.text("#sample-why")) == (title, why)
    assert window.find("#edit-3").get_attribute("value") == "1.7"


def test_changes_belong_to_one_sample(show):
    model = ImprovedOnlineGFMM(theta=0.3).fit(IRIS.data[::2], IRIS.target[::2])
    window = show(model, X, Y, class_names=NAMES)
    window.write("#sample-row", "1")
    window.click("#edit summary")
    window.write("#edit-2", "6.5")
    assert "changed" in window.text("#sample-title")
    window.choose("#plane-boxes", "all")
    window.click("#sample-next")
    assert window.text("#sample-title").startswith("Row 2: predicted setosa, true class setosa")
    assert window.find("#edit-fields").is_displayed()
    window.click("#sample-previous")
    assert window.text("#sample-title").startswith("Row 1: predicted setosa")


def test_missing_values_and_nonsense(show):
    samples, labels = on_a_grid(7)
    model = ImprovedOnlineGFMM(theta=0.3).fit(samples, labels)
    row = int(np.flatnonzero(np.isnan(samples).any(axis=1))[0])
    window = show(model, samples[[row]], labels[[row]])
    window.click("#edit summary")
    missing = int(np.flatnonzero(np.isnan(samples[row]))[0])
    field = window.find(f"#edit-{missing}")
    assert (field.get_attribute("value"), field.get_attribute("placeholder")) == ("", "missing")
    sample = edited_row(window, samples[row], missing, "0.5")
    assert window.text("#edit-result b") == f"class {model.predict([sample])[0]}"
    other = int(np.flatnonzero(~np.isnan(samples[row]))[0])
    window.evaluate(
        "const field = byId(`edit-${arguments[0]}`);"
        "field.value = ''; field.dispatchEvent(new Event('input'))",
        other,
    )
    sample[other] = nan
    assert window.text("#edit-result b") == f"class {model.predict([sample])[0]}"
    assert f"x{other} {samples[row, other]:g} → missing" in window.texts("#sample-change li")
    answer = window.text("#edit-result")
    window.find(f"#edit-{other}").send_keys("e")
    assert window.find(f"#edit-{other}").get_attribute("aria-invalid") is not None
    assert window.text("#edit-result") == answer


@pytest.fixture(scope="module")
def mixed():
    """Return a table with categories, some too rare to tell them apart, and labels."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey"], 200)
    colour[:2] = ["pink", "mauve"]
    table = pd.DataFrame({"colour": pd.Categorical(colour), "size": rng.normal(size=200).round(1)})
    labels = np.where((table["size"] > 0) ^ (table["colour"] == "red"), "yes", "no")
    return table, labels


@pytest.mark.parametrize("make", [ImprovedOnlineGFMM, BoostedHyperboxes])
def test_categories_are_chosen_from_a_list(show, mixed, make):
    table, labels = mixed
    model = make(categorical_features="from_dtype", random_state=0).fit(table, labels)
    window = show(model, table[:20], labels[:20])
    window.click("#edit summary")
    options = window.texts("#edit-0 option")
    assert options[0] == "(missing or not known)"
    listed = [name for option in options[1:] for name in option.split(" or ")]
    assert sorted(listed) == sorted(table["colour"].unique())
    for option in options[1:]:
        for row in range(3):
            window.write("#sample-row", str(row + 1))
            window.choose("#edit-0", option)
            changed = table.iloc[[row]].assign(colour=option.split(" or ")[0])
            assert window.text("#edit-result b") == model.predict(changed)[0]
    window.choose("#edit-0", "(missing or not known)")
    changed = table.iloc[[2]].assign(colour=None)
    assert window.text("#edit-result b") == model.predict(changed)[0]


def test_features_without_a_condition_are_left_out(show):
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(200, 30))
    labels = (samples[:, 4] > 0).astype(int)
    model = BoostedHyperboxes(3, random_state=0).fit(samples, labels)
    used = np.flatnonzero(model.feature_importances_)
    window = show(model, samples[:9], labels[:9], width=390)
    window.click("#edit summary")
    shown = window.evaluate("return [...byId('edit-fields').children].map(f => +f.dataset.feature)")
    assert set(shown) == set(used)
    assert (
        window.text("#edit-note")
        == f"{30 - len(used)} features are in no condition: they change nothing."
    )
    assert window.evaluate("return document.documentElement.scrollWidth") <= 390


def test_many_features_on_a_small_screen(show):
    cancer = load_breast_cancer(as_frame=True)
    model = ImprovedOnlineGFMM(theta=0.4).fit(cancer.data[::2], cancer.target[::2])
    window = show(model, cancer.data[1:20], cancer.target[1:20], width=360, scheme="dark")
    window.click("#edit summary")
    assert len(window.all("#edit-fields .field")) == 12
    window.click("#edit-more")
    assert len(window.all("#edit-fields .field")) == 30
    assert window.evaluate("return document.documentElement.scrollWidth") <= 360


def test_pages_that_cannot_predict_say_why(show):
    samples, labels = on_a_grid(8)
    model = ImprovedOnlineGFMM(theta=0.1).fit(samples, labels)
    window = show(model, samples[:2], labels[:2], max_rules=5)
    assert not window.find("#edit").is_displayed()
    assert window.text("#edit-refusal") == (
        "Values of samples cannot be changed in this page: it has 5 of the model's "
        f"{len(model.hyperboxes_)} boxes, and all count. Pass max_rules=None "
        "for a page with all of them."
    )
    assert window.all(".try") == []


def test_sliders_move_in_steps_of_the_data():
    values = np.array([[4.3, 1, 1e6, 7, 0.123456789, nan], [7.9, 5, 3e6, 7, 0.2, nan]])
    ends = np.fmin.reduce(values), np.fmax.reduce(values)
    assert list_sliders(values, *ends) == [
        [43, 79, -1],
        [1, 5, 0],
        [100, 300, 4],
        None,
        [1234, 2000, -4],
        None,
    ]
    assert list_sliders(values[:, :1], np.array([4.0]), np.array([8.0])) == [[40, 80, -1]]
