"""Drawings: dependency trees as text or SVG, lexicalized trees as text, derivations as tables."""

from arborescence.drawing.derivation import trace as trace
from arborescence.drawing.derivation import trace_html as trace_html
from arborescence.drawing.svg import Marks as Marks
from arborescence.drawing.svg import draw_svg as draw_svg
from arborescence.drawing.text import draw_lexicalized as draw_lexicalized
from arborescence.drawing.text import draw_text as draw_text

__all__ = ["Marks", "draw_lexicalized", "draw_svg", "draw_text", "trace", "trace_html"]
