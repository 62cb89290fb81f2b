"""Rules as text and as data frames: `export_text` and `export_frame`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyperboxes._estimators.capabilities import Operation
from hyperboxes._estimators.registry import find_by_class, resolve
from hyperboxes._extras import need
from hyperboxes._models.categories import Categories
from hyperboxes._models.hyperboxes import Hyperboxes
from hyperboxes._models.records import AdditiveBoxes, BoxEnsemble, NearestBoxes
from hyperboxes._readers.fitted import FittedModel, check_integer, read_fitted
from hyperboxes._readers.quality import GivenSamples, Quality, find_short_rules
from hyperboxes._readers.text import (
    Bounds,
    Rounding,
    align,
    condition_text,
    half_open_text,
    number_text,
    set_text,
    several_text,
)

_INDENT = "    "
_BETWEEN = "    "

# The number of rules of an ensemble, which has thousands, unless `max_rules` is given.
_MOST_RULES = 20

# Of more weights in a rule the smallest are left out; `export_frame` has them.
_MOST_WEIGHTS = 5

# Values of at most so many digits are written in full; others with so few, and more where a
# condition depends on them.
_OWN_DIGITS = 9
_DIGITS = 6

_SHORT = (
    "Rules have only the conditions that keep given samples of other classes out\n"
    "(found greedily; all_conditions=True writes all)."
)


@dataclass(frozen=True)
class RuleNotes:
    """What a listing has besides rules: a summary, and lines and columns of each box.

    There are none for most models. The registry names functions for models of the literature, which
    take a fitted model and its rounding.
    """

    summary: str = ""
    lines: Sequence[Sequence[str]] = ()
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @staticmethod
    def of(fitted: FittedModel, rounding: Rounding) -> RuleNotes:
        """Return the notes of a fitted model."""
        entry = find_by_class(type(fitted.estimator))
        if entry is None or entry.notes is None:
            return RuleNotes()
        return resolve(entry.notes)(fitted, rounding)


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

    Each box is a rule: it contains a sample whose values satisfy all conditions. Conditions include
    their ends. A feature without bounds in a box (NaN) has no condition; a rule without conditions
    is "always" true.

    Rules of a `BoostedHyperboxes` are sorted by class, those with the largest weights first. Their
    bounds are written in full: a box contains a sample if and only if it satisfies the rule. A
    missing value satisfies the conditions with "or missing".

    Rules of a `RandomHyperboxes` are those of all members. Their bounds lie between values of
    training samples and have few decimals.

    For models of :mod:`hyperboxes.literature` in which something besides the nearest box decides,
    notes state where boxes of another class overlap a box (`OverlappingFuzzyMinMax`) and how many
    of its samples have each category (`MixedGFMM`).

    Parameters
    ----------
    model : estimator
        A fitted model, or a fitted Pipeline that ends in one. Samples are then inputs of the
        Pipeline, and rules have its names and transformed values.
    X : array-like of shape (n_samples, n_features), default=None
        Samples on which to measure the coverage of each rule: the share of the samples that the
        box contains. A missing value (NaN) satisfies any condition. Values and bounds are compared
        after scaling, as in `predict`, so rounding errors do not matter.
    y : array-like of shape (n_samples,), default=None
        Their labels, to measure the precision as well: of the samples with a label in the box, the
        share whose class is the box's.
    X_upper : array-like of shape (n_samples, n_features), default=None
        The upper ends of interval samples, which a box contains as a whole or not. Not for
        `BoostedHyperboxes`.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features. None: those of the training data, or x0, x1, ...
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes, in the order of ``classes_``. None: the labels.
    max_rules : int, default=None
        The number of rules to write at most; a last line counts the others. None: all, or 20 for
        a `RandomHyperboxes`. For a `BoostedHyperboxes`, those with the largest weights are written.
    decimals : int, default=None
        The number of decimals. None: as few as keep the rules true. Bounds of up to six digits are
        written in full. Others are rounded outwards, but not as far as a bound of another box or a
        value of `X`, so the same samples satisfy the condition. Not for `BoostedHyperboxes`.
    all_bounds : bool, default=False
        Whether to write also bounds at an end of the range of the training data. They are left out
        because they separate no training samples: a box from the smallest value to 3 becomes
        "<= 3". But a box ends at its bounds, and contains no values beyond the range. Without
        effect for `BoostedHyperboxes`.
    all_conditions : bool, default=False
        Whether to write all conditions even if `X` and `y` are given. If not, a rule has only those
        that keep out the samples of other classes, and the number of the others. They are found
        greedily, so fewer may suffice. `all_bounds` writes all conditions as well. Without effect
        for `BoostedHyperboxes`.
    width : int, default=79
        The length of lines. Conditions stand side by side as far as they fit.

    Returns
    -------
    text : str
        One paragraph per box: its index in ``hyperboxes_``, its class, its support (the number of
        training samples that it has absorbed), coverage and precision, and the conditions; for a
        `BoostedHyperboxes` its weights, the number of training samples that it contains, and the
        share of its class among them. `export_frame` has bounds in full.

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
    They contain 100.0% of the 150 samples given.
    Bounds at an end of the samples' range are left out.
    The 2 nearest boxes of each class decide together. For a single deciding box,
    fit with decision="nearest".
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
    fitted = read_fitted(
        model, Operation.TEXT, feature_names=feature_names, class_names=class_names
    )
    samples = GivenSamples.check(fitted, X, y, X_upper)
    quality = Quality.measure(fitted, samples)
    match fitted.record:
        case AdditiveBoxes() as record:
            if decimals is not None:
                raise ValueError(
                    "Bounds of additive boxes are written in full: leave out decimals."
                )
            return _write_additive(fitted, record, quality, max_rules, width)
        case BoxEnsemble():
            return _write_members(fitted, quality, max_rules or _MOST_RULES)
        case _:
            values = () if samples is None else (samples.lower, samples.upper)
            rounding = Rounding.of(fitted, *values, decimals=decimals)
            short_rules = None
            if samples is not None and samples.codes is not None and not all_conditions:
                short_rules = None if all_bounds else find_short_rules(fitted, samples)
            return _write_boxes(
                fitted, samples, quality, rounding, short_rules, max_rules, all_bounds, width
            )


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
    model, X, y, X_upper, feature_names, class_names
        As in `export_text`.

    Returns
    -------
    frame : pandas.DataFrame
        The index, named "box", is that of ``hyperboxes_``. Columns are "class" (None for a box
        without a label, or of noise), "support", "coverage" if `X` is given, "precision" if `y` is
        (NaN for boxes that contain no sample with a label), and "rule", the conditions that
        `export_text` writes; for each feature that some box bounds "<name> lower" and "<name>
        upper", the exact bounds, NaN where the box is open, or "<name> values", a list of
        categories, None where the box is open. For `OverlappingFuzzyMinMax`, "overlaps" has the
        indices of the boxes of other classes that a box overlaps; for `MixedGFMM`, "<name> counts"
        has the number of a box's samples in each category.

        For a `BoostedHyperboxes`, "class" is that with the largest weight, and "support" counts the
        training samples that the box contains. There are also "training precision", the share of
        that class among them; for each class "weight for <name>" and "samples of <name>", the
        weight and the training samples; and for each feature that some box bounds "<name> missing",
        whether the box contains samples that lack it.

        For a `RandomHyperboxes` there are also "member" and "box of the member".

    See Also
    --------
    export_text : The rules as a text.

    Examples
    --------
    >>> from hyperboxes import ImprovedOnlineGFMM, export_frame
    >>> X, y = [[1.0, 30.0], [2.0, 20.0], [9.0, 80.0]], ["low", "low", "high"]
    >>> model = ImprovedOnlineGFMM(random_state=0).fit(X, y)
    >>> frame = export_frame(model, feature_names=["age", "weight"])
    >>> print(frame.drop(columns="rule").T)
    box              0     1
    class         high   low
    support          1     2
    age lower      9.0   1.0
    age upper      9.0   2.0
    weight lower  80.0  20.0
    weight upper  80.0  30.0
    >>> frame.loc[1, "rule"]
    'age <= 2 and weight <= 30'
    >>> frame[frame["weight lower"] > 25]["class"].tolist()
    ['high']
    """
    pandas = need("pandas", "pandas", "export_frame")
    fitted = read_fitted(
        model, Operation.FRAME, feature_names=feature_names, class_names=class_names
    )
    samples = GivenSamples.check(fitted, X, y, X_upper)
    classes = fitted.labels
    if class_names is not None:
        classes = np.array(fitted.class_names, dtype=object)
    quality = Quality.measure(fitted, samples).measured()
    match fitted.record:
        case AdditiveBoxes() as record:
            columns = _columns_of_boxes(fitted.hyperboxes, classes) | quality
            columns["rule"] = [
                " and ".join(_open_conditions(fitted, record, box))
                for box in range(len(record.labels))
            ]
            columns |= _columns_of_weights(record, fitted)
        case BoxEnsemble():
            columns = _columns_of_members(fitted, classes, quality)
        case _:
            columns = _columns_of_boxes(fitted.hyperboxes, classes) | quality
            values = () if samples is None else (samples.lower, samples.upper)
            rounding = Rounding.of(fitted, *values)
            columns["rule"] = _rule_texts(fitted, samples, rounding)
            columns |= RuleNotes.of(fitted, rounding).columns
    lower, upper = columns.pop("lower"), columns.pop("upper")
    lower, upper = (np.where(np.isfinite(ends), ends, np.nan) for ends in (lower, upper))
    for j in np.flatnonzero(~np.isnan([lower, upper]).all(axis=(0, 1))).tolist():
        name, ends = fitted.feature_names[j], (lower[:, j], upper[:, j])
        if j in fitted.categories:
            columns[f"{name} values"] = _category_lists(fitted.categories[j], *ends)
        else:
            columns[f"{name} lower"], columns[f"{name} upper"] = ends
    return pandas.DataFrame(columns, index=pandas.RangeIndex(len(lower), name="box"))


