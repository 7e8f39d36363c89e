"""The larger English model, for Arborescence, which finds it by its entry point."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def english_large() -> Traversable:
    """Return the file of the neural parser with a pretrained encoder."""
    return files(__name__) / "english-large.npz"
