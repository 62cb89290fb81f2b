"""The report: its figures, its data, and that nothing in it can do harm."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_recall_fscore_support,
)

from hyperboxes import HyperboxClustering, explain, export_frame, export_html, save
from hyperboxes._cli import main
from hyperboxes._models.samples import MinMaxScale
from hyperboxes._report import script_json
from hyperboxes._report.page_data import choose_boxes, choose_samples
from tests.decisions import decide_by
from tests.learners import ImprovedOnlineGFMM, OnlineGFMM, models

IRIS = load_iris(as_frame=True)
FEATURES = list(IRIS.data.columns)
NAMES = IRIS.target_names
SPECIES = NAMES[IRIS.target].astype(object)
VOID = {"meta", "link", "input", "br"}
HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror=alert(1)>&amp;\"'"
nan = float("nan")


class Page(HTMLParser):
    """A page taken apart: elements with attributes, texts by id; elements must be balanced."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.texts, self.cells = [], [], {}, {}
        self.feed(page)
        self.close()
        assert self.open == []
        self.data = json.loads(self.texts["data"])

    def handle_starttag(self, tag, attributes):
        """Open an element."""
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        if tag == "tr":
            table = next(name for _, name in reversed(self.open) if name)
            self.cells.setdefault(table, []).append([])
        if tag in ("td", "th"):
            self.row.append("")
        if tag not in VOID:
            self.open.append((tag, attributes.get("id")))

    @property
    def row(self):
        """The cells of the current row of a table."""
        return self.cells[next(name for _, name in reversed(self.open) if name)][-1]

    def handle_startendtag(self, tag, attributes):
        """Note an element of an SVG picture."""
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        """Close an element."""
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        """Note text for all elements around it that have a name."""
        for _, name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data
        if any(tag in ("td", "th") for tag, _ in self.open):
            self.row[-1] += data


@pytest.fixture(scope="module")
def iris():
    """Return a model of half of the data."""
    model = ImprovedOnlineGFMM(theta=0.3, decision="nearest")
    return model.fit(IRIS.data[::2], IRIS.target[::2])


@pytest.fixture(scope="module")
def page(iris):
    """Return the report on the other half."""
    return Page(
        export_html(iris, IRIS.data[1::2], IRIS.target[1::2], class_names=NAMES, title="Flowers")
    )


def percent(share):
    return f"{share:.1%}"


def test_scores_are_those_of_scikit_learn(iris, page):
    y, predicted = IRIS.target[1::2], iris.predict(IRIS.data[1::2])
    assert 0 < accuracy_score(y, predicted) < 1
    assert page.texts["accuracy"] == percent(accuracy_score(y, predicted))
    assert page.texts["balanced-accuracy"] == percent(balanced_accuracy_score(y, predicted))
    counts = [[int(cell) for cell in row[1:]] for row in page.cells["confusion"][1:]]
    assert counts == confusion_matrix(y, predicted).tolist()
    scores = zip(*precision_recall_fscore_support(y, predicted), strict=True)
    assert page.cells["classes"][1:] == [
        [name, percent(p), percent(r), percent(f1), f"{support} ({percent(support / len(y))})"]
        for name, (p, r, f1, support) in zip(NAMES, scores, strict=True)
    ]


def test_what_stands_beside_the_accuracy(iris, page):
    held = (iris.membership(IRIS.data[1::2]).max(axis=1) == 1).mean()
    assert page.texts["in-a-box"] == percent(held)
    assert page.texts["majority"] == percent(1 / 3)


def test_the_model_is_described(page):
    for fact in ("ImprovedOnlineGFMM", "Boxes13", "learned75", "versicolor", "petal width (cm)"):
        assert fact in page.texts["facts"]
    assert "theta=0.3" in page.texts["facts"]
    assert "membership_function='mean'" in page.texts["facts"]
    assert "A distance is the mean over the features" in page.texts["model"]
    assert page.data["roleOfDeciding"] == "counts most"
    assert page.texts.get("model-title") == "The model"


