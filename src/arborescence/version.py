"""The version of the package, which model files, checkpoints and reports name."""

__version__ = "0.1.0"
