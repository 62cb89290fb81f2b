"""Weights of additive boxes: cells of samples in the same boxes, Newton steps, and scores.

Like `boosting`, it sums whole numbers: probabilities in units of 1 / ONE times weights.
"""

import math
from collections import namedtuple

import numpy as np

from hyperboxes._kernels.boosting import ONE, n_used
from hyperboxes._kernels.jit import check_index, forceinline, kernel, pass_by_pointer
from hyperboxes._kernels.quantize import MISSING

_LONGEST_STEP = 1.0

# Cells of samples that lie in the same boxes: the scores of each class there, and the weight of
# its samples by class.
Cells = namedtuple("Cells", "scores masses")

# The probabilities and the total weight of each cell, and working arrays for each class.
Sweep = namedtuple("Sweep", "probabilities totals steps factors sums")

# The weights of boxes for each class: `ridges` penalise the weights of each box, weights that gain
# less than `threshold` are 0, and `members` marks the cells that each box contains.
Weights = namedtuple("Weights", "votes ridges threshold members")


@kernel
def mark_contained(codes, box, start, stop, contained):
    """Write which of the samples `start` to `stop` a box contains."""
    contained = contained[start:stop]
    for row in range(contained.size):
        contained[row] = True
    for condition in range(n_used(box)):
        column = codes[box.feature[condition], start:stop]
        first, last = np.uint8(box.first[condition]), np.uint8(box.last[condition])
        missing = box.missing[condition]
        for row in range(contained.size):
            code = column[row]
            meets = (code >= first) & (code <= last)
            contained[row] &= meets | (missing & (code == MISSING))


@kernel
def add_masses(samples, cells, masses):
    """Add up the weights of the samples by cell and class."""
    for row in range(cells.size):
        masses[cells[row], samples.labels[row]] += samples.weights[row]


@forceinline
def set_softmax(scores, probabilities):
    """Write the probabilities of the classes for their scores."""
    largest = scores[0]
    for label in range(1, scores.size):
        largest = scores[label] if scores[label] > largest else largest
    total = 0.0
    for label in range(scores.size):
        probabilities[label] = math.exp(scores[label] - largest)
        total += probabilities[label]
    for label in range(scores.size):
        probabilities[label] /= total


@forceinline
def whole(probability):
    """Return a probability in units of 1 / ONE."""
    return np.int64(np.rint(probability * ONE))


@forceinline
def sums_of(probability, mass, total):
    """Return g and h of a class in a cell, where it has `mass` of the `total` weight."""
    return (
        mass * ONE - total * whole(probability),
        total * whole(probability * (1.0 - probability)),
    )


@forceinline
def newton_step(g, h, vote, ridge):
    """Return by how much to change a weight."""
    step = (float(g) - ridge * vote) / (float(h) + ridge)
    return min(max(step, -_LONGEST_STEP), _LONGEST_STEP)


@forceinline
def shift(scores, probabilities, label, step, factor):
    """Add a step to the score of a class; `factor` is exp(step)."""
    scores[label] += step
    scale = 1.0 / (1.0 + probabilities[label] * (factor - 1.0))
    for other in range(scores.size):
        probabilities[other] *= scale
    probabilities[label] *= factor


@forceinline
def correct_intercepts(cells, sweep, intercepts):
    """Make a Newton step in the intercept of each class."""
    probabilities, totals = sweep.probabilities, sweep.totals
    n_cells, n_classes = cells.scores.shape
    for label in range(n_classes):
        g, h = np.int64(0), np.int64(0)
        for cell in range(n_cells):
            sums = sums_of(probabilities[cell, label], cells.masses[cell, label], totals[cell])
            g += sums[0]
            h += sums[1]
        step = newton_step(g, h, 0.0, float(ONE))
        intercepts[label] += step
        factor = math.exp(step)
        for cell in range(n_cells):
            shift(cells.scores[cell], probabilities[cell], label, step, factor)


def make_sweep(cells):
    """Return arrays for Newton steps, without content."""
    n_cells, n_classes = cells.scores.shape
    return Sweep(
        np.empty((n_cells, n_classes)),
        np.empty(n_cells, np.int64),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty((n_classes, 2), np.int64),
    )


@forceinline
def start(cells, sweep):
    """Write the probabilities and the total weight of each cell."""
    for cell in range(sweep.totals.size):
        set_softmax(cells.scores[cell], sweep.probabilities[cell])
        sweep.totals[cell] = 0
        for label in range(cells.masses.shape[1]):
            sweep.totals[cell] += cells.masses[cell, label]


@forceinline
def correct_vote(g, h, vote, ridge, threshold):
    """Return a weight after a Newton step, 0 where it gains less than the threshold."""
    wanted = float(g) + float(h) * vote
    wanted = math.copysign(max(abs(wanted) - threshold, 0.0), wanted) / (float(h) + ridge)
    return vote + min(max(wanted - vote, -_LONGEST_STEP), _LONGEST_STEP)


