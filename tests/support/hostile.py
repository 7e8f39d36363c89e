"""Models that someone has tampered with: other values, types and shapes in their place."""

from __future__ import annotations

import json
import math

import numpy as np

TYPES = [
    np.bool_, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64,
    np.longdouble, np.complex64, "U3", "S2", "datetime64[s]",
]  # fmt: skip

#: Values that stand in no header, or not in that place.
VALUES = [
    None, True, False, 0, 1, -1, 3, 64, 65, 2**31, 2**63 - 1, 2**63, -(2**63), 10**30, 0.0, 1.0,
    -1.0, 1e-320, 1e300, math.nan, math.inf, "", "x", "\x1b[31m", "\ud800", "swap", "undirected",
    "pseudo", [], {}, [[]], [{}], {"a": 1}, [1], [1.0] * 2, [1.0] * 3, [1e300] * 3, [True] * 3,
    [1, 1, 1], [1, 1, 2], [3, 4, 5], [1, 2**40, 4], [2**62, 2**62, 4], ["form"], ["lemma"],
    ["feats"], ["upos", "upos"], ["\t"], ["\ud800"], ["↑"], ["x↑"], [""], "a" * 10_000,
]  # fmt: skip


def arrays_like(array, generator):
    """Yield arrays that might do harm in the place of one, each with a name."""
    kind = array.dtype
    if kind == np.bool_:
        yield "7", np.full(array.shape, 7, dtype=np.uint8).view(np.bool_)
        extremes = [False, True]
    elif kind.kind == "f":
        extremes = [np.finfo(kind).min, np.finfo(kind).max, np.nan, np.inf, -np.inf, -1]
    else:
        extremes = [np.iinfo(kind).min, np.iinfo(kind).max, 0, 1, *([-1] * (kind.kind == "i"))]
    for value in extremes:
        yield f"full of {value}", np.full(array.shape, value, dtype=kind)
        if array.size:
            for place in {0, array.size - 1, int(generator.integers(array.size))}:
                changed = array.copy()
                changed.flat[place] = value
                yield f"{value} at {place}", changed
    if array.size:
        noise = np.frombuffer(generator.bytes(array.nbytes), dtype=np.uint8)
        yield "noise", noise.view(kind).reshape(array.shape).copy()
        yield "shuffled", generator.permutation(array.reshape(-1)).reshape(array.shape)
        yield "sorted", np.sort(array, axis=None).reshape(array.shape)
    for other in TYPES:
        if np.dtype(other) != kind and not (kind.kind == "f" and other == "datetime64[s]"):
            with np.errstate(all="ignore"):
                yield f"of type {np.dtype(other)}", array.astype(other)
    yield "a number", np.zeros((), dtype=kind)
    yield "empty", np.empty(0, dtype=kind)
    yield "of one more axis", array[None]
    yield "flat", array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1)
    for axis, length in enumerate(array.shape):
        for name, places in (
            ("none", []),
            ("one less", range(length - 1)),
            ("one more", [*range(length), *range(min(length, 1))]),
            ("half", range(length // 2)),
            ("twice", [*range(length)] * 2),
        ):
            yield f"{name} along {axis}", np.take(array, np.array(places, dtype=np.int64), axis)
    yield "Fortran's", np.asfortranarray(array)
    yield "turned round", array.T
    yield "big-endian", array.astype(kind.newbyteorder(">"))


def headers_like(header):
    """Yield headers that might do harm in the place of one, each with a name."""
    for path, value in _places(header):
        others = [*VALUES]
        if isinstance(value, list):
            others += [value[:-1], value + value[:1], value * 100, value[::-1]]
            if value and isinstance(value[0], str):
                others += [[name] * len(value) for name in ("same", "", "x↑y↑z", "\ud800", "\0")]
        for other in others:
            yield f"{path} {str(other)[:50]!r}", _changed(header, path, other)
        yield f"{path} missing", _changed(header, path, _places)


def _places(header, path=()):
    for key, value in header.items():
        if key != "info":
            yield (*path, key), value
        if isinstance(value, dict) and key != "info":
            yield from _places(value, (*path, key))
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for number, each in enumerate(value):
                yield from _places(each, (*path, key, number))


def _changed(header, path, value):
    changed = json.loads(json.dumps(header))
    within = changed
    for step in path[:-1]:
        within = within[step]
    if value is _places:
        del within[path[-1]]
    else:
        within[path[-1]] = value
    return changed


def changed(arrays, name, change):
    """The arrays with another one of this name; without it, if the change is None."""
    others = {other: array for other, array in arrays.items() if other != name}
    return others | {name: change(arrays[name])} if change else others
