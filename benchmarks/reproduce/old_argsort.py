"""The order in which `numpy.argsort` left equal values before NumPy 1.25.

After npysort/quicksort and npysort/heapsort of NumPy 1.x, copyright (c) 2005-2023, NumPy
Developers, used under the BSD 3-Clause licence: a quicksort that turns to heapsort where it gets
too deep. What it does to one part of the list does not depend on the others, so the largest values
can be had before the rest is sorted.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Up to so many values are sorted by insertion.
SMALL = 16


@njit(cache=True)
def unsorted(values):
    """Return what `sorted_at` works on: the order so far, and the parts yet to be sorted.

    A part is its first and last place, how often it may still be split, and whether NumPy looks at
    that. The part of the largest values comes last.
    """
    depth = 2 * int(np.log2(max(values.size, 1)))
    return np.arange(values.size), [(0, values.size - 1, depth, True)]


@njit(cache=True)
def sorted_at(values, order, parts, place):
    """Return `numpy.argsort(values)[place]`; places come from the last to the first."""
    while len(parts) > 0 and parts[-1][1] >= place:
        first, last, depth, is_limited = parts.pop()
        if is_limited and depth < 0:
            _heapsort(values, order[first : last + 1])
        elif last - first < SMALL:
            _insertion_sort(values, order[first : last + 1])
        else:
            middle = _partition(values, order, first, last)
            # NumPy goes on with the smaller part at once, and only looks at the larger's depth.
            is_left_smaller = middle - first < last - middle
            parts.append((first, middle - 1, depth - 1, not is_left_smaller))
            parts.append((middle, middle, 0, False))
            parts.append((middle + 1, last, depth - 1, is_left_smaller))
    return order[place]


@njit(cache=True)
def _partition(values, order, first, last):
    """Part the list at the median of three of its values; return where that value is."""
    middle = first + ((last - first) >> 1)
    for a, b in ((middle, first), (last, middle), (middle, first)):
        if values[order[a]] < values[order[b]]:
            order[a], order[b] = order[b], order[a]
    pivot = values[order[middle]]
    i, j = first, last - 1
    order[middle], order[j] = order[j], order[middle]
    while True:
        i += 1
        while values[order[i]] < pivot:
            i += 1
        j -= 1
        while pivot < values[order[j]]:
            j -= 1
        if i >= j:
            break
        order[i], order[j] = order[j], order[i]
    order[i], order[last - 1] = order[last - 1], order[i]
    return i


@njit(cache=True)
def _insertion_sort(values, order):
    """Sort a short part of the list."""
    for i in range(1, order.size):
        index = order[i]
        while i > 0 and values[index] < values[order[i - 1]]:
            order[i] = order[i - 1]
            i -= 1
        order[i] = index


@njit(cache=True)
def _heapsort(values, order):
    """Sort a part of the list that was split too often."""
    for root in range(order.size // 2 - 1, -1, -1):
        _sift_down(values, order, root, order[root])
    for last in range(order.size - 1, 0, -1):
        index = order[last]
        order[last] = order[0]
        _sift_down(values, order[:last], 0, index)


@njit(cache=True)
def _sift_down(values, heap, root, index):
    """Put an index at the root of a heap, or where it belongs below it."""
    child = 2 * root + 1
    while child < heap.size:
        if child + 1 < heap.size and values[heap[child]] < values[heap[child + 1]]:
            child += 1
        if not values[index] < values[heap[child]]:
            break
        heap[root] = heap[child]
        root, child = child, 2 * child + 1
    heap[root] = index
