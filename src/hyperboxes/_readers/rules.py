"""Rules as text and as data frames: `export_text` and `export_frame`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hyperboxes._estimators.categorical import known_categories
from hyperboxes._estimators.random import RandomHyperboxes
from hyperboxes._estimators.registry import find_by_class, resolve
from hyperboxes._extras import need
from hyperboxes._models.hyperboxes import Hyperboxes, WeightedHyperboxes
from hyperboxes._readers.fitted import (
    check_integer,
    classes_or_clusters,
    describe_units,
    learned_range,
    name_classes,
    name_features,
    name_no_label,
    read_any_boxes,
    read_pipeline,
    set_text,
)
from hyperboxes._readers.quality import GivenSamples, Quality, find_short_rules
from hyperboxes._readers.rounding import Bounds, Rounding

# Bounds are written in full. They are short numbers, for the learner has chosen them so, and a
# sample satisfies a rule if and only if the box holds it.

_INDENT = "    "

# Of more votes in a rule the smallest are left out; `export_frame` has them.
_MOST_VOTES = 5

# Values are written with so many digits, more where a condition depends on them.
_DIGITS = 4


def write_votes(
    model: Any,
    features: list[str],
    classes: list[str],
    quality: Quality,
    max_rules: int | None,
    width: int,
) -> str:
    """Write the rules, those of each class by vote, and what scores start with."""
    boxes = model.hyperboxes_
    votes = boxes.weights[np.arange(len(boxes)), boxes.labels]
    largest = np.argsort(-votes, kind="stable")[:max_rules]
    order = largest[np.lexsort((largest, -votes[largest], boxes.labels[largest]))]
    summary = [
        *_summary_of_votes(len(boxes), model.intercept_, classes, width),
        describe_units(model),
    ]
    paragraphs = ["\n".join(filter(None, summary))]
    for label in np.unique(boxes.labels[order]):
        rules = [
            _rule(model, box, features, classes, quality)
            for box in order[boxes.labels[order] == label]
        ]
        paragraphs.append("\n".join(line for rule in rules for line in wrap_parts(rule, width)))
    if len(order) < len(boxes):
        n_more = len(boxes) - len(order)
        paragraphs.append(f"{count_boxes(n_more, 'more ')}: left out (max_rules={len(order)}).")
    return "\n\n".join(paragraphs)


def tabulate_votes(
    boxes: WeightedHyperboxes, features: list[str], classes: list[str]
) -> dict[str, np.ndarray]:
    """Return the columns that boxes that vote have beside those of all boxes."""
    if len(set(classes)) < len(classes):
        raise ValueError("Two classes have the same name: pass class_names that tell them apart.")
    of_class = boxes.class_counts[np.arange(len(boxes)), boxes.labels]
    columns = {"training precision": of_class / boxes.counts}
    for label, name in enumerate(classes):
        columns[f"vote for {name}"] = boxes.weights[:, label]
    for label, name in enumerate(classes):
        columns[f"held of {name}"] = boxes.class_counts[:, label]
    for j, name in enumerate(features):
        columns[f"{name} missing"] = boxes.missing[:, j]
    return columns


def _summary_of_votes(
    n_boxes: int, intercept: np.ndarray, classes: list[str], width: int
) -> Iterator[str]:
    yield f"{count_boxes(n_boxes)} that vote. The class with the largest score wins."
    starts = vote_list(intercept, classes) or ["0 for every class"]
    yield from wrap_parts(["Scores start with", *_joined(starts, ",", ".")], width)
    yield "Each box adds its votes to the scores of the samples that it holds."


def _rule(
    model: Any, box: int, features: list[str], classes: list[str], quality: Quality
) -> list[str]:
    """Return the parts of a rule, between which there may be a new line."""
    boxes = model.hyperboxes_
    conditions = [condition_text(model, box, j, features[j]) for j in _constrained(boxes, box)]
    votes = vote_list(boxes.weights[box], classes, _MOST_VOTES)
    return [
        f"box {box} ",
        *_joined(conditions, " and", ":"),
        *_joined(votes, ",", ""),
        f"({', '.join(_facts(boxes, box, classes, quality))})",
    ]


def _constrained(boxes: WeightedHyperboxes, box: int) -> np.ndarray:
    return np.flatnonzero(boxes.constrains[box])


def condition_text(model: Any, box: int, feature: int, name: str) -> str:
    """Write which values of a feature a box holds."""
    boxes, categories = model.hyperboxes_, known_categories(model)
    ends = boxes.lower[box, feature], boxes.upper[box, feature]
    if feature in categories and np.isfinite(ends).any():
        text = f"{name} {set_text(categories[feature], *ends)}"
    else:
        text = interval_text(name, *ends)
    return f"({text} or missing)" if boxes.missing[box, feature] else text


def interval_text(name: str, low: float, high: float) -> str:
    """Write what a condition says of known values; lower ends are the next number above."""
    below, last = number_text(np.nextafter(low, -np.inf)), number_text(high)
    return {
        (False, False): f"{name} is not missing",
        (True, False): f"{name} > {below}",
        (False, True): f"{name} <= {last}",
        (True, True): f"{below} < {name} <= {last}",
    }[bool(np.isfinite(low)), bool(np.isfinite(high))]


def vote_list(scores: np.ndarray, classes: list[str], most: int | None = None) -> list[str]:
    """Write the votes that are not 0, the largest first; of more than some, those that weigh most.

    One more than that is no reason to leave it out.
    """
    by_size = np.argsort(-np.abs(scores), kind="stable")
    by_size = by_size[: np.count_nonzero(scores)]
    shown = by_size if most is None or len(by_size) <= most + 1 else by_size[:most]
    order = shown[np.lexsort((shown, -scores[shown]))]
    votes = [f"{vote_text(scores[label])} for {classes[label]}" for label in order]
    n_smaller = len(by_size) - len(shown)
    return [*votes, f"{n_smaller} smaller votes"] if n_smaller else votes


def _facts(
    boxes: WeightedHyperboxes, box: int, classes: list[str], quality: Quality
) -> Iterator[str]:
    count, label = boxes.counts[box], boxes.labels[box]
    yield f"holds {count} sample{'' if count == 1 else 's'}"
    yield f"{_percent(boxes.class_counts[box, label], count)} {classes[label]}"
    for name, shares in quality.measured().items():
        yield f"{name} {'-' if np.isnan(shares[box]) else f'{shares[box]:.1%}'}"


def number_text(value: float) -> str:
    """Write a number with as few digits as tell it from all others."""
    return repr(float(value) + 0.0).removesuffix(".0")  # no "-0"


def value_text(value: float, low: float, high: float) -> str:
    """Write a value with digits enough to see that it lies between two others."""
    texts = (f"{value:.{digits}g}" for digits in range(_DIGITS, 17))
    return number_text(next((float(text) for text in texts if low <= float(text) <= high), value))


def first_beyond(value: float) -> str:
    """Write a value that is the first beyond a short one: "above 710"."""
    sides = {
        "": value,
        "above ": np.nextafter(value, -np.inf),
        "below ": np.nextafter(value, np.inf),
    }
    texts = [f"{side}{number_text(number)}" for side, number in sides.items()]
    return min(texts, key=lambda text: len(text.split()[-1]))


def vote_text(value: float) -> str:
    """Write a vote with two decimals, or two digits if it is small."""
    return f"{value:+.2f}" if abs(value) >= 0.1 else f"{value:+.2g}"


def _percent(part: int, whole: int) -> str:
    """Write a share so that 0 % is none and 100 % all."""
    if 0 < part < whole:
        share = 100 * part / whole
        return "< 1 %" if share < 1 else "> 99 %" if share > 99 else f"{share:.0f} %"
    return "100 %" if part else "0 %"


def count_boxes(number: int, more: str = "") -> str:
    """Write how many boxes there are."""
    return f"{number} {more}box{'' if number == 1 else 'es'}"


def _joined(parts: list[str], between: str, end: str) -> list[str]:
    """Append what stands between parts to each, but for the last, which gets the end."""
    return [f"{part}{between}" for part in parts[:-1]] + [f"{part}{end}" for part in parts[-1:]]


def _broken(part: str, width: int) -> list[str]:
    """Return a part, or if no line has room for it its pieces: a set of many categories."""
    if len(part) + len(_INDENT) <= width or "{" not in part:
        return [part]
    pieces = part.split(", ")
    return [f"{piece}," for piece in pieces[:-1]] + pieces[-1:]


def wrap_parts(parts: list[str], width: int) -> Iterator[str]:
    """Yield lines of parts, as many on each as fit; names are never broken."""
    line, *rest = [word for part in parts for word in _broken(part, width)]
    for part in rest:
        if len(line) + 1 + len(part) <= width:
            line = f"{line} {part}"
        else:
            yield line.rstrip()
            line = _INDENT + part
    yield line


# So many boxes are written unless the caller says how many: an ensemble has thousands.
_MOST_RULES = 20


def write_ensemble(
    model: Any, feature_names: Any, class_names: Any, samples: Any, max_rules: int | None
) -> str:
    """Write the boxes of the most samples as rules, with how good they are on given samples."""
    bounds, classes = Bounds.of(model, feature_names), name_classes(model, class_names)
    members = model.members_
    counts = np.concatenate([boxes.counts for boxes in members])
    places = [(m, b) for m, boxes in enumerate(members) for b in range(len(boxes))]
    order = np.argsort(-counts, kind="stable")[: max_rules or _MOST_RULES].tolist()
    quality = measure_ensemble(model, members, samples)
    paragraphs = [
        f"{len(members)} members with {len(counts):,} boxes, from {model.n_samples_:,} training "
        "samples. They vote:\nno rule decides alone. The boxes that hold the most samples:"
    ]
    for place in order:
        member, box = places[place]
        boxes, features = members[member], model.estimators_features_[member]
        name = classes[boxes.labels[box]]
        header = f"member {member}, box {box}  {name}  {counts[place]} samples"
        if quality.coverage is not None:
            header += f"  coverage {quality.coverage[place]:.1%}"
        if quality.precision is not None and not np.isnan(quality.precision[place]):
            header += f"  precision {quality.precision[place]:.1%}"
        conditions = bounds.conditions(features, boxes.lower[box], boxes.upper[box])
        lines = [f"    {text}" for text in conditions or ["always"]]
        paragraphs.append("\n".join([header, *lines]))
    if len(order) < len(counts):
        paragraphs.append(
            f"{len(counts) - len(order):,} more boxes: left out (max_rules={len(order)})."
        )
    return "\n\n".join(paragraphs)


def tabulate_ensemble(
    model: Any, features: list[str], class_names: Any, samples: GivenSamples | None
) -> dict[str, Any]:
    """Return the columns of a table of all boxes; bounds are NaN in features not drawn."""
    members = model.members_
    classes = model.classes_
    if class_names is not None:
        classes = np.array(name_classes(model, class_names), object)
    labels = np.concatenate([boxes.labels for boxes in members])
    sizes = [len(boxes) for boxes in members]
    columns: dict[str, Any] = {
        "member": np.repeat(np.arange(len(members)), sizes),
        "box of the member": np.concatenate([np.arange(size) for size in sizes]),
        "class": classes[labels],
        "support": np.concatenate([boxes.counts for boxes in members]),
        **measure_ensemble(model, members, samples).measured(),
    }
    ends = np.full((2, len(labels), len(features)), np.nan)
    start = 0
    for boxes, known in zip(members, model.estimators_features_, strict=True):
        rows = slice(start, start + len(boxes))
        ends[0, rows, known], ends[1, rows, known] = boxes.lower.T, boxes.upper.T
        start += len(boxes)
    for j, name in enumerate(features):
        columns[f"{name} lower"], columns[f"{name} upper"] = ends[0, :, j], ends[1, :, j]
    return columns


def measure_ensemble(
    model: Any, members: list[Hyperboxes], samples: GivenSamples | None
) -> Quality:
    """Measure which share of samples each box holds, and how many of them are of its class."""
    if samples is None:
        return Quality()
    coverage, precision = [], []
    for boxes, features in zip(members, model.estimators_features_, strict=True):
        held = np.ones((len(boxes), len(samples)), bool)
        for j, feature in enumerate(features):
            lower, upper = samples.lower[:, feature], samples.upper[:, feature]
            held &= ~(lower < boxes.lower[:, j, None]) & ~(upper > boxes.upper[:, j, None])
        coverage.append(held.mean(axis=1))
        if samples.codes is not None:
            held &= samples.codes >= 0
            right = (held & (samples.codes == boxes.labels[:, None])).sum(axis=1)
            n_held = held.sum(axis=1)
            precision.append(
                np.divide(right, n_held, out=np.full(len(boxes), np.nan), where=n_held > 0)
            )
    return Quality(np.concatenate(coverage), np.concatenate(precision) if precision else None)


# Rules are in the units of the data. What they say of samples is what the boxes' bounds say.

_SHORT = (
    "Rules have only the conditions that keep given samples of other classes out\n"
    "(found greedily; all_conditions=True writes all)."
)
_BETWEEN_CELLS = "    "


class RuleNotes:
    """What a listing says of boxes besides their rules: nothing in most models.

    The registry names classes derived from it for models of the literature.
    """

    @staticmethod
    def of(model: Any) -> RuleNotes:
        """Return the notes of a fitted model."""
        learner = find_by_class(type(model))
        if learner is None or learner.notes is None:
            return RuleNotes()
        return resolve(learner.notes)(model)

    def summary(self) -> str:
        """Return what applies to all rules."""
        return ""

    def lines(
        self, box: int, rounding: Rounding, features: list[str], classes: list[str]
    ) -> list[str]:
        """Return what applies to a box."""
        return []

    def columns(self, features: list[str]) -> dict[str, np.ndarray]:
        """Return more columns of the table."""
        return {}


def export_text(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    X_upper: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
    max_rules: int | None = None,
    decimals: int | None = None,
    all_bounds: bool = False,
    all_conditions: bool = False,
    width: int = 79,
) -> str:
    """Write the boxes of a fitted model as rules, those with the largest support first.

    Each box is a rule: a sample whose values satisfy all conditions lies in the box. Conditions
    include their ends. A feature that the box does not know (NaN bounds) has no condition; a box
    without any holds "always".

    Boxes that vote (`BoostedHyperboxes`) are sorted by class, those with the largest votes first,
    and their bounds are written in full: a sample satisfies a rule if and only if the box holds it,
    and a missing value does only where the rule says so.

    For models of :mod:`hyperboxes.literature` in which something besides the nearest box decides,
    the text says what: rules name where boxes of another class contain samples as well
    (`OverlappingFuzzyMinMax`), and how many of their samples have each category (`MixedGFMM`).

    The boxes of ensembles (`RandomHyperboxes`) are those of all members, and the largest 20 are
    written unless `max_rules` says otherwise. Their bounds lie between values of training samples,
    and have as many decimals as tell apart some hundredths of a feature's range.

    Parameters
    ----------
    model : estimator
        A fitted model, or a fitted Pipeline that ends in one: samples are then those that the
        Pipeline takes, names those that its steps give, and values as transformed.
    X : array-like of shape (n_samples, n_features), default=None
        Samples on which to measure the coverage of each rule: the share of the samples that the
        box holds. A missing value (NaN) satisfies any condition. Like `predict`, this compares
        what scaling makes of values and bounds, so rounding errors do not matter.
    y : array-like of shape (n_samples,), default=None
        Their labels, to measure the precision as well: the share of the samples held, of those
        that have a label, whose class is the box's.
    X_upper : array-like of shape (n_samples, n_features), default=None
        The upper ends of interval samples. A box holds them if it holds all of the interval. Not
        for boxes that vote.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features. None: those of the training data, or x0, x1, ...
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes, in the order of ``classes_``. None: the labels.
    max_rules : int, default=None
        How many rules to write at most; a last line tells how many are left out. None: all. Of
        boxes that vote, those with the largest votes are written.
    decimals : int, default=None
        How many decimals numbers have. None: as few as keep the rules true. Bounds of up to six
        digits are written in full. Others are rounded outwards, but not as far as a bound of
        another box or a value of `X`: of these samples, those satisfy a condition that the box
        holds in that feature, and no others. Not for boxes that vote.
    all_bounds : bool, default=False
        Whether to write bounds at an end of the range of the training data, too. They are left out
        because they separate no samples that the model has seen: a box from the smallest value
        to 3 becomes "<= 3". But a box ends at its bounds, and holds no values beyond the range.
        Boxes that vote end where their rules say.
    all_conditions : bool, default=False
        Whether to write all conditions, even if `X` and `y` are given. Else a rule then has only
        those that it takes to keep out the samples of other classes, and says how many more there
        are. They are found greedily, so fewer may do. `all_bounds` writes all conditions, too.
        Boxes that vote have few conditions: all of them are written.
    width : int, default=79
        How long lines may be. Conditions stand side by side as far as they fit.

    Returns
    -------
    text : str
        One paragraph per box: its index in ``hyperboxes_``, its class, its support (how many
        training samples it has absorbed), coverage and precision, and the conditions; the bounds
        in full are in `export_frame`. Of boxes that vote: what each adds to the score of a class,
        how many training samples it holds, and how many of them are of that class.

    See Also
    --------
    export_frame : The rules as a pandas table.
    export_sql : The rules as an SQL expression.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM, export_text
    >>> iris = load_iris(as_frame=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(iris.data, iris.target)
    >>> print(export_text(model, iris.data, iris.target, class_names=iris.target_names,
    ...                   max_rules=2))
    18 boxes from 150 training samples.
    They hold 100.0% of the 150 samples given.
    Bounds at an end of the samples' range are left out.
    Rules have only the conditions that keep given samples of other classes out
    (found greedily; all_conditions=True writes all).
    <BLANKLINE>
    box 4  setosa     33 samples  coverage 22.0%  precision 100.0%
        petal length (cm)  <= 1.9
        (3 more conditions left out)
    <BLANKLINE>
    box 0  virginica  22 samples  coverage 15.3%  precision  95.7%
        petal width (cm)   >= 1.8
        (3 more conditions left out)
    <BLANKLINE>
    16 more boxes from 95 training samples: left out (max_rules=2).
    """
    check_integer("max_rules", max_rules, 1)
    check_integer("decimals", decimals, 0)
    check_integer("width", width, 1, optional=False)
    model, X, X_upper = read_pipeline(model, X, X_upper)
    if isinstance(model, RandomHyperboxes):
        check_is_fitted(model)
        samples = GivenSamples.check(model, X, y, X_upper)
        return write_ensemble(model, feature_names, class_names, samples, max_rules)
    boxes = read_any_boxes(model, "export_text")
    features = name_features(model, feature_names)
    samples = GivenSamples.check(model, X, y, X_upper)
    if isinstance(boxes, WeightedHyperboxes):
        if decimals is not None:
            raise ValueError("Bounds of boxes that vote are written in full: leave out decimals.")
        quality = Quality.measure_votes(model, samples)
        classes = name_classes(model, class_names)
        return write_votes(model, features, classes, quality, max_rules, width)
    classes = [*name_classes(model, class_names), f"({name_no_label(model)})"]  # -1: the last
    quality = Quality.measure(model, samples)
    order = np.argsort(-boxes.counts, kind="stable")[:max_rules]
    values = () if samples is None else (samples.lower, samples.upper)
    rounding = Rounding.of(model, *values, decimals=decimals)
    ends = (None, None) if all_bounds else learned_range(model)
    rules = [list(conditions(boxes, box, rounding, *ends)) for box in order]
    n_held = boxes.counts.sum()
    n_forgotten = getattr(model, "n_samples_seen_", n_held) - n_held
    summary = _summary(boxes, n_forgotten, all_bounds, samples, quality)
    notes = RuleNotes.of(model)
    for more in (describe_units(model), notes.summary()):
        summary += f"\n{textwrap.fill(more, width)}" if more else ""
    left_out = [0] * len(rules)
    is_short = not all_conditions and ends[0] is not None
    if is_short and _has_labels(samples):
        summary += f"\n{_SHORT}"
        needed = find_short_rules(model, samples, *ends)
        short = [_only(rule, needed[box]) for rule, box in zip(rules, order, strict=True)]
        left_out = [len(rule) - len(few) for rule, few in zip(rules, short, strict=True)]
        rules = short
    headers = _headers(boxes, order, classes, quality)
    lines = [
        [
            line
            for text in notes.lines(box, rounding, features, classes)
            for line in textwrap.wrap(
                text, width, initial_indent=_INDENT, subsequent_indent=2 * _INDENT
            )
        ]
        for box in order.tolist()
    ]
    paragraphs = [summary, *_paragraphs(headers, rules, left_out, lines, features, width)]
    if len(order) < len(boxes):
        paragraphs.append(_left_out(boxes, order))
    return "\n\n".join(paragraphs)


def export_frame(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    X_upper: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
) -> Any:
    """Return the boxes of a fitted model as a pandas table, one row per box, oldest first.

    Parameters
    ----------
    model : estimator
        A fitted model, or a fitted Pipeline that ends in one: samples are then those that the
        Pipeline takes, names those that its steps give, and values as transformed.
    X, y, X_upper : array-like, default=None
        Samples on which to measure coverage and precision, as in `export_text`.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features. None: those of the training data, or x0, x1, ...
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes, in the order of ``classes_``. None: the labels.

    Returns
    -------
    frame : pandas.DataFrame
        The index, named "box", is that of ``hyperboxes_``. Columns are "class" (None for a box
        without a label, or of noise), "support", "coverage" if `X` is given, "precision" if `y` is
        (NaN for boxes that hold none of the samples that have a label), and with it "short rule",
        the conditions of `export_text` that keep out samples of other classes; for each feature
        "<name> lower" and "<name> upper", the exact bounds, NaN where the box does not know the
        feature. For `OverlappingFuzzyMinMax`, "overlaps" has the indices of the boxes of other
        classes that a box overlaps; for `MixedGFMM`, "<name> counts" has how many of a box's
        samples have each category.

        Of boxes that vote, "class" is the one that a box votes for most, and "support" counts the
        training samples that it holds. There are also "training precision", the share of these that
        are of that class; for each class "vote for <name>" and "held of <name>", the vote and the
        training samples; and for each feature "<name> missing", whether the box holds samples that
        lack it. Bounds are infinite where it is open.

        Of ensembles there are "member" and "box of the member" beside; bounds are NaN in features
        that the member does not know, and infinite where nothing lies beyond.

    See Also
    --------
    export_text : The rules as a text.

    Examples
    --------
    >>> from hyperboxes import ImprovedOnlineGFMM, export_frame
    >>> X, y = [[1.0, 30.0], [2.0, 20.0], [9.0, 80.0]], ["low", "low", "high"]
    >>> model = ImprovedOnlineGFMM(random_state=0).fit(X, y)
    >>> frame = export_frame(model, feature_names=["age", "weight"])
    >>> frame.T
    box              0     1
    class         high   low
    support          1     2
    age lower      9.0   1.0
    age upper      9.0   2.0
    weight lower  80.0  20.0
    weight upper  80.0  30.0
    >>> frame[frame["weight lower"] > 25]["class"].tolist()
    ['high']
    """
    pandas = need("pandas", "pandas", "export_frame")
    model, X, X_upper = read_pipeline(model, X, X_upper)
    if isinstance(model, RandomHyperboxes):
        check_is_fitted(model)
        samples = GivenSamples.check(model, X, y, X_upper)
        features = name_features(model, feature_names)
        frame = pandas.DataFrame(tabulate_ensemble(model, features, class_names, samples))
        return frame.rename_axis("box")
    boxes = read_any_boxes(model, "export_frame")
    features = name_features(model, feature_names)
    samples = GivenSamples.check(model, X, y, X_upper)
    columns = {"class": _box_classes(model, class_names), "support": boxes.counts}
    if isinstance(boxes, WeightedHyperboxes):
        columns |= Quality.measure_votes(model, samples).measured()
        columns |= tabulate_votes(boxes, features, name_classes(model, class_names))
    else:
        columns |= Quality.measure(model, samples).measured()
        if _has_labels(samples):
            columns["short rule"] = _short_rules(model, samples, features)
        columns |= RuleNotes.of(model).columns(features)
    for j, name in enumerate(features):
        columns[f"{name} lower"] = boxes.lower[:, j]
        columns[f"{name} upper"] = boxes.upper[:, j]
    return pandas.DataFrame(columns, index=pandas.RangeIndex(len(boxes), name="box"))


def _short_rules(model: Any, samples: GivenSamples, features: list[str]) -> np.ndarray:
    """Return for each box the conditions that it needs, in words."""
    boxes, ends = model.hyperboxes_, learned_range(model)
    rounding = Rounding.of(model, samples.lower, samples.upper)
    texts = np.full(len(boxes), "", dtype=object)
    for box, needed in enumerate(find_short_rules(model, samples, *ends)):
        rule = _only(list(conditions(boxes, box, rounding, *ends)), needed)
        texts[box] = " and ".join(f"{features[j]} {text}" for j, text in rule) or "always"
    return texts


def _box_classes(model: Any, class_names: Any) -> np.ndarray:
    """Return the class of each box, None for none."""
    labels = model.hyperboxes_.labels
    classes = classes_or_clusters(model)
    if class_names is not None:
        classes = np.array(name_classes(model, class_names), dtype=object)
    if (labels >= 0).all():
        return classes[labels]
    of_boxes = np.full(len(labels), None, dtype=object)
    of_boxes[labels >= 0] = classes[labels[labels >= 0]]
    return of_boxes


def conditions(
    boxes: Hyperboxes,
    box: int,
    rounding: Rounding,
    smallest: np.ndarray | None,
    largest: np.ndarray | None,
) -> Iterator[tuple[int, str]]:
    """Yield features that the box constrains, and how."""
    for j, (low, high) in enumerate(zip(boxes.lower[box], boxes.upper[box], strict=True)):
        from_start = smallest is not None and low <= smallest[j]
        to_end = largest is not None and high >= largest[j]
        if np.isnan(low) or (from_start and to_end):
            continue
        if j in rounding.categories:
            yield j, set_text(rounding.categories[j], low, high)
            continue
        first, last = rounding.low(j, low, high), rounding.high(j, low, high)
        if first == last:
            yield j, f"= {first}"
        elif from_start or to_end:
            yield j, f"<= {last}" if from_start else f">= {first}"
        else:
            yield j, f"{first} to {last}"


def _has_labels(samples: GivenSamples | None) -> TypeGuard[GivenSamples]:
    return samples is not None and samples.codes is not None


def _only(rule: list[tuple[int, str]], needed: np.ndarray) -> list[tuple[int, str]]:
    """Return some conditions of a rule, in their order."""
    return [(j, text) for j, text in rule if j in needed]


def _summary(
    boxes: Hyperboxes,
    n_forgotten: int,
    all_bounds: bool,
    samples: GivenSamples | None,
    quality: Quality,
) -> str:
    lines = [f"{_boxes_and_samples(len(boxes), boxes.counts.sum())}."]
    if n_forgotten:
        lines.append(f"Boxes of {n_forgotten} other samples were forgotten.")
    if quality.held is not None and samples is not None:
        lines.append(f"They hold {quality.held:.1%} of the {len(samples)} samples given.")
    elif samples is not None:
        lines.append(
            f"Coverage is the share of the {len(samples)} samples given that a box decides."
        )
    if not all_bounds:
        lines.append("Bounds at an end of the samples' range are left out.")
    return "\n".join(lines)


def _left_out(boxes: Hyperboxes, order: np.ndarray) -> str:
    rest = _boxes_and_samples(
        len(boxes) - len(order), boxes.counts.sum() - boxes.counts[order].sum(), more="more "
    )
    return f"{rest}: left out (max_rules={len(order)})."


def _boxes_and_samples(n_boxes: int, n_samples: int, more: str = "") -> str:
    return (
        f"{n_boxes} {more}box{'' if n_boxes == 1 else 'es'} from "
        f"{n_samples} training sample{'' if n_samples == 1 else 's'}"
    )


def _headers(
    boxes: Hyperboxes, order: np.ndarray, classes: list[str], quality: Quality
) -> list[str]:
    """Return the first lines of the rules, aligned."""
    supports = _aligned([str(boxes.counts[box]) for box in order], ">")
    columns = [
        _aligned([f"box {box}" for box in order]),
        _aligned([classes[boxes.labels[box]] for box in order]),
        _aligned([f"{support} sample{'' if int(support) == 1 else 's'}" for support in supports]),
    ]
    for name, shares in quality.measured().items():
        texts = ["-" if np.isnan(share) else f"{share:.1%}" for share in shares[order]]
        columns.append([f"{name} {text}" for text in _aligned(texts, ">")])
    return ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]


def _aligned(texts: list[str], side: str = "<") -> list[str]:
    width = max(map(len, texts), default=0)
    return [f"{text:{side}{width}}" for text in texts]


def _paragraphs(
    headers: list[str],
    rules: list[list[tuple[int, str]]],
    left_out: list[int],
    notes: list[list[str]],
    features: list[str],
    width: int,
) -> Iterator[str]:
    """Yield the rules with their conditions in columns, the same for all."""
    conditions = [condition for rule in rules for condition in rule]
    name_width = max((len(features[j]) for j, _ in conditions), default=0)
    text_width = max((len(text) for _, text in conditions), default=0)
    cell = name_width + 2 + text_width
    per_line = (width - len(_INDENT) + len(_BETWEEN_CELLS)) // (cell + len(_BETWEEN_CELLS))
    parts = zip(headers, rules, left_out, notes, strict=True)
    for header, rule, n_more, of_rule in parts:
        cells = [f"{features[j]:{name_width}}  {text:{text_width}}" for j, text in rule]
        lines = [cells[i : i + max(per_line, 1)] for i in range(0, len(cells), max(per_line, 1))]
        body = [_INDENT + _BETWEEN_CELLS.join(line).rstrip() for line in lines]
        if n_more:
            conditions_left = f"{n_more} {'more ' if body else ''}condition{'s' * (n_more > 1)}"
            body.append(f"{_INDENT}({conditions_left} left out)")
        yield "\n".join([header, *(body or [f"{_INDENT}always"]), *of_rule])
