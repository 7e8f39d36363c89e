"""The English models, for Arborescence, which finds them by entry points."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def english() -> Traversable:
    """Return the file of the neural parser."""
    return files(__name__) / "english.npz"


def english_fast() -> Traversable:
    """Return the file of the linear parser, which is less accurate and many times faster."""
    return files(__name__) / "english-fast.npz"
