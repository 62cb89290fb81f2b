"""A nearest-box model as SQL that gives every row its class, and the classes' probabilities.

The boxes are a table of the query. Each row is compared with all of them, in the units and in the
order of additions of the model, so that doubles give the distances of `predict`. Logarithms
and exponentials, which probabilities need, may differ in their last digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hyperboxes._models.calibration import DistanceCalibration, class_shares
from hyperboxes._models.records import NearestBoxes
from hyperboxes._readers.sql_text import chain, double, double_or_null, unused_name

# Additions in one expression: databases bound how deep one is, and the order must be kept.
_MOST_TERMS = 50


# Databases raise errors on exponentials of less.
_LEAST_EXPONENT = -700.0


def write_nearest_sql(
    record: NearestBoxes, columns: list[str], classes: list[str], label: int | None = None
) -> str:
    """Return the expression for the class, or for the probability of the class `label`.

    NULL is a missing value.
    """
    writer = _Writer(record, columns, unused_name("hyperbox_", columns))
    return writer.write(classes) if label is None else writer.probability(label)


@dataclass(frozen=True)
class _Writer:
    """Writes the parts of the expression, in which all names begin with a prefix."""

    record: NearestBoxes
    columns: list[str]
    prefix: str

    def write(self, classes: list[str]) -> str:
        """Return the whole expression."""
        p = self.prefix
        choices = " ".join(f"WHEN {code} THEN {name}" for code, name in enumerate(classes))
        if self.record.n_neighbors > 1:
            last = f"ORDER BY {p}p DESC, {p}label LIMIT 1"
            return self._with_likely(f"SELECT CASE {p}label {choices} END", last)
        return (
            f"(WITH {self._boxes()}\n"
            f"  SELECT CASE {p}label {choices} END\n"
            f"  FROM {self._ranks()}\n"
            f"  GROUP BY {p}rank, {p}label\n"
            f"  ORDER BY {p}rank DESC, {self._oldest()}, SUM({p}n) DESC, {p}label LIMIT 1)"
        )

    def probability(self, label: int) -> str:
        """Return the expression for the probability of a class."""
        p = self.prefix
        if not (self.record.labels == label).any():
            return f"({self._part()} * {double(float(self._shares()[label]))})"
        return self._with_likely(f"SELECT {p}p", f"WHERE {p}label = {label}")

    def _oldest(self) -> str:
        """Return the aggregate of the oldest box that may settle a tie."""
        p = self.prefix
        settles = f"{p}rank = 1 AND {p}single = 1"
        return f"MIN(CASE WHEN {settles} THEN {p}box ELSE {len(self.record.labels)} END)"

    @property
    def _calibration(self) -> DistanceCalibration:
        assert self.record.calibration is not None
        return self.record.calibration

    def _shares(self) -> np.ndarray:
        return class_shares(self.record.labels, self.record.counts, self.record.n_classes)

    def _unknown(self) -> str:
        """Return the part of the features in which the row has no value, "" if it is always 0."""
        compared = np.flatnonzero(self.record.compared).tolist()
        if not compared:
            return ""
        each = [f"CASE WHEN {self.columns[j]} IS NULL THEN 1.0e0 ELSE 0.0e0 END" for j in compared]
        return f"CAST(({chain(each, ' + ')}) / {double(len(compared))} AS DOUBLE PRECISION)"

    def _part(self) -> str:
        """Return the part of the probability that is divided by the classes' shares."""
        prior, unknown = self._calibration.prior_weight, self._unknown()
        if not unknown:
            return double(prior)
        power = f"EXP({double(self._calibration.power)} * LN({unknown}))"
        least = f"CASE WHEN {unknown} > 0 THEN {power} ELSE 0.0e0 END"
        return f"({double(prior)} + {double(1.0 - prior)} * {least})"

    def _with_likely(self, start: str, end: str) -> str:
        """Return a query of the probabilities of the classes that have boxes."""
        steps = [*self._distances(), *self._likely()]
        if self.record.n_neighbors == 1:
            steps += self._levelled()
        tables = [f"{self.prefix}{name} AS (SELECT {query})" for name, query in steps]
        listed = ",\n  ".join([self._boxes(), *tables])
        return f"(WITH {listed}\n  {start} FROM {self.prefix}{steps[-1][0]} {end})"

    def _distances(self) -> Iterator[tuple[str, str]]:
        """Yield queries of the distance of each class, its rank, and what settles ties."""
        p, n_neighbors, width = self.prefix, self.record.n_neighbors, self._calibration.width
        by_label = f"OVER (PARTITION BY {p}label"
        yield (
            "ordered",
            f"*, ROW_NUMBER() {by_label} ORDER BY {p}distance) AS {p}position, "
            f"MIN({p}distance) {by_label}) AS {p}least, MAX({p}rank) {by_label}) AS {p}best\n"
            f"    FROM {self._ranks(f'{p}distance, ')}",
        )
        distance = f"MIN({p}distance)"
        if n_neighbors > 1:
            exponent = f"({p}least - {p}distance) / {double(width)}"
            is_near = f"{p}position <= {n_neighbors} AND {exponent} > {double(_LEAST_EXPONENT)}"
            total = f"SUM(CASE WHEN {is_near} THEN EXP({exponent}) ELSE 0.0e0 END)"
            distance = f"{distance} - {double(width)} * LN({total} / {double(n_neighbors)})"
        n_tied = f"SUM(CASE WHEN {p}rank = {p}best THEN {p}n ELSE 0 END)"
        yield (
            "classes",
            f"{p}label, {distance} AS {p}distance, {n_tied} AS {p}n, {self._oldest()} AS {p}oldest"
            f" FROM {p}ordered GROUP BY {p}label",
        )
        yield "ranked", f"*, {self._closeness()} FROM {p}classes"

    def _likely(self) -> Iterator[tuple[str, str]]:
        """Yield queries of the probability of each class, as `calibrated` computes it."""
        p, calibration, unknown = self.prefix, self._calibration, self._unknown()
        offset, slope = double(calibration.offset), calibration.slope
        ratio = f"(MIN({p}distance) OVER () + {offset}) / ({p}distance + {offset})"
        yield (
            "compared",
            f"*, LN({ratio}) AS {p}lead, MAX({p}rank) OVER () AS {p}top FROM {p}ranked",
        )
        is_near = f"{p}lead > {double(_LEAST_EXPONENT / slope)}"
        odds = f"CASE WHEN {is_near} THEN EXP({double(slope)} * {p}lead) ELSE 0.0e0 END"
        yield "weighed", f"*, {odds} AS {p}odds FROM {p}compared"
        own = f"{p}odds"
        if unknown:
            is_tied = f"CASE WHEN {p}rank = {p}top THEN"
            pool, n = (f"SUM({is_tied} {p}{sum} ELSE 0 END) OVER ()" for sum in ("odds", "n"))
            divided = f"{is_tied} {pool} * {p}n / {n} ELSE {p}odds END"
            own = f"CASE WHEN {unknown} > 0 THEN {divided} ELSE {p}odds END"
        shares = enumerate(self._shares().tolist())
        share = " ".join(f"WHEN {label} THEN {double(share)}" for label, share in shares)
        by_distance = f"(1 - {self._part()}) * ({own}) / SUM({p}odds) OVER ()"
        by_share = f"{self._part()} * CASE {p}label {share} END"
        yield "likely", f"*, {by_distance} + {by_share} AS {p}p FROM {p}weighed"

    def _levelled(self) -> Iterator[tuple[str, str]]:
        """Yield queries of probabilities of which that of the nearest box's class is the largest.

        What others have more is divided among it and them so that all have the same: the largest
        mean of the probability of the nearest box's class and some others.
        """
        p = self.prefix
        winner_first = f"ORDER BY {p}rank DESC, {p}oldest, {p}n DESC, {p}label"
        yield "sorted", f"*, ROW_NUMBER() OVER ({winner_first}) AS {p}position FROM {p}likely"
        is_first = f"CASE WHEN {p}position = 1 THEN"
        order = f"OVER (ORDER BY {is_first} 1 ELSE 0 END, {p}p DESC, {p}label"
        yield (
            "summed",
            f"*, SUM({p}p) {order} ROWS UNBOUNDED PRECEDING) AS {p}above, "
            f"ROW_NUMBER() {order}) AS {p}number, MAX({is_first} {p}p END) OVER () AS {p}own\n"
            f"    FROM {p}sorted",
        )
        mean = f"({p}own + {p}above) / ({p}number + 1)"
        level = f"MAX({is_first} {p}own ELSE {mean} END) OVER ()"
        yield "levels", f"{p}label, {p}p, {p}position, {level} AS {p}level FROM {p}summed"
        is_level = f"{p}position = 1 OR {p}p > {p}level"
        value = f"CASE WHEN {is_level} THEN {p}level ELSE {p}p END AS {p}p"
        yield "levelled", f"{p}label, {value} FROM {p}levels"

    def _boxes(self) -> str:
        """Return the table of the boxes that have a label, in the units of the model."""
        record, p = self.record, self.prefix
        chosen = np.flatnonzero(record.labels >= 0)
        facts = np.column_stack([chosen, record.labels[chosen], record.counts[chosen]])
        bounds = np.hstack([record.lower[chosen], record.upper[chosen]])
        rows = [
            f"({', '.join([*map(str, of_box), *map(double_or_null, ends)])})"
            for of_box, ends in zip(facts.tolist(), bounds.tolist(), strict=True)
        ]
        ends = [f"{p}{end}{j}" for end in "vw" for j in range(len(self.columns))]
        listed = ",\n    ".join(rows)
        names = [*self._names("box", "label", "n"), *ends]
        return f"{p}boxes ({', '.join(names)}) AS (VALUES\n    {listed})"

    def _names(self, *names: str) -> list[str]:
        return [f"{self.prefix}{name}" for name in names]

    @property
    def _facts(self) -> str:
        return ", ".join(self._names("box", "label", "n", "single"))

    def _single(self) -> str:
        """Return whether a box of a single sample may settle a tie for a row, as 1 or 0."""
        p = self.prefix
        conditions = [
            f"{value} IS NOT NULL"
            for j in np.flatnonzero(self.record.compared).tolist()
            for value in (self.columns[j], f"{p}v{j}")
        ]
        is_single = chain([f"{p}n = 1", *conditions], " AND ")
        return f"CASE WHEN {is_single} THEN 1 ELSE 0 END AS {p}single"

    def _ranks(self, more: str = "") -> str:
        """Return the query of the rank of each box, the largest for the nearest."""
        p, facts = self.prefix, self._facts
        gaps = ", ".join(map(self._gap, range(len(self.columns))))
        own = ", ".join([*self._names("box", "label", "n"), self._single()])
        source = self._table(f"{own}, {gaps} FROM {p}boxes", "gaps")
        source = self._mean(source) if self.record.is_mean else self._largest(source)
        distances = f"(SELECT {facts}, {source}) {p}distances"
        return f"(SELECT {facts}, {more}{self._closeness()} FROM {distances}) {p}ranks"

    def _table(self, query: str, name: str) -> str:
        """Return a query of one row for each box, which has a name."""
        # A limit keeps databases from writing out each column again wherever it is used.
        n_boxes = np.count_nonzero(self.record.labels >= 0)
        return f"(SELECT {query} LIMIT {n_boxes}) {self.prefix}{name}"

    def _closeness(self) -> str:
        distance = f"{self.prefix}distance"
        closeness = f"CASE WHEN {distance} < 1 THEN 1 - {distance} ELSE -{distance} END"
        return f"{closeness} AS {self.prefix}rank"

    def _gap(self, j: int) -> str:
        """Return the weighted gap in a feature; 0 if row or box lack it."""
        scale, p = self.record.scale, self.prefix
        low, span, gamma = (
            double(float(values[j])) for values in (scale.low, scale.span, self.record.gamma)
        )
        x, v, w = f"({self.columns[j]} - {low}) / {span}", f"{p}v{j}", f"{p}w{j}"
        return (
            f"CASE WHEN {x} > {w} THEN ({x} - {w}) * {gamma} "
            f"WHEN {x} < {v} THEN ({v} - {x}) * {gamma} ELSE 0.0e0 END AS {p}g{j}"
        )

    def _mean(self, source: str) -> str:
        """Return the mean gap and its source; gaps are added up in the order of the features."""
        p, n_features = self.prefix, len(self.columns)
        gaps = [f"{p}g{j}" for j in range(n_features)]
        near_gaps = [f"CASE WHEN {gap} < 1 THEN {gap} ELSE 1.0e0 END" for gap in gaps]
        near, far = "0.0e0", "0.0e0"
        for start in range(0, n_features, _MOST_TERMS):
            end = start + _MOST_TERMS
            near = " + ".join([near, *near_gaps[start:end]])
            far = " + ".join([far, *gaps[start:end]])
            rest = "".join(f", {gap}" for gap in gaps[end:])
            sums = f"{near} AS {p}near, {far} AS {p}far"
            source = self._table(f"{self._facts}, {sums}{rest} FROM {source}", f"sums{start}")
            near, far = f"{p}near", f"{p}far"
        number = f"{n_features}.0e0"
        beyond = f"CASE WHEN {far} > {number} THEN {far} ELSE {number} END"
        distance = f"CASE WHEN {near} < {number} THEN {near} ELSE {beyond} END / {number}"
        return f"{distance} AS {p}distance FROM {source}"

    def _largest(self, source: str) -> str:
        """Return the largest gap and its source: in rounds, the larger of two each."""
        p = self.prefix
        gaps = [f"{p}g{j}" for j in range(len(self.columns))]
        level = 0
        while len(gaps) > 1:
            level += 1
            pairs = [gaps[k : k + 2] for k in range(0, len(gaps), 2)]
            gaps = [f"{p}m{level}_{k}" for k in range(len(pairs))]
            named = ", ".join(
                f"{_larger(*pair)} AS {name}" for pair, name in zip(pairs, gaps, strict=True)
            )
            source = self._table(f"{self._facts}, {named} FROM {source}", f"level{level}")
        return f"{gaps[0]} AS {p}distance FROM {source}"


def _larger(first: str, second: str = "") -> str:
    """Return the larger of two numbers, or the only one."""
    return f"CASE WHEN {first} > {second} THEN {first} ELSE {second} END" if second else first
