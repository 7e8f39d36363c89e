"""A table of docs/undirected.md."""

from figures import table, view


@view("undirected/weight")
def weight():
    """How good the trees are: before and after enhancement, by what encodes a pair."""
    header, found = table("through_undirected/weight")
    lines, kind = [], ""
    for line in found:
        kind = line[0] or kind
        if line[1] != "min" and (line[2] == 5 or (kind == "English" and line[2] == 0)):
            lines.append([kind if not any(each[0] == kind for each in lines) else "", *line[1:]])
    return header, lines
