"""Files of arrays from anywhere: what NumPy writes is read, and all else is one error."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest

from arborescence.errors import ScoresError
from arborescence.system.arrays import Archive, opened, read_array

_WHAT = "a file of scores"


def read(path):
    with opened(path, ScoresError, _WHAT) as content:
        if isinstance(content, Archive):
            return {name: content.read(name) for name in content.names}
        return content


def as_npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


def described(text, data=b"", version=1):
    """An ``.npy`` file with a description of one's own."""
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode("latin-1") + data


def zipped(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members:
            file.writestr(name, content)


@pytest.mark.parametrize("dtype", ["b1", "i1", "<u2", ">i4", "<i8", ">u8", "<f2", ">f4", "f8", "g"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (2, 0, 3), (1, 2, 3, 4)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_what_numpy_writes(dtype, shape, order, version):
    values = np.random.default_rng(3).integers(0, 2, shape)
    array = np.asarray(values.astype(dtype), order=order)
    ours = read_array(io.BytesIO(as_npy(array, version=version)))
    assert ours.shape == array.shape
    assert np.array_equal(ours, array)
    assert ours.dtype == array.dtype.newbyteorder("=")
    assert ours.dtype.isnative
    assert ours.flags.c_contiguous
    assert ours.flags.writeable
    assert ours.flags.aligned


@pytest.mark.filterwarnings("ignore:.*created on Python 2")
@pytest.mark.parametrize(
    "text",
    [
        "{'shape': (2,), 'fortran_order': False, 'descr': '<i4'}",
        '{"descr": "<i4", "fortran_order": False, "shape": (2,), }   \n',
        "{ 'descr' : '<i4' , 'fortran_order' : True , 'shape' : ( 2L , ) }",
    ],
)
def test_descriptions_of_other_writers(text):
    data = np.arange(2, dtype="<i4").tobytes()
    assert read_array(io.BytesIO(described(text, data))).tolist() == [0, 1]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives(save, tmp_path):
    path = tmp_path / "some.file"
    with path.open("wb") as file:
        save(file, one=np.arange(3), two=np.ones((2, 2), dtype=">f4", order="F"))
    content = read(path)
    assert list(content) == ["one", "two"]
    assert content["one"].tolist() == [0, 1, 2]
    assert content["two"].tolist() == [[1, 1], [1, 1]]


_SHORT = "{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", ""),
        (b"hello", ""),
        (b"\x93NUMPY", "not an array"),
        (b"\x93NUMPY\x01\x00\x10\x00{", "cut off"),
        (b"\x93NUMPY\x09\x00\x00\x00", "version 9"),
        (described("x" * 20_000, version=2), "too long"),
        (described("{'descr': '<i4', 'shape': (2,)}"), "makes no sense"),
        (described("-" * 5000 + "1"), "makes no sense"),
        (described("(" * 5000), "makes no sense"),
        (described("{[]: 1}"), "makes no sense"),
        (described("{" + "'descr': " * 900 + "}"), "makes no sense"),
        (described("{'descr': " + "-" * 5000 + "1"), "makes no sense"),
        (described(_SHORT.format("<i4", False, "(True, True)"), bytes(4)), r"shape \(True, True\)"),
        (described(_SHORT.format("<i4", False, "(-1,)"), bytes(4)), r"shape \(-1,\)"),
        (described(_SHORT.format("<i4", False, "(1.0,)"), bytes(4)), "makes no sense"),
        (described(_SHORT.format("<i4", False, "(9" + "9" * 5000 + ",)")), ""),
        (described(_SHORT.format("<i4", False, "(1000000000000,)"), bytes(4)), "shorter"),
        (described(_SHORT.format("<i4", False, "(0, 9" + "0" * 40 + ")")), ""),
        (described(_SHORT.format("<i4", False, "(" + "1," * 99 + ")"), bytes(4)), ""),
        (described(_SHORT.format("<i4", False, "()"), bytes(5)), "longer"),
        (described(_SHORT.format("<i4", 1, "()"), bytes(4)), "makes no sense"),
        (described(_SHORT.format("<i3", False, "()"), bytes(3)), "no plain numbers"),
        (described(_SHORT.format("<c8", False, "()"), bytes(8)), "not of real numbers"),
        (described(_SHORT.format("|O", False, "()"), bytes(8)), "not of real numbers"),
        (described(_SHORT.format("<U3", False, "()"), bytes(12)), "not of real numbers"),
        (described(_SHORT.format("<M8[s]", False, "()"), bytes(8)), "not of real numbers"),
        (as_npy(np.zeros(2, dtype=[("a", "<i4")])), "not of real numbers"),
    ],
)
def test_files_that_are_not_read(content, why, tmp_path):
    path = tmp_path / "some.npy"
    path.write_bytes(content)
    with pytest.raises(ScoresError, match=rf"some\.npy: not a file of scores.*{why}"):
        read(path)


