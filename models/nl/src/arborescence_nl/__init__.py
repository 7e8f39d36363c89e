"""Models for Arborescence, which finds them by entry points."""

from importlib.resources import files as _files


def __getattr__(model):
    """Return the function that returns the file of a model."""
    file = _files(__name__) / (model.replace("_", "-") + ".npz")
    if not file.is_file():
        raise AttributeError(model)
    return lambda: file
