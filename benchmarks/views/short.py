"""Parts of tables, and single figures under short names, since markers count as words of a page."""

from functools import partial

from figures import one, table, view

#: For each view: a table, the numbers of its columns, and the rows by their first cells, or all.
PARTS = {
    "combination/reranking": (
        "earlier/reranking/what-it-brings",
        range(6),
        ("the parser", "reranked, k = 10", "**reranked, k = 50**", "oracle, k = 50", "gold"),
    ),
    "spanning-trees/two-edges": (
        "undirected/2 edges a node", range(10), (1_000, 100_000, 10_000_000)
    ),
    "training/parts": ("earlier/parts/parts", (0, 3, 4, 7), None),
    "treebanks/oracle": (
        "earlier/treebanks/the-k-best-analyses-and-the-oracle", range(6), ("1", "10", "50")
    ),
    "undirected/parsers": ("earlier/undirected/parsers", range(4), None),
}  # fmt: skip
RULES = "rules/parses; English-EWT; english-fast; gold tags"
#: For each short name: the name of a figure, as `figures` reads it.
FIGURES = {
    "first-use/wheel": "first_use/processes; `decode` one graph of 25 words; the wheel; {:.2f} s",
    "distributions/draws": "distributions/samples; model-like; single: 1,000 trees; {:.1f} ms",
    "evaluating/rate": "evaluating/evaluate; 1,351,226; words a second",
    "searching/subjects": "searching/search; subjects; seconds; {:.1f} s",
    "lifting/restored": (
        "earlier/projective/lifting; English-EWT, train; crossing trees that come back"
    ),
    "rules/errors": f"{RULES}; errors without rules",
    "rules/errors-left": f"{RULES}; errors with rules",
    "rules/seconds": f"{RULES}; seconds without rules; {{:.2f}} s",
    "rules/seconds-with": f"{RULES}; seconds with rules; {{:.2f}} s",
    "undirected/times": "through_undirected/time; English; 10; 5 rounds / exact; {} times as long",
    "undirected/exponent": "edge_linear/exponents; 10,000; undirected, kkt",
    "raw-text/japanese": "earlier/raw-text/how-well-it-works; Japanese-GSD, test; words; {}",
    "raw-text/chinese": "earlier/raw-text/how-well-it-works; Chinese-GSDSimp, test; words; {}",
}


def part(name, columns, first):
    """Return some columns and rows of a table."""
    header, lines = table(name)
    kept = [header, *(line for line in lines if first is None or line[0] in first)]
    header, *lines = [[line[at] for at in columns] for line in kept]
    return header, lines


for each, chosen in PARTS.items():
    view(each)(partial(part, *chosen))
for each, long in FIGURES.items():
    view(each)(partial(one, long))
