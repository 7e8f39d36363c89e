"""Figures of the page on reliability: what is used beside one thread."""

from figures import rows, view


@view("threads/most")
def most():
    """Return the largest ratio of processor times, with and without limits on libraries."""
    found = rows("threads/processor")
    return f"{max(row['nothing said'] / row['one thread for all libraries'] for row in found):.2f}"
