"""The report on times in Markdown, with the papers' numbers for comparison; tables as CSV."""

from __future__ import annotations

from itertools import chain, pairwise
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence_papers.common.groups import grouped, read_table
from arborescence_papers.common.report import averaged, listing, number, table
from arborescence_papers.common.statistics import average, log_slope
from arborescence_papers.runtime.clock import machine
from arborescence_papers.runtime.decoders import (
    CONSTRAINED,
    DECODERS,
    EISNER,
    NAIVE,
    UNCONSTRAINED,
)
from arborescence_papers.runtime.measure import CONTESTANTS, ONE_ROOT, OURS, PAPERS
from arborescence_papers.runtime.published import LEAVING_OUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arborescence.core.choices import Root
    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.runtime.measure import Measured, Projective, Timed, Times

#: In the paper's Table 1, how many times as long the algorithm of Camerini et al. takes as `KBEST`.
PAPER: Final[Mapping[int, float]] = {
    int(k): row["speed_up"] for k, row in read_table(__file__, "paper_table_1.csv").items()
}
#: The names of the constraint in tables and plots.
ROOTS: Final[Mapping[Root, str]] = {"multi": "any number", "single": "one"}

_LAST: Final = 3  # the number of sizes used for the second exponent
_LENGTHS: Final = (10, 20, 30, 50)  # the most words of the groups of sentences but the last
_CONTESTANTS: Final = """\
- *Camerini et al.*: Camerini, Fratta and Maffioli (1980), three contractions a tree.
- *KBEST*, *KBEST_DEP*: Zmigrod, Vieira and Cotterell (2021), Figures 7 and 9, two contractions.
- *n starts*: `KBEST` that starts with the best tree of each root edge (their Section 5).
- *leaving trees out*: `KBEST`, without the trees that have several root edges.
- *arborescence.kbest*: one contraction for most trees.
"""
_DECODERS: Final = """\
- *greedy pass*: the best head of each word. It reads each score once, and no exact decoder can do
  with less.
- *without the constraint*, *with the constraint*: `decode` with `root="multi"` and with
  `root="single"`. Both stop at the greedy graph where it is a tree that will do.
- *n runs*: one run without the constraint for each word, with the root edges of all others masked;
  the best of these trees.
- *fallback*: one run without the constraint. If its tree has several root edges, one more run for
  each of them (footnote 4 of *root*).
- *reweighting*: all root edges are lowered by more than any two trees differ; then one run without
  the constraint, in float64.
"""


def pairs_of(root: Root) -> list[tuple[str, str]]:
    """Return who is compared: the paper's algorithm with the others, `kbest` with the paper's.

    Examples
    --------
    >>> pairs_of("multi")
    [('Camerini et al.', 'KBEST'), ('KBEST', 'arborescence.kbest')]
    """
    papers = PAPERS[root]
    others = [name for name in CONTESTANTS[root] if name not in (papers, OURS)]
    return [*((other, papers) for other in others), (papers, OURS)]


def _length_rows(treebanks: Sequence[Measured]) -> Iterator[tuple[Any, ...]]:
    """Compare the algorithms on the sentences of all treebanks, by their number of words."""
    for (root, k), group in grouped(treebanks, lambda one: (one.lists.root, one.lists.k)).items():
        words = np.concatenate([one.lists.words for one in group])
        for low, high in pairwise((0, *_LENGTHS, inf)):
            inside = (low < words) & (words <= high)
            name = f"{low + 1} to {high}" if high < inf else f"more than {low}"
            for pair in pairs_of(root) if inside.any() else ():
                slow, fast = (
                    np.concatenate([one.lists.searches(side) for one in group])[inside].sum()
                    for side in pair
                )
                yield root, k, name, inside.sum(), *pair, number(slow / fast)