def _write_boxes(
    fitted: FittedModel,
    samples: GivenSamples | None,
    quality: Quality,
    rounding: Rounding,
    short_rules: list[np.ndarray] | None,
    max_rules: int | None,
    all_bounds: bool,
    width: int,
) -> str:
    """Write the rules, those with the most samples first."""
    counts, names = fitted.hyperboxes.counts, fitted.feature_names
    classes = [*fitted.class_names, f"({fitted.no_label})"]  # -1: the last
    order = np.argsort(-counts, kind="stable")[:max_rules]
    rules = list_rules(fitted, rounding, order, all_bounds)
    shown = rules if short_rules is None else _shorten(rules, short_rules, order)
    notes = RuleNotes.of(fitted, rounding)
    summary = [f"{_boxes_and_samples(len(counts), counts.sum())}."]
    if n_evicted := getattr(fitted.estimator, "n_samples_seen_", counts.sum()) - counts.sum():
        summary.append(f"Boxes of {n_evicted} other samples were evicted.")
    if samples is not None:
        summary.append(f"They contain {quality.contained:.1%} of the {len(samples)} samples given.")
    if not all_bounds:
        summary.append("Bounds at an end of the samples' range are left out.")
    if isinstance(fitted.record, NearestBoxes) and fitted.record.n_neighbors > 1:
        several = several_text(fitted.record.n_neighbors).capitalize()
        advice = 'For a single deciding box, fit with decision="nearest".'
        summary.append(textwrap.fill(f"{several}. {advice}", width))
    summary += [textwrap.fill(more, width) for more in (fitted.remarks, notes.summary) if more]
    if short_rules is not None:
        summary.append(_SHORT)
    paragraphs = ["\n".join(summary)]
    headers = _headers(fitted.hyperboxes, order, classes, quality)
    wrap = textwrap.TextWrapper(width, initial_indent=_INDENT, subsequent_indent=2 * _INDENT)
    tables = _in_columns(shown, names, width)
    for box, header, lines, rule, few in zip(order, headers, tables, rules, shown, strict=True):
        if n_more := len(rule) - len(few):
            left_out = f"{n_more} {'more ' if lines else ''}condition{'s' * (n_more > 1)}"
            lines.append(f"{_INDENT}({left_out} left out)")
        lines = [header, *(lines or [f"{_INDENT}always"])]
        for note in notes.lines[box] if notes.lines else ():
            lines += wrap.wrap(note)
        paragraphs.append("\n".join(lines))
    if len(order) < len(counts):
        more = len(counts) - len(order), counts.sum() - counts[order].sum(), "more "
        paragraphs.append(f"{_boxes_and_samples(*more)}: left out (max_rules={len(order)}).")
    return "\n\n".join(paragraphs)


