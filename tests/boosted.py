"""Boosted boxes under test: small problems, models of them, and what their boxes hold."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hyperboxes import BoostedHyperboxes
from hyperboxes._models.records import AdditiveBoxes

inf = np.inf

MANY = 200  # boxes: the settings for accuracy


@st.composite
def problems(draw):
    """Draw samples with ties, duplicates, constant columns, missing values and weights."""
    n_samples, n_features = draw(st.integers(4, 30)), draw(st.integers(1, 6))
    n_values = draw(st.sampled_from([1, 2, 4, 50]))
    shape = n_samples, n_features
    X = draw(hnp.arrays(np.float64, shape, elements=st.integers(0, n_values)))
    if draw(st.booleans()):
        X[draw(hnp.arrays(np.bool_, shape))] = np.nan
    n_classes = draw(st.integers(2, 4))
    noise = draw(hnp.arrays(np.int64, n_samples, elements=st.integers(0, n_classes - 1)))
    y = np.where(noise == 0, np.nan_to_num(X[:, 0]).astype(int) % n_classes, noise)
    y[:n_classes] = np.arange(n_classes)
    kinds = [st.integers(1, 3), st.integers(1, 20), st.floats(0.01, 5)]
    weights = draw(hnp.arrays(np.float64, n_samples, elements=draw(st.sampled_from(kinds))))
    return X, y, weights


def small_model(max_boxes, **parameters):
    """Return a model that finds boxes in few samples."""
    return BoostedHyperboxes(max_boxes, l2=0.3, random_state=0, **parameters)


def parts(model, X):
    """Return which part of its weights each box of a model adds, as their attributes say."""
    boxes = model.hyperboxes_
    X = X[:, np.newaxis]
    inside = (boxes.lower <= X) & (boxes.upper >= X)
    return np.where(np.isnan(X), boxes.missing_shares, inside).prod(axis=2)


def held(model, X):
    """Return which boxes of a model hold which samples."""
    return parts(model, X) == 1.0


def known_model():
    """Return a model with every kind of condition, whose text is known."""
    model = BoostedHyperboxes()
    model.n_features_in_ = 3
    model.classes_ = np.array(["a", "b"])
    after = np.nextafter([1.5, 0.0, 2.0], inf)
    model._model = AdditiveBoxes(
        lower=np.array([[after[0], -inf, -inf], [-inf, after[1], -inf], [after[2], -inf, -inf]]),
        upper=np.array([[inf, inf, 700.0], [inf, inf, inf], [4.25, inf, inf]]),
        labels=np.array([1, 0, 1]),
        counts=np.array([300, 1, 40]),
        weights=np.array([[0.0, 0.456], [1.239, 0.0], [0.0, 2.1]]),
        missing_shares=np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]),
        class_counts=np.array([[1, 299], [1, 0], [40, 0]]),
        intercept=np.array([0.0, 0.0123]),
        missing_scores=np.array([0.0, 0.4]),
        feature_importances=np.array([0.5, 0.2, 0.3]),
    )
    return model


def set_fitted(model, **changes):
    """Replace arrays of a fitted model."""
    model._model = replace(model._model, **changes)


def around(boxes, samples):
    """Return samples, and ones at and beside the ends of boxes, with missing values."""
    ends = np.concatenate([boxes.lower, boxes.upper])
    beside = np.concatenate([ends, np.nextafter(ends, -inf), np.nextafter(ends, inf)])
    rows = np.resize(samples, beside.shape)
    beside = np.where(np.isfinite(np.tile(ends, (3, 1))), beside, rows)
    some_missing = np.where(np.arange(beside.size).reshape(beside.shape) % 5 == 0, np.nan, beside)
    return np.concatenate([samples, beside, some_missing])