def test_members_that_are_no_arrays(tmp_path):
    path = tmp_path / "some.npz"
    zipped(path, [("header", "hello"), ("one.npy", as_npy(np.arange(2)))])
    with opened(path, ScoresError, _WHAT) as content:
        assert content.names == ("header", "one")
        assert content.read("one").tolist() == [0, 1]
        with pytest.raises(ScoresError, match=r"some\.npz.*'header': not an array"):
            content.read("header")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("damaged", [False, True])
def test_methods_that_numpy_does_not_write(method, damaged, tmp_path):
    path = tmp_path / "some.npz"
    zipped(path, [("one.npy", as_npy(np.arange(1000)))], method)
    if damaged:
        data = bytearray(path.read_bytes())
        data[60:90] = bytes(30)
        path.write_bytes(data)
    with pytest.raises(ScoresError, match=f"'one' is compressed by method {method}"):
        read(path)


def with_field(data, place, value):
    """Change two bytes of the only entry of a zip file, in both its descriptions."""
    data = bytearray(data)
    for mark, shift in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        at = data.index(mark) + place + shift
        data[at : at + 2] = struct.pack("<H", value)
    return bytes(data)


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (6, 1, "encrypted"),
        (6, 0x20, ""),
        (6, 0x41, "encrypted"),
        (6, 0x40, ""),
        (8, 99, "method 99"),
        (8, 0xFFFF, "method 65535"),
    ],
)
def test_encrypted_and_unknown_members(place, value, why, tmp_path):
    path = tmp_path / "some.npz"
    zipped(path, [("one.npy", as_npy(np.arange(1000)))])
    path.write_bytes(with_field(path.read_bytes(), place, value))
    with pytest.raises(ScoresError, match=rf"some\.npz: not a file of scores, or damaged.*{why}"):
        read(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name(tmp_path):
    path = tmp_path / "some.npz"
    for names in (("one.npy", "one.npy"), ("one.npy", "one")):
        zipped(path, [(name, as_npy(np.arange(2))) for name in names])
        with pytest.raises(ScoresError, match="same name"):
            read(path)


def test_small_files_do_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("arborescence.system.arrays._ROOM", 1 << 20)
    monkeypatch.setattr("arborescence.system.arrays._ROOM_FOR_A_BYTE", 1)
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, one=np.zeros(100_000), two=np.zeros(100_000))
    with opened(path, ScoresError, _WHAT) as content:
        assert content.read("one").shape == (100_000,)
        with pytest.raises(ScoresError, match=r"bomb\.npz.*unpacks to more than 1 MB"):
            content.read("two")
    # What is not packed takes no more than it is large.
    np.savez(path, one=np.zeros(100_000), two=np.zeros(100_000))
    assert read(path)["two"].shape == (100_000,)


def test_a_member_that_is_longer_than_it_says_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    zipped(path, [("one.npy", as_npy(np.zeros(3)) + bytes(10**6))])
    read_of = []
    whole = zipfile.ZipExtFile.read
    monkeypatch.setattr(
        zipfile.ZipExtFile, "read", lambda self, n=-1: read_of.append(n) or whole(self, n)
    )
    with pytest.raises(ScoresError, match="'one': longer than its header says"):
        read(path)
    assert 0 < sum(read_of) <= 10_000


def test_a_member_that_is_longer_than_the_archive_says(tmp_path):
    path = tmp_path / "bomb.npz"
    zipped(path, [("one.npy", as_npy(np.zeros(100_000)))])
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<I", 1000)
    path.write_bytes(data)
    with pytest.raises(ScoresError, match=r"bomb\.npz.*'one'|bomb\.npz.*CRC"):
        read(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_bytes_that_are_changed(save, tmp_path):
    path = tmp_path / "some.npz"
    values = np.random.default_rng(3).normal(size=300)
    save(path, one=values)
    data = path.read_bytes()
    generator = np.random.default_rng(5)
    noticed = 0
    for _ in range(1500):
        broken = bytearray(data)
        for place in generator.integers(len(data), size=generator.integers(1, 4)):
            broken[place] = generator.integers(256)
        if generator.random() < 0.2:
            broken = broken[: generator.integers(len(broken))]
        path.write_bytes(broken)
        try:
            content = read(path)
        except ScoresError:
            noticed += 1
        else:  # the name or the date of a member
            assert all(np.array_equal(array, values) for array in content.values())
    assert noticed > 1000
