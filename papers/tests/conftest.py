"""The command line for tests."""

from command_line import command, process, terminal

__all__ = ["command", "process", "terminal"]