def test_the_membership_function_is_the_fitted_one():
    model = ImprovedOnlineGFMM(theta=0.3, membership_function="min").fit(IRIS.data, IRIS.target)
    model.set_params(membership_function="mean")
    page = Page(export_html(model, IRIS.data, IRIS.target))
    assert "membership_function='min'" in page.texts["facts"]
    assert "A distance counts in the feature where it is largest" in page.texts["model"]
    assert page.data["roleOfDeciding"] == "decides"


def test_rules_are_those_of_the_table(iris, page):
    frame = export_frame(iris, IRIS.data[1::2], IRIS.target[1::2])
    boxes = page.data["boxes"]
    assert boxes["index"] == frame.index.tolist()
    assert boxes["label"] == frame["class"].tolist()
    assert boxes["count"] == frame["support"].tolist()
    np.testing.assert_allclose(boxes["coverage"], frame["coverage"], atol=1e-6)
    precision = np.array(boxes["precision"], float)
    np.testing.assert_allclose(precision, frame["precision"], atol=1e-6)
    for ends in ("lower", "upper"):
        exact = frame[[f"{name} {ends}" for name in FEATURES]]
        np.testing.assert_allclose(boxes[ends], exact, atol=1e-9)


def check_samples(data, model, lower, upper, y):
    """Compare samples in a page with the explanations."""
    rows = [sample["row"] - 1 for sample in data["samples"]]
    explanations = explain(model, lower[rows], X_upper=upper[rows])
    index = data["boxes"]["index"]
    codes = {label: code for code, label in enumerate(model.classes_.tolist())}
    for sample, row, explanation in zip(data["samples"], rows, explanations, strict=True):
        assert sample["true"] == codes.get(y[row], -1)
        assert model.classes_[sample["predicted"]] == explanation.prediction
        assert index[sample["winning"]] == explanation.winning.index
        assert sample["deciding"] == explanation.deciding
        np.testing.assert_allclose(sample["memberships"], explanation.scores, atol=1e-6)
        assert sample["weighty"] == explanation.features_by_weight()
        for name, exact in (("lower", explanation.lower), ("upper", explanation.upper)):
            shown = np.array(sample.get(name, sample["lower"]), float)
            np.testing.assert_allclose(shown, exact, atol=0.01)
        if explanation.competing is None:
            assert sample["competing"] is sample["change"] is None
            continue
        assert index[sample["competing"]] == explanation.competing.index
        assert sample["worst"] == explanation.worst
        if explanation.counterfactual is None:
            assert sample["change"] is None
            continue
        start = "To get " if explanation.layout == "duel" else "It would be "
        assert sample["change"]["title"].startswith(start)
        assert sample["change"]["features"] == explanation.counterfactual.features.tolist()
        ends = np.stack(
            [explanation.counterfactual.lower, explanation.counterfactual.upper], axis=1
        )
        exact = ends[explanation.counterfactual.features]
        shown = np.array(sample["change"]["ends"], float).reshape(-1, 2)
        np.testing.assert_allclose(shown, exact, atol=1e-3)


def test_samples_are_explained(iris, page):
    X, y = IRIS.data[1::2].to_numpy(), IRIS.target[1::2].to_numpy()
    with pytest.warns(UserWarning, match="feature names"):
        check_samples(page.data, iris, X, X, y)
    assert page.data["samples"][0]["why"] == "setosa: box 1 (4 training samples) is the closest."


def test_samples_are_explained_by_several_boxes():
    X, y = IRIS.data.to_numpy(), IRIS.target.to_numpy()
    model = decide_by(ImprovedOnlineGFMM(theta=0.3).fit(X[::2], y[::2]), 5)
    text = export_html(model, X[1::2], y[1::2])
    data = Page(text).data
    check_samples(data, model, X[1::2], X[1::2], y[1::2])
    assert "the 5 nearest boxes of each class decide together: each adds" in text
    assert data["samples"][0]["why"].endswith("the 5 nearest boxes of each class decide together.")
    assert len(data["samples"][0]["shares"]) == 10


