"""Ensembles in files: the codes of values, and the members' boxes in codes, one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Any, ClassVar, Literal

import numpy as np

from hyperboxes._files.archive import ModelFileError
from hyperboxes._files.kinds import TOO_MANY, Arrays, Kind, Layout, refuse
from hyperboxes._models.calibration import VoteCalibration
from hyperboxes._models.codes import MOST_LEVELS, Codes
from hyperboxes._models.ensemble import EnsembleModel
from hyperboxes._models.members import Voting
from hyperboxes._models.records import EnsembleMember


class Ensembles(Kind):
    """Models of many members. What they said of training samples is not kept, but how right."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {
        "calibration": (list, NoneType),
        "oob_score": (float, NoneType),
        "temperature": (float,),
    }
    arrays: ClassVar[Mapping[str, Layout]] = {
        "thresholds": ("<f8", ("features", "levels")),
        "low": ("<f8", ("features",)),
        "high": ("<f8", ("features",)),
        "n_samples": ("<f8", ("classes",)),
        "importances": ("<f8", ("features",)),
        "member_sizes": ("<i8", ("members",)),
        "member_features": ("<i8", ("known features",)),
        "member_boxes": ("<i8", ("members",)),
        "member_means": ("|b1", ("members",)),
        "lower": ("|u1", ("ends",)),
        "upper": ("|u1", ("ends",)),
        "labels": ("<i8", ("boxes",)),
        "counts": ("<i8", ("boxes",)),
    }

    def find_shape(self, arrays: Arrays) -> tuple[int, int]:
        shape = arrays["thresholds"].shape
        if len(shape) != 2:
            raise ModelFileError(f"thresholds.npy has the shape {shape}")
        return arrays["labels"].size, shape[0]

    def find_sizes(self, arrays: Arrays) -> dict[str, int]:
        return {
            "levels": arrays["thresholds"].shape[1],
            "members": arrays["member_sizes"].size,
            "known features": arrays["member_features"].size,
            "ends": arrays["lower"].size,
        }

    def read_header(self, model: Any) -> dict[str, Any]:
        numbers = model._model.calibration
        return {
            "calibration": None
            if numbers is None
            else [numbers.power, numbers.share_power, numbers.prior_weight],
            "temperature": model._model.voting.temperature,
            "oob_score": None if math.isnan(model.oob_score_) else model.oob_score_,
        }

    def read_arrays(self, model: Any) -> Arrays:
        members = model._model.members
        joined = {
            name: np.concatenate([getattr(member, name).ravel() for member in members])
            for name in ("features", "lower", "upper", "labels", "counts")
        }
        return {
            "thresholds": model._model.codes.thresholds,
            "low": model._model.codes.low,
            "high": model._model.codes.high,
            "n_samples": model._model.n_samples,
            "importances": model.feature_importances_,
            "member_sizes": np.array([len(member.features) for member in members]),
            "member_features": joined.pop("features"),
            "member_boxes": np.array([len(member.labels) for member in members]),
            "member_means": np.array([member.combine == "sum" for member in members]),
            **joined,
        }

    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        _check_numbers(header, arrays)
        sizes, n_boxes = arrays["member_sizes"], arrays["member_boxes"]
        n_features, levels = arrays["thresholds"].shape
        refuse(
            {
                "there is no member": len(sizes) == 0,
                "a member knows no feature, or too many": (sizes < 1) | (sizes > n_features),
                "a member has no box": n_boxes < 1,
            }
        )
        labels, counts = arrays["labels"], arrays["counts"]
        refuse(
            {
                "its members do not add up": sizes.sum() != len(arrays["member_features"])
                or n_boxes.sum() != len(labels)
                or (sizes * n_boxes).sum() != len(arrays["lower"]),
                "a box has a label that is no class": (labels < 0) | (labels >= n_classes),
                "a box holds no sample": counts < 1,
                "there are too many samples": [
                    number.sum(dtype=np.float64) >= TOO_MANY
                    for number in (counts, arrays["n_samples"])
                ],
                "a box has a lower bound above the upper": arrays["lower"] > arrays["upper"],
                "a box has a bound beyond the codes": arrays["upper"] > levels,
                "distances do not fit": sizes.max(initial=0) * levels >= 2**16,
            }
        )
        members = np.repeat(np.arange(len(sizes)), n_boxes)
        pairs = np.unique(members * n_classes + labels)
        refuse({"a member has no box of a class": len(pairs) != len(sizes) * n_classes})
        for features in np.split(arrays["member_features"], np.cumsum(sizes)[:-1]):
            refuse(
                {
                    "a member knows a feature that is none": (features < 0)
                    | (features >= n_features),
                    "the features of a member are not in order": np.diff(features) < 1,
                }
            )

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> dict[str, Any]:
        own = {name: arrays[name].astype(self.arrays[name][0][1:]) for name in self.arrays}
        numbers, score = header["calibration"], header["oob_score"]
        codes = Codes(own["thresholds"], own["low"], own["high"])
        return {
            "_model": EnsembleModel(
                codes,
                list(_split(own)),
                Voting(codes.levels, header["temperature"]),
                own["n_samples"],
                None if numbers is None else VoteCalibration(*numbers),
            ),
            "oob_score_": math.nan if score is None else score,
            "feature_importances_": own["importances"],
        }


def _check_numbers(header: Mapping[str, Any], arrays: Arrays) -> None:
    """Check what does not belong to a member."""
    numbers = header["calibration"]
    if numbers is not None:
        are_numbers = len(numbers) == 3 and all(type(x) is float for x in numbers)
        if not (are_numbers and np.isfinite(numbers).all() and 0 <= numbers[2] <= 1):
            raise ModelFileError("its probabilities are not those of an ensemble")
    thresholds, score = arrays["thresholds"], header["oob_score"]
    low, high, importances = (arrays[name] for name in ("low", "high", "importances"))
    refuse(
        {
            "there are too many codes": not 1 <= thresholds.shape[1] <= MOST_LEVELS,
            "its codes are not in order": ~(thresholds[:, 1:] >= thresholds[:, :-1]),
            "its codes are not known": np.isnan(thresholds),
            "a class has no sample": ~(arrays["n_samples"] > 0),
            "a feature has no range": ~(np.isfinite(low) & np.isfinite(high) & (low <= high)),
            "its importances are not shares": ~((importances >= 0) & (importances <= 1)),
            "its temperature is none": not 0 <= header["temperature"] < math.inf,
            "its score is no share": score is not None and not 0 <= score <= 1,
        }
    )


def _split(own: Arrays) -> Iterator[EnsembleMember]:
    """Yield the members."""
    place = {"feature": 0, "box": 0, "end": 0}
    sizes = zip(own["member_sizes"].tolist(), own["member_boxes"].tolist(), strict=True)
    for (n_features, n_boxes), is_mean in zip(sizes, own["member_means"].tolist(), strict=True):
        n_ends = n_features * n_boxes
        features = own["member_features"][place["feature"] :][:n_features]
        lower, upper = (
            own[name][place["end"] :][:n_ends].reshape(n_boxes, n_features)
            for name in ("lower", "upper")
        )
        labels, counts = (own[name][place["box"] :][:n_boxes] for name in ("labels", "counts"))
        combine: Literal["max", "sum"] = "sum" if is_mean else "max"
        yield EnsembleMember(features, lower, upper, labels, counts, combine)
        place["feature"] += n_features
        place["box"] += n_boxes
        place["end"] += n_ends
