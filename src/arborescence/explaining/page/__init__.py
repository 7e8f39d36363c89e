"""Inference step by step as a page: one HTML file that needs no server and no network."""

from arborescence.explaining.page.html import explain_html, search_html
from arborescence.explaining.page.sheet import exercise_sheet

__all__ = ["exercise_sheet", "explain_html", "search_html"]
