"""Files that are damaged, or built to do damage: a clear error, and little memory."""

import io
import json
import pickle
import random
import struct
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperboxes import ModelFileError, load
from tests.test_onnx import assert_agrees
from tests.test_saving import assert_same_model, golden_members, golden_model, npy, sums, zipped

NAN, INF = float("nan"), float("inf")


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


OBJECTS_OF_NUMBERS = sealed(
    golden_members()
    | {
        "model.json": golden_members()["model.json"].replace(b's": false', b's": true'),
        "classes.npy": npy("<i8", "(2,)", struct.pack("<2q", 5, 6)),
    }
)


def refusal(content):
    """Return the message with which the file is refused; it takes one line."""
    with pytest.raises(ModelFileError, match=r"^Cannot load the file: [^\n]*\.$") as caught:
        load(io.BytesIO(content))
    return str(caught.value)


def test_the_builders_build_files_that_load():
    for content in (
        zipped(golden_members()),
        with_header(),
        with_parameter("n_jobs", None),
        with_numbers("gamma", 1.0, 2.0),
    ):
        assert_same_model(load(io.BytesIO(content)), golden_model())


# Damage.


@pytest.fixture(scope="module")
def intact():
    """Return a file, and the model in it."""
    return zipped(golden_members()), golden_model()


def assert_refused_or_whole(content, model):
    """Check that what loads at all is the saved model."""
    try:
        twin = load(io.BytesIO(content))
    except ModelFileError:
        return False
    assert_same_model(twin, model)
    return True


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_every_changed_byte_is_noticed_or_harmless(intact, flip):
    content, model = intact
    loaded = 0
    for i in range(len(content)):
        damaged = bytearray(content)
        damaged[i] ^= flip
        loaded += assert_refused_or_whole(bytes(damaged), model)
    assert loaded < len(content) / 4  # dates, attributes and the like


def test_every_truncation_is_noticed(intact):
    content, _ = intact
    for length in range(len(content)):
        refusal(content[:length])


