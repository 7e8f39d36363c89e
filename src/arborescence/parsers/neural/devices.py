"""Devices of PyTorch: whether one is there, and what to do if its memory does not suffice."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator


def device_named(name: str) -> torch.device:
    """Return a device; OptionError if PyTorch does not know it or cannot use it."""
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise OptionError(
            f"device={name!r} is not there: PyTorch has cpu, and cuda with a GPU"
        ) from error
    return device


@contextmanager
def enough_memory(advice: str) -> Iterator[None]:
    """Say what to do if the memory of a device does not suffice, as an OptionError."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise OptionError(f"the GPU has not enough memory: {advice}") from error


def moved(value: Any, device: torch.device | str) -> Any:
    """Copy arrays to a device, as tensors; also those in a dictionary or a NamedTuple."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value).to(device, non_blocking=True)
    if isinstance(value, dict):
        return {name: moved(each, device) for name, each in value.items()}
    if isinstance(value, tuple):
        return type(value)(*(moved(each, device) for each in value))
    return value