@settings(max_examples=40)
@given(models(), st.integers(1, 12), st.integers(1, 8))
def test_any_model(case, max_samples, max_rules):
    """With intervals, missing values, boxes without a label, one class, one feature."""
    model, problem = case
    limits = {"max_samples": max_samples, "max_rules": max_rules}
    page = export_html(model, problem.xl, problem.y, X_upper=problem.xu, **limits)
    data = Page(page).data
    assert len(data["samples"]) == min(max_samples, len(problem.y))
    assert len(data["boxes"]["index"]) <= max(max_rules, 2 * max_samples)
    check_samples(data, model, problem.xl, problem.xu, problem.y.tolist())


def test_the_same_page_each_time(iris):
    X, y = IRIS.data[1::2], IRIS.target[1::2]
    assert export_html(iris, X, y) == export_html(iris, X, y)


def test_names_cannot_break_out():
    X = pd.DataFrame({HOSTILE: [0.0, 1, 2, 3], "b": [0.0, 1, 2, 3]})
    y = np.array([HOSTILE, HOSTILE, "b", "b"], object)
    model = ImprovedOnlineGFMM(theta=0.5).fit(X, y)
    y[0] = f"{HOSTILE} stranger"
    text = export_html(model, X, y, title=HOSTILE)
    page = Page(text)
    assert HOSTILE not in text
    assert text.count("<script") == 2
    assert not [tag for tag, _ in page.elements if tag in ("img", "iframe")]
    assert not [a for _, a in page.elements if any(name.startswith("on") for name in a)]
    assert page.texts["confusion"].count(HOSTILE) == 4
    assert page.data["labels"] == [HOSTILE, "b", f"{HOSTILE} stranger (unknown)"]
    assert page.data["features"][0]["name"] == HOSTILE


def test_json_is_safe_in_a_script():
    value = {"a": "</script>", "b": "<!-- <script>", "c": "\u2028\ud800&"}
    text = script_json(value)
    assert not re.search("[<>&\u2028\ud800]", text)
    assert json.loads(text) == value
    text.encode()
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([nan])


def test_the_policy_allows_this_script_and_style_only(iris):
    text = export_html(iris, IRIS.data[1::2], IRIS.target[1::2])
    page = Page(text)
    policy = next(a["content"] for _, a in page.elements if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not [a for _, a in page.elements if "style" in a or "src" in a]
    for tag, a in page.elements:
        if "href" in a:
            assert a["href"].startswith(("#", "data:")), tag
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_every_control_has_a_label(page):
    tags = [tag for tag, _ in page.elements if tag in ("label", "select", "input")]
    assert len(tags) > 20
    assert set(tags[::2]) == {"label"}
    assert "label" not in tags[1::2]
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(set(ids)) == len(ids)


def test_wrong_samples_come_first_then_an_even_choice():
    true = np.array([0] * 20)
    predicted = true.copy()
    predicted[[3, 17]] = 1
    true[5] = -1
    assert choose_samples(true, predicted, 2).tolist() == [3, 17]
    assert choose_samples(true, predicted, 1).tolist() == [3]
    assert choose_samples(true, predicted, 5).tolist() == [0, 3, 7, 13, 17]
    for most in (20, 100, None):
        assert choose_samples(true, predicted, most).tolist() == list(range(20))


def test_boxes_that_explain_are_kept_then_the_largest(iris):
    boxes = iris.hyperboxes_
    smallest = int(boxes.counts.argmin())
    largest = int(boxes.counts.argmax())
    assert choose_boxes(boxes.counts, np.array([smallest]), 2).tolist() == sorted(
        [smallest, largest]
    )
    assert choose_boxes(boxes.counts, np.array([smallest]), 1).tolist() == [smallest]
    assert choose_boxes(boxes.counts, np.array([smallest]), None).tolist() == list(
        range(len(boxes))
    )


def test_size_is_bounded():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 20)), rng.integers(0, 5, 900)
    model = ImprovedOnlineGFMM(theta=0.1).fit(X[:700], y[:700])
    assert len(model.hyperboxes_) > 600
    page = export_html(model, X[700:], y[700:], max_samples=50, max_rules=100)
    data = Page(page).data
    assert (data["nSamples"], data["nBoxes"]) == (200, len(model.hyperboxes_))
    assert len(data["samples"]) == 50
    assert len(data["boxes"]["index"]) <= 100
    assert len(page) < 200_000
    page = export_html(model, X[700:], y[700:], max_samples=50)
    assert len(page) < 650_000  # with the model


