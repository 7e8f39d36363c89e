"""Inference step by step as a page: one HTML file that needs no server and no network."""

from arborescence.explaining.page.exercises import exercise_sheet
from arborescence.explaining.page.html import explain_html, search_html

__all__ = ["exercise_sheet", "explain_html", "search_html"]
