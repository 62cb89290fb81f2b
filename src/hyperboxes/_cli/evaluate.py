"""Compare a model's predictions with the true labels in a table.

Use rows that the model was not trained on: scores on training rows are too high. Without such rows,
--cv estimates the scores: it trains new models with the parameters of this one, each on a part of
the rows, and tests them on the others.

The file may be larger than memory, unless --cv is given. Labels that are not classes of the model
count as mistakes. Rows without a label are left out if --unlabeled marks them, here or in training.
"""

import argparse
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hyperboxes._cli import columns, common
from hyperboxes._cli.common import UsageError
from hyperboxes._cli.tables import Table, find_files, open_table

HELP = "compare predictions with true labels"
EXAMPLES = """\
  hyperboxes evaluate iris.hyperboxes test.csv
  hyperboxes evaluate iris.hyperboxes test.csv --target species --json
  hyperboxes evaluate iris.hyperboxes train.csv --cv 5
"""

# A confusion matrix of more classes is not printed, but it is in the JSON.
_MAX_COLUMNS = 20

# Marks rows without a label in cross-validation; cells that are empty otherwise are an error.
_NO_LABEL = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    common.add_model(parser)
    common.add_data(parser, several=True)
    common.add_target(parser, required=False, help_text=common.TARGET_HELP)
    columns.add_matching(parser)
    folds = "cross-validate: train models like MODEL on all folds of DATA but one, predict that"
    common.add_number(parser, "--cv", folds)
    common.add_json(parser, "the scores")
    common.add_number(parser, "--chunk-size", "rows that are read at a time", common.CHUNK_SIZE)


def run(args: argparse.Namespace) -> None:
    """Evaluate."""
    if args.cv == 1:
        raise UsageError("--cv needs at least 2 folds")
    table = open_table(*find_files(args.data), sep=args.sep, decimal=args.decimal)
    model = columns.load_model(args.model)
    columns.check_classifier(model, args.model)
    columns.choose_target(args, model)
    reader = columns.find_features(args, model, table, args.target)
    scores = (_cross_validate if args.cv else _evaluate)(args, table, reader)
    if args.json:
        common.print_json(scores)
    else:
        _print_scores(scores)
    reader.note_unknown(args)


def _evaluate(
    args: argparse.Namespace, table: Table, reader: columns.FeatureReader
) -> dict[str, Any]:
    """Compare the model's predictions with the labels."""
    model = reader.model
    predictions = Predictions(model.classes_)
    chunks = table.chunks([*reader.columns, args.target], args.chunk_size)
    for chunk in common.with_progress(args, "Evaluating", chunks):
        labels, has_label = columns.read_target(args, model, chunk)
        predictions.add(model, reader.read(chunk), labels, has_label)
    if len(predictions) == 0:
        raise ValueError(f"{table.name} has no rows with a label")
    return _find_scores(predictions, model, common.n_boxes(model))


def _cross_validate(
    args: argparse.Namespace, table: Table, reader: columns.FeatureReader
) -> dict[str, Any]:
    """Train models with the parameters of the given one on all folds but one, and predict that.

    Rows without a label are learned by all models that can, and predicted by none.
    """
    X, labels = _read_all(args, table, reader)
    classes, counts = np.unique(labels[labels != _NO_LABEL], return_counts=True)
    if counts.max(initial=0) < args.cv:
        raise ValueError(
            f"{table.name}: no {args.target} has {args.cv} rows, so there cannot be {args.cv} folds"
        )
    if (few := classes[counts < args.cv]).size:
        few_rows = f"Note: there are fewer than {args.cv} rows of {few[0]}"
        common.note(args, f"{few_rows}, so not every fold has one")
    predictions, accuracies, sizes = Predictions(classes), [], []
    with common.progress(args, "Cross-validating", args.cv) as update:
        for fold in _make_folds(labels, args.cv):
            model = _fit_without(fold, reader.model, X, labels)
            predicted = predictions.add(model, _take(X, fold), labels[fold])
            accuracies.append(float(np.mean(predicted == labels[fold])))
            sizes.append(common.n_boxes(model))
            update(len(accuracies), f"{len(accuracies)} of {args.cv} folds")
    return _find_scores(predictions, reader.model, round(np.mean(sizes)), accuracies)


