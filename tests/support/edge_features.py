"""The weights of an edge, one by one, as the kernels of linear parsers number them."""

from arborescence.parsers.linear import edges


def list_weights(batch, b, templates, layout, h, d, out):
    """Write the numbers of the weights whose sum is the score of an edge; return their count."""
    if templates.undirected:
        h, d = min(h, d), max(h, d)
    rows = edges._rows_of(batch, b, templates, layout)
    return edges._list_weights(rows, layout, h, d, out, 0)
