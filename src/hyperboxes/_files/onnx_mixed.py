"""A part of ONNX graphs for boxes that count categories: how frequent those of samples are in them.

It is in the notation of `onnx.py`, of which it replaces the ranks of boxes.
"""

from __future__ import annotations

import numpy as np

from hyperboxes._kernels.records import UNIT
from hyperboxes._models.mixed import MixedModel

# Values are told by numbers, in steps of a unit; one after the last stands for those that are
# missing. The shares are added up in the order of the features.
_RANKING = """{distance}

    value_places = Gather <axis = 0> (x, counted)
    is_no_value = IsNaN (value_places)
    value_numbers = Div (value_places, unit)
    whole_numbers = Round (value_numbers)
    all_numbers = Where (is_no_value, no_value, whole_numbers)
    codes = Cast <to = 7> (all_numbers)
    total_share = Scan <num_scan_inputs = 1, body = count (
        double[n_samples, {n_boxes}] old_share, int64[n_samples, 1] code
    ) => (double[n_samples, {n_boxes}] new_share) {{
        flat_code = Squeeze (code, last)
        share = Gather <axis = 0> (shares, flat_code)
        new_share = Add (old_share, share)
    }}> (together, codes)
    mean_share = Div (total_share, n_categorical)
    {mixing}
    is_within = Greater (degree, zero)
    far_gap = Max (gap, one)
    away = Neg (far_gap)
    rank = Where (is_within, degree, away)
    top = ReduceMax <axes = [1]> (rank)
    is_tied = Equal (rank, top)"""
_BOTH = """near_gap = Min (gap, one)
    number_degree = Sub (one, near_gap)
    number_part = Mul (alpha, number_degree)
    category_part = Mul (rest, mean_share)
    degree = Add (number_part, category_part)"""
_CATEGORIES_ALONE = "degree = Identity (mean_share)"


def write_mixed_ranking(model: MixedModel, distance: str, constants: dict[str, np.ndarray]) -> str:
    """Return the part of the graph that ranks boxes, after what finds distances in numbers."""
    mixing = _BOTH if model.mixture.n_numbers else _CATEGORIES_ALONE
    return _RANKING.format(distance=distance, mixing=mixing, n_boxes=constants["n_boxes"][0])


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