@given(st.data())
def test_overwritten_removed_and_inserted_pieces_are_noticed(data):
    content, model = zipped(golden_members()), golden_model()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        stop = data.draw(st.integers(start, min(start + 200, len(content))))
        piece = data.draw(st.binary(max_size=50) | st.just(content[start // 2 : stop // 2]))
        content = content[:start] + piece + content[stop:]
    assert_refused_or_whole(content, model)


def test_noise_is_refused():
    noise = random.Random(0).randbytes(5000)
    for content in (b"", b"P", b"PK\x03\x04", b"PK\x03\x04" + noise, b"PK\x05\x06" + 18 * b"\0"):
        refusal(content)


def test_other_files_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", lower=np.zeros(3))
    (tmp_path / "b.pickle").write_bytes(pickle.dumps(golden_model()))
    (tmp_path / "c.csv").write_text("x,y\n1,2\n")
    for path in tmp_path.iterdir():
        with pytest.raises(ModelFileError, match=rf"Cannot load '.*{path.name}': "):
            load(path)


def test_a_file_of_another_kind_is_not_read_to_its_end():
    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def read(self, size=-1):
            assert size > 0
            return bytes(size)

    with pytest.raises(ModelFileError, match="has not written it"):
        load(Endless())


# What is well-formed and wrong.


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (with_header(format="skops"), "has not written it"),
        (with_header(format=...), "has not written it"),
        (with_header(format_version=0), "has not written it"),
        (with_header(format_version="1"), "has not written it"),
        (with_header(format_version=True), "has not written it"),
        (with_header(format_version=2), "of format 2, written by .* up to 1: upgrade it"),
        (with_header(format_version=2, hyperboxes_version=["\n" * 99]), "format 2, written by"),
        (with_header(n_candidates=...), "header"),
        (with_header(extra=1), "header"),
        (with_header(n_candidates=1.0), "header"),
        (with_header(n_candidates=True), "header"),
        (with_header(n_candidates=-1), "candidates"),
        (with_header(n_candidates=2**63), "candidates"),
        (with_header(classes_are_objects=1), "header"),
        (with_header(parameters=[]), "header"),
        (with_header(estimator=5), "header"),
        (with_header(estimator="Pipeline"), "'Pipeline', but only AgglomerativeGFMM, "),
        (with_header(estimator="BaseGFMM"), "'BaseGFMM', but only"),
        (with_header(estimator="__import__('os').abort()\n"), "but only"),
        (with_header(feature_names=["one"]), "a name for each feature"),
        (with_header(feature_names=["one", 2]), "a name for each feature"),
        (with_header(feature_names="ab"), "header"),
    ],
)
def test_wrong_headers(content, message):
    with pytest.raises(ModelFileError, match=message):
        load(io.BytesIO(content))
    refusal(content)


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
        ("unlabeled", {"scalar": 1, "dtype": "O"}),
        ("unlabeled", {"scalar": 1, "dtype": "<M8[D]"}),
        ("unlabeled", {"scalar": 1, "dtype": "|V999999999"}),
        ("unlabeled", {"scalar": 300, "dtype": "|u1"}),
        ("unlabeled", {"scalar": 1.5, "dtype": "<i8"}),
        ("gamma", {"array": [1, 300], "dtype": "|u1"}),
        ("unlabeled", {"scalar": None, "dtype": "<i8"}),
        ("unlabeled", {"scalar": "x", "dtype": "<f8"}),
        ("gamma", {"array": [1.0, None], "dtype": "<i8"}),
        ("gamma", {"array": ["a"], "dtype": "<U999999999"}),
        ("gamma", {"array": [[[1.0]]], "dtype": "<f8"}),
        ("gamma", {"array": [1.0], "dtype": "object"}),
        ("gamma", {"array": [1.0], "dtype": 5}),
        ("gamma", {"array": {"array": [1.0], "dtype": "<f8"}, "dtype": "<f8"}),
        ("gamma", "steep"),
        ("gamma", -1.0),
    ],
)
def test_wrong_parameters(name, value):
    assert "parameter" in refusal(with_parameter(name, value))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (with_numbers("lower", 0, 0, 1, NAN, INF, 1, shape="(3, 2)"), "infinite bound"),
        (with_numbers("lower", -INF, 0, 1, NAN, 0, 1, shape="(3, 2)"), "infinite bound"),
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
        (with_numbers("scale_low", 1, -1.7e308), "loads"),
        (with_numbers("scale_high", 9, INF), "scale"),
        (with_numbers("classes", 5, 5, descr="<i8"), "classes"),
        (with_numbers("classes", 5, 4, descr="<i8"), "classes"),
        (with_numbers("classes", 5, NAN), "classes"),
        (with_numbers("classes", NAN), "classes"),
        (with_numbers("classes", 5, 6, shape="(1, 2)"), "classes"),
        (with_numbers("classes", 5, shape="()"), "classes"),
        (with_numbers("classes", 5, descr="<i8"), "label that is no class"),
        (with_header(classes_are_objects=True), "loads"),
        (OBJECTS_OF_NUMBERS, "not strings"),
    ],
)
def test_wrong_values(content, message):
    if message == "loads":  # close to what does not
        load(io.BytesIO(content))
    else:
        assert message in refusal(content)


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


# Zip files.


