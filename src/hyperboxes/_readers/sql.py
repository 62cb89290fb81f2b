"""A fitted model as SQL: every row's class, or the crisp part, that of the box that contains a row.

The crisp part is written here. Where boxes of several classes contain a row, it settles the tie as
`predict` does. Most boxes share no point with one of another class, so their order does not matter;
the others come last.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from hyperboxes._estimators.capabilities import Operation, check_labels
from hyperboxes._models.records import AdditiveBoxes, NearestBoxes
from hyperboxes._readers.fitted import FittedModel, check_feature_names, read_fitted
from hyperboxes._readers.quality import rows_between
from hyperboxes._readers.sql_additive import write_additive_sql
from hyperboxes._readers.sql_nearest import write_nearest_sql
from hyperboxes._readers.sql_text import (
    CLOSING_QUOTES,
    CategoryWriter,
    case,
    chain,
    double,
    first_largest,
    identifier,
    indented,
    literal,
    write_steps_sql,
)


def export_sql(
    model: Any,
    *,
    table: str | Sequence[str] | None = None,
    column_names: Any = None,
    class_names: Any = None,
    default: Any = None,
    nullable: bool | None = None,
    quote: str = '"',
    nearest: bool = True,
    probabilities: bool = False,
) -> str:
    """Write the boxes of a fitted classifier as SQL that gives the class of each row.

    Every row gets the class of `predict`, to the last bit. If several boxes of each class decide
    (``n_neighbors_ > 1``), it does wherever one probability is larger by more than 1e-9. With
    ``nearest=False``, rows in a box (membership 1) get it, also where classes tie, and others get
    `default`: that is the crisp part of the model, in SQL that any database understands.

    A `BoostedHyperboxes` has no crisp part: every row gets the class of `predict`.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a fitted Pipeline that ends in one. Its other steps are written as
        well, so that the columns are those of the Pipeline's input: StandardScaler,
        MinMaxScaler, MaxAbsScaler, RobustScaler and SimpleImputer; others are unsupported. The SQL
        computes in double precision, as a Pipeline does with samples of float64, not of float32.
    table : str or sequence of str, default=None
        A table, or its schema and name, to write a whole query: all columns of the table, named
        ``t``, and the class as "prediction". None: write the expression only, ``CASE ... END``.
    column_names : array-like of shape (n_features,), default=None
        The database's columns of the features; for a Pipeline, those of its input. None: the names
        in the training data, or x0, x1, ...
    class_names : array-like of shape (n_classes,), default=None
        Strings to return in place of the labels, in the order of ``classes_``.
    default : str, bool, int or float, default=None
        With ``nearest=False``: the value of rows in no box. None: NULL. Not for
        `BoostedHyperboxes`.
    nullable : bool, default=None
        With ``nearest=False``: whether columns may be NULL, for a missing value. If True, NULL
        satisfies any condition, as NaN in `predict`; the SQL is more than twice as long. If False,
        columns must not be NULL. None: True if boxes lack bounds in a feature, because their
        samples lacked values; otherwise False, and rows with NULL get `default`. For a
        `BoostedHyperboxes`, NULL is a missing value unless False is given.
    quote : {'"', "`", "["}, default='"'
        How identifiers are quoted: as in the standard, in MySQL (where backslashes in labels are
        doubled as well), or in SQL Server. The last two need ``nearest=False`` or a
        `BoostedHyperboxes`.
    nearest : bool, default=True
        Whether rows in no box get the class of the nearest box. Each row is then compared with
        every box, which takes longer, and NULL is always a missing value. It needs a database with
        common table expressions of VALUES, as PostgreSQL, SQLite and DuckDB have; tested are the
        last two. Without effect for `BoostedHyperboxes`. If several boxes of each class decide, it
        needs the functions EXP and LN, and False is unsupported.
    probabilities : bool, default=False
        With `table`: whether to add a column for each class, "probability of ...", as
        `predict_proba` except for the last digits. It needs the function EXP, for nearest boxes
        also LN, and the query is longer by its own length for each class.

    Returns
    -------
    sql : str
        The expression or query.

    See Also
    --------
    export_text : The rules as a text.
    to_onnx : The whole model, with the nearest box, as an ONNX graph.

    Notes
    -----
    Numbers are double precision literals. In the crisp part, bounds are written as they are where
    all bounds of a feature have few digits. The model compares after scaling to [0, 1], so results
    may differ for values within a rounding error of such a bound. Otherwise the outermost numbers
    are written that are inside for the model, and results are the same to the last bit. With
    ``membership_function="mean"``, rounding errors of several features add up: a row that is off by
    one in more than one feature has a membership a rounding error below 1, and here it is inside.

    Examples
    --------
    >>> from hyperboxes import ImprovedOnlineGFMM, export_sql
    >>> X, y = [[1.0, 30.0], [2.0, 20.0], [9.0, 80.0]], ["low", "low", "high"]
    >>> model = ImprovedOnlineGFMM(random_state=0).fit(X, y)
    >>> names = ["age", "weight"]
    >>> print(export_sql(model, table="patients", column_names=names, nearest=False))
    SELECT t.*, CASE
      WHEN t."age" BETWEEN 1.0e0 AND 2.0e0 AND t."weight" BETWEEN 20.0e0 AND 30.0e0 THEN 'low'
      WHEN t."age" = 9.0e0 AND t."weight" = 80.0e0 THEN 'high'
    END AS "prediction" FROM "patients" t
    """
    if quote not in CLOSING_QUOTES:
        raise ValueError(f"quote must be one of {', '.join(CLOSING_QUOTES)}, got {quote!r}.")
    operation = Operation.SQL if nearest else Operation.CRISP_SQL
    fitted = read_fitted(model, operation, class_names=class_names)
    columns = _write_columns(fitted, column_names, quote, "" if table is None else "t.")
    labels = fitted.labels.tolist() if class_names is None else fitted.class_names
    classes = [literal(label, quote) for label in labels]
    categories = CategoryWriter(fitted.categories, quote)
    record, others = fitted.record, {}
    is_crisp = isinstance(record, NearestBoxes) and not (nearest and record.calibration)
    if probabilities and (table is None or is_crisp):
        raise ValueError(
            "probabilities=True is for queries on models with calibrate=True: pass table, and "
            "leave out nearest=False."
        )
    match record:
        case AdditiveBoxes():
            if default is not None:
                raise ValueError("Additive boxes give every row a class: leave out default.")
            write = partial(write_additive_sql, record, columns, classes, nullable, categories)
        case NearestBoxes():
            check_labels(record)
            if nearest:
                _check_options_of_nearest(default, nullable, quote)
                write = partial(write_nearest_sql, record, categories.positions(columns), classes)
            else:
                if nullable is None:
                    nullable = bool(np.isnan(record.lower).any())
                writer = _CrispWriter(fitted, record, columns, classes, categories)
                write = partial(writer.expression, literal(default, quote), nullable)
        case _:
            raise AssertionError(record.kind)
    if probabilities:
        for code, name in enumerate(fitted.class_names):
            others[f"probability of {name}"] = write(label=code)
        if len(others) < len(classes):
            raise ValueError("Two classes have the same name: pass class_names that differ.")
    if table is None:
        return write()
    return _query({"prediction": write(), **others}, table, quote)


def _write_columns(fitted: FittedModel, names: Any, quote: str, source: str) -> list[str]:
    """Return the columns of the features as SQL, after the steps of a Pipeline."""
    first = fitted.steps[0] if fitted.steps else fitted.estimator
    if names is None:
        names = getattr(first, "feature_names_in_", None)
    names = check_feature_names(names, first.n_features_in_, "column_names")
    columns = [f"{source}{identifier(name, quote)}" for name in names]
    return write_steps_sql(fitted.steps, columns)


def _check_options_of_nearest(default: Any, nullable: bool | None, quote: str) -> None:
    if default is not None or nullable is not None:
        raise ValueError(
            "default and nullable are for the crisp part, and here every row is answered: leave "
            "them out, or pass nearest=False."
        )
    if quote != '"':
        raise ValueError(
            f"quote={quote!r} is for databases without tables of VALUES, which the nearest box "
            "needs: pass nearest=False for the crisp part."
        )


def _query(expressions: dict[str, str], table: str | Sequence[str], quote: str) -> str:
    """Return a query for all columns of a table and further ones."""
    parts = [table] if isinstance(table, str) else list(table)
    if not all(parts) or not parts:
        raise ValueError(f"table must be a name, or a schema and a name, got {table!r}.")
    source = ".".join(identifier(part, quote) for part in parts)
    added = [f"{text} AS {identifier(name, quote)}" for name, text in expressions.items()]
    return f"SELECT t.*, {', '.join(added)} FROM {source} t"


class _CrispWriter:
    """Writes the expression for the labelled boxes of a model, in the order of `self.lower`."""

    def __init__(
        self,
        fitted: FittedModel,
        record: NearestBoxes,
        columns: list[str],
        classes: list[str],
        categories: CategoryWriter,
    ) -> None:
        boxes = fitted.hyperboxes
        self.columns, self.classes, self.categories = columns, classes, categories
        labelled = np.flatnonzero(boxes.labels >= 0)
        self.lower, self.upper = _written_bounds(
            record, boxes.lower[labelled], boxes.upper[labelled]
        )
        self.labels, self.counts = boxes.labels[labelled], boxes.counts[labelled]
        self.compared, self.may_settle = record.compared, record.may_settle[labelled]

    def expression(self, default: str, nullable: bool) -> str:
        """Return the whole expression."""
        complete = case(self._whens_of_complete_rows(), default)
        constrained = np.flatnonzero(~np.isnan(self.lower).all(axis=0) | self.compared)
        if not nullable or len(constrained) == 0:
            return complete
        incomplete = case(self._whens_of_incomplete_rows(), default)
        is_complete = chain([self._is_known(j) for j in constrained.tolist()], " AND ")
        return case([f"WHEN {is_complete} THEN {indented(complete)}"], indented(incomplete))

    def _is_known(self, feature: int) -> str:
        column = self.columns[feature]
        if feature in self.categories:
            return self.categories.is_known(column, feature)
        return f"{column} IS NOT NULL"

    def _whens_of_complete_rows(self) -> Iterator[str]:
        """Yield the cases of a row without NULL.

        First boxes that share no point with another class: if one contains the row, it has that
        class. Then, as in `predict`, boxes of a single sample by age, and those of several.
        """
        by_support = np.argsort(-self.counts, kind="stable")
        contested = self._find_contested()
        single = self.may_settle
        first = np.concatenate(
            [by_support[~contested[by_support]], np.flatnonzero(contested & single)]
        )
        for box in first.tolist():
            yield self._when(box, self.classes[self.labels[box]])
        rest = by_support[(contested & ~single)[by_support]]
        for i, box in enumerate(rest):
            yield self._when(box, self._decide(box, rest[i + 1 :]))

    def _whens_of_incomplete_rows(self) -> Iterator[str]:
        """Yield the cases of any row: with NULL, any box may share it with any other."""
        single = self.may_settle & ~self.compared.any()
        for box in np.flatnonzero(single).tolist():
            yield self._when(box, self.classes[self.labels[box]], nullable=True)
        several = np.flatnonzero(~single)
        scores = {
            label: self._score(several[self.labels[several] == label], nullable=True)
            for label in np.unique(self.labels[several])
        }
        for label, conditions in first_largest(scores):
            is_largest = chain([f"{scores[label]} > 0", *conditions], " AND ")
            yield f"WHEN {is_largest} THEN {self.classes[label]}"

    def _find_contested(self) -> np.ndarray:
        """Return which boxes share a point with a box of another class."""
        contested = np.zeros(len(self.labels), bool)
        for label in np.unique(self.labels):
            others = self.labels != label
            lower, upper = self.lower[others], self.upper[others]
            for box in np.flatnonzero(~others):
                contested[box] = len(rows_between(lower, upper, self.lower[box], self.upper[box]))
        return contested

    def _meeting(self, boxes: np.ndarray, box: int) -> np.ndarray:
        """Return those of some boxes that share a point with a box."""
        met = rows_between(self.lower[boxes], self.upper[boxes], self.lower[box], self.upper[box])
        return boxes[met]

    def _decide(self, box: int, others: np.ndarray) -> str:
        """Return the class of a row that a box contains, and none of those before it.

        It is that of the box, unless others that may contain the row add up to more. Boxes of
        which any two share a point all share one, so it is enough to look at pairs.
        """
        own, count = self.labels[box], self.counts[box]
        others = self._meeting(others, box)
        votes = np.bincount(self.labels[others], self.counts[others], len(self.classes))
        first = np.arange(len(votes)) < own
        rivals = np.setdiff1d(np.flatnonzero((votes > count) | ((votes == count) & first)), [own])
        if len(rivals) == 0:
            return self.classes[own]
        against = others[np.isin(self.labels[others], rivals)]
        allies = others[self.labels[others] == own]
        allies = [ally for ally in allies if len(self._meeting(against, ally))]
        scores = {own: self._score(allies, start=count)}
        scores |= {label: self._score(against[self.labels[against] == label]) for label in rivals}
        *cases, (last, _) = first_largest(scores)
        whens = (f"WHEN {chain(ifs, ' AND ')} THEN {self.classes[label]}" for label, ifs in cases)
        return indented(case(whens, self.classes[last]))

    def _score(self, boxes: Iterable[int], *, start: int = 0, nullable: bool = False) -> str:
        """Return the number of samples of those boxes that contain the row, plus `start`."""
        terms = [
            f"CASE WHEN {self._condition(box, nullable)} THEN {self.counts[box]} ELSE 0 END"
            for box in boxes
        ]
        return chain([str(start), *terms] if start else terms, " + ")

    def _when(self, box: int, result: str, *, nullable: bool = False) -> str:
        return f"WHEN {self._condition(box, nullable)} THEN {result}"

    def _condition(self, box: int, nullable: bool) -> str:
        """Return whether a box contains the row."""
        bounds = zip(self.columns, self.lower[box].tolist(), self.upper[box].tolist(), strict=True)
        conditions = []
        for j, (column, low, high) in enumerate(bounds):
            if np.isnan(low):
                continue
            if j in self.categories:
                conditions.append(self.categories.is_contained(column, j, low, high, nullable))
                continue
            ends = f"BETWEEN {double(low)} AND {double(high)}"
            condition = f"{column} {f'= {double(low)}' if low == high else ends}"
            conditions.append(f"({column} IS NULL OR {condition})" if nullable else condition)
        return chain(conditions or ["1 = 1"], " AND ")


def _written_bounds(
    record: NearestBoxes, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds as they are where they have few digits, else the outermost numbers inside.

    Inside, that is, for a row that the box contains in all other features. Bounds of many digits
    need not be the numbers of the training samples, which may lie outside by a rounding error that
    scaling takes away.
    """
    scale, gamma = record.scale, record.gamma
    v, w = scale.transform(lower), scale.transform(upper)

    def outside_by(gap: np.ndarray) -> np.ndarray:
        return record.degree_alone(gap) < 1.0  # rounding included

    far = scale.span * 2.0**-40 * len(gamma) / np.minimum(gamma, 1.0)
    first = _outermost(lower, lower - far, lambda x: outside_by(v - scale.transform(x)))
    last = _outermost(upper, upper + far, lambda x: outside_by(scale.transform(x) - w))
    short = [_is_short(*column) for column in zip(lower.T, upper.T, scale.span, strict=True)]
    return np.where(short, lower, first), np.where(short, upper, last)


def _outermost(
    inside: np.ndarray, outside: np.ndarray, is_outside: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the last numbers from `inside` towards `outside` that are not outside."""
    for _ in range(100):  # more than it takes to halve the gap down to neighbouring numbers
        middle = inside + (outside - inside) / 2
        beyond = is_outside(middle)
        inside, outside = np.where(beyond, inside, middle), np.where(beyond, middle, outside)
    return inside


def _is_short(lower: np.ndarray, upper: np.ndarray, span: float) -> bool:
    """Whether no bound has more than some 12 digits of a feature's range."""
    values = np.concatenate([lower, upper])
    digits = int(np.clip(12 - np.ceil(np.log10(span)), -300, 300))
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(((np.round(values, digits) == values) | np.isnan(values)).all())
