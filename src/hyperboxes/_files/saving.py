"""`save` and `load`: fitted models as files without pickle, in the format of docs/saving.md.

A model is a header (what it is, its parameters) and arrays (what it has learned). What is saved is
checked by the same rules as what is loaded, so that every saved model can be loaded. Parameters are
JSON: plain values, lists, dictionaries, and learners by their name and parameters.
"""

import io
import math
import os
import sys
from pathlib import Path
from types import NoneType
from typing import Any, BinaryIO

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

import hyperboxes
from hyperboxes._estimators import registry
from hyperboxes._estimators.access import access_of
from hyperboxes._estimators.categorical import known_categories
from hyperboxes._estimators.dates import DateFeatures
from hyperboxes._estimators.pipelines import ModelParts, Threshold, join_model, split_model
from hyperboxes._files import archive, schema
from hyperboxes._files.archive import ModelFileError

_FORMAT = "hyperboxes"
_FORMAT_VERSION = 3

_KINDS: dict[str, schema.ModelSchema] = {
    "nearest": schema.NearestSchema(),
    "clusters": schema.NearestSchema(),
    "additive": schema.AdditiveSchema(),
    "neighbors": schema.NeighborSchema(),
    "ensemble": schema.EnsembleSchema(),
}

# Keys of the header of every kind of model and what may stand there.
_HEADER: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "format_version": (int,),
    "hyperboxes_version": (str,),
    "estimator": (str,),
    "parameters": (dict,),
    "feature_names": (list, NoneType),
    "classes_are_objects": (bool,),
}

# Keys that only some models have.
_OPTIONAL: dict[str, tuple[type, ...]] = {
    "categories": (dict,),
    "target_name": (str,),
    "dates": (dict,),
    "threshold": (list,),
}

_PLAIN = (NoneType, bool, int, float, str)
_NOT_FINITE = ("nan", "inf", "-inf")
_MOST_DIMENSIONS = 2