def list_rules(
    fitted: FittedModel, rounding: Rounding, chosen: np.ndarray, all_bounds: bool = False
) -> list[list[tuple[int, str]]]:
    """Return the conditions of some boxes, as pairs of a feature and a text."""
    boxes = fitted.hyperboxes
    smallest, largest = (-np.inf, np.inf) if all_bounds else fitted.learned_range
    rules = []
    for low, high in zip(boxes.lower[chosen], boxes.upper[chosen], strict=True):
        from_start, to_end = low <= smallest, high >= largest
        is_bounded = ~(np.isnan(low) | (from_start & to_end))
        rule = []
        for j in np.flatnonzero(is_bounded).tolist():
            at = {"from_start": bool(from_start[j]), "to_end": bool(to_end[j])}
            rule.append((j, condition_text(rounding, j, low[j], high[j], **at)))
        rules.append(rule)
    return rules


def _shorten(
    rules: list[list[tuple[int, str]]], needed: list[np.ndarray], chosen: np.ndarray
) -> list[list[tuple[int, str]]]:
    """Return the conditions on the features that are needed."""
    return [
        [(j, text) for j, text in rule if j in needed[box]]
        for rule, box in zip(rules, chosen, strict=True)
    ]


def _rule_texts(fitted: FittedModel, samples: GivenSamples | None, rounding: Rounding) -> list[str]:
    """Return the conditions of each box as a text; with labels, those that the box needs."""
    chosen, names = np.arange(len(fitted.hyperboxes)), fitted.feature_names
    rules = list_rules(fitted, rounding, chosen)
    if samples is not None and samples.codes is not None:
        rules = _shorten(rules, find_short_rules(fitted, samples), chosen)
    return [" and ".join(f"{names[j]} {text}" for j, text in rule) or "always" for rule in rules]


