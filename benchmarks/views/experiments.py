"""The experiments beside the papers: what their reports print, and what follows from it."""

from math import log
from statistics import correlation, fmean

from figures import csv_table, rows, times, view

APPENDIX_A = "papers/src/arborescence_papers/kbest/paper_appendix_a.csv"


def printed(path):
    """Return the rows of a table of a paper, by language."""
    header, lines = csv_table(path)
    return {line[0]: dict(zip(header, line, strict=True)) for line in lines}


def columns(name, *chosen):
    """Return some columns of a table."""
    return list(chosen), [list(map(row.get, chosen)) for row in rows(name)]


@view("experiment-root/losses")
def losses():
    """Return malformed trees and accuracy of parsers trained by each loss."""
    return columns(
        "earlier/experiment-root/what-parsers-learn-by",
        *("", "malformed, all, %", "UAS without, %", "UAS with, %"),
    )


@view("paper/growth")
def paper_growth():
    """Return the mean of the paper's own growths from k = 1 to 50."""
    growing = [row for row in printed(APPENDIX_A).values() if float(row["1"])]
    return f"{fmean(float(row['50']) / float(row['1']) for row in growing):.2f}"


def ranks(values):
    """Return the rank of each value; equal values share their mean rank."""
    return [
        fmean(place for place, other in enumerate(sorted(values), 1) if other == value)
        for value in values
    ]


@view("paper/correlations")
def paper_correlations():
    """Return how Table 2 of *root* changes with size: computed here, the paper prints none."""
    table = printed("papers/src/arborescence_papers/root/paper_table_2.csv").values()
    sizes = [float(row["train"]) for row in table]
    names = {
        "malformed": "malformed trees",
        "uas_change": "relative change of UAS",
        "exact_change": "relative change of exact match",
    }
    lines = []
    for column, name in names.items():
        values = [float(row[column]) for row in table]
        by_rank = correlation(ranks(sizes), ranks(values))
        by_log = correlation(list(map(log, sizes)), values)
        lines.append([name, f"{by_rank:.2f}", f"{by_log:.2f}"])
    return ["the paper's Table 2", "Spearman, with the size", "Pearson, with its logarithm"], lines


@view("experiment-kbest/by-k")
def by_k():
    """Return malformed trees among the k best, here and there, and their growth."""
    return columns(
        "experiment-kbest/malformed-trees-by-k",
        *("k", "malformed", "there", "growth of the average", "growth there"),
        *("mean of growths", "mean there", "median"),
    )


RACES = {
    "any number": (("Camerini et al.", "KBEST"), ("KBEST", "arborescence.kbest")),
    "one": (
        ("n starts", "KBEST_DEP"),
        ("leaving trees out", "KBEST_DEP"),
        ("KBEST_DEP", "arborescence.kbest"),
    ),
}


