"""Files that are whole but hold no model that could have been saved: what is wrong is told."""

import io
import pickle
import re
import struct
import zipfile

import numpy as np
import pytest

from hyperboxes import AdaptiveGFMM, load
from tests.model_files import (
    GOLDEN_CALIBRATION,
    assert_same_model,
    golden_members,
    golden_model,
    npy,
    refusal,
    saved,
    sealed,
    with_header,
    with_member,
    with_numbers,
    with_parameter,
    zipped,
)

NAN, INF = float("nan"), float("inf")
OBJECTS_OF_NUMBERS = sealed(
    golden_members()
    | {
        "model.json": golden_members()["model.json"].replace(b's": false', b's": true'),
        "classes.npy": npy("<i8", "(2,)", struct.pack("<2q", 5, 6)),
    }
)


def with_calibration(**changes):
    """Build a file with other numbers of probabilities."""
    return with_header(calibration=GOLDEN_CALIBRATION | changes)


def test_the_builders_build_files_that_load():
    for content in (
        zipped(golden_members()),
        with_header(),
        with_parameter("n_jobs", None),
        with_numbers("gamma", 1.0, 2.0),
    ):
        assert_same_model(load(io.BytesIO(content)), golden_model())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (with_header(format="skops"), "has not written it"),
        (with_header(format=...), "has not written it"),
        (with_header(format_version=0), "has not written it"),
        (with_header(format_version="1"), "has not written it"),
        (with_header(format_version=True), "has not written it"),
        (with_header(format_version=4), "of format 4, written by .* reads format 3: upgrade it"),
        (with_header(format_version=4, hyperboxes_version=["\n" * 99]), "format 4, written by"),
        (with_header(format_version=2), "of format 2, .* fit the model again"),
        (with_header(membership_function="max"), "membership function is not known"),
        (with_calibration(losses=[[1.0] * 5] * 10), "probabilities are not known"),
        (with_calibration(losses=[[1.0] * 4 + [1]] * 11), "probabilities are not known"),
        (with_calibration(losses=[[1.0] * 4 + [float("nan")]] * 11), "not a finite number"),
        (with_calibration(losses=5), "probabilities are not known"),
        (with_calibration(power_losses=[1.0] * 6), "probabilities are not known"),
        (with_calibration(losses=[5] * 11), "probabilities are not known"),
        (with_calibration(more=5), "probabilities are not known"),
        (with_calibration(log_gaps=1), "probabilities are not known"),
        (with_calibration(log_gaps=-1e9), "probabilities are invalid"),
        (with_calibration(n_gaps=0.0), "probabilities are invalid"),
        (with_calibration(next_update=True), "probabilities are not known"),
        (with_calibration(next_update=-2), "probabilities are invalid"),
        (with_header(calibration=[]), "header"),
        (with_header(n_candidates=...), "header"),
        (with_header(extra=1), "header"),
        (with_header(n_candidates=1.0), "header"),
        (with_header(n_candidates=True), "header"),
        (with_header(n_candidates=-1), "candidates"),
        (with_header(n_candidates=2**63), "candidates"),
        (with_header(n_learned=True), "header"),
        (with_header(n_learned=None), "header is not that of a model"),
        (with_member("confirmed.npy", None), "arrays are missing"),
        (with_header(n_learned=3), "number of samples is invalid"),
        (with_header(n_learned=2**63), "number of samples is invalid"),
        (with_numbers("confirmed", 1, 2, 4, descr="<i8"), "confirmed by no sample"),
        (with_numbers("confirmed", -1, 2, 3, descr="<i8"), "confirmed by no sample"),
        (with_header(classes_are_objects=1), "header"),
        (with_header(parameters=[]), "header"),
        (with_header(estimator=5), "header"),
        (with_header(estimator="Pipeline"), "'Pipeline', but only AdaptiveGFMM, "),
        (with_header(estimator="BoxClassifier"), "'BoxClassifier', but only"),
        (with_header(estimator="__import__('os').abort()\n"), "but only"),
        (with_header(feature_names=["one"]), "a name for each feature"),
        (with_header(feature_names=["one", 2]), "a name for each feature"),
        (with_header(feature_names="ab"), "header"),
    ],
)
def test_wrong_headers(content, message):
    assert re.search(message, refusal(content))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"format": NaN}',
        b'{"format": 1e999}',
        b'{"format": -Infinity}',
        b'{"format": "hyperboxes", "format": "hyperboxes"}',
        b'{"format": {"a": 1, "a": 1}}',
        b"\xff\xfe{}",
        b'{"format": "\xe9"}',
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b'{"format": ' + b"9" * 100_000 + b"}",
    ],
    ids=lambda text: text[:20].decode(errors="replace"),
)
def test_wrong_json(text):
    assert "model.json" in refusal(with_member("model.json", text))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theta", -1),
        ("theta", None),
        ("theta", {"float": "nan"}),
        ("theta", [0.5]),
        ("theta", "0.5"),
        ("selection", "none"),
        ("scaling", 1),
        ("n_jobs", 1.5),
        ("max_depth", 3),
        ("__class__", 3),
        ("theta__x", 3),
        ("_boxes", None),
        ("unlabeled", {}),
        ("unlabeled", {"float": "1"}),
        ("unlabeled", {"float": "nan", "more": 1}),
        ("unlabeled", [[[1]]]),
        ("unlabeled", {"tuple": 5}),
        ("unlabeled", {"tuple": [{"tuple": []}]}),
        ("unlabeled", {"scalar": [1], "dtype": "<i8"}),
        ("unlabeled", {"scalar": 1, "dtype": "<i8", "more": 1}),
        ("gamma", {"array": [[[1.0]]], "dtype": "<f8"}),
        ("gamma", {"array": [1.0], "dtype": 5}),
        ("gamma", {"array": {"array": [1.0], "dtype": "<f8"}, "dtype": "<f8"}),
        ("gamma", "steep"),
        ("gamma", -1.0),
        ("theta", 10**400),
        ("max_boxes", 10**400),
        ("n_jobs", 10**6),
    ],
)
def test_wrong_parameters(name, value):
    assert "parameter" in refusal(with_parameter(name, value))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (with_numbers("lower", 0, 0, 1, NAN, INF, 1, shape="(3, 2)"), "infinite bound"),
        (with_numbers("lower", -INF, 0, 1, NAN, 0, 1, shape="(3, 2)"), "infinite bound"),
        (
            with_numbers("upper", 0.5, 0, 1.7e308, NAN, 0, 1, shape="(3, 2)"),
            "infinite bound in data units",
        ),
        (with_numbers("lower", 0, 0, 1, 0, 0, 1, shape="(3, 2)"), "one bound only"),
        (with_numbers("lower", 0, 0, NAN, NAN, 0, 1, shape="(3, 2)"), "one bound only"),
        (with_numbers("lower", 0.6, 0, 1, NAN, 0, 1, shape="(3, 2)"), "above the upper"),
        (with_numbers("labels", 0, 2, -1, descr="<i8"), "label that is no class"),
        (with_numbers("labels", 0, 1, -2, descr="<i8"), "label that is no class"),
        (with_numbers("labels", 0, 1, -(2**63), descr="<i8"), "label that is no class"),
        (with_numbers("counts", 2, 0, 1, descr="<i8"), "no sample"),
        (with_numbers("counts", 2, -1, 1, descr="<i8"), "no sample"),
        (with_numbers("counts", 2**62, 2**62, 2**62, descr="<i8"), "too many samples"),
        (with_numbers("gamma", 1, 0), "gamma"),
        (with_numbers("gamma", 1, NAN), "gamma"),
        (with_numbers("gamma", 1, INF), "gamma"),
        (with_numbers("scale_low", 1, 5), "scale"),
        (with_numbers("scale_low", 1, NAN), "scale"),
        (with_numbers("scale_low", 1, -INF), "scale"),
        (with_numbers("scale_high", 9, INF), "scale"),
        (with_numbers("classes", 5, 5, descr="<i8"), "classes"),
        (with_numbers("classes", 5, 4, descr="<i8"), "classes"),
        (with_numbers("classes", 5, NAN), "classes"),
        (with_numbers("classes", NAN), "classes"),
        (with_numbers("classes", 5, 6, shape="(1, 2)"), "classes"),
        (with_numbers("classes", 5, shape="()"), "classes"),
        (with_numbers("classes", 5, descr="<i8"), "label that is no class"),
        (OBJECTS_OF_NUMBERS, "not strings"),
        (with_numbers("theta_path", 0.5, INF, 0, 9, shape="(4, 1)"), "theta cannot have been"),
        (with_numbers("theta_path", 0.5, -1, 0, 9, shape="(4, 1)"), "theta cannot have been"),
        (with_numbers("theta_path", 0, 1, 0, 9, shape="(4, 1)"), "theta cannot have been"),
        (with_numbers("theta_path", NAN, 1, 0, 9, shape="(4, 1)"), "theta cannot have been"),
        (with_numbers("theta_path", shape="(4, 0)"), "theta_path.npy"),
        (with_numbers("theta_path", 0.5, 1, 0, shape="(3, 1)"), "theta_path.npy"),
        (with_numbers("theta_path", 0.5, 1, 0, 9), "theta_path.npy"),
        (with_numbers("theta_path", 0.5, shape="()"), "theta_path.npy"),
    ],
)
def test_wrong_values(content, message):
    assert message in refusal(content)


