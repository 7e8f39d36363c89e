"""The report of *kbest* in Markdown, with all statements computed from the data; tables as CSV."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.version import __version__
from arborescence_papers.common.groups import ALL, same_languages
from arborescence_papers.common.report import (
    LEVEL,
    averaged,
    listing,
    number,
    p_value,
    star,
    table,
    with_interval,
)
from arborescence_papers.common.statistics import rank_correlation
from arborescence_papers.kbest.measure import (
    PAPER,
    PAPER_KS,
    adjusted_ps,
    averages,
    paper_growths,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.common.statistics import Correlation
    from arborescence_papers.kbest.measure import Averages, Growth, Outcome

    Adjusted = Sequence[Sequence[float]]

_CORRELATED: Final = 4  # the minimum number of treebanks for a trend
_READING: Final = """\
## How to read this

- Lists without the constraint may hold trees with several root edges; lists with it are the k best
  of those with one. Both are exact. Where a sentence has fewer than k trees, all are taken.
- Malformed: the share of malformed trees in all trees of all lists of a treebank. The paper does
  not say whether it does the same, or averages the sentences' own shares.
- Growth: how many times as high a rate is as at k = 1. The growth of the average is a quotient of
  two averages over treebanks. The mean of growths averages the treebanks' own quotients: a few with
  hardly a malformed tree at k = 1 rule it, and those with none have no part in it. The paper's
  "13 times" is such a mean.
- The paper's numbers are computed from its Appendix A.
- UAS leaves out words whose gold relation is `punct`. A gold tree is in a list if the heads of all
  words are right.
