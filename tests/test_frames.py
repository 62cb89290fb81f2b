"""Data frames whose columns are no numbers: errors name column, row and value."""

from datetime import date, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hyperboxes import AdaptiveGFMM, AgglomerativeGFMM, HyperboxClustering
from hyperboxes.literature import FuzzyMinMax
from tests.learners import ImprovedOnlineGFMM

X = np.array([[0.1, 0.2], [0.3, 0.4], [0.8, 0.9]])
Y = np.array([0, 0, 1])
NUMBERS = pd.DataFrame(X, columns=["width", "height"])
DAYS = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"])
WORD = r"column 'height' holds 'Paris' in row 1, which is not a number. Replace it"
DATE = r"column 'height' holds dates, such as 2020-01-01.* in row 0. Put hyperboxes.DateFeatures"

BAD_COLUMNS = {
    "words": (["0.5", "Paris", "2"], WORD),
    "string": (pd.array(["0.5", "Paris", "2"], "string"), WORD),
    "day": (DAYS, DATE),
    "zone": (DAYS.tz_localize("UTC"), DATE),
    "duration": (DAYS - DAYS[0], r"holds durations, such as 0 days.* seconds or days"),
    "date": ([0, date(2020, 1, 1), 0], r"column 'height' holds datetime.date\(2020, 1, 1\) in row"),
}


@pytest.mark.parametrize("kind", BAD_COLUMNS)
@pytest.mark.parametrize("cls", [ImprovedOnlineGFMM, AgglomerativeGFMM, HyperboxClustering])
def test_columns_that_are_no_numbers(cls, kind):
    column, message = BAD_COLUMNS[kind]
    frame = NUMBERS.assign(height=column)
    model = cls()
    with pytest.raises(ValueError, match=message):
        model.fit(frame, Y)
    assert set(vars(model)) == set(model.get_params())
    model.fit(NUMBERS, Y)
    for call in (
        lambda: model.predict(frame),
        lambda: model.predict(NUMBERS, X_upper=frame),
        lambda: model.fit(NUMBERS, Y, X_upper=frame),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([None, *DAYS.date[1:]], "holds dates, such as 2020-01-02 in row 1"),
        (DAYS.to_period("M"), "holds periods, such as 2020-01 in row 0"),
        ([time(1), time(2), time(3)], "holds times, such as 01:00:00 in row 0.* the hour"),
        (pd.Series([timedelta(1)] * 3, dtype=object), "holds durations, such as 1 day"),
        (DAYS.strftime("%d.%m.%Y"), "holds '01.01.2020' in row 0.*DateFeatures.*to_datetime"),
    ],
    ids=["objects", "periods", "times", "durations", "text"],
)
def test_dates_of_every_kind(column, message):
    with pytest.raises(ValueError, match=message):
        ImprovedOnlineGFMM().fit(NUMBERS.assign(height=column), Y)
    with pytest.raises(ValueError, match=message):
        HyperboxClustering().fit(NUMBERS.assign(height=column))


def test_arrays_of_dates():
    """NumPy would take them for nanoseconds."""
    table = np.column_stack([DAYS.to_numpy(), DAYS.to_numpy()])
    with pytest.raises(ValueError, match="column 0 holds dates, such as 2020-01-01"):
        ImprovedOnlineGFMM().fit(table, Y)
    with pytest.raises(ValueError, match="column 0 holds durations"):
        AgglomerativeGFMM().fit(table - table[0], Y)
    objects = np.column_stack([X[:, 0].astype(object), DAYS.date])
    with pytest.raises(ValueError, match="column 1 holds dates"):
        ImprovedOnlineGFMM().fit(objects, Y)


def test_advice_is_what_the_learner_can_do():
    frame = NUMBERS.assign(height=["1", "Paris", "2"])
    with pytest.raises(ValueError, match="name it in categorical_features"):
        ImprovedOnlineGFMM().fit(frame, Y)
    for model in (HyperboxClustering(), AdaptiveGFMM(), FuzzyMinMax()):
        with pytest.raises(ValueError, match=r"Replace it, encode the column, or leave it out\.$"):
            model.fit(frame, Y)


def test_dates_alone_are_no_nanoseconds():
    frame = pd.DataFrame({"height": DAYS})
    with pytest.raises(ValueError, match=DATE):
        ImprovedOnlineGFMM().fit(frame, Y)
    assert ImprovedOnlineGFMM().fit(frame.astype("int64"), Y).n_features_in_ == 1


@pytest.mark.parametrize(
    ("column", "message"),
    [(["0.5", "Paris", "2"], WORD), (list(DAYS.date), DATE), (DAYS.to_numpy(), DATE)],
    ids=["words", "dates", "times"],
)
def test_frames_of_polars(column, message):
    frame = pl.DataFrame({"width": X[:, 0], "height": column})
    with pytest.raises(ValueError, match=message):
        ImprovedOnlineGFMM().fit(frame, Y)


def test_partial_fit():
    model = ImprovedOnlineGFMM().partial_fit(NUMBERS, Y, classes=[0, 1])
    with pytest.raises(ValueError, match=WORD):
        model.partial_fit(NUMBERS.assign(height=["1", "Paris", "2"]), Y)
    assert model.hyperboxes_.counts.sum() == len(Y)


def test_a_column_too_many_is_called_that():
    model = ImprovedOnlineGFMM().fit(NUMBERS, Y)
    for column in (DAYS, ["a", "b", "c"]):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(NUMBERS.assign(when=column))


def test_other_errors_stay_as_they_are():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ImprovedOnlineGFMM().fit(NUMBERS, Y[:2])
    with pytest.raises(ValueError, match="X contains infinity"):
        ImprovedOnlineGFMM().fit(NUMBERS.assign(height=np.inf), Y)


@pytest.mark.parametrize(
    "column",
    [
        ["1", "2", None],
        pd.array([1, None, 3], "Int64"),
        [True, False, True],
        pd.Categorical([1, 2, 3]),
    ],
    ids=["texts", "nullable", "truth", "category"],
)
def test_columns_that_are_numbers_in_another_guise(column):
    frame = NUMBERS.assign(height=column)
    assert len(ImprovedOnlineGFMM().fit(frame, Y).predict(frame)) == 3
