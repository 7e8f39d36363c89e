"""Raw text: what its layout changes."""

from figures import rows, view

LAYOUTS = (
    "as the treebank has it",
    "a sentence on each line",
    "wrapped at 70",
    "joined, without paragraphs",
)


@view("raw-text/layouts")
def layouts():
    """Return F1 of sentences by treebank and layout: before lines were read as items, and after."""
    found = {(row["treebank"], row["text"]): row for row in rows("earlier/raw-text/layouts")}
    lines = []
    for treebank in dict.fromkeys(treebank for treebank, _ in found):
        cells = [found[treebank, layout] for layout in LAYOUTS]
        pairs = ((cell["sentences, before"], cell["sentences"]) for cell in cells)
        lines.append([treebank, *(b if a == b else f"{a} → {b}" for a, b in pairs)])
    return ["F1 of sentences", *LAYOUTS], lines