- All this depends on the parser. The paper's are neural; those trained here are linear.
"""


def parts(
    outcomes: Sequence[Outcome],
    figures: Sequence[str],
    *,
    ks: Sequence[int],
    recipes: Sequence[Recipe],
) -> Iterator[str]:
    """Yield the parts of the report on one treebank or more, with the names of three figures.

    `recipes` are those of the parsers that were not given; they differ only by their seeds.
    """
    groups, adjusted = averages(outcomes), adjusted_ps(outcomes)
    sizes, rates, oracle = figures
    yield from _beginning(outcomes, recipes)
    yield from _malformed(outcomes, groups[ALL], ks)
    yield f"![The share of malformed trees, by k]({rates})\n"
    yield from _by_size(outcomes, groups, ks)
    yield f"![Figure 1: the share of malformed trees, by sentences to learn from]({sizes})\n"
    yield from _oracle(outcomes, adjusted, groups[ALL], ks)
    yield f"![The UAS of the best tree of a list, by k]({oracle})\n"
    yield from _by_treebank(outcomes, adjusted, ks)
    yield _READING


def _beginning(outcomes: Sequence[Outcome], recipes: Sequence[Recipe]) -> Iterator[str]:
    recipe, last = recipes[0], recipes[-1]
    loaded = sum(one.loaded for one in outcomes)
    yield "# Several roots among the k best trees\n"
    yield (
        "Figure 1 and Appendix A of Zmigrod, Vieira and Cotterell (2021), *On Finding the K-best "
        "Non-projective Dependency Trees*, on the test parts of treebanks. A tree is malformed if "
        "it has not exactly one edge from the root. Numbers are percentages where nothing else is "
        "said. Brackets hold 95 % intervals. Averages give each treebank the same weight.\n"
    )
    lists = sum(one.sentences for one in outcomes)
    yield f"arborescence {__version__}: {len(outcomes)} treebanks with {lists:,} test sentences.\n"
    if loaded:
        yield f"The parsers of {loaded} of the treebanks were given.\n"
    if loaded < len(outcomes):
        seeds = f"seed {recipe.seed}"
        if len(recipes) > 1:
            seeds = f"averages over seeds {recipe.seed} to {last.seed}"
        drawn = f", {recipe.sentences:,} sentences" if recipe.sentences else ""
        yield (
            f"Parsers were trained without a development set, with gold tags: {recipe.method}, "
            f"{recipe.effort}{drawn}; {seeds}.\n"
        )


def _malformed(outcomes: Sequence[Outcome], means: Averages, ks: Sequence[int]) -> Iterator[str]:
    yield "## Malformed trees, by k\n"
    last = means.growths[-1]
    rising = sum(bool((np.diff(one.rates) >= 0).all()) for one in outcomes)
    yield (
        f"Without the root constraint, {number(means.rates[0].value)} % of the best trees are "
        f"malformed, and {number(means.rates[-1].value)} % of the {ks[-1]} best. "
        + _growth(last, ks[-1])
        + f" The rate never falls as k grows on {rising} of {len(outcomes)} treebanks."
        f" A list of {ks[-1]} has a malformed tree for {number(means.touched[-1].value)} % of the "
        "sentences.\n"
    )
    rows = same_languages(PAPER, (one.treebank for one in outcomes))
    there = {
        k: (number(rate), *(number(one.value, 1) for one in growth[:2]))
        for k, (rate, growth) in (paper_growths(rows) if rows else {}).items()
    }
    if rows:
        yield f"*There*: the paper's, of the same languages ({len(rows)}).\n"
    yield listing(
        {
            "k": k,
            "malformed": averaged(means.rates[i]),
            "there": there.get(k, "–––")[0],
            "growth of the average": averaged(growth.of_averages, 1),
            "growth there": there.get(k, "–––")[1],
            "mean of growths": averaged(growth.of_treebanks, 1),
            "mean there": there.get(k, "–––")[2],
            "median": number(growth.median, 1),
            "lists with a malformed tree": averaged(means.touched[i]),
            "well-formed trees": averaged(means.well_formed[i]),
        }
        for i, (k, growth) in enumerate(zip(ks, means.growths, strict=True))
    )
    if last.without:
        yield (
            f"{last.without} of the {len(outcomes)} treebanks have no malformed tree at k = 1, and "
            "so no growth of their own.\n"
        )


def _growth(ours: Growth, k: int) -> str:
    """Write the growth to the last k beside the paper's."""
    if isnan(ours.of_averages.value):
        return "As no best tree is malformed, there is no growth to speak of."
    text = (
        f"That is {number(ours.of_averages.value, 1)} times as many; the treebanks' own growths "
        f"are {number(ours.of_treebanks.value, 1)} on average"
    )
    theirs = paper_growths(list(PAPER.values())).get(k)
    if theirs is None:
        return f"{text}."
    rate, growth = theirs
    paper, items = growth.of_treebanks.value, growth.of_treebanks.items
    most = max(row[str(k)] / row["1"] for row in PAPER.values() if row["1"])
    text += (
        f". In the paper {number(rate)} % of the {k} best are malformed, "
        f"{number(growth.of_averages.value)} times as many as of the best; the own growths of the "
        f"{items} treebanks that have any are {number(paper)} on average and at most {number(most)}"
    )
    low, high = ours.of_treebanks.interval
    if isnan(low):
        return f"{text}."
    side = "below it" if paper > high else "above it" if paper < low else "no other beyond chance"
    return f"{text}. Our average is {side}."


def _by_size(
    outcomes: Sequence[Outcome], groups: Mapping[str, Averages], ks: Sequence[int]
) -> Iterator[str]:
    yield "## By how much there is to learn from\n"
    yield (
        "As *root* groups treebanks, by the sentences that a parser has learned from: low "
        "are those below 1,000, high those from 10,000 on.\n"
    )
    yield listing(
        {
            "group": name,
            "treebanks": means.treebanks,
            **{
                f"malformed, k = {k}": averaged(one) for k, one in zip(ks, means.rates, strict=True)
            },
            "growth of the average": averaged(means.growths[-1].of_averages, 1),
        }
        for name, means in groups.items()
    )
    ours = [(one.size, *one.rates[[0, -1]].tolist()) for one in outcomes]
    theirs = [
        (row["train"], row[str(ks[0])], row[str(ks[-1])])
        for row in PAPER.values()
        if {ks[0], ks[-1]} <= set(PAPER_KS)
    ]
    printed = _correlations(theirs, ks)
    if found := _correlations(ours, ks):
        yield table(
            ("", "with", "in the paper", "rank correlation", "p"),
            (
                (
                    *names,
                    number(printed[names].value) if names in printed else "–",
                    with_interval(some.value, some.interval),
                    p_value(some.p),
                )
                for names, some in found.items()
            ),
        )