def parts(times: Times, figures: Mapping[str, str], *, recipe: Recipe) -> Iterator[str]:
    """Yield the parts of the report, with the captions of the plots by file name."""
    treebanks, decoders, with_words, with_trees, projective = times
    about = ", ".join(f"{name} {value}" for name, value in machine().items())
    yield "# How long decoding takes\n"
    yield (
        f"On this machine: {about}. Microseconds of processor time in one thread. Decoders that\n"
        "are compared take turns on the same scores (float32), and the least of several runs\n"
        "counts. Intervals, in square brackets, hold 95 %.\n"
    )
    if treebanks:
        yield from _speed_ups(treebanks, recipe)
        yield f"![{figures['speed-ups.svg']}](speed-ups.svg)\n"
        yield "### By length\n"
        yield "Ratios of total times over the sentences of all treebanks, by their words.\n"
        yield from _ratios(_length_rows(treebanks))
        yield "### All treebanks\n"
        yield "Ratios of total times.\n"
        yield from _ratios(
            (lists.root, lists.k, name, len(lists.words), *pair, number(lists.ratio(*pair)))
            for name, lists in treebanks
            for pair in pairs_of(lists.root)
        )
    yield "## One tree, as sentences get longer\n"
    yield f"Random graphs, in batches.\n\n{_DECODERS}"
    yield f"![{figures['decoders.svg']}](decoders.svg)\n"
    yield from _beside_others(decoders)
    yield "## The k best trees, as sentences and lists get longer\n"
    yield (
        "Random graphs; microseconds a tree, without what a call takes. Exponents are those of\n"
        "the time for the whole list.\n"
    )
    yield f"![{figures['lists.svg']}](lists.svg)\n"
    yield f"k = {with_words[0].lists.k}:\n"
    yield _grown(with_words, "n", lambda one: round(one.words))
    yield f"{with_trees[0].words:.0f} words:\n"
    yield _grown(with_trees, "k", lambda one: one.lists.k)
    if projective:
        yield "## One projective tree\n"
        yield from _beside_naive(projective, figures["projective.svg"])


def _speed_ups(treebanks: Sequence[Measured], recipe: Recipe) -> Iterator[str]:
    """Compare the algorithms on treebanks: our averages and the paper's."""
    count = len({measured.name for measured in treebanks})
    yield "## The k best trees, as published and by `kbest`\n"
    yield (
        "One call a sentence, on the scores of parsers; all algorithms are made of the same\n"
        "kernels. Where no parser was given, it was trained by "
        f"{recipe.method} ({recipe.effort},\nseed {recipe.seed}).\n\n"
        f"{_CONTESTANTS}\n"
        "Ratios are of the times for all sentences of a treebank, without what a call takes\n"
        "before any search begins (the time for a sentence of one word). They are averages of\n"
        f"{count} treebanks, with intervals over treebanks, and the least and the largest ratio\n"
        "of a treebank. The last columns are microseconds a sentence.\n"
    )
    for root, some in grouped(treebanks, lambda one: one.lists.root).items():
        rows = []
        for k, group in grouped(some, lambda one: one.lists.k).items():
            row: dict[str, object] = {"k": k}
            if root == "multi":
                row["the paper"] = number(PAPER[k]) if k in PAPER else "–"
            for slow, fast in pairs_of(root):
                ratios = [one.lists.ratio(slow, fast) for one in group]
                ends = f"{number(min(ratios))} to {number(max(ratios))}"
                row[f"{slow} / {fast}"] = f"{averaged(average(ratios))}, {ends}"
            for name in CONTESTANTS[root]:
                row[name] = number(fmean(one.lists.microseconds(name) for one in group), 1)
            rows.append(row)
        yield f"Root edges: {ROOTS[root]}.\n"
        yield listing(rows)
    calls = chain.from_iterable(chain(*one.lists.calls.values()) for one in treebanks)
    lists = sum(len(one.lists.words) for one in treebanks)
    unequal, unfinished = (
        sum(getattr(one.lists, what) for one in treebanks) for what in ("unequal", "unfinished")
    )
    yield (
        f"A call takes {1e6 * fmean(calls):.1f} microseconds on average. Of {lists:,} lists,\n"
        f"{unequal:,} differ between algorithms. *{LEAVING_OUT}* did not finish {unfinished:,} of\n"
        "them: so its ratio is a lower limit.\n"
    )


