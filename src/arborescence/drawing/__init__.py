"""Dependency trees as pictures: lines of text for a terminal, SVG for a page."""

from arborescence.drawing.svg import draw_svg as draw_svg
from arborescence.drawing.text import draw_text as draw_text

__all__ = ["draw_svg", "draw_text"]