def _read_all(
    args: argparse.Namespace, table: Table, reader: columns.FeatureReader
) -> tuple[Any, np.ndarray]:
    """Return all rows and their labels."""
    chunks = list(table.chunks([*reader.columns, args.target]))
    if not chunks:
        raise ValueError(f"{table.name} has no rows")
    labels, has_label = zip(
        *(columns.read_target(args, reader.model, c) for c in chunks), strict=True
    )
    return reader.read(*chunks), np.where(
        np.concatenate(has_label), np.concatenate(labels), _NO_LABEL
    )


def _fit_without(fold: np.ndarray, like: Any, X: Any, labels: np.ndarray) -> Any:
    """Train a model like another on the rows that are not in a fold."""
    from sklearn.base import clone

    from hyperboxes._estimators.pipelines import ModelParts, join_model

    rows = np.setdiff1d(np.arange(len(labels)), fold)
    has_label, (steps, estimator, threshold) = labels[rows] != _NO_LABEL, common.split_model(like)
    estimator = clone(estimator)
    if "unlabeled" in estimator.get_params(deep=False):
        estimator.set_params(unlabeled=None if has_label.all() else _NO_LABEL)
    else:
        rows = rows[has_label]
    if getattr(estimator, "random_state", 0) is None:
        estimator.set_params(random_state=0)  # the same scores each time
    model = join_model(ModelParts([clone(step) for step in steps], estimator, None))
    fitted = common.split_model(model.fit(_take(X, rows), labels[rows]))
    return join_model(fitted._replace(threshold=threshold))


def _make_folds(labels: np.ndarray, n_folds: int) -> list[np.ndarray]:
    """Return the labelled rows in folds that have the classes in the same proportions."""
    from sklearn.model_selection import StratifiedKFold

    rows = np.flatnonzero(labels != _NO_LABEL)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about small classes, as does the note
        return [rows[fold] for _, fold in folds.split(rows, labels[rows])]


def _take(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


class Predictions:
    """Predictions of samples and their labels, by code: that of a class is its position."""

    def __init__(self, classes: np.ndarray) -> None:
        self._classes = classes
        self._codes = {str(label): code for code, label in enumerate(classes.tolist())}
        self._true: list[int] = []
        self._predicted: list[int] = []
        self._proba: list[np.ndarray] = []
        self.is_contained: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self._true)

    def add(self, model: Any, X: Any, labels: np.ndarray, has_label: Any = ...) -> np.ndarray:
        """Predict samples, whose labels are texts, and return the classes."""
        predicted: np.ndarray = model.predict(X)
        true = columns.match_spelling(labels[has_label], self._classes)
        self._true += self._encode(true.tolist())
        self._predicted += self._encode(map(str, predicted[has_label].tolist()))
        if hasattr(model, "predict_proba") and len(self._classes) <= _MAX_COLUMNS:
            proba = np.zeros((len(true), len(self._classes)))
            proba[:, self._encode(map(str, model.classes_.tolist()))] = model.predict_proba(X)[
                has_label
            ]
            self._proba.append(proba)
        if (membership := columns.find_membership(model, X)) is not None:
            self.is_contained.append(membership.max(axis=1) == 1)
        return predicted

    def _encode(self, texts: Iterable[str]) -> list[int]:
        """Return the codes of texts; those that are no classes get codes behind them."""
        return [self._codes.setdefault(text, len(self._codes)) for text in texts]

    def probability_scores(self) -> dict[str, Any]:
        """Return the scores of the probabilities, if the model has any."""
        from hyperboxes._readers.quality import probability_scores

        if not self._proba:
            return {}
        true, predicted = np.array(self._true), np.array(self._predicted)
        return probability_scores(true, predicted, np.concatenate(self._proba))

    def table(self) -> tuple[list[str], np.ndarray]:
        """Return the classes, and the counts with the true class in rows."""
        from sklearn.metrics import confusion_matrix

        names = sorted(self._codes, key=_by_number)
        codes = [self._codes[name] for name in names]
        return names, confusion_matrix(self._true, self._predicted, labels=codes)