def test_values_that_are_just_possible():
    load(io.BytesIO(with_numbers("scale_low", 1, -1.7e308)))
    load(io.BytesIO(with_header(classes_are_objects=True)))
    path = with_numbers("theta_path", 0.1, 0.5, 0.9, NAN, 0.1, NAN, 9, NAN, shape="(4, 2)")
    assert load(io.BytesIO(path)).theta_path_["theta"].tolist() == [0.1, 0.5]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("gamma.npy", npy("<f4", "(2,)", struct.pack("<2f", 1, 2))),
        ("gamma.npy", npy(">f8", "(2,)", struct.pack(">2d", 1, 2))),
        ("gamma.npy", npy("<f8", "(1, 2)", struct.pack("<2d", 1, 2))),
        ("gamma.npy", npy("<f8", "(1,)", struct.pack("<d", 1))),
        ("gamma.npy", npy("<f8", "(2, )", struct.pack("<2d", 1, 2))),
        ("gamma.npy", npy("<f8", "(-2,)", struct.pack("<2d", 1, 2))),
        ("gamma.npy", npy("<f8", "(2,)", struct.pack("<3d", 1, 2, 3))),
        ("gamma.npy", npy("<f8", "(2,)", struct.pack("<d", 1))),
        ("gamma.npy", npy("<f8", "(0,)", b"")),
        ("gamma.npy", npy("<f8", "(1000000000000000000,)", b"")),
        ("gamma.npy", npy("<f8", "(2305843009213693954, 4)", struct.pack("<2d", 1, 2))),
        ("gamma.npy", npy("<f8", "(__import__('os').abort(),)", b"")),
        ("gamma.npy", npy("|O", "(2,)", pickle.dumps([1.0, 2.0]))),
        ("gamma.npy", npy("|V8", "(2,)", bytes(16))),
        ("gamma.npy", npy("<M8", "(2,)", bytes(16))),
        (
            "gamma.npy",
            npy("<f8", "(2,)", struct.pack("<2d", 1, 2)).replace(b"\x01\0", b"\x03\0", 1),
        ),
        ("gamma.npy", b""),
        ("gamma.npy", b"\x93NUMPY\x01\x00\xff\xff"),
        ("lower.npy", npy("<f8", "(6,)", bytes(48))),
        ("lower.npy", npy("<f8", "(3, 2, 1)", bytes(48))),
        ("counts.npy", npy("<u8", "(3,)", bytes(24))),
        ("counts.npy", npy("<i8", "(2,)", bytes(16))),
        ("classes.npy", npy("|b1", "(2,)", b"\0\2")),
        ("classes.npy", npy("<U1", "(2,)", struct.pack("<2I", 0x61, 0x110000))),
        ("classes.npy", npy(">U1", "(2,)", struct.pack("<2I", 0x61, 0x62))),
        ("classes.npy", npy("<U0", "(2,)", b"")),
        ("classes.npy", npy("<U999999999", "(2,)", b"")),
        ("classes.npy", npy("|S1", "(2,)", b"ab")),
        ("classes.npy", npy("<c16", "(2,)", bytes(32))),
    ],
)
def test_wrong_arrays(name, content):
    assert name in refusal(with_member(name, content))


