"""Files of saved models, built by hand: one as documented, and what is near it."""

import hashlib
import io
import json
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest

import hyperboxes
from hyperboxes import ModelFileError, load, save
from hyperboxes._models.calibration import DistanceCalibration
from tests.learners import ImprovedOnlineGFMM


def npy(descr, shape, content):
    """Build an array file by hand, as NumPy's documentation of the format has it."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content


def zipped(members):
    """Build a zip file as saved models have it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = 3, 0o644 << 16
            archive.writestr(member, content)
    return file.getvalue()


def sums(members):
    """Return the checksums of members."""
    lines = [f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members)]
    return "".join(lines).encode()


GOLDEN_JSON = """{
 "calibration": CALIBRATION,
 "classes_are_objects": false,
 "estimator": "ImprovedOnlineGFMM",
 "feature_names": [
  "length",
  "width"
 ],
 "format": "hyperboxes",
 "format_version": 3,
 "hyperboxes_version": "VERSION",
 "membership_function": "mean",
 "n_candidates": 3,
 "n_learned": 4,
 "parameters": {
  "calibrate": true,
  "categorical_features": "from_dtype",
  "class_weight": null,
  "decision": "auto",
  "gamma": [
   1.0,
   2
  ],
  "max_boxes": null,
  "membership_function": "mean",
  "n_jobs": null,
  "overlap": "closed",
  "random_state": null,
  "scaling": "minmax",
  "selection": "all",
  "shuffle": false,
  "theta": 0.5,
  "unlabeled": "?"
 }
}"""


# Numbers of probabilities, which are easily written, and what their part of the header is.
_TABLES = "losses", "power_losses", "decision_losses"
GOLDEN_CALIBRATION = {
    "decision_losses": (np.arange(360.0) / 8).tolist(),
    "log_gaps": -3.0,
    "losses": (np.arange(55.0).reshape(11, 5) / 8).tolist(),
    "n_gaps": 1.5,
    "next_update": 4,
    "power_losses": (np.arange(7.0) / 8).tolist(),
}


def golden_json():
    """Return the header of a file of format 3."""
    calibration = json.dumps(GOLDEN_CALIBRATION, indent=1).replace("\n", "\n ")
    header = GOLDEN_JSON.replace("CALIBRATION", calibration)
    return header.replace("VERSION", hyperboxes.__version__).encode()


def golden_members():
    """Return the members of a file of format 3, written out by hand."""
    nan = float("nan")
    members = {
        "model.json": golden_json(),
        "classes.npy": npy("<U1", "(2,)", "ab".encode("utf-32-le")),
        "confirmed.npy": npy("<i8", "(3,)", struct.pack("<3q", 1, 2, 3)),
        "counts.npy": npy("<i8", "(3,)", struct.pack("<3q", 2, 1, 1)),
        "gamma.npy": npy("<f8", "(2,)", struct.pack("<2d", 1.0, 2.0)),
        "labels.npy": npy("<i8", "(3,)", struct.pack("<3q", 0, 1, -1)),
        "lower.npy": npy("<f8", "(3, 2)", struct.pack("<6d", 0.0, 0.0, 1.0, nan, 0.0, 1.0)),
        "scale_high.npy": npy("<f8", "(2,)", struct.pack("<2d", 9.0, 4.0)),
        "scale_low.npy": npy("<f8", "(2,)", struct.pack("<2d", 1.0, 0.0)),
        "upper.npy": npy("<f8", "(3, 2)", struct.pack("<6d", 0.5, 0.0, 1.0, nan, 0.0, 1.0)),
    }
    return members | {"SHA256SUMS": sums(members)}


def golden_model():
    """Train the model that `golden_members` describes."""
    nan = float("nan")
    frame = pd.DataFrame({"length": [1, 5, 9, 1], "width": [0, 0, nan, 4.0]})
    model = ImprovedOnlineGFMM(np.float64(0.5), gamma=[1.0, 2], selection="all", unlabeled="?")
    model.fit(frame, ["a", "a", "b", "?"])
    tables = {name: np.array(GOLDEN_CALIBRATION[name]) for name in _TABLES}
    tables["decision_losses"] = tables["decision_losses"].reshape(3, 4, 6, 5)
    model._model.calibration = DistanceCalibration(
        log_gaps=-3.0, n_gaps=1.5, next_update=4, **tables
    )
    return model


def sealed(members):
    """Build a file whose checksums are right."""
    members = {name: content for name, content in members.items() if name != "SHA256SUMS"}
    return zipped(members | {"SHA256SUMS": sums(members)})


def with_member(name, content):
    """Build a file in which a member is another; None: it is missing."""
    members = golden_members() | {name: content}
    return sealed({key: value for key, value in members.items() if value is not None})


def with_header(**changes):
    """Build a file in which keys of the header have other values; `...`: they are missing."""
    header = json.loads(golden_members()["model.json"]) | changes
    header = {key: value for key, value in header.items() if value is not ...}
    return with_member("model.json", json.dumps(header).encode())


def with_parameter(name, value):
    """Build a file with another value of a parameter."""
    parameters = json.loads(golden_members()["model.json"])["parameters"]
    return with_header(parameters=parameters | {name: value})


def with_numbers(name, *numbers, descr="<f8", shape=None):
    """Build a file with other numbers in an array."""
    content = np.array(numbers, descr).tobytes()
    return with_member(f"{name}.npy", npy(descr, shape or f"({len(numbers)},)", content))


def refusal(content):
    """Return the message with which the file is refused; it takes one line."""
    with pytest.raises(ModelFileError, match=r"^Cannot load the file: [^\n]*\.$") as caught:
        load(io.BytesIO(content))
    return str(caught.value)


def saved(model):
    """Return the bytes of the saved model."""
    file = io.BytesIO()
    save(model, file)
    return file.getvalue()


def plain_parameters(model):
    """Return parameters as files keep them: without the types of NumPy, and tuples as lists."""
    return {name: as_plain(value) for name, value in model.get_params().items()}


def as_plain(value):
    """Return a value without the types of NumPy and tuples."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return [as_plain(item) for item in value] if isinstance(value, list | tuple) else value


def assert_same_model(twin, model):
    """Compare all that can be seen, and what is learned bit for bit."""
    assert type(twin) is type(model)
    assert repr(plain_parameters(twin)) == repr(plain_parameters(model))
    assert set(vars(twin)) == set(vars(model)) - {"_hyperboxes", "_label_runs"}
    assert twin.n_features_in_ == model.n_features_in_
    assert twin.classes_.dtype == model.classes_.dtype
    assert twin.classes_.tolist() == model.classes_.tolist()
    assert twin.n_candidates_ == model.n_candidates_
    assert twin._model.boxes.n_seen == model._model.boxes.n_seen
    for name in ("lower", "upper", "labels", "counts", "confirmed"):
        rows = (getattr(each._model.boxes, name) for each in (twin, model))
        assert next(rows).tobytes() == next(rows).tobytes()
    for name in ("data_min_", "data_max_"):
        assert getattr(twin, name).tobytes() == getattr(model, name).tobytes()
    memberships = twin._model.membership, model._model.membership
    assert memberships[0].gamma.tobytes() == memberships[1].gamma.tobytes()
    assert memberships[0].function == memberships[1].function
    known = twin._model.calibration, model._model.calibration
    assert known == (None, None) or plain_calibration(known[0]) == plain_calibration(known[1])


def plain_calibration(calibration):
    """Return all numbers of it, for comparison."""
    return {name: np.asarray(value).tolist() for name, value in vars(calibration).items()}