def _find_scores(
    predictions: Predictions, model: Any, size: int, fold_accuracies: Sequence[float] = ()
) -> dict[str, Any]:
    """Return the scores for JSON; a score of 0 / 0 is None.

    `held` is the share of the samples that a box contains, of models with memberships. In
    cross-validation there is an accuracy of each fold, and `size`, the number of boxes, is a mean.
    """
    from hyperboxes._readers.quality import class_scores, overall_scores

    names, matrix = predictions.table()
    accuracy, balanced_accuracy = overall_scores(matrix)
    support = matrix.sum(axis=1)
    held = (
        float(np.concatenate(predictions.is_contained).mean()) if predictions.is_contained else None
    )
    threshold = common.split_model(model).threshold
    decided = {} if threshold is None else {"class": threshold.label, "probability": threshold[0]}
    return {
        "n_samples": int(matrix.sum()),
        "n_boxes": size,
        **({"threshold": decided} if decided else {}),
        "accuracy": accuracy,
        "majority_class": names[support.argmax()],
        "majority_accuracy": float(support.max() / matrix.sum()),
        "balanced_accuracy": balanced_accuracy,
        **predictions.probability_scores(),
        **({"fold_accuracies": list(fold_accuracies)} if fold_accuracies else {}),
        **({} if held is None else {"held": held}),
        "by_class": dict(zip(names, class_scores(matrix), strict=True)),
        "confusion_matrix": {"classes": names, "rows": matrix.tolist()},
    }


def _print_scores(scores: dict[str, Any]) -> None:
    """Print the scores for people."""
    folds, by_class = scores.get("fold_accuracies"), scores["by_class"]
    spread = f"({min(folds):.4f} to {max(folds):.4f} in {len(folds)} folds)" if folds else ""
    print(f"samples            {scores['n_samples']:,}")
    print(f"boxes              {scores['n_boxes']:,}{' on average' if folds else ''}")
    if threshold := scores.get("threshold"):
        print(f"threshold          {threshold['probability']:.4f}  (for {threshold['class']})")
    for title, key, remark in (
        ("accuracy", "accuracy", spread),
        ("majority", "majority_accuracy", f"(always predicting {scores['majority_class']})"),
        ("balanced accuracy", "balanced_accuracy", ""),
        ("AUC", "auc", "(the mean of the classes)" if len(by_class) > 2 else ""),
        ("log-loss", "log_loss", ""),
        ("in a box", "held", "(of any class)"),
    ):
        if key in scores:
            print(f"{title:18} {scores[key]:.4f}  {remark}".rstrip())
    header = ("class", "precision", "recall", "F1", "samples")
    rows = [
        (name, *(_number(s[key]) for key in ("precision", "recall", "f1")), f"{s['support']:,}")
        for name, s in by_class.items()
    ]
    print()
    _print_table([header, *rows])
    names, matrix = scores["confusion_matrix"].values()
    if len(names) <= _MAX_COLUMNS:
        counts = [(name, *map(str, row)) for name, row in zip(names, matrix, strict=True)]
        print("\ntrue class in rows, predicted in columns")
        _print_table([("", *names), *counts])
    if "calibration" in scores:
        print("\nprobability of the predicted class")
        lines = [("", "samples", "mean", "accuracy")]
        for tenth in scores["calibration"]:
            ends = f"{tenth['from']} to {tenth['to']}"
            shares = _number(tenth["mean_probability"]), _number(tenth["accuracy"])
            lines.append((ends, f"{tenth['n_samples']:,}", *shares))
        _print_table(lines)
    from hyperboxes._readers.quality import warn_of_scores

    for warning in warn_of_scores(names, np.array(matrix)):
        print(f"\n{warning}")


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}"


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = np.array([[len(cell) for cell in row] for row in rows]).max(axis=0)
    for first, *rest in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        print("  ".join(cells).rstrip())


def _by_number(name: str) -> tuple[int, float, str]:
    """Sort numbers by value and before words."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
