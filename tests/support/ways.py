"""The ways by which objects go to other processes."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import tempfile
from functools import partial
from pathlib import Path


def _pickled(value, protocol):
    return pickle.loads(pickle.dumps(value, protocol))


def _in_buffers(value):
    """Copy an object; its arrays become read-only, as with Ray."""
    buffers = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers])


def _mapped(value):
    """Copy an object; its arrays become read-only memory maps, as with joblib."""
    import joblib

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "object")
        joblib.dump(value, path)
        return joblib.load(path, mmap_mode="r")


#: Each returns a copy that went this way.
WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{f"protocol {number}": partial(_pickled, protocol=number) for number in range(6)},
    "buffers": _in_buffers,
}
if importlib.util.find_spec("joblib"):
    WAYS["joblib"] = _mapped