def race(root):
    """Return the mean ratios of the treebanks, the least and the largest; by k."""
    header, lines = ["k"], []
    if root == "any number":
        paper = printed("papers/src/arborescence_papers/runtime/paper_table_1.csv")
        header += ["the paper, English: Camerini et al. / KBEST", "English-EWT"]
    header += (f"{slow} / {fast}" for slow, fast in RACES[root])
    for k in (5, 10, 20, 50):
        found = rows(f"race/treebanks, {root}", k=k)
        cells = [str(k)]
        if root == "any number":
            [english] = (row for row in found if row["treebank"] == "English-EWT")
            ratio = english["Camerini et al."] / english["KBEST"]
            cells += [paper[str(k)]["speed_up"] if str(k) in paper else "", f"{ratio:.2f}"]
        for slow, fast in RACES[root]:
            ratios = [row[slow] / row[fast] for row in found]
            cells.append(f"{fmean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        lines.append(cells)
    return header, lines


@view("experiment-runtime/race")
def any_number():
    """Return the race for trees with any number of root edges."""
    return race("any number")


@view("experiment-runtime/race-one")
def one_root_edge():
    """Return the race for trees with one root edge."""
    return race("one")


@view("experiment-runtime/one-tree")
def one_tree():
    """Return for each kind of graph what one root edge costs, and other ways to find it."""
    lines = []
    for kind in ("model-like", "uniform", "masked", "many root edges", "nested cycles"):
        found = rows(f"experiment-runtime/{kind.replace(' ', '-')}")
        by = {row[""]: row for row in found}
        free, ours = by["without the constraint"], by["with the constraint"]
        costs = [_microseconds(ours, n) / _microseconds(free, n) for n in (20, 500)]
        slower = [
            _microseconds(by[name], 500) / _microseconds(ours, 500)
            for name in ("fallback", "n runs", "reweighting")
        ]
        exponent = ours["of the last 3"]
        lines.append([kind, _microseconds(ours, 500), exponent, *map(times, costs + slower)])
    return [
        "graphs", "with the constraint, µs", "exponent", "with / without, 20 words",
        "with / without", "fallback / with", "n runs / with", "reweighting / with",
    ], lines  # fmt: skip


def _microseconds(row, n):
    """Return the time in a cell such as ``1,250.13 (2.0×)``."""
    return float(row[f"n = {n}"].split()[0].replace(",", ""))


@view("transition-results/beams")
def beams():
    """Return LAS with beams of 1, 8 and 32, by system and treebank."""
    names = "English-EWT", "Gothic-PROIEL", "Turkish-IMST", "Greek-GDT"
    lines = []
    for row in zip(*(rows(f"earlier/transition-results/{x.lower()}") for x in names), strict=True):
        both = ([each[f"beam {width}"].split(", ")[1] for width in (1, 8, 32)] for each in row)
        lines.append([row[0]["system"], row[0]["oracle"], *map(", ".join, both)])
    return ["system", "oracle", *names], lines


#: What the text of *undirected* counts in its 20 setups: a row, and the paper's number.
UNDIRECTED_COUNTS = {
    "local enhancement adds to directed UAS": "20",
    "local enhancement adds to undirected UAS": "15, one tie",
    "D-MST is at most 1 point above U-MST-uf-lep, directed UAS": "14",
    "1 to 2 points": "5",
    "more than 2 points": "1",
    "D-MST and U-MST-uf-lep are equal, undirected UAS": "2",
    "less than 1 point apart": "15",
    "D-MST is 1 point above or more": "3",
    "directed features (U-MST-df) cost more directed than undirected UAS": "said, not counted",
}


@view("experiment-undirected/counts")
def undirected_counts():
    """Count the treebanks for which the findings of *undirected* hold, beside its own counts."""
    directed, both = (
        [
            {name: float(row[name]) for name in ("D-MST", "U-MST-uf-lep", "U-MST-uf", "U-MST-df")}
            for row in rows(f"experiment-undirected/{table}")
            if not row["treebank"].startswith("**")
        ]
        for table in ("directed-uas", "undirected-uas")
    )

    def gaps(found, high, low):
        return [round(row[high] - row[low], 2) for row in found]

    def count(values):
        return str(sum(values))

    lost = gaps(directed, "D-MST", "U-MST-uf-lep")
    lost_in_both = gaps(both, "D-MST", "U-MST-uf-lep")
    added_in_both = gaps(both, "U-MST-uf-lep", "U-MST-uf")
    ties = sum(gap == 0 for gap in added_in_both)
    by_features = zip(
        gaps(directed, "D-MST", "U-MST-df"), gaps(both, "D-MST", "U-MST-df"), strict=True
    )
    ours = [
        count(gap > 0 for gap in gaps(directed, "U-MST-uf-lep", "U-MST-uf")),
        count(gap > 0 for gap in added_in_both) + (f", {ties} ties" if ties != 1 else ", one tie"),
        count(gap <= 1 for gap in lost),
        count(1 < gap <= 2 for gap in lost),
        count(gap > 2 for gap in lost),
        count(gap == 0 for gap in lost_in_both),
        count(gap != 0 and abs(gap) < 1 for gap in lost_in_both),
        count(gap >= 1 for gap in lost_in_both),
        count(one > other for one, other in by_features),
    ]
    header = ["", "the paper, of 20 setups", f"here, of {len(directed)} treebanks"]
    paper = UNDIRECTED_COUNTS.items()
    return header, [[*pair, own] for pair, own in zip(paper, ours, strict=True)]
