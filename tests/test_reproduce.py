"""The benchmark that reproduces the paper: its protocol, and that finished parts stay finished."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numba import njit

from benchmarks.harness import markdown
from benchmarks.reproduce import loading, old_argsort, tie_order
from benchmarks.reproduce.experiments import EXPERIMENTS
from benchmarks.reproduce.family_published import write_folds
from benchmarks.reproduce.jobs import Cell, Store, run
from benchmarks.reproduce.learners import (
    ALGORITHMS,
    AS_PUBLISHED,
    N_COUNTS,
    RUN,
    datasets,
    halves,
    runs,
)
from benchmarks.reproduce.loading import NoDataError, Source
from benchmarks.reproduce.reports import compare_counts, is_met, nearness

SOURCE = Source(None)


def answer(value: int) -> dict[str, int]:
    """Return a result, or fail."""
    return {"inverse": 60 // value}


def part(value: int) -> Cell:
    """Return a part that is quickly done."""
    return Cell("counts", "pima", f"learner {value}", answer, (value,), seconds=value)


def test_every_published_count_has_a_part():
    cells = EXPERIMENTS["counts"](SOURCE, datasets().index)
    result = {"candidates": dict.fromkeys(("all", "lemma", "index"), 0.0)}
    frame = compare_counts([(cell, result) for cell in cells], [])
    assert frame["published"].notna().sum() == N_COUNTS


def test_parts_have_names_of_their_own():
    names = list(datasets().index)
    keys = [cell.key for make in EXPERIMENTS.values() for cell in make(SOURCE, names)]
    assert len(set(keys)) == len(keys)


def test_halves_keep_file_order_and_split_each_class_in_its_middle():
    y = np.array([0, 1, 0, 0, 1, 1, 1, 0, 0])
    (first, second), swapped = halves(y)
    np.testing.assert_array_equal(first, [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(second, [5, 6, 7, 8])
    assert swapped[0] is second


@pytest.mark.parametrize("learner", AS_PUBLISHED, ids=lambda learner: learner.name)
def test_published_counts_of_balance_scale(learner):
    """Its samples are all weights and distances from 1 to 5; the class is the heavier side."""
    scale = np.array(list(product(range(1, 6), repeat=4)))
    X, y = (scale - 1) / 4, np.sign(scale[:, 0] * scale[:, 1] - scale[:, 2] * scale[:, 3])
    published = runs().set_index(RUN).loc["balance_scale", learner.algorithm, learner.similarity]
    for selection in ("all", "lemma"):
        counts = [
            learner.as_published(selection).fit(X[train], y[train]).n_candidates_
            for train, _ in halves(y)
        ]
        assert np.mean(counts) == published[f"candidates_{selection}"]


def test_deviations_are_counted_up_to_their_limits():
    learner = AS_PUBLISHED[0]
    cell = Cell("counts", "pima", learner.name, answer, (SOURCE, "pima", learner), 1.0)
    row = runs().set_index(RUN).loc["pima", learner.algorithm, ""]
    ours = {"all": row["candidates_all"], "lemma": row["candidates_lemma"] * 1.04, "index": 0.0}
    assert nearness(compare_counts([(cell, {"candidates": ours})], [])) == (1, 1, 2, 0)


def test_means_of_millions_may_be_rounded_in_print():
    counts_found = pd.Series([5.5, 5.5, 1_000_000.5, 1_000_000.5, np.nan])
    printed = pd.Series([5.5, 6.0, 1_000_001.0, 1_000_000.0, 1.0])
    assert is_met(counts_found, printed).tolist() == [True, False, True, False, False]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("lemma", [False, True])
def test_the_published_order_matters_only_where_something_ties(algorithm, lemma):
    rng = np.random.default_rng(4)
    X, y = rng.random((60, 2)), rng.integers(0, 2, 60)
    for learner in AS_PUBLISHED:
        if learner.algorithm == algorithm:
            model = learner.make(0.2, scaling=None, selection="lemma" if lemma else "all")
            count = tie_order.count(X, y, algorithm, learner.similarity, lemma=lemma, theta=0.2)
            assert count == model.fit(X, y).n_candidates_


@njit
def old_order(values):
    """Return the order of values as NumPy left it before 1.25."""
    order, parts = old_argsort.unsorted(values)
    for place in range(values.size - 1, -1, -1):
        old_argsort.sorted_at(values, order, parts, place)
    return order


def test_ties_come_as_numpy_left_them():
    """Up to 16 values were sorted by insertion, which keeps the order of equals."""
    assert old_order(np.array([2.0, 1.0, 2.0, 1.0, 3.0])).tolist() == [1, 3, 0, 2, 4]
    many = np.random.default_rng(0).integers(0, 9, 500).astype(float)
    order = old_order(many)
    assert sorted(order) == list(range(500))
    assert (np.diff(many[order]) >= 0).all()
    assert (order != np.argsort(many, kind="stable")).any()


def test_finished_parts_survive_a_torn_line(tmp_path: Path):
    path = tmp_path / "finished.jsonl"
    Store(path, "data").add(part(2), {"inverse": 30})
    with path.open("a") as file:
        file.write('{"key": "torn')
    store = Store(path, "data")
    store.add(part(3), {"inverse": 20})
    store = Store(path, "data")
    assert store[part(2)] == {"inverse": 30}
    assert store[part(3)] == {"inverse": 20}
    assert part(2) not in Store(path, "other data")


def test_run_goes_on_after_a_failure_and_tells_of_it(tmp_path: Path):
    pytest.importorskip("joblib", minversion="1.4")
    store = Store(tmp_path / "finished.jsonl", "data")
    failures = run([part(0), part(2), part(3)], store, "test", jobs=1)
    assert len(failures) == 1
    assert "ZeroDivisionError" in failures[0]
    assert store[part(2)] == {"inverse": 30}
    assert store[part(3)] == {"inverse": 20}


def test_without_data_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch):
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(loading, "fetch_openml", unreachable)
    with pytest.raises(NoDataError, match=r"no network.*--data or HYPERBOXES_DATA"):
        Source.at(Path("/nowhere")).paper_input("pima")


def test_markdown_aligns_columns():
    assert markdown(("a", "b"), [("long", "1")]) == "| a    |  b |\n| ---- | -: |\n| long |  1 |"


def test_results_by_fold_of_the_family(tmp_path: Path) -> None:
    assert "--fold-data" in write_folds(None, tmp_path)
    assert "--fold-data" in write_folds(tmp_path, tmp_path)
    rng = np.random.default_rng(0)
    for fold in range(1, 5):
        y = rng.integers(1, 3, (20, 1))
        table = np.hstack([rng.random((20, 3)), y])
        np.savetxt(tmp_path / f"heart_dps_{fold}.dat", table, delimiter=",")
    page = write_folds(tmp_path, tmp_path)
    assert page.count("heart") == 12
    assert "0 of 12 are the same." in page
