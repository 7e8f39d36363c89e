"""The most accurate English model, for Arborescence, which finds it by its entry point."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def english_xl() -> Traversable:
    """Return the file of the parser with a pretrained encoder of base size."""
    return files(__name__) / "english-xl.npz"
