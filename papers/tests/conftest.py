"""The command line and real treebanks for tests."""

from command_line import command, process, terminal
from real import treebanks

__all__ = ["command", "process", "terminal", "treebanks"]
