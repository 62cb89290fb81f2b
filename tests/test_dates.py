"""`DateFeatures`, and models that take dates."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hyperboxes import (
    BoostedHyperboxes,
    DateFeatures,
    ImprovedOnlineGFMM,
    ModelFileError,
    explain,
    export_html,
    export_sql,
    export_text,
    load,
    save,
)
from hyperboxes._files.archive import pack, parse_arrays, unpack
from tests.tables import make_table

DAYS = [dt.date(2026, 11, 19), None, dt.date(2026, 11, 23), dt.date(2025, 1, 1)]
WRITTEN = {
    "iso": "%Y-%m-%d",
    "points": "%d.%m.%Y",
    "day first": "%d/%m/%Y",
    "month first": "%m/%d/%Y",
    "minutes": "%d.%m.%Y %H:%M",
    "zone": "%Y-%m-%dT%H:%M:%S+02:00",
}
EXPECTED = np.array(
    [[2026, 11, 4, 687.0], [np.nan] * 4, [2026, 11, 1, 691.0], [2025, 1, 3, 0.0]], float
)


def make_frame(days=DAYS):
    return pd.DataFrame({"opened": days, "amount": [1.0, 2.0, 3.0, 4.0]})


@parametrize_with_checks([DateFeatures()])
def test_common_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("columns", [None, ["opened"]])
@pytest.mark.parametrize(
    "frame",
    [
        make_frame(),
        make_frame(pd.to_datetime(DAYS)),
        make_frame(pd.to_datetime(DAYS).tz_localize("Asia/Tokyo")),
        *(make_frame([d and d.strftime(order) for d in DAYS]) for order in WRITTEN.values()),
        pl.DataFrame({"opened": DAYS, "amount": [1.0, 2.0, 3.0, 4.0]}),
    ],
    ids=["date", "datetime", "with zone", *WRITTEN, "polars"],
)
def test_features_of_dates(frame, columns):
    features = DateFeatures(columns).fit(frame)
    derived = features.transform(frame)
    names = ["amount", "opened_year", "opened_month", "opened_weekday", "opened_days"]
    assert list(derived.columns) == names == features.get_feature_names_out().tolist()
    np.testing.assert_array_equal(derived.to_numpy()[:, 1:], EXPECTED)
    np.testing.assert_array_equal(features.transform(frame[:2]).to_numpy(), derived[:2].to_numpy())
    assert features.describe() == "opened_days counts from 2025-01-01. Weekday 1 is Monday."


def test_hours_are_features_and_constants_are_not():
    days = [f"2026-11-0{day}T{day}:30:00" for day in (1, 2, 3, 4)]
    features = DateFeatures().fit(make_frame(days))
    assert features.dates_["opened"].parts == ("weekday", "days", "hour")
    assert features.transform(make_frame(days))["opened_hour"].tolist() == [1, 2, 3, 4]


def test_text_that_is_no_date_stays():
    frame = make_frame(["10:30", "12:15", None, "2026-11-19"])
    assert DateFeatures().fit_transform(frame).equals(frame)


@pytest.mark.parametrize(
    ("days", "message"),
    [
        (["01/02/2026"] * 4, r"several ways, %d/%m/%Y or %m/%d/%Y\. Write them as 2026-11-19"),
        (
            ["2026-11-19", "soon", "", None],
            "column 'opened' holds 'soon' in row 1 \\(from 0\\), which",
        ),
        ([1, 2, 3, 4], "column 'opened' holds 1 in row 0"),
        ([None] * 4, "column 'opened' has no dates: leave it out"),
    ],
)
def test_wrong_dates(days, message):
    with pytest.raises(ValueError, match=message):
        DateFeatures("opened").fit(make_frame(days))


def test_wrong_columns():
    with pytest.raises(ValueError, match="columns names 'closed', which is not a column of X"):
        DateFeatures(["closed"]).fit(make_frame())
    with pytest.raises(ValueError, match="X has a column 'opened_days' already: rename it"):
        DateFeatures().fit(make_frame().assign(opened_days=1.0))


@pytest.fixture(scope="module")
def table():
    """Return samples with a date on which the class depends, and the class."""
    X, _ = make_table(400)
    X["opened"] = pd.date_range("2025-01-01", periods=len(X)).strftime("%Y-%m-%d")
    late = X["opened"] > "2025-07-01"
    return X, np.where(late & (X["size"] > 4), "yes", "no")


def saved(model):
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    "learner", [BoostedHyperboxes(random_state=0), ImprovedOnlineGFMM(random_state=0)]
)
def test_models_take_dates(table, learner):
    X, y = table
    model = make_pipeline(DateFeatures(), learner).fit(X, y)
    assert model.score(X, y) > 0.95
    loaded = load(saved(model))
    assert saved(loaded).read() == saved(model).read()
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    note = "opened_days counts from 2025-01-01."
    assert note in " ".join(export_text(loaded).split())
    assert note in " ".join(str(explain(loaded, X.iloc[7])).split())
    assert note in export_html(loaded, X, y)
    with pytest.raises(TypeError, match="export_sql cannot write this DateFeatures as SQL"):
        export_sql(loaded)


def test_other_steps_are_not_saved(table):
    X, y = table
    model = make_pipeline(DateFeatures(), StandardScaler(), BoostedHyperboxes(2))
    with pytest.raises(TypeError, match="alone or after DateFeatures, not Pipeline"):
        save(model.fit(X[["size", "opened"]], y), io.BytesIO())


@pytest.mark.parametrize(
    "change",
    [
        {"columns": None},
        {"columns": ["size", 3]},
        {"columns": ["size"]},
        {"dates": {}},
        {"dates": {"opened": ["2025-01-01", "ISO8601", "days"]}},
        {"dates": {"opened": ["2025-13-01", "ISO8601", "year", "month", "weekday", "days"]}},
        {"dates": {"opened": ["2025-01-01", "%x", "year", "month", "weekday", "days"]}},
        {"dates": {"opened": ["2025-01-01", "ISO8601", "month", "year", "weekday", "days"]}},
        {"dates": {"closed": ["2025-01-01", "ISO8601", "year", "month", "weekday", "days"]}},
        {"dates": {"opened": 1}},
    ],
)
def test_wrong_dates_in_files(table, change):
    X, y = table
    header, members = unpack(saved(make_pipeline(DateFeatures(), BoostedHyperboxes(2)).fit(X, y)))
    header["dates"] |= change
    with pytest.raises(ModelFileError, match="its dates"):
        load(io.BytesIO(pack(header, parse_arrays(members))))
