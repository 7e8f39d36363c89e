"""What a parser learns from more sentences, for docs/training.md."""

from figures import one, rows, view


@view("training/going-on")
def going_on():
    """Return LAS before and after 50 and 500 sentences of the other half of French-Sequoia."""
    lines, before = [], {}
    for row in rows("earlier/going-on/more"):
        before = row if row["treebank"] else before
        if row["sentences"] != "200" and before["treebank"] == "French-Sequoia":
            lines.append(
                [
                    row["sentences"],
                    *(
                        f"{before[f'{half} half, before']} → {row[f'{half} half, after']}"
                        for half in ("old", "new")
                    ),
                    row["new half, trained anew"],
                ]
            )
    return ["sentences", "old half", "new half", "trained anew"], lines


@view("training/mst")
def mst():
    """Return the LAS of a linear parser, and of MSTParser on the same files."""
    table = "earlier/training/how-good-the-parsers-become"
    own = one(f"{table}; English-EWT, `--columns form,upos`; LAS")
    [others] = [
        row
        for row in rows("earlier/training/prose")
        if "classic MSTParser" in "".join(row.values())
    ]
    return f"{own} (MSTParser: {next(iter(others.values())).split()[3].rstrip(',')})"
