"""Why published counts are not met: what was found out about the runs behind them."""

from __future__ import annotations

# Sets on which the published counts hang on the order of equally good candidates. The paper's runs
# left it to an unstable sort; the package tries the oldest first.
TIED = {
    "blood_transfusion",
    "haberman",
    "landsat",
    "page_blocks",
    "pendigits",
    "pima",
    "ringnorm",
    "segmentation",
    "spambase",
}

# Why counts are off by more than 5 %, by data set and algorithm.
REASONS: dict[tuple[str, str], str] = {}
