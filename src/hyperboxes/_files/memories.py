"""Models that remember recent boxes in files: boxes, their ages, features and experts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from hyperboxes._estimators.labels import SeenLabels
from hyperboxes._files.kinds import ARRAYS_OF_ALL, TOO_MANY, Arrays, Kind, Layout, refuse
from hyperboxes._kernels.adaptive import N_BINS, Memory
from hyperboxes._models.memory import HORIZONS, NEIGHBORS, BoxMemory

# Where a class stands in the order of appearance, if it has not appeared.
_NOT_YET = -1

_OF_FEATURES = ("seen", "mean", "variance", "scale", "weight")


class Memories(Kind):
    """Models that remember recent boxes. Boxes are rows in files, and labels those of `classes`."""

    header: ClassVar[Mapping[str, tuple[type, ...]]] = {"n_learned": (int,)}
    arrays: ClassVar[Mapping[str, Layout]] = {
        **ARRAYS_OF_ALL,
        "born": ("<i8", ("boxes",)),
        "confirmed": ("<i8", ("boxes",)),
        "seen": ("<i8", ("features",)),
        **dict.fromkeys(_OF_FEATURES[1:], ("<f8", ("features",))),
        "histograms": ("<f8", ("features", "bins", "classes")),
        "scores": ("<f8", ("horizons", "neighbors")),
        "appeared": ("<i8", ("classes",)),
    }
    sizes: ClassVar[Mapping[str, int]] = {
        "bins": N_BINS,
        "horizons": len(HORIZONS),
        "neighbors": len(NEIGHBORS),
    }

    def read_header(self, model: Any) -> dict[str, Any]:
        return {"n_learned": model._memory.n_learned}

    def read_arrays(self, model: Any) -> Arrays:
        memory, places = model._memory, model._labels.places
        arrays = memory.kept()
        del arrays["counters"], arrays["order"]
        for name in ("lower", "upper"):
            arrays[name] = np.ascontiguousarray(arrays[name].T)
        n_classes = len(model.classes_)
        histograms = np.zeros((*arrays["histograms"].shape[:2], n_classes))
        histograms[:, :, places] = arrays["histograms"]
        appeared = np.full(n_classes, _NOT_YET)
        appeared[places] = np.arange(len(places))
        return arrays | {
            "labels": places[arrays["labels"]],
            "histograms": histograms,
            "scores": memory.scores,
            "appeared": appeared,
        }

    def check(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> None:
        lower, upper, labels = (arrays[name] for name in ("lower", "upper", "labels"))
        born, confirmed = arrays["born"], arrays["confirmed"]
        n_learned = header["n_learned"]
        refuse(
            {
                "there is no box": len(labels) == 0,
                "a box has an infinite bound": np.isinf(lower) | np.isinf(upper),
                "a box has one bound only": np.isnan(lower) != np.isnan(upper),
                "a box has a lower bound above the upper": lower > upper,
                "a box holds no sample": arrays["counts"] < 1,
                "the number of samples cannot be": not 0 < n_learned < TOO_MANY,
                "a box was confirmed before it was born": (born < 0) | (confirmed < born),
                "the last sample has confirmed no box": confirmed.max(initial=-1) != n_learned - 1,
                "two boxes were confirmed at once": len(np.unique(confirmed)) < len(confirmed),
            }
        )
        self._check_features(arrays)
        _check_appeared(arrays, n_classes)

    def _check_features(self, arrays: Arrays) -> None:
        numbers = [arrays[name] for name in (*_OF_FEATURES, "histograms")]
        scores = arrays["scores"]
        refuse(
            {
                "what it knows of features is not finite": [
                    not np.isfinite(array).all() for array in numbers
                ],
                "what it knows of features is negative": [
                    (array < 0).any() for array in numbers if array is not arrays["mean"]
                ],
                "the scores of its experts are not shares": ~((scores >= 0) & (scores <= 1)),
            }
        )

    def restore(self, header: Mapping[str, Any], arrays: Arrays, n_classes: int) -> dict[str, Any]:
        own = {name: arrays[name].astype(self.arrays[name][0][1:]) for name in self.arrays}
        appeared = own.pop("appeared")
        places = np.flatnonzero(appeared != _NOT_YET)
        places = places[np.argsort(appeared[places])]
        for name in ("lower", "upper"):
            own[name] = np.ascontiguousarray(own[name].T)
        own |= {
            "labels": appeared[own["labels"]],
            "histograms": np.ascontiguousarray(own["histograms"][:, :, places]),
            "scores": own["scores"].ravel(),
            "order": np.argsort(-own["confirmed"]),
            "counters": np.array([len(own["labels"]), header["n_learned"]]),
        }
        classes = arrays["classes"]
        classes = classes.astype(object if header["classes_are_objects"] else classes.dtype)
        labels = SeenLabels(classes, classes[places].tolist())
        return {"_memory": BoxMemory.of_arrays(Memory(**own)), "_labels": labels}


def _check_appeared(arrays: Arrays, n_classes: int) -> None:
    appeared, labels = arrays["appeared"], arrays["labels"]
    known = np.sort(appeared[appeared != _NOT_YET])
    refuse(
        {
            "the order of its classes cannot be": not np.array_equal(known, np.arange(len(known))),
            "a box has a label that is no class": (labels < 0) | (labels >= n_classes),
        }
    )
    refuse({"a box has a label that has not appeared": appeared[labels] == _NOT_YET})