def test_samples_without_a_label_do_not_count(iris):
    X, y = IRIS.data[1::2], IRIS.target[1::2].to_numpy().astype(object)
    y[:3], y[10] = None, nan
    page = Page(export_html(iris, X, y))
    assert "4 further samples have no label" in page.texts["scores"]
    known = [label in (0, 1, 2) for label in y]
    expected = accuracy_score(y[known].astype(int), iris.predict(X)[known])
    assert page.texts["accuracy"] == percent(expected)
    assert [s["true"] for s in page.data["samples"]][:4] == [-1, -1, -1, 0]
    with pytest.raises(ValueError, match="y holds no label"):
        export_html(iris, X, [None] * len(X))


def test_labels_that_the_model_does_not_know_are_mistakes(iris):
    y = IRIS.target[1::2].to_numpy().copy()
    y[:5] = 7
    page = Page(export_html(iris, IRIS.data[1::2], y))
    assert page.data["labels"] == ["class 0", "class 1", "class 2", "7 (unknown)"]
    assert page.cells["classes"][4] == ["7 (unknown)", "\N{EN DASH}", "0.0%", "0.0%", "5 (6.7%)"]
    assert page.texts["accuracy"] == percent(accuracy_score(y, iris.predict(IRIS.data[1::2])))


def test_many_classes_have_no_matrix():
    X = np.arange(140.0).reshape(-1, 1)
    y = np.repeat(np.arange(70), 2)
    model = OnlineGFMM(theta=0.01).fit(X, y)
    wrong = np.roll(y, 1)
    page = Page(export_html(model, X, wrong))
    assert "confusion" not in page.cells
    assert len(page.cells["mistakes"]) == 51
    assert len(page.cells["classes"]) == 71


def test_booleans_and_one_class():
    model = ImprovedOnlineGFMM().fit([[0.0], [1.0]], [True, False])
    assert Page(export_html(model, [[0.0]], [True])).data["labels"] == ["class False", "class True"]
    model = ImprovedOnlineGFMM().fit([[0.0], [1.0]], ["a", "a"])
    page = Page(export_html(model, [[0.0], [nan]], ["a", "a"]))
    assert page.texts["accuracy"] == "100.0%"
    assert page.data["samples"][1]["lower"] == [None]
    assert page.data["samples"][1]["competing"] is None


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1, 1e6, 1e17, 1e300])
def test_numbers_keep_the_digits_that_matter(scale):
    X = np.random.default_rng(0).normal(size=(60, 2)) * scale
    y = (X[:, 0] > 0).astype(int)
    model = ImprovedOnlineGFMM(theta=0.2).fit(X, y)
    data, boxes = Page(export_html(model, X, y)).data, model.hyperboxes_
    lower, upper = np.array(data["boxes"]["lower"]), np.array(data["boxes"]["upper"])
    np.testing.assert_allclose(lower, boxes.lower, atol=0.02 * scale)
    np.testing.assert_allclose(upper, boxes.upper, atol=0.02 * scale)
    scaled = MinMaxScale(model.data_min_, model.data_max_).transform
    held = (scaled(boxes.lower) <= scaled(X)[:, None]) & (scaled(X)[:, None] <= scaled(boxes.upper))
    samples = np.array([sample["lower"] for sample in data["samples"]])[:, None]
    np.testing.assert_array_equal((lower <= samples) & (samples <= upper), held)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_samples": 0}, "max_samples must be a whole number of at least 1 or None, got 0"),
        ({"max_rules": "many"}, "max_rules must be a whole number"),
        ({"feature_names": ["a"]}, "feature_names has 1 names, but the model has 4 features"),
        ({"class_names": ["a"]}, "class_names has 1 names, but the model has 3 classes"),
    ],
)
def test_bad_options(iris, options, message):
    with pytest.raises(ValueError, match=message):
        export_html(iris, IRIS.data, IRIS.target, **options)


