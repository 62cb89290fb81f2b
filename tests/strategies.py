"""Hypothesis strategies for small learning problems that are hard on exactness.

Values come from a coarse grid (ties, duplicates, faces that touch) or are arbitrary floats;
columns may be constant, samples may be intervals, a problem may have one feature or one class, and
values and labels may be missing.
"""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

grid = st.integers(0, 10).map(lambda tenths: tenths / 10)
unit = st.floats(0, 1, allow_subnormal=False)
# Sides and slopes at which sums of grid values round either way, and ordinary ones.
thetas = st.sampled_from([0.1, 0.2, 0.3, 0.5, 0.7, 1.0]) | st.floats(0.01, 1.5)
slopes = st.sampled_from([0.5, 1.0, 2.0, 10.0]) | st.floats(0.1, 20)

# Neighbours in double precision, which are one number in single precision, and others.
ends = st.one_of(grid, unit, st.integers(-3, 3).map(lambda steps: 0.3 + steps * 2.0**-54))

# For tests that are run for many combinations of parameters: a third of the profile's examples.
few_examples = settings(max_examples=settings().max_examples // 3)


@st.composite
def intervals(draw, n_features):
    """Draw an interval: its lower and upper ends."""
    pairs = draw(st.lists(st.tuples(ends, ends), min_size=n_features, max_size=n_features))
    return np.ascontiguousarray(np.sort(np.array(pairs), axis=1).T)  # as kernels get rows


@dataclass
class Problem:
    """Training samples in [0, 1] with class indices or -1, and the parameters of a learner."""

    xl: np.ndarray
    xu: np.ndarray
    y: np.ndarray
    theta: float
    gamma: np.ndarray
    function: str = "min"

    @property
    def membership(self) -> dict[str, object]:
        """The parameters of the membership function."""
        return {"gamma": self.gamma, "membership_function": self.function}

    @property
    def n_classes(self) -> int:
        """One more than the largest class index; some classes may have no sample."""
        return int(self.y.max()) + 1


@st.composite
def samples(draw, n_features, max_samples=25):
    """Draw matrices of lower and upper ends."""
    shape = (draw(st.integers(1, max_samples)), n_features)
    values = draw(st.sampled_from([grid, unit]))
    xl = draw(hnp.arrays(np.float64, shape, elements=values))
    for column in draw(st.sets(st.integers(0, n_features - 1), max_size=1)):
        xl[:, column] = xl[0, column]
    if draw(st.booleans()):
        xl[draw(hnp.arrays(np.bool_, shape))] = np.nan
    if draw(st.booleans()):
        return xl, xl
    other = draw(hnp.arrays(np.float64, shape, elements=values))
    return np.minimum(xl, other), np.maximum(xl, other)


@st.composite
def problems(draw):
    """Draw a whole learning problem."""
    n_features = draw(st.integers(1, 4))
    xl, xu = draw(samples(n_features))
    y = draw(hnp.arrays(np.int64, len(xl), elements=st.integers(0, draw(st.integers(0, 2)))))
    if draw(st.booleans()):
        has_label = draw(hnp.arrays(np.bool_, len(y)).filter(np.any))
        y = np.where(has_label, y, -1)
    gamma = draw(hnp.arrays(np.float64, n_features, elements=slopes, fill=slopes))
    return Problem(xl, xu, y, draw(thetas), gamma, draw(st.sampled_from(["min", "mean"])))


def without_gaps(problem: Problem) -> Problem:
    """Renumber the classes so that each has a sample, as `fit` does."""
    y = np.full(len(problem.y), -1)
    labelled = problem.y >= 0
    y[labelled] = np.unique(problem.y[labelled], return_inverse=True)[1]
    return replace(problem, y=y)
