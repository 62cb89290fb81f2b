"""The command line on Dask: files are partitions."""

import json

import pandas as pd
import pytest
from distributed import LocalCluster

from hyperboxes import load
from tests.iris_tables import FEATURES, TEST, TRAIN


@pytest.fixture(scope="module")
def address():
    """Start a scheduler and a worker in this process."""
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with cluster:
        yield cluster.scheduler_address


@pytest.fixture
def parts(folder):
    """Write the training data as three files, one of them without rows."""
    shuffled = TRAIN.sample(frac=1, random_state=0)
    shuffled[:50].to_parquet("part-1.parquet", index=False)
    shuffled[:0].to_csv("part-2.csv", index=False)
    shuffled[50:].to_csv("part-3.csv", index=False)
    return "part-*"


def test_files_are_learned_apart_and_predicted_each(get, parts, address):
    options = ("--target", "species", "-o", "merged.hyperboxes", "--dask", address)
    summary = json.loads(get("fit", parts, *options, "--json"))
    assert summary["n_samples"] == len(TRAIN)
    model = load("merged.hyperboxes")
    assert model.feature_names_in_.tolist() == FEATURES
    assert model.scaling == "minmax"
    assert model.score(TEST[FEATURES], TEST["species"]) > 0.8
    TEST[:20].to_csv("new-1.csv", index=False)
    TEST[20:].to_parquet("new-2.parquet", index=False)
    get("predict", "merged.hyperboxes", "new-*", "-o", "out/new", "--keep", "--dask", address)
    found = [pd.read_csv("out/new/new-1.csv"), pd.read_parquet("out/new/new-2.parquet")]
    found = pd.concat(found)
    assert found["species"].tolist() == TEST["species"].tolist()
    assert found["prediction"].tolist() == model.predict(TEST[FEATURES]).tolist()


def test_boosted_boxes_are_those_of_all_rows(get, parts, address):
    TRAIN.sample(frac=1, random_state=0).to_csv("all.csv", index=False)
    options = ("--target", "species", "--learner", "boosted", "--max-boxes", 4, "-o")
    summary = get("fit", parts, *options, "parts.hyperboxes", "--dask", address, "--json")
    assert json.loads(summary)["n_samples"] == len(TRAIN)
    get("fit", "all.csv", *options, "all.hyperboxes")
    models = [load(f"{name}.hyperboxes").hyperboxes_ for name in ("parts", "all")]
    assert models[0].lower.tolist() == models[1].lower.tolist()
    assert models[0].weights.tolist() == models[1].weights.tolist()


def test_columns_of_text_are_categories(get, folder, address):
    tables = [TRAIN[:50].assign(colour="red"), TRAIN[50:].assign(colour="blue")]
    for number, table in enumerate(tables):
        table.to_csv(f"colour-{number}.csv", index=False)
    options = ("--target", "species", "-o", "colours.hyperboxes", "--dask", address)
    get("fit", "colour-*.csv", *options)
    assert sorted(load("colours.hyperboxes").categories_["colour"]) == ["blue", "red"]


def test_workers_of_its_own(get, parts):
    get("fit", parts, "--target", "species", "-o", "own.hyperboxes", "--workers", 1)
    assert load("own.hyperboxes").hyperboxes_.counts.sum() == len(TRAIN)


def test_what_does_not_go_with_dask(refuse, parts, address):
    fit = ("fit", parts, "--target", "species", "-o", "new.hyperboxes", "--dask")
    predict = ("predict", "model.hyperboxes", "test.csv", "--dask", address)
    assert "no --chunk-size" in refuse(*fit, address, "--chunk-size", 10, code=2)
    assert "random cannot be merged" in refuse(*fit, address, "--learner", "random", code=2)
    assert "standard input is no partition" in refuse("fit", "-", *fit[2:], address, code=2)
    assert "No file is named no-*" in refuse("fit", "no-*", *fit[2:], address)
    assert "-o names a folder" in refuse(*predict, code=2)
    assert "-o names a folder" in refuse(*predict, "-o", "train.csv", code=2)
    assert "--json" in refuse(*predict, "-o", "out", "--json", code=2)
    TRAIN.assign(**{FEATURES[3]: "wide"}).to_csv("part-4.csv", index=False)
    assert "part-4.csv: not numbers" in refuse(*fit, address)