@forceinline
def correct_box(cells, sweep, voters, box):
    """Make Newton steps in the weights of a box for all classes at once.

    The classes' steps add up, so each is shortened to 1 - 1 / (number of classes). Of two classes
    only the second has weights, of either sign.
    """
    probabilities, totals = sweep.probabilities, sweep.totals
    steps, factors, sums = sweep.steps, sweep.factors, sweep.sums
    n_cells, n_classes = probabilities.shape
    members, votes = voters.members[box], voters.votes[box]
    first = 1 if n_classes == 2 else 0
    share = 1.0 if n_classes == 2 else 1.0 - 1.0 / n_classes
    for label in range(n_classes):
        steps[label], factors[label] = 0.0, 1.0
        sums[label, 0] = sums[label, 1] = 0
    for cell in range(n_cells):
        if members[cell]:
            for label in range(first, n_classes):
                g, h = sums_of(probabilities[cell, label], cells.masses[cell, label], totals[cell])
                sums[label, 0] += g
                sums[label, 1] += h
    for label in range(first, n_classes):
        wanted = correct_vote(
            sums[label, 0], sums[label, 1], votes[label], voters.ridges[box], voters.threshold
        )
        steps[label] = (wanted - votes[label]) * (share if wanted != 0.0 else 1.0)
        factors[label] = math.exp(steps[label])
        votes[label] += steps[label]
    for cell in range(n_cells):
        if members[cell]:
            add_steps(cells.scores[cell], probabilities[cell], steps, factors)


@forceinline
def add_steps(scores, probabilities, steps, factors):
    """Add steps to the scores of the classes; `factors` are exp(steps)."""
    total = 0.0
    for label in range(scores.size):
        scores[label] += steps[label]
        probabilities[label] *= factors[label]
        total += probabilities[label]
    for label in range(scores.size):
        probabilities[label] /= total


@kernel
def newton_sweeps(cells, voters, intercepts, n_sweeps, sweep):
    """Make Newton steps in the weights of all boxes and in the intercepts, in turns."""
    cells, voters, sweep = pass_by_pointer(cells), pass_by_pointer(voters), pass_by_pointer(sweep)
    start(cells, sweep)
    for _ in range(n_sweeps):
        for box in range(voters.votes.shape[0]):
            correct_box(cells, sweep, voters, box)
        correct_intercepts(cells, sweep, intercepts)


@kernel
def vote_for_all(cells, inside, l2, rate, votes, intercepts, sweep):
    """Set the weights of a box: `rate` times a Newton step a class, then one in the intercepts."""
    cells, sweep = pass_by_pointer(cells), pass_by_pointer(sweep)
    start(cells, sweep)
    probabilities, totals = sweep.probabilities, sweep.totals
    for label in range(votes.size):
        g, h = np.int64(0), np.int64(0)
        for cell in range(totals.size):
            if inside[cell]:
                sums = sums_of(probabilities[cell, label], cells.masses[cell, label], totals[cell])
                g += sums[0]
                h += sums[1]
        votes[label] = rate * newton_step(g, h, 0.0, l2)
    for cell in range(totals.size):
        if inside[cell]:
            for label in range(votes.size):
                cells.scores[cell, label] += votes[label]
            set_softmax(cells.scores[cell], probabilities[cell])
    correct_intercepts(cells, sweep, intercepts)


@kernel
def set_probabilities(scores, row, probabilities):
    """Write the probabilities of the classes in each cell, in units of 1 / ONE.

    `row` is a working array for the classes.
    """
    for cell in range(scores.shape[0]):
        set_softmax(scores[cell], row)
        for label in range(row.size):
            probabilities[cell, label] = whole(row[label])


@kernel
def add_votes(columns, conditions, votes, parts, scores):
    """Add the weights of the boxes that contain samples to their scores; these are columns.

    An unknown value takes all but a share of a box's weights away. `parts` is a working array for
    what is left, for a block of samples, so that one instruction compares several.
    """
    for start in range(0, scores.shape[0], parts.size):
        n_rows = min(parts.size, scores.shape[0] - start)
        for box in range(votes.shape[0]):
            for row in range(n_rows):
                parts[row] = 1.0
            for condition in range(conditions.starts[box], conditions.starts[box + 1]):
                check_index(conditions.feature[condition], columns.shape[0])
                column = columns[conditions.feature[condition], start : start + n_rows]
                lower, upper = conditions.lower[condition], conditions.upper[condition]
                share = conditions.missing_shares[condition]
                for row in range(n_rows):
                    value = column[row]
                    part = 1.0 if (value >= lower) & (value <= upper) else 0.0
                    parts[row] *= share if value != value else part
            for row in range(n_rows):
                if parts[row] > 0.0:
                    for label in range(votes.shape[1]):
                        scores[start + row, label] += parts[row] * votes[box, label]
