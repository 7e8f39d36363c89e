"""The notation in which families declare the types of their kernels."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from arborescence.compiling import native
from arborescence.compiling.signatures import as_declared, as_types, declared
from arborescence.nonprojective import decode

numba = pytest.importorskip("numba")
typeof, types = numba.typeof, numba.types


def test_numbers() -> None:
    [found] = as_types("int64, uint64, float64, bool")
    assert found == (types.int64, types.uint64, types.float64, types.boolean)
    assert found[0] == typeof(3)
    assert found[3] == typeof(True)
    assert as_types("") == [()]


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["float32", "float64", "int8", "uint8", "int64", "bool"])
def test_arrays_are_those_of_numpy(dimensions: int, name: str) -> None:
    array = np.zeros((4,) * dimensions, name)
    axes = ", ".join([":"] * dimensions)
    assert as_types(f"out {name}[{axes}:1]") == [(typeof(array),)]
    assert as_types(f"out {name}[{axes}]") == [(typeof(array[..., ::2]),)]
    array.flags.writeable = False
    assert as_types(f"{name}[{axes}:1]") == [(typeof(array),)]
    assert as_types(f"{name}[{axes}]") == [(typeof(array[..., ::2]),)]


def test_scores_are_the_same_in_the_whole_signature() -> None:
    both = as_types("score[:, ::1], float64, score, int64[:, :]")
    for found, number in zip(both, (types.float32, types.float64), strict=True):
        matrix = types.Array(number, 2, "C", readonly=True)
        other = types.Array(types.int64, 2, "A", readonly=True)
        assert found == (matrix, types.float64, number, other)


def test_weights_and_their_sums_are_of_one_type_or_the_other() -> None:
    both = as_types("weight, int64, sum")
    assert both == [
        (types.int8, types.int64, types.int32),
        (types.float32, types.int64, types.float32),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        "int64[]",
        "int64[1]",
        "int64[::1, :]",
        "const  int64[:]",
        "int64[:,:]",
        "const int64[:]",
        "a b",
        "?",
    ],
)
def test_what_is_no_type(wrong: str) -> None:
    with pytest.raises(ValueError, match="cannot read the type"):
        as_types(wrong)


def test_what_families_declare_is_there() -> None:
    names = set()
    for export in declared():
        assert callable(getattr(import_module(export.module), export.function)), export
        assert export.name not in names
        names.add(export.name)
        overloads = [found for text in export.signatures for found in as_types(text)]
        assert len(set(overloads)) == len(overloads), export


@pytest.mark.skipif(native.KERNELS is not None, reason="Numba compiles nothing")
def test_read_only_and_writeable_arrays_are_taken_alike_but_for_what_is_written() -> None:
    writeable, still = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    still.flags.writeable = False
    lengths, heads = np.zeros(0, np.int64), np.zeros(4, np.int64)
    signature = "score[:, :, ::1], bool, int64[::1], bool, out int64[::1]"
    wanted = as_types(signature)[1]
    function = getattr(decode.decode_kernel, "py_func", decode.decode_kernel)

    def compiled(*arguments: Any) -> Any:
        return as_declared(function, tuple(map(typeof, arguments)))

    for scores in (writeable, still):
        assert compiled(scores, True, lengths, True, heads) == wanted
    heads.flags.writeable = False
    for arguments in (
        (still, True, lengths, True, heads),
        (still, True, lengths, 3, heads),
        (still,),
    ):
        assert compiled(*arguments) == tuple(map(typeof, arguments))
