"""The report on a model: one HTML page for people who know the data but not the method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hyperboxes._estimators.adaptive import AdaptiveGFMM
from hyperboxes._estimators.capabilities import Operation
from hyperboxes._estimators.random import RandomHyperboxes
from hyperboxes._readers.fitted import check_integer, is_voting, read_fitted, read_pipeline
from hyperboxes._report.page import (
    write_ensemble_page,
    write_memory_page,
    write_page,
    write_vote_page,
)
from hyperboxes._report.page_data import (
    Contents,
    EnsembleContents,
    MemoryContents,
    VoteContents,
    ask,
)


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
) -> str:
    """Write a report on a fitted classifier and samples with known labels as an HTML page.

    The page says what the model is, how good it is on the samples, lists its rules in a table
    to search and sort, and explains the prediction for any sample shown, with pictures. It
    needs nothing but a browser: no network, no other files.

    Of boxes that vote (`BoostedHyperboxes`) it also shows the importances of the features, and of
    each sample what each box adds to the scores. Of a memory (`AdaptiveGFMM`) it shows whom the
    model trusts, and of each sample which boxes voted and when they were confirmed; of ensembles
    (`RandomHyperboxes`) the importances, and of each sample what each feature speaks for, and which
    boxes spoke the loudest.

    The values of a sample can be changed in the page, which predicts as the model does, but for
    `AdaptiveGFMM`, ensembles, and models in which something else than the nearest box decides.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a fitted Pipeline that ends in one: samples are then those that the
        Pipeline takes, names those that its steps give, and values as transformed.
    X : array-like of shape (n_samples, n_features)
        The samples, or the lower ends of interval samples. Take samples that the model was not
        trained on: on training data the scores are too good.
    y : array-like of shape (n_samples,)
        Their labels. Samples whose label is the model's `unlabeled`, None or NaN have none, and
        do not count in the scores. Labels that the model does not know count as mistakes.
    X_upper : array-like of shape (n_samples, n_features), default=None
        The upper ends of interval samples. Not for boxes that vote.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features. None: those of the training data, or x0, x1, ...
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes, in the order of ``classes_``. None: the labels.
    title : str, default=None
        The heading of the page. None: one that names the learner.
    max_samples : int, default=500
        How many samples can be looked at in the page: wrong predictions first, then others at
        regular distances. None: all. The scores are always those of all samples.
    max_rules : int, default=5000
        How many rules the page has at most: those with the largest support, or the largest votes.
        None: all. Boxes that explain a sample shown are always there.

    Returns
    -------
    page : str
        The page. Write it to a file in UTF-8. Rows are numbered from 1.

    See Also
    --------
    explain : The explanations alone.
    export_text : The rules as a text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from hyperboxes import ImprovedOnlineGFMM, export_html
    >>> iris = load_iris(as_frame=True)
    >>> model = ImprovedOnlineGFMM(theta=0.3, random_state=0).fit(iris.data[::2], iris.target[::2])
    >>> page = export_html(model, iris.data[1::2], iris.target[1::2],
    ...                    class_names=iris.target_names, title="Iris flowers")
    >>> Path("iris.html").write_text(page, encoding="utf-8")  # doctest: +SKIP
    >>> page[:15]
    '<!doctype html>'
    """
    check_integer("max_samples", max_samples, 1)
    check_integer("max_rules", max_rules, 1)
    model, X, X_upper = read_pipeline(model, X, X_upper)
    read_fitted(model, Operation.REPORT)
    title = title or f"A model of boxes: {type(model).__name__}"
    of_kind, write = _kind_of_page(model)
    if X_upper is not None and is_voting(model):
        raise ValueError(f"{type(model).__name__} takes no interval samples: no X_upper.")
    answers = ask(model, X, y, X_upper, feature_names, class_names, max_samples)
    return write(of_kind(answers, max_rules), title)


def _kind_of_page(model: Any) -> tuple[Callable[..., Any], Callable[[Any, str], str]]:
    """Return what makes the contents of a page on a fitted model, and what writes it."""
    if is_voting(model):
        return VoteContents.of, write_vote_page
    if isinstance(model, RandomHyperboxes):
        return EnsembleContents.of, write_ensemble_page
    if isinstance(model, AdaptiveGFMM):
        return MemoryContents.of, write_memory_page
    return Contents.of, write_page
