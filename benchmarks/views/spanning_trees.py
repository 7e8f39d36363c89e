"""A figure of docs/sparse.md."""

from figures import rows, view


@view("spanning-trees/kkt")
def kkt():
    """How many times as long the linear algorithm takes as the fastest of the others."""
    ratios = [
        row["kkt"] / min(row[name] for name in ("boruvka", "kruskal", "prim"))
        for graph in ("2 edges a node", "10 edges a node", "complete graphs")
        for row in rows(f"undirected/{graph}")
    ]
    return f"{min(ratios):.1f} to {max(ratios):.1f} times"