def test_bad_samples(iris):
    with pytest.raises(ValueError, match="y has 3 labels, but X has 150 samples"):
        export_html(iris, IRIS.data, [0, 1, 2])


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work in a folder with a model and a table."""
    monkeypatch.chdir(tmp_path)
    model = ImprovedOnlineGFMM(theta=0.3).fit(IRIS.data[::2], SPECIES[::2])
    save(model, "iris.hyperboxes")
    IRIS.data.assign(species=SPECIES)[1::2].to_csv("test.csv", index=False)
    return model


COMMAND = ["report", "iris.hyperboxes", "test.csv", "--target", "species"]


def test_command(files, tmp_path, capsys):
    assert main([*COMMAND, "-o", "report.html", "--max-samples", "20"]) == 0
    assert re.fullmatch(r"report.html: 75 rows, 0.\d MB\n", capsys.readouterr().err)
    text = (tmp_path / "report.html").read_text("utf-8")
    title = f"species: {len(files.hyperboxes_)} rules, 75 rows"
    expected = export_html(files, IRIS.data[1::2], SPECIES[1::2], title=title, max_samples=20)
    assert text == expected
    assert f"<h1>{title}</h1>" in text
    assert main([*COMMAND, "-o", "-", "--title", "Flowers", "--max-samples", "20"]) == 0
    assert capsys.readouterr().out == expected.replace(title, "Flowers") + "\n"


def test_command_with_empty_labels(files, tmp_path, capsys):
    table = pd.read_csv("test.csv")
    table.loc[:4, "species"] = None
    table.to_csv("test.csv", index=False)
    assert main([*COMMAND, "-o", "report.html"]) == 1
    assert 'add --unlabeled ""' in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()
    assert main([*COMMAND, "-o", "report.html", "--unlabeled", ""]) == 0
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "5 further samples have no label" in Page(text).texts["scores"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["-o", "nowhere/report.html"], "No such folder: nowhere"),
        (["-o", "test.csv"], "test.csv is read from: write to another file"),
        (["-o", "a.html", "--max-samples", "0"], "not a positive integer"),
    ],
)
def test_command_refuses(files, argv, message, capsys):
    try:
        code = main([*COMMAND, *argv])
    except SystemExit as exit_:
        code = exit_.code
    assert code in (1, 2)
    assert message in capsys.readouterr().err


def test_command_needs_a_classifier(files, capsys):
    save(HyperboxClustering().fit(IRIS.data), "clusters.hyperboxes")
    command = ["report", "clusters.hyperboxes", *COMMAND[2:], "-o", "report.html"]
    assert main(command) == 1
    assert "clusters.hyperboxes is not a classifier" in capsys.readouterr().err


def test_page_is_written_to_a_path(tmp_path):
    model = ImprovedOnlineGFMM(random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    page = export_html(model, [[0.0], [1.0]], ["a", "b"])
    assert export_html(model, [[0.0], [1.0]], ["a", "b"], path=tmp_path / "page.html") is None
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    with pytest.raises(FileNotFoundError, match=r"The folder .*nowhere does not exist"):
        export_html(model, [[0.0], [1.0]], ["a", "b"], path=tmp_path / "nowhere" / "page.html")