def save(model: Any, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Save a fitted model to a file that `load` reads, without pickle.

    The loaded model predicts and continues training bit for bit like the saved one. The same model
    gives the same file. An existing file is replaced in one step: if anything fails, it remains as
    it was.

    Parameters
    ----------
    model : estimator
        A fitted model of this package, also in a Pipeline after `DateFeatures`, and in
        scikit-learn's ``FixedThresholdClassifier`` or ``TunedThresholdClassifierCV``, which is
        loaded as the former. Callbacks and metadata requests set on it are not saved, nor its
        results for training samples: ``labels_`` of `HyperboxClustering`, ``pruning_``, and
        ``oob_decision_function_``; nor the stages of `BoostedHyperboxes`.
    path : path-like or binary file
        Where to save; ``.hyperboxes`` is the usual suffix. An open file is written from its current
        position.

    See Also
    --------
    load : Load a saved model.

    Examples
    --------
    >>> import io
    >>> import hyperboxes
    >>> X, y = [[1.0], [2.0], [8.0]], ["a", "a", "b"]
    >>> model = hyperboxes.ImprovedOnlineGFMM(random_state=0).fit(X, y)
    >>> file = io.BytesIO()
    >>> hyperboxes.save(model, file)  # or a path, such as "model.hyperboxes"
    >>> _ = file.seek(0)
    >>> print(*hyperboxes.load(file).predict([[1.5], [9.0]]))
    a b
    """
    content = _to_bytes(model)
    if isinstance(path, io.TextIOBase):
        raise TypeError("save writes to binary files: open this one with mode 'wb'.")
    if hasattr(path, "write"):
        archive.write_all(path, content)
    else:
        archive.replace_file(path, content)


def load(path: str | os.PathLike[str] | BinaryIO) -> Any:
    """Load a model that `save` has saved.

    Nothing in the file is executed, and everything in it is checked: files from untrusted
    sources are safe to load. A checksum detects damage, not who wrote the file.

    Parameters
    ----------
    path : path-like or binary file
        What to load. An open file is read from its current position to its end.

    Returns
    -------
    model : estimator
        The fitted model, as it was saved: a Pipeline if it takes dates, in a
        ``FixedThresholdClassifier`` if it has a threshold.

    Raises
    ------
    ModelFileError
        If the file is not a saved model, is damaged or cut off, or has another format.

    See Also
    --------
    save : Save a fitted model.

    Examples
    --------
    >>> import io
    >>> import hyperboxes
    >>> hyperboxes.load(io.BytesIO(b"x,y"))
    Traceback (most recent call last):
    hyperboxes.ModelFileError: Cannot load the file: hyperboxes.save has not written it.
    """
    try:
        if hasattr(path, "read"):
            name = "the file"
            return _from_file(path)
        name = repr(os.fspath(path))
        with Path(path).open("rb") as file:
            return _from_file(file)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {name}: {error}.") from error.__cause__


def _to_bytes(model: Any) -> bytes:
    given, (steps, model, threshold) = model, split_model(model)
    steps = [step for step in steps if getattr(step, "dates_", None) != {}]
    learner = registry.find_by_class(type(model))
    has_other_steps = [type(step) for step in steps] not in ([], [DateFeatures])
    # A derived class is another one.
    if learner is None or learner.estimator is not type(model) or has_other_steps:
        raise TypeError(
            f"save takes a fitted {_known_names()}, alone or after DateFeatures, not "
            f"{type(given).__name__}. Of a pipeline or a search save the model in it, such as "
            "pipeline[-1], or save the whole with skops."
        )
    check_is_fitted(model)
    model._validate_params()
    with access_of(model).reading():
        try:
            kind = _find_kind(learner)
            header = _header(model, learner.class_name) | kind.read_header(model._model)
            if steps:
                header["dates"] = schema.dates_to_json(steps[0])
            if threshold is not None:
                header["threshold"] = [
                    threshold.value,
                    model.classes_.tolist().index(threshold.label),
                ]
            arrays = _arrays(model, kind)
            _check_values(kind, header, arrays)
        except ModelFileError as error:
            raise ValueError(f"This model cannot be saved: {error}.") from error
        return archive.pack(header, arrays)


def _find_kind(learner: registry.EstimatorEntry) -> schema.ModelSchema:
    if learner.files is None:
        return _KINDS[learner.kind]
    return registry.resolve(learner.files)()


def _known_names() -> str:
    """List what can be saved and loaded."""
    return ", ".join(sorted(learner.class_name for learner in registry.all_learners()))


def _header(model: Any, class_name: str) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    target = {"target_name": model.target_name_} if hasattr(model, "target_name_") else {}
    return {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "hyperboxes_version": hyperboxes.__version__,
        "estimator": class_name,
        "parameters": {
            name: to_json(name, value) for name, value in model.get_params(deep=False).items()
        },
        "feature_names": None if names is None else [str(name) for name in names],
        "classes_are_objects": is_classifier(model) and model.classes_.dtype == object,
        **schema.categories_to_json(known_categories(model)),
        **target,
    }


def _arrays(model: Any, kind: schema.ModelSchema) -> schema.Arrays:
    arrays = {
        name: np.asarray(array, kind.arrays[name][0])
        for name, array in kind.read_arrays(model._model).items()
    }
    if is_classifier(model):
        arrays["classes"] = _plain_classes(model.classes_)
    return arrays


def _plain_classes(classes: np.ndarray) -> np.ndarray:
    """Return the class labels as an array that holds no objects."""
    plain = classes
    if classes.dtype == object and all(isinstance(label, str) for label in classes):
        plain = classes.astype(str)
    if not archive.is_storable(plain.dtype.str) or plain.tolist() != classes.tolist():
        raise ModelFileError(
            f"its class labels are of type {classes.dtype}, but only Booleans, integers, floats "
            "and strings can be stored"
        )
    return plain


def _from_file(file: Any) -> Any:
    header, members = archive.unpack(file)
    _check_version(header)
    learner = _find_learner(header)
    kind = _find_kind(learner)
    _check_keys(header, kind)
    arrays = archive.parse_arrays(members)
    model = _new_estimator(header, learner)
    _check_members(arrays, kind, is_classifier(model))
    _check_values(kind, header, arrays)
    model = _restore(model, kind, header, arrays)
    has_dates = "dates" in header
    steps = [schema.dates_from_json(header["dates"], header["feature_names"])] if has_dates else []
    return join_model(ModelParts(steps, model, _read_threshold(header, model)))


def _read_threshold(header: dict[str, Any], model: Any) -> Threshold | None:
    match header.get("threshold"):
        case None:
            return None
        case [float(value), int(code)] if len(model.classes_) == 2 and code in (0, 1):
            if 0.0 <= value <= 1.0:
                return Threshold(value, model.classes_.tolist()[code])
    raise ModelFileError("its threshold is not a probability of one of two classes")


def _check_version(header: dict[str, Any]) -> None:
    version = header.get("format_version")
    if header.get("format") != _FORMAT or type(version) is not int or version < 1:
        raise ModelFileError("hyperboxes.save has not written it")
    if version != _FORMAT_VERSION:
        remedy = "upgrade it" if version > _FORMAT_VERSION else "fit the model again"
        raise ModelFileError(
            f"it is of format {version}, written by hyperboxes {_writer(header)}; this is "
            f"{hyperboxes.__version__}, which reads format {_FORMAT_VERSION}: {remedy}"
        )


def _find_learner(header: dict[str, Any]) -> registry.EstimatorEntry:
    name = header.get("estimator")
    if type(name) is not str:
        raise ModelFileError("its header is not that of a model")
    learner = registry.find_by_name(name)
    if learner is None:
        raise ModelFileError(f"it holds a {name[:40]!r}, but only {_known_names()} are known")
    return learner


def _check_keys(header: dict[str, Any], kind: schema.ModelSchema) -> None:
    optional = {key: types for key, types in _OPTIONAL.items() if key in header}
    needed = {**_HEADER, **kind.header, **optional}
    if header.keys() != needed.keys() or any(
        type(header[key]) not in types for key, types in needed.items()
    ):
        raise ModelFileError("its header is not that of a model")


def _writer(header: dict[str, Any]) -> str:
    """Return the version of the package that has written the file, which may be any text."""
    return repr(str(header.get("hyperboxes_version"))[:40]).strip("'")


def _new_estimator(header: dict[str, Any], learner: registry.EstimatorEntry) -> Any:
    """Return an unfitted estimator; parameters that the file does not name have their default."""
    cls = learner.estimator
    if unknown := header["parameters"].keys() - cls().get_params(deep=False).keys():
        raise ModelFileError(
            f"its parameter {min(unknown)[:40]!r} is not known here; hyperboxes {_writer(header)} "
            "has written it"
        )
    parameters = {name: from_json(name, value) for name, value in header["parameters"].items()}
    model = cls(**parameters)
    try:
        model._validate_params()
    except ValueError as error:
        raise ModelFileError(f"its parameters are not valid ({error})") from error
    return model


def _check_members(arrays: schema.Arrays, kind: schema.ModelSchema, has_classes: bool) -> None:
    """Check that the arrays are all there, with the right types and shapes."""
    if has_classes != ("classes" in arrays) or not kind.has_all(arrays.keys() - {"classes"}):
        raise ModelFileError("arrays are missing, or some are there that do not belong there")
    n_classes = arrays["classes"].size if has_classes else 0
    n_boxes, n_features = kind.find_shape(arrays)
    sizes = {
        "boxes": n_boxes,
        "features": n_features,
        "classes": n_classes,
        **kind.find_sizes(arrays),
    }
    for name in arrays.keys() - {"classes"}:
        descr, dimensions = kind.arrays[name]
        array = arrays[name]
        if array.dtype.str != descr or array.shape != tuple(map(sizes.get, dimensions)):
            raise ModelFileError(f"{name}.npy has the type {array.dtype} and shape {array.shape}")


def _check_values(kind: schema.ModelSchema, header: dict[str, Any], arrays: schema.Arrays) -> None:
    """Check that this is a model that a learner can have learned."""
    classes = arrays.get("classes")
    kind.check(header, arrays, _count_classes(classes))
    if header["classes_are_objects"] and (classes is None or classes.dtype.kind != "U"):
        raise ModelFileError("its classes are objects, but not strings")
    names, n_features = header["feature_names"], kind.find_shape(arrays)[1]
    if names is not None and [type(name) for name in names] != [str] * n_features:
        raise ModelFileError("there is not a name for each feature")
    schema.categories_from_json(header, n_features)


def _count_classes(classes: np.ndarray | None) -> int:
    """Return how many classes there are, which must be sorted for labels to be found in them."""
    if classes is None:
        return 0
    is_list = classes.ndim == 1 and len(classes) > 0
    if not (is_list and (classes[:-1] < classes[1:]).all() and classes[0] == classes[0]):
        raise ModelFileError("the classes are not a sorted list")
    return len(classes)


def _restore(
    model: Any, kind: schema.ModelSchema, header: dict[str, Any], arrays: schema.Arrays
) -> Any:
    """Give the estimator what the saved one had learned."""
    fitted: dict[str, Any] = {"n_features_in_": kind.find_shape(arrays)[1]}
    if header["feature_names"] is not None:
        fitted["feature_names_in_"] = np.array(header["feature_names"], object)
    if categories := schema.categories_from_json(header, fitted["n_features_in_"]):
        fitted["_categories"] = categories
    if "target_name" in header:
        fitted["target_name_"] = header["target_name"]
    n_classes = 0
    if "classes" in arrays:
        classes = arrays["classes"]
        if not hasattr(type(model), "classes_"):  # a property of `_model`
            fitted["classes_"] = classes.astype(
                object if header["classes_are_objects"] else classes.dtype
            )
        n_classes = len(classes)
    vars(model).update(fitted, _model=kind.restore(header, arrays, n_classes))
    return model


def to_json(name: str, value: Any) -> Any:
    """Return a parameter's value for JSON, which has no NaN and no infinity."""
    try:
        if isinstance(value, BaseEstimator):
            return _learner_to_json(value)
        if _has_learners(value, BaseEstimator):
            return [_learner_to_json(item) for item in value]
        return _to_json(value, _MOST_DIMENSIONS)
    except TypeError as error:
        raise ModelFileError(
            f"its parameter {name} is a {type(value).__name__}, but only None, Booleans, numbers, "
            "strings, dictionaries of such, and lists, tuples or arrays of such with up to two "
            "dimensions can be stored"
        ) from error


def from_json(name: str, value: Any) -> Any:
    """Return a parameter's value."""
    try:
        if type(value) is dict and value.keys() == {"learner", "parameters"}:
            return _learner_from_json(value)
        if _has_learners(value, dict):
            return [_learner_from_json(item) for item in value]
        return _from_json(value, _MOST_DIMENSIONS)
    except TypeError as error:
        raise ModelFileError(f"its parameter {name[:40]} is not valid ({error})") from error


def _has_learners(value: Any, kind: type) -> bool:
    return type(value) is list and len(value) > 0 and isinstance(value[0], kind)


def _learner_to_json(learner: Any) -> dict[str, Any]:
    entry = registry.find_by_class(type(learner))
    if entry is None or entry.estimator is not type(learner):
        raise TypeError("it is not an estimator of this package")
    parameters = learner.get_params(deep=False)
    return {
        "learner": entry.class_name,
        "parameters": {
            name: _to_json(value, _MOST_DIMENSIONS) for name, value in parameters.items()
        },
    }


def _learner_from_json(value: Any) -> Any:
    match value:
        case {"learner": str(class_name), "parameters": dict(parameters)} if len(value) == 2:
            entry = registry.find_by_name(class_name)
            if entry is not None and parameters.keys() <= entry.estimator().get_params().keys():
                return entry.estimator(
                    **{
                        name: _from_json(parameter, _MOST_DIMENSIONS)
                        for name, parameter in parameters.items()
                    }
                )
    raise TypeError("a learner is expected there")


def _to_json(value: Any, depth: int) -> Any:
    if isinstance(value, np.ndarray | np.generic) and archive.is_storable(value.dtype.str):
        value = value.tolist()
    if depth == _MOST_DIMENSIONS and type(value) is dict:
        return {"dict": [[_to_json(part, 0) for part in pair] for pair in value.items()]}
    if depth and type(value) in (list, tuple):
        return [_to_json(item, depth - 1) for item in value]
    if type(value) is float and not math.isfinite(value):
        return {"float": str(value)}
    return _check_plain(value)


def _from_json(value: Any, depth: int) -> Any:
    match value:
        case {"float": str(word)} if len(value) == 1 and word in _NOT_FINITE:
            return float(word)
        case list() if depth:
            return [_from_json(item, depth - 1) for item in value]
        case {"dict": list(pairs)} if len(value) == 1 and depth == _MOST_DIMENSIONS:
            return dict(_pair_from_json(pair) for pair in pairs)
    return _check_plain(value)


def _pair_from_json(pair: Any) -> tuple[Any, Any]:
    match pair:
        case [key, value]:
            return _from_json(key, 0), _from_json(value, 0)
    raise TypeError("a pair is expected there")


def _check_plain(value: Any) -> Any:
    if type(value) not in _PLAIN:
        raise TypeError(f"a {type(value).__name__} is not expected there")
    if type(value) is int and abs(value) > sys.float_info.max:
        raise TypeError("an integer beyond float64 is not expected there")
    return value