def _ratios(rows: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    """Write rows like those of `_length_rows` as tables: a line for each length, or treebank."""
    for root, some in grouped(rows, lambda row: row[0]).items():
        lines: dict[str, dict[str, object]] = {}
        for _, k, name, sentences, slow, fast, ratio in some:
            line = lines.setdefault(name, {"": name, "sentences": sentences})
            line[f"{slow} / {fast}, k = {k}"] = ratio
        yield f"Root edges: {ROOTS[root]}.\n"
        yield listing(lines.values())


def _beside_others(decoders: Sequence[Timed]) -> Iterator[str]:
    """Compare the decoders on each kind of graphs."""
    kinds = grouped(decoders, lambda one: one.kind)
    last = [group[-1] for group in kinds.values()]
    sentences = []
    for name, other in (
        (CONSTRAINED, UNCONSTRAINED),
        *((name, CONSTRAINED) for name in ONE_ROOT),
    ):
        ratios = [one.seconds[name] / one.seconds[other] for one in last]
        ends = " to ".join(number(end, 1) for end in (min(ratios), max(ratios)))
        sentences.append(f"- *{name}* takes {ends} times as long as *{other}*.\n")
    yield f"Of {last[0].n} words, over the kinds of graphs:\n\n{''.join(sentences)}"
    yield (
        "The time grows as n to the power of the exponent. The second one is for the\n"
        f"{_LAST} largest sizes. In brackets: multiples of the time without the constraint. Where\n"
        "fewer greedy graphs are trees, there is more to do in a sentence, whatever its length.\n"
    )
    for kind, group in kinds.items():
        sizes = [one.n for one in group]
        rows: list[Sequence[object]] = []
        for name in DECODERS:
            seconds = [one.seconds[name] for one in group]
            cells = [
                f"{number(1e6 * one.seconds[name])} "
                f"({number(one.seconds[name] / one.seconds[UNCONSTRAINED], 1)}×)"
                for one in group
            ]
            rows.append((name, *cells, *_exponents(sizes, seconds)))
        for name, counts in (
            ("*the greedy graph is a tree, %*", [one.easy for one in group]),
            ("*several root edges without the constraint, %*", [one.several for one in group]),
        ):
            shares = (100 * n / one.sentences for n, one in zip(counts, group, strict=True))
            rows.append((name, *(number(share, 0) for share in shares), "", ""))
        yield f"### {kind.capitalize()}\n"
        header = ("", *(f"n = {n}" for n in sizes), "exponent", f"of the last {_LAST}")
        yield table(header, rows)
    yield "### Trees that are not the best\n"
    yield "Sentences whose tree weighs less than that of `decode`, or has several root edges.\n"
    yield listing(
        {
            "graphs": kind,
            "sentences": f"{sum(one.sentences for one in group):,}",
            **{n: f"{sum(one.worse[n] for one in group):,}" for n in ONE_ROOT},
        }
        for kind, group in kinds.items()
    )


def _beside_naive(projective: Sequence[Projective], caption: str) -> Iterator[str]:
    """Compare the decoders of projective trees."""
    yield (
        "Uniform graphs, in batches; microseconds a sentence. *Bilexical CKY* is the naive\n"
        "algorithm, in O(n⁵); *Eisner* is `decode` with `projective=True`, in O(n³); *with the\n"
        "constraint* is `decode`, which finds any tree, in O(n²).\n"
    )
    yield f"![{caption}](projective.svg)\n"
    sizes = [one.n for one in projective]
    rows = []
    for name in (NAIVE, EISNER, CONSTRAINED):
        seconds = [one.seconds[name] for one in projective]
        cells = (number(1e6 * time) for time in seconds)
        rows.append((name, *cells, *_exponents(sizes, seconds)))
    yield table(("", *(f"n = {n}" for n in sizes), "exponent", f"of the last {_LAST}"), rows)
    count = sum(one.few for one in projective)
    worse = sum(one.worse for one in projective)
    yield f"Of {count:,} sentences, *{NAIVE}* finds a worse tree for {worse:,}.\n"


def _grown(measured: Sequence[Measured], axis: str, of: Callable[[Measured], int]) -> str:
    """Write a table of times of the k best trees, by words or by k."""
    rows: list[Sequence[object]] = []
    header: list[int] = []
    for (kind, root), group in grouped(measured, lambda one: (one.name, one.lists.root)).items():
        header = [of(one) for one in group]
        for name in CONTESTANTS[root]:
            times = [one.lists.microseconds(name) for one in group]
            cells = [number(us / one.lists.k) for us, one in zip(times, group, strict=True)]
            rows.append((kind, ROOTS[root], name, *cells, *_exponents(header, times)))
    columns = (f"{axis} = {x:,}" for x in header)
    return table(("graphs", "root edges", "", *columns, "exponent", f"of the last {_LAST}"), rows)


def _exponents(sizes: Sequence[int], times: Sequence[float]) -> tuple[str, str]:
    """Return the exponents of power laws fitted to all sizes, and to the last ones."""
    exponent, later = (
        log_slope(sizes[-count:], times[-count:]) if len(sizes) > 1 else float("nan")
        for count in (len(sizes), _LAST)
    )
    return number(exponent), number(later)
