"""A part of ONNX graphs for boxes that count categories: how frequent those of samples are in them.

It replaces the ranks of `onnx_nearest.py`.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._files.onnx_nearest import Gaps, Ranking
from hyperboxes._kernels.records import UNIT
from hyperboxes._models.mixed import MixedModel

# Values are told by numbers, in steps of a unit; one after the last stands for those that are
# missing. The shares are added up in the order of the features.
_PAIRS = """{within_reach}
    value_places = Gather <axis = 0> (all_x, counted)
    is_no_value = IsNaN (value_places)
    value_numbers = Div (value_places, unit)
    whole_numbers = Round (value_numbers)
    all_numbers = Where (is_no_value, no_value, whole_numbers)
    codes = Cast <to = 7> (all_numbers)
    total_share = Scan <num_scan_inputs = 1, body = share_out (
        double[n_rows, {n_boxes}] old_share, int64[n_rows, 1] code
    ) => (double[n_rows, {n_boxes}] new_share) {{
        flat_code = Squeeze (code, last)
        share = Gather <axis = 0> (shares, flat_code)
        new_share = Add (old_share, share)
    }}> (together, codes)
    mean_share = Div (total_share, n_categorical)
    {mixing}"""
_BOTH = """near_gap = Min (gap, one)
    number_degree = Sub (one, near_gap)
    number_part = Mul (alpha, number_degree)
    category_part = Mul (rest, mean_share)
    degree = Add (number_part, category_part)"""
_CATEGORIES_ALONE = "degree = Identity (mean_share)"

# Where nothing is shared and all numbers are beyond reach, classes tie, and distances decide.
_OPEN_RANK = """{open_gap}
    open_degree = Compress <axis = 0> (degree, is_open)
    is_within = Greater (open_degree, zero)
    far_gap = Max (open_gap, one)
    away = Neg (far_gap)
    rank = Where (is_within, open_degree, away)"""


def rank_mixed(model: MixedModel, gaps: Gaps) -> Ranking:
    """Return how classes and boxes compare, in numbers and categories."""
    mixing = _BOTH if model.mixture.n_numbers else _CATEGORIES_ALONE
    within_reach = gaps.within_reach()
    return Ranking(
        pairs=_PAIRS.format(within_reach=within_reach, mixing=mixing, n_boxes=gaps.n_boxes),
        compared="degree",
        extreme="ReduceMax",
        class_rank="class_rank = Identity (best)",
        open_rank=_OPEN_RANK.format(open_gap=gaps.of_open_rows()),
    )


def list_shares(model: MixedModel, order: np.ndarray, max_bytes: int) -> dict[str, np.ndarray]:
    """Return what the part refers to by name: a row of shares for each value, all 1 for none."""
    n_values = len(model.owners)
    if 8 * (n_values + 1) * len(order) > max_bytes:
        raise ValueError(
            f"The shares of {n_values} values in {len(order)} boxes take more than 2 GiB, for "
            "which an ONNX file has no room."
        )
    shares = np.nan_to_num(model.value_shares(order), nan=1.0)
    constants = {
        "counted": model.features,
        "unit": np.array(UNIT),
        "no_value": np.array(float(n_values)),
        "shares": np.vstack([shares.T, np.ones(len(order))]),
        "n_categorical": np.array(float(len(model.features))),
    }
    if model.mixture.n_numbers:
        alpha = model.mixture.alpha
        constants |= {"alpha": np.array(alpha), "rest": np.array(1.0 - alpha)}
    return constants
