"""Models whose boxes cover samples in files: their own numbers, scale and membership."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any, ClassVar

import numpy as np

from hyperboxes._files.archive import ModelFileError
from hyperboxes._files.kinds import ARRAYS_OF_ALL, TOO_MANY, Arrays, Kind, Layout, refuse
from hyperboxes._models.boxes import Boxes
from hyperboxes._models.calibration import NEVER, PRIOR_WEIGHTS, SLOPES, DistanceCalibration
from hyperboxes._models.membership import FUNCTIONS, Membership
from hyperboxes._models.model import BoxModel
from hyperboxes._models.scaling import MinMaxScale

_ROWS = tuple(ARRAYS_OF_ALL)

# The logarithm of a distance is not larger.
_MOST = 700.0


class Covers(Kind):
    """Models whose boxes cover samples."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {
        "n_candidates": (int,),
        "n_learned": (int,),
        "membership_function": (str,),
        "calibration": (dict, NoneType),
    }
    arrays: ClassVar[Mapping[str, Layout]] = {
        **ARRAYS_OF_ALL,
        "confirmed": ("<i8", ("boxes",)),
        "gamma": ("<f8", ("features",)),
        "scale_low": ("<f8", ("features",)),
        "scale_high": ("<f8", ("features",)),
    }
    optional: ClassVar[tuple[frozenset[str], ...]] = (frozenset({"scale_low", "scale_high"}),)

    def read_header(self, model: Any) -> dict[str, Any]:
        return {
            "n_candidates": model.n_candidates_,
            "n_learned": model._model.boxes.n_seen,
            "membership_function": model._model.membership.function,
            "calibration": _calibration_to_json(model._model.calibration),
        }

    def read_arrays(self, model: Any) -> Arrays:
        boxes, scale = model._model.boxes, model._model.scale
        arrays = {name: getattr(boxes, name) for name in (*_ROWS, "confirmed")}
        arrays["gamma"] = model._model.membership.gamma
        if scale is not None:
            arrays |= {"scale_low": scale.low, "scale_high": scale.high}
        return arrays

    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        _check_boxes(arrays, n_classes)
        _check_times(header["n_learned"], arrays)
        gamma = arrays["gamma"]
        if not ((gamma > 0) & np.isfinite(gamma)).all():
            raise ModelFileError("gamma is not positive and finite")
        if "scale_low" in arrays:
            with np.errstate(over="ignore", invalid="ignore"):
                span = arrays["scale_high"] - arrays["scale_low"]
            if not ((span >= 0) & np.isfinite(span)).all():
                raise ModelFileError("the scale is not a finite range of each feature")
        if header["membership_function"] not in FUNCTIONS:
            raise ModelFileError("its membership function is not known")
        if not 0 <= header["n_candidates"] < TOO_MANY:
            raise ModelFileError("the number of candidates cannot be")
        _calibration_from_json(header["calibration"])

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> dict[str, Any]:
        scale = None
        if "scale_low" in arrays:
            ends = (arrays[name].astype(np.float64) for name in ("scale_low", "scale_high"))
            scale = MinMaxScale(*ends)
        boxes = _boxes(arrays, n_classes, header["n_learned"])
        boxes.n_candidates = header["n_candidates"]
        gamma = arrays["gamma"].astype(np.float64)
        membership = Membership(gamma, header["membership_function"])
        calibration = _calibration_from_json(header["calibration"])
        return {"_model": BoxModel(boxes, scale, membership, calibration)}


def _check_boxes(arrays: Arrays, n_classes: int) -> None:
    lower, upper, labels, counts = (arrays[name] for name in _ROWS)
    refuse(
        {
            "there is no box": len(labels) == 0,
            "a box has an infinite bound": np.isinf(lower) | np.isinf(upper),
            "a box has one bound only": np.isnan(lower) != np.isnan(upper),
            "a box has a lower bound above the upper": lower > upper,
            "a box has a label that is no class": (labels < -1) | (labels >= n_classes),
            "a box holds no sample": counts < 1,
            "there are too many samples": counts.sum(dtype=np.float64) >= TOO_MANY,
        }
    )


def _check_times(n_learned: int, arrays: Arrays) -> None:
    """Check when boxes were confirmed."""
    n_held, confirmed = int(arrays["counts"].sum()), arrays["confirmed"]
    refuse(
        {
            "the number of samples cannot be": not n_held <= n_learned < TOO_MANY,
            "a box was confirmed by no sample": (confirmed < 0) | (confirmed >= n_learned),
        }
    )


def _calibration_to_json(calibration: DistanceCalibration | None) -> dict[str, Any] | None:
    if calibration is None:
        return None
    return {
        "losses": calibration.losses.tolist(),
        "log_gaps": calibration.log_gaps,
        "n_gaps": calibration.n_gaps,
        "next_question": calibration.next_update,
    }


def _calibration_from_json(value: dict[str, Any] | None) -> DistanceCalibration | None:
    """Restore it, if these are numbers that probabilities can be made of."""
    match value:
        case None:
            return None
        case {
            "losses": list(losses),
            "log_gaps": float(log_gaps),
            "n_gaps": float(n_gaps),
            "next_question": int(question),
        } if len(value) == 4 and _is_table(losses) and type(question) is int:
            pass
        case _:
            raise ModelFileError("its probabilities are not known")
    numbers = np.array(losses)
    is_possible = n_gaps > 0.0 and abs(log_gaps) < _MOST * n_gaps and np.isfinite(numbers).all()
    if not (is_possible and NEVER <= question < TOO_MANY):
        raise ModelFileError("its probabilities cannot be")
    return DistanceCalibration(numbers, log_gaps, n_gaps, question)


def _is_table(losses: list[Any]) -> bool:
    """Tell whether there is a number for each pair of slope and prior weight."""
    rows = [row for row in losses if type(row) is list and len(row) == len(PRIOR_WEIGHTS)]
    is_full = len(rows) == len(losses) == len(SLOPES)
    return is_full and all(type(loss) is float for row in rows for loss in row)


def _boxes(arrays: Arrays, n_classes: int, n_learned: int) -> Boxes:
    lower, upper, labels, counts = (arrays[name] for name in _ROWS)
    rows = lower, upper, labels, counts, arrays["confirmed"]
    try:
        return Boxes.of_rows(*rows, n_classes=n_classes, n_seen=n_learned)
    except (MemoryError, ValueError) as error:
        raise ModelFileError(f"its boxes take more memory than there is ({error})") from error
