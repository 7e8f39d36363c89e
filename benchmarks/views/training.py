"""What a parser learns from more sentences, for docs/training.md."""

from figures import rows, view


@view("training/going-on")
def going_on():
    """Return LAS before and after 50 and 500 sentences of the other half of a treebank."""
    lines, before = [], {}
    for row in rows("earlier/going-on/more"):
        before = row if row["treebank"] else before
        if row["sentences"] != "200":
            lines.append(
                [
                    row["treebank"],
                    row["sentences"],
                    *(
                        f"{before[f'{half} half, before']} → {row[f'{half} half, after']}"
                        for half in ("old", "new")
                    ),
                    row["new half, trained anew"],
                ]
            )
    return ["treebank", "sentences", "old half", "new half", "trained anew"], lines
