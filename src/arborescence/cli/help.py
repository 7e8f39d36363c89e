"""Shared formatting of help pages."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """Lay out the examples at the end of a help page."""
    return "\n\n".join(["[bold]Examples[/bold]", *(f"  [cyan]{line}[/cyan]" for line in lines)])
