"""A caller's arrays, of NumPy or any other library, converted to the types that kernels take."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.errors import ScoresError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: The types of scores that kernels take, and that of heads.
FLOATS: Final = (np.dtype(np.float32), np.dtype(np.float64))
INT64: Final = np.dtype(np.int64)
# The bound up to which float64 holds all integers.
_WHOLE = 2**53
_CPU = 1  # in DLPack


def as_it_is(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array unchanged: results for a caller with NumPy arrays need no conversion."""
    return array


def as_array(
    values: Any, name: str = "scores", *, absent: float | None = None
) -> tuple[NDArray[Any], Callable[[NDArray[Any]], Any]]:
    """Return a NumPy view of an array or tensor, and a function that converts results back.

    Takes any value that DLPack or `numpy.asarray` takes. A torch tensor is detached; an array on
    another device is copied to the CPU; bfloat16 becomes float32, which is exact. Masked entries
    become `absent`. ScoresError if entries are masked and `absent` is None, or if the values are no
    array.
    """
    if type(values) is np.ndarray:
        return values, as_it_is
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        return _of_tensor(values, name)
    if isinstance(values, np.ma.MaskedArray):
        return _unmasked(values, name, absent), as_it_is
    try:
        if hasattr(values, "__dlpack_device__") and not isinstance(values, np.ndarray):
            return _of_another(values)
        return np.asarray(values), as_it_is
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ScoresError(f"{name} do not form an array: {error}") from None


def _of_another(values: Any) -> tuple[NDArray[Any], Callable[[NDArray[Any]], Any]]:
    """Return a NumPy view (DLPack), and a function that converts back (array API)."""
    elsewhere: dict[str, Any] = {} if values.__dlpack_device__()[0] == _CPU else {"device": "cpu"}
    try:
        array = np.from_dlpack(values, **elsewhere)
    except (BufferError, RuntimeError, TypeError):  # for example a type that NumPy does not have
        if not hasattr(values, "__array__"):
            raise
        array = np.asarray(values)
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if not hasattr(values, "__array_namespace__"):
        return array, as_it_is
    library, device = values.__array_namespace__(), values.device

    def give_back(result: NDArray[Any]) -> Any:
        converted = library.asarray(result)
        return converted if converted.device == device else converted.to_device(device)

    return array, give_back


def _of_tensor(tensor: Any, name: str) -> tuple[NDArray[Any], Callable[[NDArray[Any]], Any]]:
    """Return a NumPy view of a torch tensor, and a function that makes a tensor of a result."""
    import torch

    device = tensor.device

    def give_back(result: NDArray[Any]) -> Any:
        return torch.from_numpy(result).to(device)

    try:
        tensor = tensor.detach()
        if type(tensor) is not torch.Tensor:
            tensor = tensor.as_subclass(torch.Tensor)
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.float()
        return tensor.cpu().numpy(), give_back
    except (TypeError, RuntimeError) as error:
        line = " ".join(str(error).split())
        raise ScoresError(f"{name} are a tensor that cannot be read as an array: {line}") from None


def _unmasked(values: Any, name: str, absent: float | None) -> NDArray[Any]:
    """Return a masked array as a plain array; masked entries get the value `absent`."""
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return np.asarray(values.data)
    if absent is None:
        where = ", ".join(map(str, np.argwhere(mask)[0]))
        raise ScoresError(
            f"{name}[{where}] is masked, which has no meaning here: fill the array, "
            "or leave masked entries out"
        )
    array = as_floats(values.filled(0))
    array[mask] = absent
    return array


def as_floats(array: NDArray[Any], name: str = "scores") -> NDArray[Any]:
    """Return a new aligned, writeable float32 or float64 array with exactly the same numbers."""
    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64 if array.dtype.itemsize == 8 else np.float32)
    if kind in "biu":
        if array.dtype.itemsize == 8 and array.size:
            # abs() would overflow for the lowest int64, so both bounds are checked.
            beyond = array > _WHOLE
            if kind == "i":
                beyond |= array < -_WHOLE
            if beyond.any():
                where = tuple(map(int, np.argwhere(beyond)[0]))
                raise ScoresError(
                    f"{name}{list(where)} is {array[where]}: whole numbers beyond 2^53 do not "
                    "fit a float64 exactly; scale them down"
                )
        return array.astype(np.float64)
    raise ScoresError(
        f"{name} must be floats (at most 64 bits) or whole numbers, not {array.dtype}"
    )


def lies_in_rows(array: NDArray[Any]) -> bool:
    """Tell whether an array's memory layout suits most kernels. The array may be read-only."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned


def as_float64(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the same numbers as float64, as kernels take them; copies only if needed."""
    if array.dtype is FLOATS[1] and lies_in_rows(array):
        return array
    return as_floats(array).astype(np.float64, "C", copy=False)


def as_int64(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return whole numbers as int64, as kernels take them; copies only if needed."""
    if array.dtype is INT64 and lies_in_rows(array):
        return array
    return array.astype(np.int64, "C")


def as_doubles(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Copy scores as contiguous float64: another thread may change the caller's array meanwhile."""
    with np.errstate(invalid="ignore"):
        return np.array(scores, np.float64, order="C")


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape for a message, without the types of NumPy."""
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
