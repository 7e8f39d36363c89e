"""Errors that say what to install where PyTorch or a device is missing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from arborescence.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def needs_torch(what: str) -> Iterator[None]:
    """Name the extra if PyTorch cannot be imported, as a MissingExtraError."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs PyTorch: install it with `pip install 'arborescence[torch]'`"
        ) from error


def check_device(device: str) -> None:
    """Raise MissingExtraError or OptionError if PyTorch or a device is not there."""
    with needs_torch("training a neural parser"):
        from arborescence.parsers.neural.devices import device_named
    device_named(device)
