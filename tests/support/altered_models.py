"""Model files that are changed after they were written."""

import numpy as np

from arborescence.parsers import model_file


def altered(path, **changes):
    """Save the model again with other header entries (or None for no such) and arrays."""
    header, arrays = model_file.load(path)
    for name, value in changes.items():
        parts = arrays if isinstance(value, np.ndarray) or name in arrays else header
        if value is None:
            del parts[name]
        else:
            parts[name] = value
    model_file.save(path, header, arrays)
    return path
