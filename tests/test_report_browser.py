"""The report in a real browser: Chromium, driven as people drive it.

Skipped where Chromium and its driver are not installed (Debian: chromium, chromium-driver).
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris

from hyperboxes import BoostedHyperboxes, RandomHyperboxes, explain
from hyperboxes._estimators.capabilities import Operation
from hyperboxes._readers.fitted import read_fitted
from hyperboxes._readers.rules import list_rules
from hyperboxes._readers.text import Rounding
from tests.browser import needs_browser
from tests.learners import ImprovedOnlineGFMM
from tests.test_report import HOSTILE

pytestmark = needs_browser
nan = float("nan")

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data[1::2], IRIS.target[1::2]
NAMES = list(IRIS.target_names)


@pytest.fixture(scope="module")
def iris():
    """Return a model of half of the data."""
    model = ImprovedOnlineGFMM(theta=0.3, decision="nearest")
    return model.fit(IRIS.data[::2], IRIS.target[::2])


@pytest.fixture
def window(show, iris):
    """Return the report on the other half."""
    return show(iris, X, Y, class_names=NAMES, title="Flowers")


def column(window, number):
    return window.texts(f"#rule-table tbody tr > :nth-child({number})")


def test_rules_are_searched_filtered_and_sorted(window, iris):
    from selenium.webdriver.common.keys import Keys

    counts = iris.hyperboxes_.counts
    assert column(window, 3) == [str(count) for count in sorted(counts, reverse=True)]
    window.choose("#rule-class", "versicolor")
    assert set(column(window, 2)) == {"versicolor"}
    assert window.text("#rule-summary") == f"{(iris.hyperboxes_.labels == 1).sum()} of 13 rules."
    window.choose("#rule-class", "all")
    window.write("#rule-query", "VIRGINICA width >= 1.8")
    assert column(window, 1) == ["7"]
    window.write("#rule-query", "no such thing")
    assert column(window, 1) == []
    window.write("#rule-query", Keys.BACKSPACE)
    window.click("th[data-key=index] button")
    assert column(window, 1) == [str(box) for box in range(13)]
    window.click("th[data-key=index] button")
    assert column(window, 1) == [str(box) for box in reversed(range(13))]
    assert window.find("th[data-key=index]").get_attribute("aria-sort") == "descending"
    window.click("th[data-key=label] button")
    assert column(window, 2) == sorted(column(window, 2))
    assert window.evaluate("return byId('rule-sort').selectedOptions[0].text") == "class"


def test_unknown_precision_comes_last_either_way(window):
    window.choose("#rule-sort", "precision")
    shares = column(window, 5)
    known = [float(share[:-1]) for share in shares if share != "\N{EN DASH}"]
    assert 0 < len(known) < len(shares)
    assert known == sorted(known, reverse=True)
    window.click("th[data-key=precision] button")
    assert column(window, 5)[: len(known)] == [f"{share:.1f}%" for share in sorted(known)]


def test_rules_turn_pages(window):
    window.choose("#rule-size", "10")
    assert len(column(window, 1)) == 10
    assert window.text("#rule-page") == "page 1 of 2"
    assert not window.find("#rule-previous").is_enabled()
    window.click("#rule-next")
    assert len(column(window, 1)) == 3
    assert not window.find("#rule-next").is_enabled()
    window.write("#rule-query", "setosa")
    assert window.text("#rule-page") == "page 1 of 1"


@pytest.mark.parametrize("scale", [1e-13, 1e-3, 1, 1e5, 1e18])
def test_conditions_read_as_in_the_text(show, scale):
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(60, 3)) * scale + [0, 3 * scale, 0]
    labels = (samples[:, 0] > 0).astype(int)
    samples[::9, 2] = nan
    model = ImprovedOnlineGFMM(theta=0.4).fit(samples, labels)
    window = show(model, samples, labels)
    window.choose("#rule-size", "100")
    window.click("th[data-key=index] button")
    fitted = read_fitted(model, Operation.TEXT)
    rounding, boxes = Rounding.of(fitted, samples), np.arange(len(model.hyperboxes_))
    expected = []
    for pairs in list_rules(fitted, rounding, boxes):
        # Python writes 1e-09 where JavaScript writes 1e-9.
        texts = [f"x{j} {text}".replace("e-0", "e-").replace("e+0", "e+") for j, text in pairs]
        expected.append("".join(texts) or "always")
    assert column(window, 6) == expected


def test_the_page_opens_on_the_most_confident_mistake(window, iris):
    memberships = np.sort(iris.membership(X), axis=1)
    wrong = np.flatnonzero(iris.predict(X) != Y)
    lead = (memberships[:, -1] - memberships[:, -2])[wrong]
    assert window.text("#sample-title").startswith(f"Row {wrong[lead.argmax()] + 1}:")


def test_samples_are_walked_through(window):
    window.write("#sample-row", "1")
    assert window.text("#sample-place") == "1 of 75"
    assert not window.find("#sample-previous").is_enabled()
    window.click("#sample-next")
    assert window.text("#sample-title").startswith("Row 2: predicted setosa, true class setosa")
    window.click("#sample-previous")
    assert window.text("#sample-title").startswith("Row 1:")
    window.write("#sample-row", "60")
    assert window.text("#sample-place") == "60 of 75"
    window.write("#sample-row", "76")
    assert window.text("#sample-message") == "Row 76 does not exist: rows go from 1 to 75."
    assert window.text("#sample-title").startswith("Row 60:")


def test_samples_are_filtered(window, iris):
    predicted = iris.predict(X)
    wrong = np.flatnonzero(predicted != Y)
    window.choose("#sample-kind", "wrong predictions")
    assert window.text("#sample-place") == f"1 of {len(wrong)}"
    for row in wrong:
        title = f"Row {row + 1}: predicted {NAMES[predicted[row]]}, true class {NAMES[Y.iloc[row]]}"
        assert window.text("#sample-title") == f"{title} ✗ wrong"
        if row != wrong[-1]:
            window.click("#sample-next")
    window.choose("#sample-true", "setosa")
    assert "No sample in this page is like that" in window.text("#sample-message")
    assert not window.find("#sample").is_displayed()
    window.write("#sample-row", "1")  # beyond the filters, which are reset
    assert window.text("#sample-place") == "1 of 75"
    window.choose("#sample-order", "least certain first")
    ordered = np.sort(iris.membership(X), axis=1)
    lead = ordered[:, -1] - ordered[:, -2]
    window.evaluate("sampleState.place = 0; showSample()")
    least = int(window.find("#sample-row").get_attribute("value")) - 1
    assert lead[least] == pytest.approx(lead.min())
    window.choose("#sample-kind", "in no box")
    assert window.text("#sample-place").endswith(f" of {(ordered[:, -1] < 1).sum()}")


def test_a_cell_of_the_matrix_shows_its_samples(window, iris):
    number = int(((iris.predict(X) == 1) & (Y == 2)).sum())
    window.click('#confusion button[data-true="2"][data-predicted="1"]')
    assert window.text("#sample-place") == f"1 of {number}"
    assert "predicted versicolor, true class virginica" in window.text("#sample-title")


def test_a_sample_is_explained(window, iris):
    row = 38
    explanation = explain(iris, X, class_names=NAMES)[row]
    window.write("#sample-row", str(row + 1))
    assert window.text("#sample-why") == "versicolor: box 3 (8 training samples) is the closest."
    bars = window.texts("#sample-memberships .bar span:first-child")
    assert bars == ["versicolor (predicted, true)", "virginica", "setosa"]
    order = np.argsort(-explanation.scores, kind="stable")
    widths = window.evaluate(
        "const bars = [...byId('sample-memberships').querySelectorAll('rect:last-child')];"
        "return bars.map(bar => bar.width.baseVal.value)"
    )
    np.testing.assert_allclose(widths, 100 * explanation.scores[order], atol=0.01)
    rows = window.texts("#strip-table tbody tr")
    assert rows[0] == "petal width (cm) fits worst1.71.3 to 1.6 0.1 above1.8 to 2.5 0.1 below"
    assert rows[1] == "petal length (cm)5.04.3 to 4.9 0.1 above5.1 to 6.0 0.1 below"
    assert len(rows) == 4
    label = window.find("#strip-table svg").get_attribute("aria-label")
    assert label.startswith("sample 1.7; box 3, versicolor 1.3 to 1.6; box 7, virginica 1.8 to 2.5")
    change = window.text("#sample-change")
    assert change == "To get virginica:\npetal length (cm) 5.0 → 5.1\nTry it"


def test_a_search_that_ended_early_is_noted(show, iris, monkeypatch):
    monkeypatch.setattr("hyperboxes._readers.counterfactuals._MAX_COMPARISONS", 1)
    window = show(iris, X[38:39], Y[38:39])
    assert "The search has ended at its limit of work." in window.text("#sample-change")


def test_in_a_mean_no_feature_decides_alone(show):
    data = [[0.0, 0.0], [2.0, 2.0], [8.0, 8.0], [10.0, 10.0]]
    model = ImprovedOnlineGFMM(theta=0.5, membership_function="mean").fit(data, list("aabb"))
    window = show(model, [[7.5, 3.0]], ["b"])
    rows = window.texts("#strip-table tbody tr")
    assert rows[0].startswith("x0 counts most")
    assert "decides" not in window.text("#strip-table")
    assert "A distance is the mean over the features" in window.text("figcaption")


def test_small_changes_are_told_apart(show):
    model = ImprovedOnlineGFMM(theta=0.6).fit([[0], [0.5], [0.50001], [1]], list("aabb"))
    window = show(model, [[0.5]], ["a"])
    assert window.texts("#sample-change li") == ["x0 0.50 → 0.51"]


def place_of(window, selector):
    """Return the middle of a shape on the screen."""
    return window.evaluate(
        "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [r.left + r.width / 2, r.top + r.height / 2]",
        selector,
    )


def test_the_plane_shows_what_is_asked_for(window):
    window.write("#sample-row", "39")
    assert "by petal width (cm) (across) and petal length (cm) (up)" in window.find(
        "#plane svg"
    ).get_attribute("aria-label")
    window.choose("#plane-x", "sepal length (cm)")
    window.choose("#plane-y", "sepal width (cm)")
    assert "sepal width (cm) (up)" in window.find("#plane svg").get_attribute("aria-label")
    boxes = "return document.querySelector('#plane .thin.other').getAttribute('d')"
    assert window.evaluate(boxes) == ""
    window.choose("#plane-boxes", "all")
    assert window.evaluate(boxes).count("z") == 3  # of setosa
    window.choose("#plane-boxes", "that contain it in all other features")
    assert window.evaluate(boxes) == ""


def test_flat_boxes_are_seen_in_the_plane(show):
    model = ImprovedOnlineGFMM(theta=0.1).fit([[0, 0], [1, 1]], ["a", "b"])
    window = show(model, [[0.1, 0.1]], ["a"])
    for role in ("winning", "competing"):
        size = window.evaluate(
            "const r = document.querySelector(arguments[0]).getBBox(); return [r.width, r.height]",
            f"#plane .box.{role}:not(.thin)",
        )
        assert size == pytest.approx([7, 7], abs=0.2)


def test_a_click_in_the_plane_chooses_a_sample(window):
    from selenium.webdriver import ActionChains

    window.choose("#plane-x", "petal length (cm)")
    window.choose("#plane-y", "petal width (cm)")
    window.write("#sample-row", "70")
    (left, top), (x0, y0) = (place_of(window, f"#plane {c}") for c in (".chosen circle", ".frame"))
    window.write("#sample-row", "1")
    window.evaluate("document.querySelector('#plane').scrollIntoView({block: 'center'})")
    mouse, frame = ActionChains(window.driver), window.find("#plane .frame")
    mouse.move_to_element_with_offset(frame, round(left - x0), round(top - y0)).click().perform()
    assert window.text("#sample-title").startswith("Row 70:")


def test_the_keyboard_is_enough(window):
    from selenium.webdriver.common.keys import Keys

    window.find("th[data-key=coverage] button").send_keys(Keys.ENTER)
    assert window.find("th[data-key=coverage]").get_attribute("aria-sort") == "descending"
    window.write("#sample-row", "1")
    window.find("#sample-next").send_keys(Keys.SPACE)
    assert window.text("#sample-place") == "2 of 75"
    window.find("#sample-kind").send_keys("wrong")
    assert window.text("#sample-place").startswith("1 of ")
    script = "return getComputedStyle(document.activeElement).outlineStyle"
    assert window.evaluate(script) != "none"


def test_names_are_texts(show):
    table = pd.DataFrame({HOSTILE: [0.0, 1, 2, 3], "b": [0.0, 1, 2, 3]})
    labels = np.array([HOSTILE, HOSTILE, "b", "b"], object)
    model = ImprovedOnlineGFMM(theta=0.5).fit(table, labels)
    window = show(model, table, labels, title=HOSTILE)
    assert window.evaluate("return window.hacked") is None
    assert window.all("img") == []
    assert window.text("h1") == HOSTILE
    assert HOSTILE in window.texts("#rule-table tbody tr")[0]
    assert HOSTILE in window.text("#sample-title")
    assert HOSTILE in window.text("#strip-table")


def test_scripts_of_others_do_not_run(show, iris):
    window = show(iris, X, Y)
    window.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"hacked = 1\">');"
        "const script = document.createElement('script'); script.textContent = 'window.hacked = 1';"
        "document.body.append(script)"
    )
    assert window.evaluate("return window.hacked") is None
    complaints = window.complaints()
    assert complaints
    assert all("Content Security Policy" in text for text in complaints)


def one_feature(rng):
    samples = rng.normal(size=(40, 1))
    return ImprovedOnlineGFMM(theta=0.2), samples, samples[:, 0] > 0


def one_class(rng):
    return ImprovedOnlineGFMM(), rng.normal(size=(20, 3)), np.array(["only"] * 20)


def missing_and_unlabelled(rng):
    samples = rng.normal(size=(80, 4))
    samples[rng.random(samples.shape) < 0.3] = nan
    labels = rng.integers(0, 3, 80)
    labels[::4] = -1
    return ImprovedOnlineGFMM(theta=0.2, unlabeled=-1), samples, labels


def many_of_everything(rng):
    samples = rng.normal(size=(700, 60))
    labels = np.array([f"class of a long name {chr(65 + k)}" for k in rng.integers(0, 26, 700)])
    return ImprovedOnlineGFMM(theta=0.05), samples, labels


def digits(_):
    samples, labels = load_digits(return_X_y=True)
    return ImprovedOnlineGFMM(theta=0.5), samples[:300], labels[:300]


@pytest.mark.parametrize(
    "make", [one_feature, one_class, missing_and_unlabelled, many_of_everything, digits]
)
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
def test_pages_of_all_sorts(show, make, width, scheme):
    """Nothing is wider than the window, and every sample can be shown."""
    model, samples, labels = make(np.random.default_rng(0))
    model.fit(samples, labels)
    window = show(model, samples, labels, width=width, scheme=scheme, max_samples=40)
    assert window.evaluate("return document.documentElement.scrollWidth") <= width
    colour = window.evaluate("return getComputedStyle(document.body).backgroundColor")
    assert colour == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    n_samples = min(len(samples), 40)
    for place in range(n_samples):
        window.evaluate("sampleState.place = arguments[0]; showSample()", place)
    assert window.text("#sample-place") == f"{n_samples} of {n_samples}"
    assert "NaN" not in window.evaluate("return document.body.outerHTML").split("<script")[0]
    assert window.find("#plane-figure").is_displayed() == (samples.shape[1] > 1)
    if window.find("#strip-more").is_displayed():
        window.click("#strip-more")
    assert len(window.all("#strip-table tbody tr")) == samples.shape[1]


def test_missing_values_are_named(show):
    model, samples, labels = missing_and_unlabelled(np.random.default_rng(0))
    window = show(model.fit(samples, labels), samples, labels)
    row = int(np.flatnonzero(np.isnan(samples).any(axis=1))[0])
    window.write("#sample-row", str(row + 1))
    values = window.texts("#strip-table tbody td:nth-child(2)")
    assert values.count("missing") == np.isnan(samples[row]).sum()
    window.choose("#sample-kind", "without a label")
    assert window.text("#sample-place") == "1 of 20"
    assert window.text("#sample-title").endswith("true class not known")
    window.choose("#rule-class", "(no label)")
    assert set(column(window, 2)) == {"(no label)"}


def test_it_prints(window):
    assert len(window.driver.print_page()) > 20_000


def test_votes_are_shown_for_each_sample(show):
    model = BoostedHyperboxes(8, random_state=0).fit(IRIS.data[::2], IRIS.target[::2])
    explanations = explain(model, X, class_names=NAMES)
    window = show(model, X, Y, class_names=NAMES)
    assert (
        window.text("#rule-summary")
        == f"{len(model.hyperboxes_)} of {len(model.hyperboxes_)} rules."
    )
    texts = window.texts("#rule-table td:nth-child(3)")
    assert window.text("#rule-table td:nth-child(3)") == texts[0]  # a line for each class
    votes = [float(text.split()[0]) for text in texts]
    assert votes == sorted(np.round(model.hyperboxes_.weights.max(axis=1), 2), reverse=True)
    window.click('th[data-key="count"] button')
    counts = [int(text) for text in window.texts("#rule-table td:nth-child(4)")]
    assert counts == sorted(model.hyperboxes_.counts, reverse=True)
    window.write("#sample-row", "42")
    explanation = explanations[41]
    assert window.text("#sample-why") == str(explanation).splitlines()[0]
    order = np.argsort(-explanation.scores, kind="stable")
    assert window.texts("#vote-table thead th")[1:] == [NAMES[code] for code in order]
    scores = window.texts("#vote-table tr.total:nth-last-child(2) td")
    assert [float(text) for text in scores] == np.round(explanation.scores[order], 2).tolist()
    rows = window.texts("#vote-table tbody th")[1:-2]
    assert rows == [
        f"box {vote.index} {' and '.join(explanation.conditions(vote))}"
        for vote in explanation.boxes
    ]
    window.choose("#sample-kind", "in no box")
    n_outside = sum(not explanation.boxes for explanation in explanations)
    assert window.text("#sample-place").endswith(f" of {n_outside}")


def test_votes_of_many_boxes_on_a_small_screen(show):
    data, labels = load_digits(return_X_y=True)
    model = BoostedHyperboxes(150, random_state=0).fit(data[:300], labels[:300])
    window = show(model, data[300:320], labels[300:320], width=400, scheme="dark")
    width = window.evaluate("return document.documentElement.scrollWidth")
    assert width <= 400
    assert len(window.texts("#vote-table thead th")) == 6


def test_an_ensemble_is_shown(show):
    model = RandomHyperboxes(n_estimators=9, random_state=0)
    model.fit(IRIS.data[::2], IRIS.target[::2])
    window = show(model, X, Y, class_names=NAMES, width=400)
    assert window.evaluate("return document.documentElement.scrollWidth") <= 400
    assert window.text("#rule-summary").startswith(f"{model.n_boxes_} of {model.n_boxes_} rules")
    counts = [int(text) for text in column(window, 3)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == max(boxes.counts.max() for boxes in model.members_)
    window.write("#sample-row", "42")
    said = explain(model, X[41:42], class_names=NAMES)[0]
    loudest = said.boxes[0]
    first = window.texts("#share-table tbody tr:first-child td")[:2]
    assert first == [f"{loudest.member}.{loudest.index}", loudest.class_name]
    most = np.abs(said.feature_contributions).argmax()
    assert window.texts("#share-features tbody tr:first-child td")[0] == X.columns[most]