def _boxes_and_samples(n_boxes: int, n_samples: int, more: str = "") -> str:
    samples = f"{n_samples} training sample{'' if n_samples == 1 else 's'}"
    return f"{count_boxes(n_boxes, more)} from {samples}"


def _headers(
    boxes: Hyperboxes, order: np.ndarray, classes: list[str], quality: Quality
) -> list[str]:
    """Return the first lines of the rules, aligned."""
    rows = []
    for box, count in zip(order.tolist(), boxes.counts[order].tolist(), strict=True):
        cells = [f"box {box}", f"  {classes[boxes.labels[box]]}", "  ", str(count)]
        cells.append(" sample" if count == 1 else " samples")
        for name, shares in quality.measured().items():
            cells += [f"  {name} ", _share_text(shares[box])]
        rows.append(cells)
    return align(rows, "<<<><" + "<>" * len(quality.measured()), "") if rows else []


def _share_text(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.1%}"


def _in_columns(
    rules: list[list[tuple[int, str]]], names: list[str], width: int
) -> list[list[str]]:
    """Return the lines of each rule, with conditions in columns, the same for all."""
    rows = [[names[j], text] for rule in rules for j, text in rule]
    cells = iter(align(rows) if rows else [])
    lengths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    cell = sum(lengths) + 2
    per_line = max((width - len(_INDENT) + len(_BETWEEN)) // (cell + len(_BETWEEN)), 1)
    tables = []
    for rule in rules:
        texts = [f"{next(cells):{cell}}" for _ in rule]
        lines = [texts[i : i + per_line] for i in range(0, len(texts), per_line)]
        tables.append([_INDENT + _BETWEEN.join(line).rstrip() for line in lines])
    return tables


_PARTLY = "A missing value takes away a part of the weights, unless the rule mentions it."

# Rules of additive boxes. Bounds are written in full. They are short numbers, because boosting
# chooses them so, and a sample satisfies a rule if and only if the box contains it.


def _write_additive(
    fitted: FittedModel,
    record: AdditiveBoxes,
    quality: Quality,
    max_rules: int | None,
    width: int,
) -> str:
    """Write the rules, those of each class by weight, and what scores start with."""
    labels, classes = record.labels, fitted.class_names
    weights = record.weights[np.arange(len(labels)), labels]
    largest = np.argsort(-weights, kind="stable")[:max_rules]
    order = largest[np.lexsort((largest, -weights[largest], labels[largest]))]
    starts = weight_list(record.intercept, classes) or ["0 for every class"]
    summary = [
        f"{count_boxes(len(labels))}. The class with the largest score wins.",
        *wrap_parts(["Scores start with", *_joined(starts, ",", ".")], width),
        "Each box adds its weights to the scores of the samples that it contains.",
        *([_PARTLY] if (record.missing_shares % 1.0).any() else []),
        *textwrap.wrap(fitted.remarks, width),
    ]
    paragraphs = ["\n".join(summary)]
    for label in np.unique(labels[order]):
        rules = [
            _weighted_rule(fitted, record, box, quality) for box in order[labels[order] == label]
        ]
        paragraphs.append("\n".join(line for rule in rules for line in wrap_parts(rule, width)))
    if len(order) < len(labels):
        n_more = len(labels) - len(order)
        paragraphs.append(f"{count_boxes(n_more, 'more ')}: left out (max_rules={len(order)}).")
    return "\n\n".join(paragraphs)


def _weighted_rule(
    fitted: FittedModel, record: AdditiveBoxes, box: int, quality: Quality
) -> list[str]:
    """Return the parts of a rule, between which there may be a new line."""
    classes, count, label = fitted.class_names, record.counts[box], record.labels[box]
    facts = [
        f"{count} sample{'' if count == 1 else 's'}",
        f"{_percent(record.class_counts[box, label], count)} {classes[label]}",
        *(f"{name} {_share_text(shares[box])}" for name, shares in quality.measured().items()),
    ]
    return [
        f"box {box} ",
        *_joined(_open_conditions(fitted, record, box), " and", ":"),
        *_joined(weight_list(record.weights[box], classes, _MOST_WEIGHTS), ",", ""),
        f"({', '.join(facts)})",
    ]


def _open_conditions(fitted: FittedModel, record: AdditiveBoxes, box: int) -> list[str]:
    """Write the conditions of a box."""
    features = np.flatnonzero(record.constrains[box]).tolist()
    return [_open_condition(fitted, record, box, j) for j in features]


def _open_condition(fitted: FittedModel, record: AdditiveBoxes, box: int, feature: int) -> str:
    """Write which values of a feature a box contains."""
    name, ends = (
        fitted.feature_names[feature],
        (record.lower[box, feature], record.upper[box, feature]),
    )
    if feature in fitted.categories and np.isfinite(ends).any():
        text = f"{name} {set_text(fitted.categories[feature], *ends)}"
    else:
        text = half_open_text(name, *ends)
    return f"({text} or missing)" if record.missing_shares[box, feature] == 1.0 else text


def _write_members(fitted: FittedModel, quality: Quality, max_rules: int) -> str:
    """Write the boxes with the most samples as rules."""
    members, drawn = fitted.estimator.members_, fitted.estimator.estimators_features_
    counts = np.concatenate([boxes.counts for boxes in members])
    positions = [(m, b) for m, boxes in enumerate(members) for b in range(len(boxes))]
    order = np.argsort(-counts, kind="stable")[:max_rules].tolist()
    bounds = Bounds.of(fitted)
    paragraphs = [
        f"{len(members)} members with {len(counts):,} boxes, from "
        f"{fitted.estimator.n_samples_:,} training samples. They vote:\n"
        "no rule decides alone. The boxes with the most samples:"
    ]
    for position in order:
        member, box = positions[position]
        boxes = members[member]
        header = [f"member {member}, box {box}", fitted.class_names[boxes.labels[box]]]
        header.append(f"{counts[position]} samples")
        for name, shares in quality.measured().items():
            if not np.isnan(shares[position]):
                header.append(f"{name} {shares[position]:.1%}")
        ends = boxes.lower[box], boxes.upper[box]
        conditions = _member_conditions(fitted, bounds, drawn[member], *ends) or ["always"]
        paragraphs.append(f"\n{_INDENT}".join(["  ".join(header), *conditions]))
    if n_more := len(counts) - len(order):
        paragraphs.append(f"{n_more:,} more boxes: left out (max_rules={len(order)}).")
    return "\n\n".join(paragraphs)


def _member_conditions(
    fitted: FittedModel, bounds: Bounds, features: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> list[str]:
    """Write the conditions of a box of a member."""
    names = fitted.feature_names
    return [f"{names[j]} {text}" for j, text in bounds.listed(features, lower, upper)]


# Columns of frames; "lower" and "upper" have all features


def _category_lists(
    categories: Categories, lower: np.ndarray, upper: np.ndarray
) -> list[list[Any] | None]:
    """Return the values between each two positions; an open end includes all values beyond."""
    ends = zip(np.nan_to_num(lower, nan=-np.inf), np.nan_to_num(upper, nan=np.inf), strict=True)
    return [
        categories.values_between(low, high) if np.isfinite([low, high]).any() else None
        for low, high in ends
    ]


def _columns_of_boxes(boxes: Hyperboxes, classes: np.ndarray) -> dict[str, Any]:
    """Return the columns that all single models have; the class is None without a label."""
    has_label = boxes.labels >= 0
    named = classes[boxes.labels[has_label]]
    if not has_label.all():
        named, labelled = np.full(len(boxes), None), named
        named[has_label] = labelled
    return {"class": named, "support": boxes.counts, "lower": boxes.lower, "upper": boxes.upper}


def _columns_of_weights(record: AdditiveBoxes, fitted: FittedModel) -> dict[str, np.ndarray]:
    """Return the columns of additive boxes besides."""
    classes = fitted.class_names
    if len(set(classes)) < len(classes):
        raise ValueError("Two classes have the same name: pass class_names that differ.")
    of_class = record.class_counts[np.arange(len(record.labels)), record.labels]
    return {
        "training precision": of_class / record.counts,
        **{f"weight for {name}": record.weights[:, k] for k, name in enumerate(classes)},
        **{f"samples of {name}": record.class_counts[:, k] for k, name in enumerate(classes)},
        **{
            f"{fitted.feature_names[j]} missing": record.missing_shares[:, j]
            for j in np.flatnonzero(record.constrains.any(axis=0)).tolist()
        },
    }


def _columns_of_members(
    fitted: FittedModel, classes: np.ndarray, quality: dict[str, np.ndarray]
) -> dict[str, Any]:
    """Return the columns of an ensemble; bounds are NaN in features that a member lacks."""
    ensemble, bounds, rules = fitted.estimator, Bounds.of(fitted), []
    members = ensemble.members_
    sizes = [len(boxes) for boxes in members]
    lower, upper = np.full((2, sum(sizes), ensemble.n_features_in_), np.nan)
    starts = np.cumsum([0, *sizes])
    for start, boxes, features in zip(starts, members, ensemble.estimators_features_, strict=False):
        lower[start : start + len(boxes), features] = boxes.lower
        upper[start : start + len(boxes), features] = boxes.upper
        rules += [
            " and ".join(_member_conditions(fitted, bounds, features, *ends)) or "always"
            for ends in zip(boxes.lower, boxes.upper, strict=True)
        ]
    return {
        "member": np.repeat(np.arange(len(members)), sizes),
        "box of the member": np.concatenate([np.arange(size) for size in sizes]),
        "class": classes[np.concatenate([boxes.labels for boxes in members])],
        "support": np.concatenate([boxes.counts for boxes in members]),
        **quality,
        "rule": rules,
        "lower": lower,
        "upper": upper,
    }


def weight_list(scores: np.ndarray, classes: list[str], most: int | None = None) -> list[str]:
    """Write the weights that are not 0, the largest first; with `most`, only the largest of them.

    A single smaller one is written, too.
    """
    by_size = np.argsort(-np.abs(scores), kind="stable")
    by_size = by_size[: np.count_nonzero(scores)]
    shown = by_size if most is None or len(by_size) <= most + 1 else by_size[:most]
    order = shown[np.lexsort((shown, -scores[shown]))]
    weights = [f"{weight_text(scores[label])} for {classes[label]}" for label in order]
    n_smaller = len(by_size) - len(shown)
    return [*weights, f"{n_smaller} smaller weights"] if n_smaller else weights


def value_text(value: float, low: float, high: float) -> str:
    """Write a value in few digits if it has no more, else with enough to lie between two others."""
    if float(f"{value:.{_OWN_DIGITS}g}") == value:
        return number_text(value)
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


def weight_text(value: float) -> str:
    """Write a weight with two decimals, or two digits if it is small."""
    return f"{value:+.2f}" if abs(value) >= 0.1 else f"{value:+.2g}"


def _percent(part: int, whole: int) -> str:
    """Write a share so that 0% is none and 100% all."""
    if 0 < part < whole:
        share = 100 * part / whole
        return "< 1%" if share < 1 else "> 99%" if share > 99 else f"{share:.0f}%"
    return "100%" if part else "0%"


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
