"""The device, memory, threads and random numbers of PyTorch."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Only one thread at a time sets the number of PyTorch's threads.
_setting: Final = threading.Lock()
#: In a thread that is within `own_threads`, `inside` is True.
_here: Final = threading.local()


@contextmanager
def own_threads(count: int) -> Iterator[None]:
    """Let PyTorch use `count` threads for the calling thread; after the block, as many as before.

    Other threads, also new threads, keep their numbers. A block within another block changes
    nothing.
    """
    if getattr(_here, "inside", False):
        yield
        return
    before = torch.get_num_threads()
    _here.inside = True
    try:
        _set_threads(count)
        yield
    finally:
        _here.inside = False
        _set_threads(before)


def _set_threads(count: int) -> None:
    # PyTorch sets the number of the calling thread, and the number of threads that are new to
    # PyTorch: so a new thread first reports its old number, and afterwards sets this number again.
    if torch.get_num_threads() == count:
        return
    with _setting, ThreadPoolExecutor(1) as new_thread:
        before = new_thread.submit(torch.get_num_threads).result()
        try:
            torch.set_num_threads(count)
        finally:
            new_thread.submit(torch.set_num_threads, before).result()


def device_named(name: str) -> torch.device:
    """Return a device; OptionError if PyTorch does not know it or cannot use it."""
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise OptionError(
            f"device={name!r} is not available: PyTorch has cpu, and cuda with a GPU"
        ) from error
    return device


@contextmanager
def own_numbers(device: torch.device, seed: int | None = None) -> Iterator[None]:
    """Let the block draw random numbers, from a seed; after it, PyTorch draws as before."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        if seed is not None:
            torch.manual_seed(seed)
        yield


def seed_of(seed: int, epoch: int) -> int:
    """Mix the seed of the settings and an epoch into a seed for PyTorch."""
    return int(np.random.SeedSequence((seed, epoch)).generate_state(1, np.uint64)[0]) >> 1


@contextmanager
def enough_memory(advice: str) -> Iterator[None]:
    """Raise an OptionError with advice if the memory of a device does not suffice."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise OptionError(f"the GPU has not enough memory: {advice}") from error


def moved(value: Any, device: torch.device | str) -> Any:
    """Copy arrays to a device, as tensors; also arrays in a dictionary or a NamedTuple."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value).to(device, non_blocking=True)
    if isinstance(value, dict):
        return {name: moved(each, device) for name, each in value.items()}
    if hasattr(value, "_fields"):
        return type(value)(*(moved(each, device) for each in value))
    return value
