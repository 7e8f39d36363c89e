"""Jobs for processes of tests: in a module that they can import."""

import os
import signal
import threading
from pathlib import Path


def doing():
    """Make a job that does what an item says."""
    return do


def failing():
    """Fail to make a job."""
    raise OSError(2, "No such file", "my.model")


def dying():
    """Die while the job is made."""
    os.kill(os.getpid(), signal.SIGKILL)


def do(item):
    """Square a number, name a setting, raise, wait for ever, or die (once, or always)."""
    what, value = item
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "die once" and not Path(value).exists():
        Path(value).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "wait":
        Path(value).touch()
        threading.Event().wait()
    if what == "raise":
        raise ValueError(value)
    return os.environ[value] if what == "setting" else f"did {value}"
