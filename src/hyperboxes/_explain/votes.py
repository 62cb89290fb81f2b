"""Boxes that vote as rules: "width > 16.8 and depth <= 0.14: +2.10 for a (holds 142 samples ...)".

Bounds are written in full. They are short numbers, for the learner has chosen them so, and a sample
satisfies a rule if and only if the box holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hyperboxes._estimators.tables import known_categories
from hyperboxes._explain.categories import set_text
from hyperboxes._explain.pipelines import describe_units
from hyperboxes._explain.quality import Quality
from hyperboxes._models.voting import VotingHyperboxes

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
    summary = [*_summary(len(boxes), model.intercept_, classes, width), describe_units(model)]
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
    boxes: VotingHyperboxes, features: list[str], classes: list[str]
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


def _summary(n_boxes: int, intercept: np.ndarray, classes: list[str], width: int) -> Iterator[str]:
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


def _constrained(boxes: VotingHyperboxes, box: int) -> np.ndarray:
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
    boxes: VotingHyperboxes, box: int, classes: list[str], quality: Quality
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