@pytest.mark.parametrize(
    "content",
    [
        with_member("gamma.npy", None),
        with_member("model.json", None),
        with_member("scale_low.npy", None),
        with_member("classes.npy", None),
        with_member("more.npy", npy("<f8", "(1,)", bytes(8))),
        with_member("../gamma.npy", npy("<f8", "(1,)", bytes(8))),
        with_member("/etc/passwd", b""),
        with_member("code.py", b"import os; os.abort()"),
        with_member("gamma.npy/", b""),
        zipped({k: v for k, v in golden_members().items() if k != "SHA256SUMS"}),
        zipped(golden_members() | {"SHA256SUMS": b""}),
        zipped(golden_members() | {"SHA256SUMS": b"0" + golden_members()["SHA256SUMS"][1:]}),
        zipped(golden_members() | {"gamma.npy": npy("<f8", "(2,)", struct.pack("<2d", 1, 3))}),
        zipped({}),
    ],
)
def test_wrong_members(content):
    refusal(content)


@pytest.mark.parametrize("name", ["lower", "mean", "variance"])
def test_numbers_of_a_stream_that_have_no_squares(name):
    """They ended in an OverflowError of readers."""
    model = AdaptiveGFMM().fit([[0.0], [1.0]], [0, 1])
    with zipfile.ZipFile(io.BytesIO(saved(model))) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    array = np.full_like(np.load(io.BytesIO(members[f"{name}.npy"])), -1.7e308)
    file = io.BytesIO()
    np.save(file, np.abs(array) if name == "variance" else array)
    content = sealed(members | {f"{name}.npy": file.getvalue()})
    assert "its numbers are too large" in refusal(content)
