"""A figure of papers/reports/runtime.md: the library of the authors of two works."""

from figures import results, view


@view("authors/smallest-edges")
def smallest_edges():
    """Return the edges of the smallest graph whose trees the library lists out of order."""
    return results("authors")["tables"]["smallest case"]["condition"].removeprefix("edges ")
