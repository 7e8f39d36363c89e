"""The model of many languages beside other parsers, and as a beginning for new ones."""

import re
from statistics import fmean

from figures import ROOT, rows, view

#: The numbers of sentences that the table shows.
SIZES = (20, 100, 400)
PUBLISHED = ("UDPipe 1", "Stanza 1.5", "UDPipe 2")
#: A row of the card: the treebank and its licence; UPOS, lemmas, UAS and LAS from raw text; UAS and
#: LAS from words; the speed.
CARD = re.compile(
    r"^\| \[.*\| UD_(\S+) \| [^|]+ \|" + r" ([\d.]+) \|" * 6 + r" [\d,]+ \|$", re.MULTILINE
)


def ours():
    """Return the LAS of each treebank in the card, from raw text and from words."""
    card = (ROOT / "models" / "multi" / "README.md").read_text("utf-8")
    return {
        treebank: {"raw text": float(raw), "words": float(words)}
        for treebank, _, _, _, raw, _, words in CARD.findall(card)
    }


@view("multi/published")
def published():
    """Return LAS that others published beside ours; and means, where UDPipe 1 has a figure."""
    found, lines, both = ours(), [], []
    for row in rows("earlier/published/languages"):
        own = found[row["treebank"]][row["from"]]
        given = " (words given)" if row["from"] == "words" else ""
        others = "/".join(row[name] or "–" for name in PUBLISHED)
        lines.append([row["treebank"] + given, others, f"{own:.1f}"])
        if row["UDPipe 1"]:
            both.append((float(row["UDPipe 1"]), own))
    means = [f"{fmean(each):.1f}" for each in zip(*both, strict=True)]
    lines.append(["mean", f"{means[0]}/–/–", means[1]])
    return ["LAS", "/".join(PUBLISHED), "`multi`"], lines


@view("multi/few-sentences")
def few_sentences():
    """Return LAS of linear parsers from few sentences, and of parsers that went on from multi."""
    found = {}
    for row in rows("few_sentences/las"):
        found[row["treebank"], row["sentences"], row["parser"]] = f"{row['LAS']:.1f}"
    lines = []
    for treebank in dict.fromkeys(treebank for treebank, _, _ in found):
        cells = ([found.get((treebank, n, p)) for p in ("linear", "from multi")] for n in SIZES)
        lines.append([treebank, *("→".join(filter(None, each)) for each in cells)])
    return ["treebank", *map(str, SIZES)], lines
