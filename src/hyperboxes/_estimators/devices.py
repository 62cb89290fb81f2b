"""Samples as arrays of other libraries, where scikit-learn's `array_api_dispatch` is set."""

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import validate_data

from hyperboxes._compat import array_api_compat
from hyperboxes._models.array_api import DeviceIntervals, put
from hyperboxes._models.samples import MinMaxScale


def is_on_device(X: Any) -> bool:
    """Whether samples are an array of another library than NumPy, and scikit-learn dispatches."""
    if isinstance(X, np.ndarray) or not get_config()["array_api_dispatch"]:
        return False
    if array_api_compat is None:
        raise ImportError(
            "array_api_dispatch needs scikit-learn 1.7 or newer, or array-api-compat: "
            "pip install array-api-compat"
        )
    return array_api_compat.is_array_api_obj(X)


def reject_device(estimator: Any, X: Any) -> None:
    """Raise an error for samples on a device where NumPy arrays are needed."""
    if is_on_device(X):
        name = type(estimator).__name__
        raise TypeError(
            f"{name} got an array of {type(X).__module__.partition('.')[0]}: predict, "
            "predict_proba, membership and decision_function of GFMM classifiers and "
            "BoostedHyperboxes take such arrays, everything else NumPy arrays or data frames."
        )


def validate_on_device(
    estimator: Any, X: Any, X_upper: Any = None, scale: MinMaxScale | None = None
) -> DeviceIntervals:
    """Check samples, and convert them to float64, or float32 where the device has no float64."""
    if vars(estimator).get("_categories"):
        raise ValueError(
            f"This {type(estimator).__name__} has categorical features, which are looked up in "
            "data frames and NumPy arrays only: convert the samples."
        )
    lower = _validate(estimator, X)
    if X_upper is None:
        return DeviceIntervals(lower, lower, scale)
    if not (is_on_device(X_upper) and type(X) is type(X_upper)):
        raise TypeError(f"X is a {type(X)} and X_upper a {type(X_upper)}: convert one of them.")
    devices = [array_api_compat.device(ends) for ends in (X, X_upper)]
    if devices[0] != devices[1]:
        raise ValueError(f"X is on {devices[0]} and X_upper on {devices[1]}: move one of them.")
    upper = _validate(estimator, X_upper)
    xp = array_api_compat.array_namespace(X)
    if lower.shape != upper.shape:
        raise ValueError(f"X_upper has shape {upper.shape}, but X has shape {lower.shape}.")
    if not bool(xp.all((lower <= upper) | (xp.isnan(lower) & xp.isnan(upper)))):
        raise ValueError("X_upper must be at least X, and missing where X is.")
    return DeviceIntervals(lower, upper, scale)


def _validate(estimator: Any, X: Any) -> Any:
    xp, device = array_api_compat.array_namespace(X), array_api_compat.device(X)
    if not xp.isdtype(X.dtype, ("real floating", "integral")):
        raise TypeError(f"The samples must be real numbers, got {X.dtype}: convert them first.")
    floats = xp.__array_namespace_info__().dtypes(device=device, kind="real floating")
    dtype = floats.get("float64", xp.float32)
    checks = {"dtype": dtype, "order": None, "ensure_all_finite": "allow-nan"}
    return validate_data(estimator, X, reset=False, **checks)


def return_like(X: Any, values: np.ndarray) -> Any:
    """Return predictions as an array of the library and on the device of the samples."""
    if not is_on_device(X):
        return values
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"Classes of type {values.dtype} cannot be returned as an array of "
            f"{type(X).__module__.partition('.')[0]}: encode them with LabelEncoder before fit, "
            "or call predict_proba."
        )
    return put(values, X)
