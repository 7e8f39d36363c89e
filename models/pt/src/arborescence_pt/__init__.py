"""Models of Portuguese for Arborescence, which finds them by entry points."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def pt() -> Traversable:
    """Return the file of this model."""
    return files(__name__) / "pt.npz"