def _correlations(
    points: Sequence[tuple[float, float, float]], ks: Sequence[int]
) -> dict[tuple[str, str], Correlation]:
    """Correlate size, the rates for the first and the last k, and their growth."""
    size, growth = "sentences to learn from", f"growth to k = {ks[-1]}"
    first, last = (f"malformed trees, k = {k}" for k in (ks[0], ks[-1]))
    pairs = {
        (first, size): [(rate, n) for n, rate, _ in points if n],
        (last, size): [(rate, n) for n, _, rate in points if n],
        (growth, size): [(rate / least, n) for n, least, rate in points if n and least],
        (growth, first): [(rate / least, least) for _, least, rate in points if least],
    }
    return {
        names: rank_correlation(*zip(*some, strict=True))
        for names, some in pairs.items()
        if len(some) >= _CORRELATED
    }


def _oracle(
    outcomes: Sequence[Outcome], adjusted: Adjusted, means: Averages, ks: Sequence[int]
) -> Iterator[str]:
    yield "## The best tree of a list\n"
    better, worse = (
        sum(
            bool(sign * one.gain[-1] > 0) and row[-1] < LEVEL
            for one, row in zip(outcomes, adjusted, strict=True)
        )
        for sign in (1, -1)
    )
    yield (
        f"The oracle takes the tree with most right heads. Among {ks[-1]} trees it has a UAS of "
        f"{number(means.multi_uas[-1].value)} without the constraint and of "
        f"{number(means.single_uas[-1].value)} with it: the constraint adds "
        f"{averaged(means.gain[-1])} points (p {_is(means.gain_ps[-1])}, paired by "
        f"treebanks). It adds significantly on {better} of {len(outcomes)} treebanks, and takes "
        f"away significantly on {worse} (paired by sentences, adjusted by Holm's method).\n"
    )
    yield listing(
        {
            "k": k,
            "UAS without": number(means.multi_uas[i].value),
            "UAS with": number(means.single_uas[i].value),
            "the constraint adds": averaged(means.gain[i]),
            "p": p_value(means.gain_ps[i]),
            "gold tree in the list without": number(means.multi_exact[i].value),
            "with": number(means.single_exact[i].value),
        }
        for i, k in enumerate(ks)
    )


def _by_treebank(
    outcomes: Sequence[Outcome], adjusted: Adjusted, ks: Sequence[int]
) -> Iterator[str]:
    yield "## Treebanks\n"
    yield (
        "Malformed trees, and how many times as many there are for the largest k as for k = 1. "
        "Dev: there is no train part to learn from.\n"
    )
    yield listing(
        {
            **_sizes(one),
            **{f"k = {k}": number(float(rate)) for k, rate in zip(ks, one.rates, strict=True)},
            "growth": number(one.growth, 1),
        }
        for one in outcomes
    )
    yield (
        "The UAS of the best tree of a list with the constraint, and what the constraint adds; a "
        f"star where that is significant (p < {LEVEL}, paired by sentences, adjusted by Holm's "
        "method over the treebanks of the same k):\n"
    )
    yield listing(
        _sizes(one)
        | {
            f"k = {k}": f"{number(float(uas))} ({gain:+z.2f}{star(p)})"
            for k, uas, gain, p in zip(ks, one.single_uas, one.gain, ps, strict=True)
        }
        for one, ps in zip(outcomes, adjusted, strict=True)
    )


def _sizes(one: Outcome) -> dict[str, str]:
    dev = " (dev)" if one.split == "dev" else ""
    learned = f"{one.size:,}{dev}" if one.size else "not known"
    return {"treebank": one.treebank, "learned from": learned, "tested on": f"{one.sentences:,}"}


def _is(p: float) -> str:
    """Write a p-value with "=" or "<", to follow "p"."""
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"
