"""Tables of docs/undirected.md and of docs/experiment-undirected.md."""

from figures import table, view


@view("undirected/weight")
def weight():
    """How good the trees are: the usual settings, and for English more of them."""
    header, found = table("through_undirected/weight")
    lines, kind = [], ""
    for line in found:
        kind = line[0] or kind
        if line[2] == 5 or (kind == "English" and line[1] != "min"):
            lines.append([kind if not any(each[0] == kind for each in lines) else "", *line[1:]])
    return header, lines


@view("undirected/exchanges")
def exchanges():
    """How often each exchange of edges finds the best tree; for three trained parsers also UAS."""
    kinds = {
        "model-like-25-words": "model-like, 25 words", "uniform-25-words": "uniform",
        "english-fast": "English", "gothic-proiel": "Gothic", "greek-gdt": "Greek",
        "turkish-imst": "Turkish",
    }  # fmt: skip
    tables = [table(f"left_open/{name}")[1] for name in kinds]
    lines = (
        [rows[0][0], *(", ".join((row[1], *row[4:])) for row in rows)]
        for rows in zip(*tables, strict=True)
    )
    return ["exchange", *kinds.values()], [line for line in lines if "of 3" not in line[0]]
