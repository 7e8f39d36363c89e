"""The version of the package, which model files, checkpoints and reports name."""

__version__ = "1.0.0rc1"
