"""Files that are damaged, or built to do damage: a clear error, and little memory."""

import io
import itertools
import json
import pickle
import random
import struct
import tracemalloc
import warnings
import zipfile
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperboxes import ModelFileError, load
from hyperboxes._models.box_store import BoxStore
from tests.graphs import assert_agrees
from tests.model_files import (
    assert_same_model,
    golden_members,
    golden_model,
    npy,
    refusal,
    sealed,
    with_member,
    zipped,
)

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


def test_every_changed_byte_is_noticed_or_harmless(intact):
    content, model = intact
    loaded = 0
    for i, flip in zip(range(len(content)), itertools.cycle([0x01, 0x80, 0xFF])):
        damaged = bytearray(content)
        damaged[i] ^= flip
        loaded += assert_refused_or_whole(bytes(damaged), model)
    assert loaded < len(content) / 4  # dates, attributes and the like


def test_every_truncation_is_noticed(intact):
    content, _ = intact
    for length in range(len(content)):
        refusal(content[:length])


@given(data=st.data())
def test_overwritten_removed_and_inserted_pieces_are_noticed(intact, data):
    content, model = intact
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
    assert "larger than itself" in refusal(bytes(content))


@pytest.mark.parametrize(
    "content",
    [
        zipped_with(
            lambda a: a.writestr("gamma.npy", bytes(10**8)), compression=8, compresslevel=9
        ),
        with_member("gamma.npy", npy("<f8", "(1000000000000,)", bytes(16))),
        with_member("lower.npy", npy("<f8", "(1000000, 1000000)", bytes(16))),
        with_member("classes.npy", npy("<U100000000", "(2,)", bytes(8))),
        with_member("model.json", b"[" * 10_000_000),
    ],
    ids=["bomb", "long", "wide", "string", "deep"],
)
def test_memory_is_bounded_by_the_size_of_the_file(content):
    tracemalloc.start()
    try:
        refusal(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(content) + 1_000_000


def test_many_classes_and_features_take_no_more_memory_than_the_file():
    n_features, n_classes = 400_000, 3_000_000
    row = npy("<f8", f"(1, {n_features})", bytes(8 * n_features))
    by_feature = npy("<f8", f"({n_features},)", np.ones(n_features).tobytes())
    one = npy("<i8", "(1,)", struct.pack("<q", 1))
    members = golden_members() | {"lower.npy": row, "upper.npy": row, "labels.npy": one}
    members |= {f"{name}.npy": by_feature for name in ("gamma", "scale_low", "scale_high")}
    labels = np.arange(n_classes, dtype="<i4").tobytes()
    members |= {"confirmed.npy": one}
    members |= {"counts.npy": one, "classes.npy": npy("<i4", f"({n_classes},)", labels)}
    header = json.loads(members["model.json"]) | {"feature_names": None}
    members["model.json"] = json.dumps(header).encode()
    content = sealed(members)
    index = load(io.BytesIO(content))._model.boxes.arrays.index
    # Room for blocks is made as they are needed, not for all classes at once.
    assert len(index.ends) < 100
    with patch.object(BoxStore, "of_rows", side_effect=MemoryError("of 9 TiB")):
        assert "more memory than there is (of 9 TiB)" in refusal(content)


@given(st.data())
def test_extreme_numbers_can_be_asked_about(data):
    """What passes the checks does no harm in the kernels, and tells what a plain scan tells.

    Bounds of boxes that are infinite in the units of the data do not pass.
    """
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
    with np.errstate(over="ignore"):
        spans = np.subtract(high, low)
        is_finite = np.isfinite(low + spans * np.reshape(ends, (-1, 2))).all()
    if data.draw(st.booleans()):
        del members["scale_low.npy"], members["scale_high.npy"]
    elif not is_finite:
        assert "infinite" in refusal(sealed(members))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of overflow, and of columns without names
        model = load(io.BytesIO(sealed(members)))
        assert_agrees(model, np.concatenate([lower, upper, [np.nan, 1.0]]).reshape(-1, 2))
        model.partial_fit(np.reshape(ends, (-1, 2)), list("ab?ab?"))
    assert model._model.boxes.counts.sum() == 4 + 6
