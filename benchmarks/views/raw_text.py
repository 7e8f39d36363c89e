"""Raw text: what its layout and its spelling change, and how good parsers of many languages are."""

from figures import rows, table, view

LAYOUTS = (
    "as the treebank has it",
    "a sentence on each line",
    "wrapped at 70",
    "joined, without paragraphs",
)


@view("raw-text/layouts")
def layouts():
    """Return F1 of sentences by treebank and layout."""
    found = {(row["treebank"], row["text"]): row for row in rows("earlier/raw-text/layouts")}
    lines = [
        [treebank, *(found[treebank, layout]["sentences"] for layout in LAYOUTS)]
        for treebank in dict.fromkeys(treebank for treebank, _ in found)
    ]
    return ["F1 of sentences", *LAYOUTS], lines


@view("raw-text/spelling")
def spelling():
    """Return LAS by spelling as it is now."""
    header, lines = table("earlier/spelling/las")
    return header, [[cell.rpartition(" → ")[2] for cell in line] for line in lines]


@view("raw-text/languages")
def languages():
    """Return F1 of linear parsers beside others, of treebanks that others have, too."""
    header, lines = table("earlier/languages/trees")
    return header, [line for line in lines if all(line)]
