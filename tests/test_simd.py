"""The nearest of many, in vector lanes: as sorting finds them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hyperboxes._kernels import simd
from hyperboxes._kernels.simd import LANES
from tests.compiled import FromPython

compiled = FromPython(simd)

# Few numbers, so that there are ties.
gaps_of_many = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0]), min_size=1, max_size=60)


@given(gaps_of_many)
def test_the_nearest_are_kept_in_order(gaps):
    values = np.array(gaps + [np.nan] * LANES)
    places, nearest = np.zeros(LANES, np.int32), np.full(LANES, np.inf)
    for start in range(0, len(gaps), LANES):
        mask = compiled.below(values, start, nearest[-1])
        expected = [lane for lane in range(LANES) if values[start + lane] < nearest[-1]]
        assert mask == sum(1 << lane for lane in expected)
        if mask:
            compiled.put_in_order(places, nearest, values, start, mask)
    n_kept = min(len(gaps), LANES)
    by_gap = np.argsort(gaps, kind="stable")[:n_kept]  # of those as near, the first comes first
    np.testing.assert_array_equal(places[:n_kept], by_gap)
    np.testing.assert_array_equal(nearest[:n_kept], np.array(gaps)[by_gap])
    assert (nearest[n_kept:] == np.inf).all()


@given(gaps_of_many, st.integers(1, 2**LANES - 1), st.sampled_from([np.float32, np.float64]))
def test_the_smallest_are_kept_in_order(values, mask, kind):
    kept, chosen = np.full(LANES, np.inf, kind), []
    values = np.array(values + [np.inf] * LANES, kind)
    for start in range(0, len(values) - LANES, LANES):
        compiled.keep_smallest(kept, values, start, mask)
        chosen += [values[start + lane] for lane in range(LANES) if mask >> lane & 1]
    expected = sorted([*chosen, *[np.inf] * LANES])[:LANES]
    np.testing.assert_array_equal(kept, np.array(expected, kind))


@given(st.integers(0, 40))
def test_values_move_up(n):
    values = np.arange(42)
    compiled.move_up(values, n)
    np.testing.assert_array_equal(values, [0, *range(n), *range(n + 1, 42)])


def test_a_value_is_read():
    values = np.arange(7) * 0.5
    assert [compiled.at(values, place) for place in range(7)] == values.tolist()
