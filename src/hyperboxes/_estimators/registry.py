"""The learners: an entry for each estimator, with what its class does not define.

Files, the command line, the report and `merge` look learners up here; none of them has a list of
its own. Classes are named, and imported on use: `hyperboxes --help` needs none, and nothing but
these names leads to `hyperboxes.literature`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any, Literal, Self

# Parameters that change how long it takes, but nothing that is learned or predicted.
SPEED_PARAMETERS = frozenset({"n_jobs", "selection"})


@dataclass(frozen=True)
class MergeSettings:
    """How `merge` joins boxes, for a learner that has no parameters of these names."""

    overlap: str = "closed"
    algorithm: str = "agglo-sm"
    similarity: str = "longest"
    min_similarity: float = 0.0

    def for_model(self, model: Any) -> Self:
        """Return the settings for a model, whose own parameters come first."""
        names = (setting.name for setting in fields(self))
        return type(self)(*(getattr(model, name, getattr(self, name)) for name in names))


@dataclass(frozen=True, kw_only=True)
class EstimatorEntry:
    """An entry of the registry.

    Attributes
    ----------
    path : str
        Its class, as "module:name". Saved models have the name: it must never change, or they can
        no longer be loaded.
    summary : str
        The sentence of reports about it: how it learns, in a few words.
    kind : str
        The kind of its records, "clusters" for nearest boxes without classes: a row of the table
        in `capabilities`.
    files : str or None
        The class that reads and writes its files; None: that of all models of its kind.
    notes : str or None
        The function that returns what listings add to its rules, None for nothing.
    commands : mapping of str to mapping
        Its names in ``hyperboxes fit --learner``, each with the parameters that it stands for.
    default_theta : float, tuple of float or None
        The default of its parameter `theta`, for the help of the command line.
    merge_settings : MergeSettings or None
        How `merge` joins its boxes, if it takes models of its kind; None: it does not.
    """

    path: str
    summary: str
    kind: Literal["nearest", "clusters", "additive", "neighbors", "ensemble"] = "nearest"
    files: str | None = None
    notes: str | None = None
    commands: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    default_theta: float | tuple[float, ...] | None = None
    merge_settings: MergeSettings | None = MergeSettings()

    @property
    def class_name(self) -> str:
        """The name of the class."""
        return self.path.partition(":")[2]

    @property
    def estimator(self) -> Any:
        """The class."""
        return resolve(self.path)


def resolve(name: str) -> Any:
    """Import what is named as "module:attribute"."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


# The command line makes the same model of the same file each time.
_REPEATABLE = {"random_state": 0}

_LEARNERS = [
    EstimatorEntry(
        path="hyperboxes._estimators.online:ImprovedOnlineGFMM",
        summary="learns sample by sample; a box grows where it meets no other class",
        commands={"improved": _REPEATABLE},
        default_theta=0.5,
    ),
    EstimatorEntry(
        path="hyperboxes._estimators.online:OnlineGFMM",
        summary="learns sample by sample; boxes grow, and shrink where classes meet",
        commands={"online": _REPEATABLE},
        default_theta=0.2,
    ),
    EstimatorEntry(
        path="hyperboxes.literature.fuzzy_min_max:FuzzyMinMax",
        files="hyperboxes.literature.files:TieSchema",
        summary="learns sample by sample, as Simpson's networks do; boxes grow, and are cut apart",
        commands={
            variant: {"variant": variant, **_REPEATABLE}
            for variant in ("fmnn", "efmnn", "knefmnn", "rfmnn")
        },
        default_theta=0.2,
        merge_settings=None,
    ),
    EstimatorEntry(
        path="hyperboxes._estimators.agglomerative:AgglomerativeGFMM",
        summary="starts with a box for every sample and merges the most similar",
        commands={"agglo-sm": {"algorithm": "agglo-sm"}, "agglo2": {"algorithm": "agglo2"}},
        default_theta=0.7,
    ),
    EstimatorEntry(
        path="hyperboxes._estimators.adaptive:AdaptiveGFMM",
        summary="keeps recent boxes; the nearest of several horizons vote",
        kind="neighbors",
        commands={"adaptive": {}},
        default_theta=0.05,
    ),
    EstimatorEntry(
        path="hyperboxes.literature.granular:MultiGranularGFMM",
        summary="joins small boxes to larger ones, level by level",
        files="hyperboxes.literature.files:LevelSchema",
        notes="hyperboxes.literature.listing:level_notes",
        commands={"multi-granular": _REPEATABLE},
        default_theta=(0.1, 0.2, 0.3),
        merge_settings=None,
    ),
    EstimatorEntry(
        path="hyperboxes.literature.overlapping:OverlappingFuzzyMinMax",
        summary="learns sample by sample; boxes may overlap those of other classes",
        files="hyperboxes.literature.files:OverlapSchema",
        notes="hyperboxes.literature.listing:overlap_notes",
        commands={
            name: {"resolution": name, **_REPEATABLE}
            for name in ("exclude", "compensate", "core", "levels")
        },
        default_theta=0.3,
        merge_settings=None,
    ),
    EstimatorEntry(
        path="hyperboxes.literature.mixed:MixedGFMM",
        summary="learns sample by sample; boxes grow in numbers, and count categories",
        files="hyperboxes.literature.files:CountSchema",
        notes="hyperboxes.literature.listing:count_notes",
        commands={"mixed": _REPEATABLE},
        default_theta=0.5,
        merge_settings=None,
    ),
    EstimatorEntry(
        path="hyperboxes.literature.frequency:FrequencyGFMM",
        summary="learns sample by sample; categories have distances, and boxes two of them each",
        files="hyperboxes.literature.files:EndSchema",
        notes="hyperboxes.literature.listing:end_notes",
        commands={"frequency": _REPEATABLE},
        default_theta=0.5,
        merge_settings=None,
    ),
    EstimatorEntry(
        path="hyperboxes._estimators.clustering:HyperboxClustering",
        summary="learns boxes without labels; boxes near each other make a cluster",
        kind="clusters",
    ),
    EstimatorEntry(
        path="hyperboxes.literature.fuzzy_min_max:FuzzyMinMaxClustering",
        summary="learns boxes without labels until none changes; each is a cluster",
        kind="clusters",
        merge_settings=None,
    ),
    EstimatorEntry(
        path="hyperboxes._estimators.boosted:BoostedHyperboxes",
        summary="fits short rules one after the other; their weights add up",
        kind="additive",
        commands={"boosted": _REPEATABLE},
    ),
    EstimatorEntry(
        path="hyperboxes._estimators.random:RandomHyperboxes",
        summary="fits many models on random samples and features, which vote",
        kind="ensemble",
        commands={"random": _REPEATABLE},
    ),
]


def all_learners() -> tuple[EstimatorEntry, ...]:
    """Return all entries."""
    return tuple(_LEARNERS)


def commands() -> dict[str, EstimatorEntry]:
    """Return the learners by their names in the command line."""
    return {name: learner for learner in _LEARNERS for name in learner.commands}


def find_by_name(name: str) -> EstimatorEntry | None:
    """Return the entry of a class by its name, None if there is none."""
    return next((learner for learner in _LEARNERS if learner.class_name == name), None)


def find_by_class(cls: type) -> EstimatorEntry | None:
    """Return the entry of a class, or of the nearest class that it is derived from."""
    by_path = {learner.path: learner for learner in _LEARNERS}
    paths = (f"{base.__module__}:{base.__qualname__}" for base in cls.__mro__)
    return next((by_path[path] for path in paths if path in by_path), None)
