"""Threads that share calls of a function."""

import threading

import pytest

from hyperboxes._learning.steps import Threads


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("n_items", [0, 1, 2, 40])
def test_results_come_in_the_order_of_the_items(n_jobs, n_items):
    with Threads(n_jobs) as threads:
        found = list(threads.map(lambda item: item * item, iter(range(n_items))))
        again = list(threads.map(str, range(n_items)))
    assert found == [item * item for item in range(n_items)]
    assert again == [str(item) for item in range(n_items)]


def test_the_one_that_asks_works_too():
    """Each of two calls waits for the other to begin."""
    both = threading.Barrier(2, timeout=60)
    with Threads(2) as threads:
        found = set(threads.map(lambda _: both.wait() >= 0 and threading.get_ident(), range(2)))
    assert len(found) == 2
    assert threading.get_ident() in found


def test_a_single_thread_is_the_one_that_asks():
    with Threads(1) as threads:
        assert set(threads.map(lambda _: threading.get_ident(), range(3))) == {
            threading.get_ident()
        }


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("wrong", [0, 1, 7, 8, 19])
def test_errors_reach_the_one_that_asks(n_jobs, wrong):
    begun = []

    def call(item):
        begun.append(item)
        if item == wrong:
            raise ValueError(f"no {item}")
        return item

    with Threads(n_jobs) as threads, pytest.raises(ValueError, match=f"no {wrong}$"):
        list(threads.map(call, range(20)))
    assert len(begun) == len(set(begun))  # none twice
    assert set(range(wrong + 1)) <= set(begun)
    if n_jobs == 1:
        assert len(begun) == wrong + 1


def test_results_need_not_be_asked_for():
    with Threads(2) as threads:
        results = threads.map(abs, range(1000))
        assert next(results) == 0
        results.close()
        assert list(threads.map(abs, [-1, -2])) == [1, 2]
