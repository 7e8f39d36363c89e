"""Arrays of other libraries: taken by DLPack without a copy, and results as such arrays."""

from types import SimpleNamespace

import numpy as np
import pytest

import arborescence as arb
from arborescence.core.conversion import as_array
from arborescence.errors import ScoresError
from array_kinds import Foreign

SCORES = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
ACCELERATOR = (2, 0)  # what DLPack calls CUDA's first device


class Standard(Foreign):
    """An array of the array API standard, on one of several devices."""

    def __init__(self, array, device="first"):
        super().__init__(array)
        self.device = device

    def __array_namespace__(self, api_version=None):
        return SimpleNamespace(asarray=Standard)

    def to_device(self, device):
        return Standard(self.array, device)


class Away(Foreign):
    """An array on an accelerator."""

    def __dlpack_device__(self):
        return ACCELERATOR

    def __dlpack__(self, *, dl_device=None, copy=None, **how):
        if dl_device != (1, 0):
            raise BufferError("it lies on an accelerator")
        return self.array.copy().__dlpack__(**how)


class AwayForEver(Away):
    def __dlpack__(self, **how):
        raise BufferError("it stays on the accelerator")


class Brain(AwayForEver):
    """An array of a type that DLPack does not carry to NumPy, but that NumPy can convert."""

    def __dlpack_device__(self):
        return (1, 0)

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("array", [SCORES, SCORES.T, SCORES[::-1, ::2], np.arange(3), SCORES > 2])
@pytest.mark.parametrize("kind", [Foreign, Standard])
def test_nothing_is_copied(array, kind):
    found, _ = as_array(kind(array))
    assert type(found) is np.ndarray
    assert (found.ctypes.data, found.strides) == (array.ctypes.data, array.strides)
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)


def test_without_the_standard_results_are_of_numpy():
    assert arb.decode(Foreign(SCORES)).tolist() == [-1, 0, 1]


@pytest.mark.parametrize("device", ["first", "second"])
def test_by_the_standard_results_are_as_the_scores(device):
    heads = arb.decode(Standard(SCORES, device))
    assert (type(heads), heads.device) == (Standard, device)
    assert heads.array.tolist() == [-1, 0, 1]
    batch = arb.decode([Standard(SCORES, device), Standard(SCORES[:2, :2], device)])
    assert (type(batch), batch.device) == (Standard, device)
    assert batch.array.tolist() == [[-1, 0, 1], [-1, 0, -1]]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy copies since 2.1")
def test_scores_on_an_accelerator_are_copied():
    assert arb.decode(Away(SCORES)).tolist() == [-1, 0, 1]


def test_what_cannot_be_copied_is_an_error():
    with pytest.raises(ScoresError, match=r"^scores do not form an array: "):
        arb.decode(AwayForEver(SCORES))


def test_what_dlpack_does_not_carry_is_converted():
    assert arb.decode(Brain(SCORES)).tolist() == [-1, 0, 1]
