"""Checks of a caller's options."""

from __future__ import annotations

import operator
import reprlib
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def mask_is_lengths(
    function: Callable[_Parameters, _Result],
) -> Callable[_Parameters, _Result]:
    """Make a function with `lengths` name it in the error if a caller passes ``mask=``.

    >>> decode = mask_is_lengths(lambda scores, lengths=None: scores)
    >>> decode([], mask=[True])
    Traceback (most recent call last):
      ...
    arborescence.OptionError: there is no mask=: give the same mask as lengths=mask
    """

    @wraps(function)
    def called(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        if "mask" in options:
            raise OptionError("there is no mask=: give the same mask as lengths=mask")
        return function(*arguments, **options)

    return called


def check_root(root: str) -> bool:
    """Return whether `root` is "single"; OptionError if it is neither "single" nor "multi"."""
    if root == "single":
        return True
    if root == "multi":
        return False
    raise OptionError(f"root must be 'single' or 'multi', not {root!r}")


def check_count(
    count: Any, name: str = "k", least: int = 1, most: int | None = None, kind: str = ""
) -> int:
    """Return `count` as an int; OptionError unless whole, from `least` to `most`."""
    try:
        whole = operator.index(count)
    except TypeError:
        raise OptionError(
            f"{name} must be a whole number{kind}, not {reprlib.repr(count)}"
        ) from None
    if most is not None and not least <= whole <= most:
        raise OptionError(f"{name} must be between {least} and {most}, not {whole}")
    if whole < least:
        raise OptionError(f"{name} must be at least {least}, not {whole}")
    return whole


def check_flag(flag: Any) -> bool:
    """Return `projective` as a bool; OptionError if it is neither False nor True."""
    if not isinstance(flag, (bool, np.bool_)):
        raise OptionError(f"projective must be False or True, not {flag!r}")
    return bool(flag)


def raises(errors: str) -> bool:
    """Return whether a head vector that is no tree of the graph is an error (else: -inf)."""
    if errors not in ("raise", "-inf"):
        raise OptionError(f"errors must be 'raise' or '-inf', not {errors!r}")
    return errors == "raise"
