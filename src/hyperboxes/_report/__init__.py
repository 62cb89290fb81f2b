"""The report on a model: one HTML page for people who know the data but not the method."""

import base64
import hashlib
import json
import os
from importlib.resources import files
from typing import Any

from hyperboxes import __version__
from hyperboxes._estimators.capabilities import Operation
from hyperboxes._files.archive import replace_file
from hyperboxes._readers.explanation_html import read_template
from hyperboxes._readers.fitted import check_integer, read_fitted
from hyperboxes._report.page_data import Report, page_data
from hyperboxes._report.summary import describe

# The scripts for each kind of record, in the order in which they build on one another.
_SCRIPTS = {
    "nearest": (
        *("dom", "format", "model", "bounds", "rules", "strips", "plane", "covers"),
        *("nearest", "samples", "editor", "start"),
    ),
    "neighbors": (
        *("dom", "format", "model", "bounds", "rules", "strips", "memory"),
        *("samples", "editor", "start"),
    ),
    "additive": (
        *("dom", "format", "model", "bars", "votes", "voting", "rules"),
        *("samples", "editor", "start"),
    ),
    "ensemble": (
        *("dom", "format", "model", "bars", "ensembles", "rules"),
        *("samples", "editor", "start"),
    ),
}


def export_html(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_upper: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
    title: str | None = None,
    max_samples: int | None = 500,
    max_rules: int | None = 5000,
    path: str | os.PathLike[str] | None = None,
) -> Any:
    """Write a report on a fitted classifier and samples with known labels as an HTML page.

    The page describes the model, how good it is on the samples, lists its rules in a table
    to search and sort, and explains the prediction for any sample shown, with pictures. It needs
    only a browser, no network and no other files.

    For `BoostedHyperboxes` it also shows the importances of the features, and for each sample what
    each box adds to the scores. For `AdaptiveGFMM` it shows the weights of the experts, and for
    each sample the boxes that voted and when they were last matched; for `RandomHyperboxes` the
    importances, and for each sample what features and boxes contribute.

    Values of a sample can be changed in the page, which predicts as the model does, except for
    `AdaptiveGFMM` and `RandomHyperboxes`.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a fitted Pipeline that ends in one: samples are then those that the
        Pipeline takes, names those that its steps give, and values as transformed.
    X : array-like of shape (n_samples, n_features)
        The samples, or the lower ends of interval samples. Pass held-out samples: scores on
        training data are too high.
    y : array-like of shape (n_samples,)
        Their labels. Samples whose label is the model's `unlabeled`, None or NaN have none, and
        do not count in the scores. Labels that the model was not fitted with count as mistakes.
    X_upper : array-like of shape (n_samples, n_features), default=None
        The upper ends of interval samples. Not for boosted boxes.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features. None: those of the training data, or x0, x1, ...
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes, in the order of ``classes_``. None: the labels.
    title : str, default=None
        The heading of the page. None: the name of `y` or the classes, with the numbers of rules and
        rows.
    max_samples : int, default=500
        The number of samples that the page shows: wrong predictions first, then an even selection
        of the rest. None: all. The scores are always those of all samples.
    max_rules : int, default=5000
        The maximum number of rules: those with the largest support, or the largest weights. None:
        all. Boxes that explain a sample shown are always included.
    path : path-like, default=None
        The file to write the page to, in UTF-8; it is replaced. None: the page is returned.

    Returns
    -------
    page : str or None
        The page; None if it was written to `path`. Rows are numbered from 1.

    See Also
    --------
    explain : The explanations alone.
    export_text : The rules as a text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM, export_html
    >>> iris = load_iris(as_frame=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(iris.data[::2], iris.target[::2])
    >>> export_html(model, iris.data[1::2], iris.target[1::2], class_names=iris.target_names,
    ...             title="Iris flowers", path="iris.html")  # doctest: +SKIP
    """
    check_integer("max_samples", max_samples, 1)
    check_integer("max_rules", max_rules, 1)
    names = {"feature_names": feature_names, "class_names": class_names}
    fitted = read_fitted(model, Operation.REPORT, **names)
    report = Report.of(fitted, X, y, X_upper, max_samples, max_rules)
    page = write_page(report, title or _title(report, getattr(y, "name", None)))
    if path is None:
        return page
    return replace_file(path, page.encode())


def _title(report: Report, target: Any) -> str:
    """Return the name of the target or its classes, and how many rules and rows there are."""
    classes = report.fitted.class_names
    topic = " or ".join(classes) if len(classes) < 4 else f"{len(classes)} classes"
    n_rows = len(report.true)
    return f"{target or topic}: {report.n_boxes:,} rules, {n_rows:,} row{'s' * (n_rows != 1)}"


def write_page(report: Report, title: str) -> str:
    """Return the page."""
    kind = report.fitted.record.kind
    style = _read("style.css")
    script = "\n".join(['"use strict";', *(_read("js", f"{name}.js") for name in _SCRIPTS[kind])])
    data = page_data(report)
    return read_template("hyperboxes._report", f"{kind}.html").render(
        describe(report),
        title=title,
        version=__version__,
        uncertain=data["uncertain"],
        policy=_policy(style, script),
        style=style,
        script=script,
        data=script_json(data),
    )


def script_json(value: Any) -> str:
    """Return JSON that a script element can hold: nothing in it ends the element or opens another.

    Also U+2028 and the like are escaped, and lone surrogates, which UTF-8 does not have.
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, script: str) -> str:
    """Allow this very style and script, and nothing from anywhere."""
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _read(*path: str) -> str:
    return files(__package__).joinpath(*path).read_text(encoding="utf-8").strip()