def zipped_with(add, **how):
    """Build a file with other ways of adding members."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", **how) as archive:
        warnings.simplefilter("ignore")  # of duplicate names
        add(archive)
    return file.getvalue()


def add_all(archive):
    """Add the members of an intact file."""
    for name, content in golden_members().items():
        archive.writestr(name, content)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_files_are_refused(method):
    assert "compressed" in refusal(zipped_with(add_all, compression=method))


def test_duplicates_are_refused():
    def add(archive):
        add_all(archive)
        archive.writestr("gamma.npy", golden_members()["gamma.npy"])

    assert "twice" in refusal(zipped_with(add))


def test_encrypted_files_are_refused():
    content = bytearray(zipped(golden_members()))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = content.find(signature)
        content[start + offset] |= 1
    refusal(bytes(content))


def test_overlapping_members_are_refused():
    """Two names for one place would let a small file unfold to a large one."""
    content = zipped(golden_members())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        offsets = {m.filename: m.header_offset for m in archive.infolist()}
    place = content.rfind(b"scale_low.npy") - 4
    assert content[place : place + 4] == struct.pack("<I", offsets["scale_low.npy"])
    forged = content[:place] + struct.pack("<I", offsets["gamma.npy"]) + content[place + 4 :]
    refusal(forged)


def test_sizes_beyond_the_file_are_refused():
    content = bytearray(zipped(golden_members()))
    start = content.find(b"PK\x01\x02")
    content[start + 20 : start + 28] = struct.pack("<2I", 2**31, 2**31)
    assert "more than its size" in refusal(bytes(content))


@pytest.mark.parametrize(
    "content",
    [
        zipped_with(
            lambda a: a.writestr("gamma.npy", bytes(10**8)), compression=8, compresslevel=9
        ),
        with_member("gamma.npy", npy("<f8", "(1000000000000,)", bytes(16))),
        with_member("lower.npy", npy("<f8", "(1000000, 1000000)", bytes(16))),
        with_member("classes.npy", npy("<U100000000", "(2,)", bytes(8))),
        with_parameter("gamma", {"array": [1.0] * 10, "dtype": "<U100000000"}),
        with_member("model.json", b"[" * 10_000_000),
    ],
    ids=["bomb", "long", "wide", "string", "parameter", "deep"],
)
def test_memory_is_bounded_by_the_size_of_the_file(content):
    tracemalloc.start()
    try:
        refusal(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(content) + 1_000_000


def test_more_classes_and_features_than_memory():
    n_features, n_classes = 400_000, 3_000_000
    row = npy("<f8", f"(1, {n_features})", bytes(8 * n_features))
    by_feature = npy("<f8", f"({n_features},)", np.ones(n_features).tobytes())
    one = npy("<i8", "(1,)", struct.pack("<q", 1))
    members = golden_members() | {"lower.npy": row, "upper.npy": row, "labels.npy": one}
    members |= {f"{name}.npy": by_feature for name in ("gamma", "scale_low", "scale_high")}
    labels = np.arange(n_classes, dtype="<i4").tobytes()
    members |= {"counts.npy": one, "classes.npy": npy("<i4", f"({n_classes},)", labels)}
    header = json.loads(members["model.json"]) | {"feature_names": None}
    members["model.json"] = json.dumps(header).encode()
    assert "memory" in refusal(sealed(members))


@given(st.data())
def test_extreme_numbers_can_be_asked_about(data):
    """What passes the checks does no harm in the kernels, and tells what a plain scan tells."""
    extremes = st.sampled_from([0.0, 5e-324, 1e-300, 1.0, 1e300, 1.7e308])
    numbers = extremes | extremes.map(lambda number: -number)
    ends = [data.draw(st.lists(numbers, min_size=6, max_size=6)) for _ in range(2)]
    lower, upper = np.minimum(*ends), np.maximum(*ends)
    gamma = data.draw(st.lists(extremes.filter(bool), min_size=2, max_size=2))
    low = data.draw(st.lists(numbers, min_size=2, max_size=2))
    high = [min(max(a + span, -1.7e308), 1.7e308) for a, span in zip(low, gamma, strict=True)]
    members = golden_members() | {
        "lower.npy": npy("<f8", "(3, 2)", lower.tobytes()),
        "upper.npy": npy("<f8", "(3, 2)", upper.tobytes()),
        "gamma.npy": npy("<f8", "(2,)", np.array(gamma).tobytes()),
        "scale_low.npy": npy("<f8", "(2,)", np.array(low).tobytes()),
        "scale_high.npy": npy("<f8", "(2,)", np.array(high).tobytes()),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of overflow, and of columns without names
        model = load(io.BytesIO(sealed(members)))
        assert_agrees(model, np.concatenate([lower, upper, [NAN, 1.0]]).reshape(-1, 2))
        model.partial_fit(np.reshape(ends, (-1, 2)), list("ab?ab?"))
    assert model._boxes.counts.sum() == 4 + 6
