"""Damage to files: at random, and where it hurts."""

from __future__ import annotations

import io
import zipfile

import numpy as np

# What a terminal obeys, what is no character, and what numbers are made of.
NASTY = [
    b"\x1b[31m",
    b"\x00",
    b"\x07\x08",
    b"\r",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    "\u202e\u2028\x85".encode(),
    b"-1",
    b"99999999999999999999",
    b"1e400",
    b"nan",
    b"\t\t",
    b"\n\n",
    b"#",
    b"|=",
    "٣".encode(),
]


def damaged(rng, data):
    """Return bytes with one or more faults."""
    data = bytearray(data)
    for _ in range(int(rng.choice([1, 1, 2, 5]))):
        size = len(data)
        at = int(rng.integers(0, size + 1))
        turn = int(rng.integers(7))
        if turn == 0:
            del data[at:]
        elif turn == 1 and size:
            data[at % size] ^= 1 << int(rng.integers(8))
        elif turn == 2:
            data[at:at] = NASTY[int(rng.integers(len(NASTY)))]
        elif turn == 3:
            del data[at : at + int(rng.integers(1, 20))]
        elif turn == 4:
            data[at:at] = data[at : at + int(rng.integers(1, 200))]
        elif turn == 5 and size:
            data[at : at + 4] = rng.bytes(4)
        elif turn == 6:
            nasty = NASTY[int(rng.integers(len(NASTY)))]
            data[at : at + len(nasty)] = nasty
    return bytes(data)


def damaged_zip(rng, data):
    """Return a zip file whose directory or whose local headers lie."""
    data = bytearray(data)
    for signature, flags, method in ((b"PK\x01\x02", 8, 10), (b"PK\x03\x04", 6, 8)):
        places = []
        at = data.find(signature)
        while at >= 0:
            places.append(at)
            at = data.find(signature, at + 4)
        if places and rng.random() < 0.7:
            at = int(rng.choice(places))
            if rng.random() < 0.5:
                data[at + flags] = int(rng.choice([1, 8, 32, 64, 255]))
            else:
                data[at + method] = int(rng.choice([0, 1, 8, 9, 12, 14, 93, 95, 99]))
    return bytes(data) if rng.random() < 0.7 else damaged(rng, data)


def members(data):
    """Return the arrays of an .npz file, as bytes: {name: bytes}."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def packed_again(parts, rng=None):
    """Return a zip file of these members, packed in one of the ways there are."""
    out = io.BytesIO()
    methods = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    method = methods[int(rng.choice(4, p=[0.7, 0.1, 0.1, 0.1]))] if rng else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", method) as packed:
        for name, part in parts.items():
            packed.writestr(name, part)
    return out.getvalue()


def as_npy(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=array.dtype.hasobject)
    return out.getvalue()


def crafted_header(rng):
    """Return an .npy file whose description is no good, though it can be read as Python."""
    shape = str(
        rng.choice(
            [
                "(True, True)",
                "(-1, 2)",
                "(2**70,)",
                "(" * 300,
                "-" * 5000 + "1",
                "(99999999999999, 99999999999999)",
                "(0, 99999999999999999999)",
                "[2, 2]",
                "None",
                "(2, 2.0)",
            ]
        )
    )
    descr = str(
        rng.choice(["'<f8'", "'|O'", "'<U9999999'", "[('a', '<f8')]", "'<m8[s]'", "''", "3"])
    )
    good = rng.random() < 0.5
    text = (
        f"{{'descr': {chr(39) + '<f8' + chr(39) if good else descr}, "
        f"'fortran_order': {rng.choice(['False', 'True', '3'])}, 'shape': {shape}}}\n"
    ).encode()
    version = bytes([int(rng.choice([1, 1, 1, 2, 3, 9])), 0])
    length = len(text).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + length + text + rng.bytes(64)


def hostile(rng, array):
    """Return an array in the place of this one, whose values, type or shape are no good."""
    if not array.size:
        return rng.integers(-9, 9, 3)
    array = array.copy()
    turn = int(rng.integers(12))
    flat = array.reshape(-1)
    if turn <= 4:
        some = rng.random(flat.size) < rng.choice([1.0, 0.5, 3 / flat.size])
        if array.dtype.kind in "iu":
            info = np.iinfo(array.dtype)
            near = flat[0] + rng.integers(-3, 4)
            values = [info.max, info.min, info.max - 1, 0, 1, np.clip(near, info.min, info.max)]
            values.append(int(rng.integers(info.min, info.max, endpoint=True, dtype=array.dtype)))
            flat[some] = values[int(rng.integers(len(values)))]
        elif array.dtype.kind == "f":
            limits = np.finfo(array.dtype)
            values = [np.nan, np.inf, -np.inf, limits.max, limits.min, limits.tiny, 0.0]
            flat[some] = values[int(rng.integers(len(values)))]
        elif array.dtype.kind == "b":
            flat[some] = ~flat[some]
    elif turn == 5:
        rng.shuffle(flat)
    elif turn == 6:
        array = flat[: int(rng.integers(0, flat.size))]
    elif turn == 7:
        array = np.concatenate([flat, flat])
    elif turn == 8:
        types = ["<f4", "<f8", ">i4", "<i8", "<u1", "<c16", "?", "<U3", "M8[s]", "<f2", "O"]
        with np.errstate(all="ignore"):
            try:
                array = array.astype(str(rng.choice(types)))
            except (TypeError, ValueError):
                array = array.astype("<c16")
    elif turn == 9:
        array = array.T if array.ndim > 1 else array[None]
    elif turn == 10:
        array = np.asfortranarray(array)
    else:
        array = array[..., ::-1]
    return array
