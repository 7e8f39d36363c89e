"""A table and figures of docs/sparse.md."""

from figures import results, rows, times, view


@view("spanning-trees/kkt")
def kkt():
    """How many times as long the linear algorithm takes as the fastest of the others."""
    ratios = [
        row["kkt"] / min(row[name] for name in ("boruvka", "kruskal", "prim"))
        for graph in ("2 edges a node", "10 edges a node", "complete graphs")
        for row in rows(f"undirected/{graph}")
    ]
    return f"{min(ratios):.1f} to {max(ratios):.1f} times"


@view("spanning-trees/arborescences")
def arborescences():
    """Return the rows of small and of large graphs, with the fastest algorithm of arbok."""
    content = results("graphs")["tables"]["arborescences"]
    lines, kind = [], ""
    for first, nodes, edges, *seconds in content["rows"]:
        kind = first or kind
        if 500 < edges < 5000 or edges > 500_000:
            lines.append([kind, nodes, edges, *seconds[:3], min(seconds[3:])])
    return [*content["columns"][:6], "arbok"], lines


@view("spanning-trees/peers")
def peers():
    """How many times as long rustworkx and igraph take, their graphs included."""
    large = [row for row in rows("graphs/undirected") if row["edges"] > 500_000]
    ratios = [
        [row[name] / row["`spanning_tree`"] for row in large] for name in ("rustworkx", "igraph")
    ]
    return " and ".join(f"{times(min(each))} to {times(max(each))}" for each in ratios)
