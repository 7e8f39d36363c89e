"""Records on their way from Python into a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from arborescence.compiling.signatures import RecordType, arguments_of, fields_of

jit = pytest.importorskip("arborescence.compiling.jit")

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Inner(NamedTuple):
    numbers: NDArray[np.int64]
    factor: float


class Outer(NamedTuple):
    alone: bool
    inner: Inner


SIGNATURE = "int64, a.Outer(bool, a.Inner(out int64[::1], float64)), a.Inner(int64[::1], float64)"
GIVEN = (3, Outer(True, Inner(np.array([1, 2]), 0.5)), Inner(np.array([4]), 2.0))


def weigh(first: int, outer: Outer, other: Inner) -> float:
    outer.inner.numbers[0] = first
    return outer.inner.factor * outer.inner.numbers.sum() + other.numbers[0] * other.factor


@pytest.fixture
def arguments(monkeypatch: pytest.MonkeyPatch) -> list[RecordType | str]:
    monkeypatch.setattr(
        RecordType, "load", lambda record: {"a.Outer": Outer, "a.Inner": Inner}[record.kind]
    )
    return arguments_of(SIGNATURE)


def test_a_declared_record_is_read() -> None:
    one, outer, inner = arguments_of(SIGNATURE)
    assert one == "int64"
    assert outer == RecordType(
        "a.Outer", ("bool", RecordType("a.Inner", ("out int64[::1]", "float64")))
    )
    assert inner == RecordType("a.Inner", ("int64[::1]", "float64"))
    wanted = ["int64", "bool", "out int64[::1]", "float64", "int64[::1]", "float64"]
    assert list(fields_of([one, outer, inner])) == wanted


def test_records_are_taken_apart_and_made_again(arguments: list[RecordType | str]) -> None:
    seen: list[Any] = []

    def kernel(*given: Any) -> str:
        seen.extend(given)
        return "done"

    def compiled(function: Any) -> Any:
        def entry(*fields: Any) -> Any:
            seen.append(fields)
            return function(*fields)

        assert (function.__name__, function.__module__) == ("kernel", kernel.__module__)
        return entry

    call, _ = jit.way(kernel, arguments, compiled)
    (first, outer, other) = GIVEN
    assert call(GIVEN) == "done"
    assert seen == [(first, outer.alone, *outer.inner, *other), *GIVEN]
    assert list(map(type, seen[1:])) == [int, Outer, Inner]
    for wrong in (GIVEN[:2], (3, (outer.inner,), other), (3, outer, 4)):
        with pytest.raises((TypeError, ValueError)):
            call(wrong)


@pytest.mark.skipif(
    bool(pytest.importorskip("numba").config.DISABLE_JIT), reason="nothing is compiled"
)
def test_a_kernel_takes_records_from_python_and_from_kernels(
    arguments: list[RecordType | str],
) -> None:
    kernel = jit.KernelOfRecords(weigh, jit._OPTIONS, arguments)
    assert kernel(*GIVEN) == weigh(*GIVEN) == 10.5
    assert GIVEN[1].inner.numbers[0] == 3
    [types] = kernel.entry.overloads
    assert len(types) == 6

    def calls(outer: Outer, other: Inner) -> float:
        return kernel(7, outer, other)  # type: ignore[no-any-return]

    assert jit.Kernel(calls, jit._OPTIONS)(*GIVEN[1:]) == 12.5
