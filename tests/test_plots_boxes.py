"""`BoxesDisplay`: boxes, regions and samples are those of the model, and legible."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from sklearn.datasets import make_moons

from hyperboxes import AdaptiveGFMM, BoostedHyperboxes, BoxesDisplay, HyperboxClustering
from tests.boosted import known_model
from tests.figures import assert_legible, iris, iris_arrays, legend_names, letters, outlines
from tests.learners import ImprovedOnlineGFMM, OnlineGFMM, every_function

NAN = float("nan")


pytestmark = pytest.mark.usefixtures("close_figures")


def test_boxes_are_those_of_the_model():
    X, y, model = iris()
    display = BoxesDisplay.from_estimator(model, X, y, features=["petal length (cm)", 3])
    boxes = model.hyperboxes_
    np.testing.assert_array_equal(display.lower, boxes.lower[:, [2, 3]])
    np.testing.assert_array_equal(display.upper, boxes.upper[:, [2, 3]])
    assert display.feature_names == ["petal length (cm)", "petal width (cm)"]
    assert display.ax_.get_xlabel() == "petal length (cm)"
    assert display.ax_.get_ylabel() == "petal width (cm)"
    corners = [path.vertices[[0, 2]] for path in outlines(display).get_paths()]
    expected = np.stack([display.lower, display.upper], axis=1)[display.drawn]
    np.testing.assert_allclose(corners, expected)
    assert legend_names(display.ax_) == ["0", "1", "2"]
    assert_legible(display.figure_)


def test_regions_are_predictions_without_the_other_features():
    X, _, model = iris()
    display = BoxesDisplay.from_estimator(model, features=(2, 3), grid_resolution=20)
    (low_x, high_x), (low_y, high_y) = display.limits
    place = np.full((1, 4), NAN)
    place[0, 2] = low_x + (high_x - low_x) * 12.5 / 20
    place[0, 3] = low_y + (high_y - low_y) * 3.5 / 20
    assert display.regions[3, 12] == model.predict(type(X)(place, columns=X.columns))[0]
    assert display.regions.shape == (20, 20)


def test_cut_through_a_sample():
    X, _, model = iris()
    sample = X.iloc[:1]
    display = BoxesDisplay.from_estimator(model, features=(2, 3), at=sample, grid_resolution=10)
    boxes = model.hyperboxes_
    scaled = (
        boxes.lower[:, :2] - sample.to_numpy()[:, :2],
        sample.to_numpy()[:, :2] - boxes.upper[:, :2],
    )
    outside = np.maximum(*scaled).clip(min=0) / (model.data_max_ - model.data_min_)[:2]
    np.testing.assert_allclose(display.nearness, 1 - outside.clip(max=1).sum(axis=1) / 4)
    places = np.tile(sample.to_numpy(), (10, 1))
    edges = np.linspace(*display.limits[0], 11)
    places[:, 2] = (edges[1:] + edges[:-1]) / 2
    edges = np.linspace(*display.limits[1], 11)
    places[:, 3] = (edges[4] + edges[5]) / 2
    expected = ImprovedOnlineGFMM(theta=0.3).fit(*iris_arrays()).predict(places)
    np.testing.assert_array_equal(display.regions[4], expected)


@every_function
def test_nearness_is_the_membership_of_the_nearest_place_in_the_cut(function):
    data = np.random.default_rng(0).random((6, 4))
    model = ImprovedOnlineGFMM(gamma=2.0, membership_function=function).fit(data, range(6))
    display = BoxesDisplay.from_estimator(model, features=(2, 3), at=data[0], grid_resolution=9)
    nearest = np.hstack([np.tile(data[0, :2], (6, 1)), data[:, 2:]])
    np.testing.assert_allclose(display.nearness, np.diag(model.membership(nearest)))


def test_unknown_bounds_run_across_and_flat_boxes_are_seen():
    X = np.array([[1, NAN], [2, NAN], [5, 8], [6, 9], [NAN, 2], [8, 1], [NAN, NAN]])
    y = [0, 0, 1, 1, 1, 0, 2]
    model = ImprovedOnlineGFMM(theta=0.3).fit(X, y)
    display = BoxesDisplay.from_estimator(model, X, y, max_boxes=None, regions=False)
    low, high = display.limits[:, 0], display.limits[:, 1]
    assert np.isfinite(display.limits).all()
    assert np.isfinite(display.samples).all()
    extents = [path.get_extents() for path in outlines(display).get_paths()]
    for box, extent in zip(display.drawn, extents, strict=True):
        unknown = np.isnan(display.lower[box])
        assert (extent.min[unknown] < low[unknown]).all()
        assert (extent.max[unknown] > high[unknown]).all()
        np.testing.assert_array_equal(extent.min[~unknown], display.lower[box][~unknown])
    assert display.ax_.get_legend().get_title().get_text() == "1 without known bounds"
    squares = [
        c for c in display.ax_.collections if len(c.get_facecolor()) == 0 and c.get_offsets().size
    ]
    assert [8.0, 1.0] in np.concatenate([c.get_offsets() for c in squares]).tolist()
    assert_legible(display.figure_)


def test_limits_hold_everything():
    X, y, model = iris()
    far = X.copy()
    far.iloc[0, 2] = 30.0
    display = BoxesDisplay.from_estimator(model, far, y, regions=False)
    assert display.limits[0][1] > 30
    assert display.limits[0][0] < X.iloc[:, 2].min()
    assert display.ax_.get_xlim() == tuple(display.limits[0])
    assert display.ax_.get_ylim() == tuple(display.limits[1])
    assert display.regions is None


def test_constant_features_have_room():
    model = ImprovedOnlineGFMM().fit([[3.0, 1e20], [3.0, 1e20]], [0, 0])
    display = BoxesDisplay.from_estimator(model)
    assert (np.diff(display.limits) > 0).all()
    display.figure_.canvas.draw()


@pytest.mark.parametrize("name", ["{}", "a class with quite a long name {}"])
def test_26_classes_are_told_apart(name):
    model, X, y = letters(name=name)
    display = BoxesDisplay.from_estimator(model, X, y)
    entries = display.ax_.get_legend().get_lines()
    assert len({(line.get_color(), line.get_marker()) for line in entries}) == 26
    assert len({(line.get_color(), str(line._dash_pattern)) for line in entries}) == 26
    names = legend_names(display.ax_)
    assert len(set(names)) == 26
    assert_legible(display.figure_)
    width = display.ax_.get_window_extent().width
    assert width > 0.35 * display.figure_.bbox.width


def test_many_classes_with_long_names_leave_room_for_the_picture():
    model, _, _ = letters(120, 3, 2000, name="a class with quite a long name {}")
    display = BoxesDisplay.from_estimator(model)
    assert legend_names(display.ax_)[-1].startswith("and ")
    assert_legible(display.figure_)
    assert display.ax_.get_window_extent().width > 0.25 * display.figure_.bbox.width


def test_many_boxes_the_fullest_are_drawn():
    model, X, y = letters(2, 10, 3000, width=0.3)
    n_boxes = len(model.hyperboxes_)
    assert n_boxes > 300
    display = BoxesDisplay.from_estimator(model, X, y, max_samples=100)
    assert len(outlines(display).get_paths()) == 15
    assert len(display.samples) == len(display.sample_labels) == 100
    counts = model.hyperboxes_.counts
    assert counts[display.drawn].min() >= np.delete(counts, display.drawn).max()
    assert f"15 of {n_boxes} boxes" in display.ax_.get_legend().get_title().get_text()
    every = BoxesDisplay.from_estimator(model, max_boxes=None, regions=False)
    assert len(outlines(every).get_paths()) == n_boxes


def test_single_feature_is_drawn_in_rows():
    X, y, model = iris()
    feature = "petal width (cm)"
    display = BoxesDisplay.from_estimator(model, X, y, features=feature, max_boxes=None)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["0", "1", "2"]
    assert display.regions.shape == (200,)
    drawn = [c for c in display.ax_.collections if type(c) is PolyCollection]
    assert [len(c.get_paths()) for c in drawn] == np.bincount(model.hyperboxes_.labels).tolist()
    assert_legible(display.figure_)
    one = ImprovedOnlineGFMM().fit([[1.0], [2.0], [8.0]], [True, True, False])
    display = BoxesDisplay.from_estimator(one)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["False", "True"]
    assert_legible(display.figure_)


def test_single_feature_of_26_classes_is_legible():
    model, X, y = letters(26, 1)
    assert_legible(BoxesDisplay.from_estimator(model, X, y).figure_)


def test_intervals_of_a_row_are_drawn_apart():
    lower, upper = np.array([0.0, 1.0, 2.0, 2.5]), np.array([1.5, 2.0, 3.0, 2.6])
    display = BoxesDisplay(
        lower=lower[:, np.newaxis],
        upper=upper[:, np.newaxis],
        labels=np.zeros(4, int),
        counts=np.ones(4, int),
        classes=np.array(["a"]),
        feature_names=["x"],
        limits=np.array([[0.0, 3.0]]),
    ).plot()
    extents = [path.get_extents() for path in outlines(display).get_paths()]
    for one, other in itertools.combinations(extents, 2):
        assert not one.overlaps(other)
    assert len({extent.y0 for extent in extents}) == 2


def test_samples_without_labels():
    X, _, model = iris()
    display = BoxesDisplay.from_estimator(model, X.to_numpy())
    assert display.sample_labels is None
    assert len(display.samples) == len(X)


def test_unlabelled_boxes_and_samples_are_grey():
    X, y = iris_arrays()
    few = np.where(np.arange(150) % 25 == 0, y, -1)
    model = ImprovedOnlineGFMM(theta=0.3, unlabeled=-1).fit(X, few)
    display = BoxesDisplay.from_estimator(model, X, few, features=(2, 3))
    assert (model.hyperboxes_.labels == -1).any()
    assert legend_names(display.ax_) == ["0", "1", "2", "no label"]
    colours = outlines(display).get_edgecolor()
    is_grey = np.ptp(colours[:, :3], axis=1) == 0
    np.testing.assert_array_equal(is_grey, model.hyperboxes_.labels[display.drawn] == -1)
    assert (display.sample_labels == -1).sum() == 144


def test_only_unlabelled_boxes_have_no_regions():
    model = OnlineGFMM(unlabeled=-1).partial_fit([[0.0, 1.0], [1.0, 0.0]], [-1, -1], classes=[0, 1])
    display = BoxesDisplay.from_estimator(model, [[0.0, 1.0]], [-1])
    assert display.regions is None
    assert legend_names(display.ax_) == ["no label"]


def test_boxes_by_hand_and_options():
    display = BoxesDisplay(
        lower=np.zeros((1, 2)),
        upper=np.ones((1, 2)),
        labels=np.array([0]),
        counts=np.array([3]),
        classes=np.array(["$a$"]),
        feature_names=["p", "q"],
        limits=np.array([[-1.0, 2.0], [-1.0, 2.0]]),
    ).plot(box_kwargs={"linewidths": 7.0}, legend=False)
    assert outlines(display).get_linewidth()[0] == 7.0
    assert display.ax_.get_legend() is None
    display.ax_.legend()
    display.figure_.canvas.draw()
    assert legend_names(display.ax_) == [r"\$a\$"]


def test_clusters_are_drawn_like_classes():
    X, _ = make_moons(200, noise=0.05, random_state=0)
    model = HyperboxClustering(theta=0.1, max_gap=0.02, min_samples=3).fit(X)
    display = BoxesDisplay.from_estimator(model, X, model.labels_, grid_resolution=50)
    assert display.classes.tolist() == list(range(model.n_clusters_))
    np.testing.assert_array_equal(display.sample_labels, model.labels_)
    assert set(np.unique(display.regions)) == set(model.labels_)
    assert -1 in display.regions
    assert legend_names(display.ax_)[-1] == "noise"


def test_labels_that_are_missing_are_none():
    model = ImprovedOnlineGFMM().fit([[0.0, 0.0], [1.0, 1.0]], ["a", "b"])
    display = BoxesDisplay.from_estimator(model, np.zeros((3, 2)), ["a", None, NAN])
    assert display.sample_labels.tolist() == [0, -1, -1]


def test_projections_are_called_that():
    X, y = iris_arrays()
    _, _, model = iris()
    legend = BoxesDisplay.from_estimator(model, max_boxes=None, regions=False).ax_.get_legend()
    assert legend.get_title().get_text() == "boxes projected\nfrom 4 features"
    cut = BoxesDisplay.from_estimator(model, at=X[0]).ax_.get_legend()
    assert "projected" not in cut.get_title().get_text()
    plane = ImprovedOnlineGFMM(theta=0.3).fit(X[:, :2], y)
    legend = BoxesDisplay.from_estimator(plane).ax_.get_legend()
    assert "projected" not in legend.get_title().get_text()


@pytest.mark.parametrize("make", [ImprovedOnlineGFMM, BoostedHyperboxes])
def test_categories_stand_side_by_side_in_pictures(make):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "colour": random.choice(["red", "green", "blue"], 200).astype(object),
            "size": random.uniform(0, 9, 200).round(1),
        }
    )
    table.loc[:1, "colour"] = ["pink", "mauve"]  # too rare to tell them apart
    y = np.where((table["size"] > 4) ^ (table["colour"] == "red"), "yes", "no")
    model = make(random_state=0).fit(table, y)
    display = BoxesDisplay.from_estimator(
        model, table, y, features=["colour", "size"], grid_resolution=40
    )
    names = display.categories[0]
    assert list(names.values()) == list(range(len(names)))
    assert display.limits[0].tolist() == [-0.5, len(names) - 0.5]
    numbers = {value: k for name, k in names.items() for value in name.split(" or ")}
    assert list(numbers) == model.categories_["colour"]
    assert "mauve or pink" in names
    assert np.rint(display.samples[:, 0]).tolist() == [numbers[value] for value in table["colour"]]
    for value, number in numbers.items():
        column = int(40 * (number + 0.5) / len(names))
        edges = np.linspace(*display.limits[1], 41)
        asked = pd.DataFrame({"colour": value, "size": (edges[1:] + edges[:-1]) / 2})
        predicted = model.classes_[display.regions[:, column]]
        assert predicted.tolist() == model.predict(asked).tolist()
    lower, upper = model.hyperboxes_.lower[:, 0], model.hyperboxes_.upper[:, 0]
    np.testing.assert_array_equal(display.lower[:, 0] == display.upper[:, 0], lower == upper)
    contain = model.membership(table).max(axis=1) == 1 if hasattr(model, "apply") else []
    for row in np.flatnonzero(contain):
        box = model.apply(table[row : row + 1])[0]
        assert display.lower[box, 0] <= numbers[table["colour"][row]] <= display.upper[box, 0]
    assert_legible(display.figure_)


def test_boxes_are_drawn_where_they_constrain_the_features_shown():
    model = known_model()
    display = BoxesDisplay.from_estimator(model, features=[0, 2])
    assert display.drawn.tolist() == [0, 2]  # box 1 constrains x1 alone
    assert legend_names(display.ax_) == ["a", "b"]
    title = display.ax_.get_legend().get_title().get_text()
    assert (
        title
        == "boxes projected\nfrom 3 features\n1 box open here,\nnot drawn\nstronger: larger weight"
    )
    box = outlines(display).get_paths()[1].vertices
    assert (box[:, 0].min(), box[:, 0].max()) == (np.nextafter(2.0, 3), 4.25)
    low, high = display.limits[1]
    assert box[:, 1].min() < low
    assert high < box[:, 1].max()
    assert display.regions is None
    strength = outlines(display).get_edgecolors()[:, 3]
    np.testing.assert_allclose(strength, 0.25 + 0.75 * np.array([0.456, 2.1]) / 2.1)


def test_a_cut_shows_regions_and_the_boxes_that_hold_it():
    model = known_model()
    display = BoxesDisplay.from_estimator(model, features=[0, 1], at=[NAN, NAN, 900.0])
    assert display.nearness.tolist() == [0.0, 1.0, 1.0]  # box 0 ends at 700
    x, y = (np.linspace(*limits, 401)[1::2] for limits in display.limits)
    rows = np.column_stack([x, np.full(200, y[120]), np.full(200, 900.0)])
    np.testing.assert_array_equal(model.classes_[display.regions[120]], model.predict(rows))
    missing = BoxesDisplay.from_estimator(model, features=[0, 2], at=[NAN, NAN, NAN])
    assert missing.nearness.tolist() == [0.0, 1.0, 1.0]  # box 0 wants x1


def test_chosen_boxes_show_the_features_that_they_constrain():
    model = known_model()
    display = BoxesDisplay.from_estimator(model, boxes=1)
    assert display.feature_names == ["x0", "x1"]
    assert display.labels.tolist() == [0]
    first = BoxesDisplay.from_estimator(model, boxes=[0, -1])
    assert first.feature_names == ["x0", "x2"]
    assert first.labels.tolist() == [1, 1]
    _, _, nearest = iris()
    chosen = BoxesDisplay.from_estimator(nearest, boxes=[2, 5])
    np.testing.assert_array_equal(chosen.lower, nearest.hyperboxes_.lower[[2, 5], 2:])


def test_all_features_shown_have_regions():
    X, y = iris_arrays()
    model = BoostedHyperboxes(6, random_state=0).fit(X[:, 2:], y)
    display = BoxesDisplay.from_estimator(model, X[:, 2:], y)
    assert display.regions is not None
    assert_legible(display.figure_)
    assert BoxesDisplay.from_estimator(model, features=1).lower.shape == (len(model.hyperboxes_), 1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"features": ["petal"]}, ValueError, "no feature 'petal'. It has 'sepal length"),
        ({"features": [0, 4]}, ValueError, "no feature 4: the model has 4, 0 to 3"),
        ({"features": [0, 1, 2]}, ValueError, "one feature or two different ones"),
        ({"features": [1, 1]}, ValueError, "one feature or two different ones"),
        ({"features": [1.5]}, TypeError, "by its name or its index"),
        ({"y": [0]}, ValueError, "X is needed too"),
        (
            {"X": [[1.0, 2.0]]},
            ValueError,
            "X has 2 features, but ImprovedOnlineGFMM is expecting 4",
        ),
        ({"X": np.ones((2, 4)), "y": [0]}, ValueError, "y has 1 labels, but X has 2 samples"),
        ({"X": np.ones((1, 4)), "y": [7]}, ValueError, r"not fitted with: \[7\]"),
        ({"X": np.ones((1, 4)), "features": 1}, ValueError, "y is needed too"),
        ({"at": np.ones((2, 4))}, ValueError, "at must be one sample, got 2"),
        ({"boxes": 0.5}, TypeError, r"boxes must be an index or a list of indices, got 0\.5"),
        ({"boxes": 99}, ValueError, "boxes must be from 0 to 16, got 99"),
        ({"max_boxes": 0}, ValueError, "max_boxes"),
        ({"max_samples": 0}, ValueError, "max_samples"),
        ({"grid_resolution": 1}, ValueError, "grid_resolution"),
    ],
)
def test_boxes_refuse_bad_input(options, error, message):
    _, _, model = iris()
    with pytest.raises(error, match=message):
        BoxesDisplay.from_estimator(model, **options)
    assert plt.get_fignums() == []


def test_names_need_a_model_with_names():
    model = ImprovedOnlineGFMM().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="fitted without feature names"):
        BoxesDisplay.from_estimator(model, features="a")


def test_a_cut_through_the_boxes_of_an_adaptive_model():
    X, y = iris_arrays()
    model = AdaptiveGFMM().fit(X, y)
    at = [NAN, NAN, 1.4, 0.2]
    near = BoxesDisplay.from_estimator(model, features=[0, 1], at=at, regions=False).nearness
    labels = model.hyperboxes_.labels
    assert near.max() == 1.0
    assert near[labels == 0].min() > near[labels == 2].max()


def test_boxes_of_a_single_sample_are_left_out_with_a_note():
    X, y, model = iris()
    display = BoxesDisplay.from_estimator(model, X, y)
    counts = model.hyperboxes_.counts
    assert display.feature_names == ["petal length (cm)", "petal width (cm)"]
    assert sorted(display.drawn) == np.flatnonzero(counts > 1).tolist()
    title = display.ax_.get_legend().get_title().get_text()
    assert f"({(counts == 1).sum()} of a single sample)\ntint: predicted class" in title
    singles = ImprovedOnlineGFMM(theta=0.01).fit([[0.0, 1], [1, 0], [0.5, 0.2]], [0, 1, 0])
    assert len(BoxesDisplay.from_estimator(singles).drawn) == 3
