"""The report of *root* in Markdown, with the paper's numbers for comparison; tables as CSV."""

from __future__ import annotations

from collections import Counter
from math import inf, nan
from typing import TYPE_CHECKING, Final

from arborescence.version import __version__
from arborescence_papers.common.groups import ALL, bounds_of, language_of, same_languages
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
from arborescence_papers.common.statistics import (
    average,
    holm,
    log_slope,
    rank_correlation,
)
from arborescence_papers.root.measure import (
    COLUMNS,
    MEASURES,
    PAPER,
    PAPER_GROUPS,
    by_length,
    groups,
    root_edges,
    trend,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arborescence_papers.root.measure import Change, Effect, Findings

_SOURCES: Final = {
    "train": "of the parsers learned from the train part.",
    "dev": "learned from the dev part, as there is no train part.",
    "loaded": "were not trained, but loaded.",
}
_CAPTIONS: Final = {
    "rate.svg": "As Figure 3 of the paper. Both axes are logarithmic, above 0.",
    "change.svg": "As Figure 4 of the paper.",
    "curve.svg": "Averages of the parsers of each size.",
    "losses.svg": "Averages over treebanks with their intervals; pale: each treebank.",
}
_READING: Final = """\
## How to read the numbers

- A tree is *malformed* if more than one edge leaves the root. Decoding *without the constraint*
  finds the best tree, malformed or not; decoding *with the constraint* finds the best one that is
  not malformed. Both are exact, on the same scores of the same parser. A transition-based parser
  has no such scores: it forbids itself a second root, or does not.
- *UAS* is the percentage of words with the right head; words whose gold relation is `punct` do not
  count. *Exact match* is the percentage of sentences of which every word has the right head,
  punctuation too. A *relative change* is what the constraint adds, in percent of what is right
  without it. Where nothing is right without it, there is none: – in the tables.
- Several parsers of a treebank, which differ by chance (their seeds), are averaged first. An
  average over treebanks gives each of them the same weight.
- Brackets are 95 % intervals from the bootstrap, 5,000 resamples: over sentences for one treebank,
  over treebanks for averages of treebanks, over parsers for points of the learning curve. Intervals
  of few items are too narrow.
- p-values come from paired permutations: the sign of each difference, of a sentence or of a
  treebank, is drawn at random. A star stands for p < 0.05 after Holm's method, over all treebanks.
- The parsers see gold words and tags. Those of the paper are neural, and their numbers come from
  other versions of the treebanks, sometimes from another treebank of the language: compare how
  numbers go together rather than their size.
"""


def parts(findings: Findings, figures: Sequence[str]) -> Iterator[str]:
    """Yield the parts of the report. All rates and changes are in percent."""
    yield from _opening(findings)
    yield from _beside_the_paper(findings.effects)
    yield from _figures(figures, "rate.svg", "change.svg")
    yield from _trees(findings.effects)
    yield from _treebanks(findings.effects)
    if findings.curve:
        yield from _curve(findings.curve)
        yield from _figures(figures, "curve.svg")
    if findings.studied:
        yield from _losses(findings.studied)
        yield from _figures(figures, "losses.svg")
    yield _READING


def _printed(effect: Effect, column: str) -> float:
    """Return the paper's number of a treebank's language; nan if it has none."""
    return PAPER.get(language_of(effect.treebank), {}).get(column, nan)


def _changes(effects: Sequence[Effect]) -> dict[str, list[Change]]:
    """Return the changes, keyed by measure."""
    return {"UAS": [one.uas for one in effects], "exact match": [one.exact for one in effects]}


def _figures(drawn: Sequence[str], *names: str) -> list[str]:
    return [f"![{name}]({name})\n\n{_CAPTIONS[name]}\n" for name in names if name in drawn]


def _opening(findings: Findings) -> Iterator[str]:
    """Write the setup of the experiment."""
    recipe, *_ = findings.recipes
    effects = findings.effects
    seeds = ", ".join(str(one.seed) for one in findings.recipes)
    sources = Counter("loaded" if effect.loaded else effect.split for effect in effects)
    yield "# Trees with several roots, where nothing forbids them\n"
    yield (
        "After Zmigrod, Vieira and Cotterell (2020), *Please Mind the Root: Decoding\n"
        "Arborescences for Dependency Parsing*: how many trees are malformed if parsers decode\n"
        "without the root constraint, and what the constraint does to accuracy.\n"
    )
    yield (
        f"Measured with arborescence {__version__} on the test parts of {len(effects)} treebanks.\n"
        + "".join(
            f"{sources[source]} {what}\n" for source, what in _SOURCES.items() if sources[source]
        )
    )
    if not all(effect.loaded for effect in effects):
        yield (
            f"Trained parsers: {recipe.method}, {recipe.effort},\n"
            f"seeds {seeds}, without a development set.\n"
        )


def _beside_the_paper(effects: Sequence[Effect]) -> Iterator[str]:
    """Write Tables 1 and 2: the averages of the groups, and the correlations with size."""
    worst = max(effects, key=lambda effect: effect.rate)
    treebank = max(PAPER, key=lambda name: PAPER[name]["malformed"])
    ours = _averaged([effect.rate for effect in effects], len(effects))
    yield "## Beside the paper\n"
    yield (
        f"Without the constraint {ours} % of the trees are malformed on\n"
        f"average; in the paper {PAPER_GROUPS[ALL]:.2f} %, over {len(PAPER)} treebanks. The "
        f"most are {worst.rate:.2f} %, of {worst.treebank};\nin the paper "
        f"{PAPER[treebank]['malformed']} %, of {treebank}.\n"
    )
    yield "By the number of sentences to learn from:\n"
    yield listing(
        {
            "": _name_of(name),
            "treebanks": len(some),
            "malformed in the paper, %": number(PAPER_GROUPS[name]),
            "of the same languages, %": _of_the_same_languages(some),
            **{f"{what}, %": _averaged(map(of, some), len(some)) for what, of in MEASURES.items()},
        }
        for name, some in groups(effects).items()
    )
    for what, changes in _changes(effects).items():
        yield _significant(what, changes)
    yield "How they go with the number of sentences to learn from (not adjusted for six tests):\n"
    trends = {name: trend(effects, of) for name, of in MEASURES.items()}
    yield table(
        (
            *("", "treebanks", "Spearman in the paper", "Spearman", "p"),
            *("Pearson, with log size", "p"),
        ),
        (
            (
                name,
                found.treebanks,
                number(_printed_trend(COLUMNS[name])),
                *(
                    cell
                    for value, interval, p in (found.ranks, found.logs)
                    for cell in (with_interval(value, interval), p_value(p))
                ),
            )
            for name, found in trends.items()
        ),
    )


def _of_the_same_languages(effects: Sequence[Effect]) -> str:
    """Write the paper's average rate over the languages of treebanks."""
    rows = same_languages(PAPER, (effect.treebank for effect in effects))
    return _averaged([row["malformed"] for row in rows], len(effects))


def _printed_trend(column: str) -> float:
    """Return the rank correlation of a column of Table 2 with the size of the training parts."""
    rows = PAPER.values()
    return rank_correlation([row["train"] for row in rows], [row[column] for row in rows]).value


def _name_of(group: str) -> str:
    """Return the name of a group with its range of sizes."""
    if group == ALL:
        return group
    low, high = bounds_of(group)
    ends = [f"{low:,.0f} or more"] * (low > 0) + [f"below {high:,.0f}"] * (high < inf)
    return f"{group}: {', '.join(ends)}"


def _averaged(values: Iterable[float], count: int) -> str:
    """Write the average of values, and the number of treebanks if not all."""
    found = average(values)
    return averaged(found) + ("" if found.items == count else f" ({found.items} treebanks)")


def _significant(what: str, changes: Sequence[Change]) -> str:
    """Write the number of treebanks with a significant difference."""
    adjusted = holm([change.p for change in changes])
    clear = [change for change, p in zip(changes, adjusted, strict=True) if p < LEVEL]
    up = sum(change.rate_single > change.rate_multi for change in clear)
    return (
        f"Beyond chance (p < 0.05 after Holm's method) {what} is higher with the constraint on\n"
        f"{up} of {len(changes)} treebanks, and lower on {len(clear) - up}.\n"
    )


def _trees(effects: Sequence[Effect]) -> Iterator[str]:
    """Write statistics of malformed trees."""
    edges = root_edges(effects)
    total = sum(edges.values())
    yield "## Malformed trees\n"
    if total:
        shares = ", ".join(f"{100 * edges.get(n, 0) / total:.1f} % have {n}" for n in (2, 3))
        yield (
            f"Root edges of the {total:,} malformed trees of all parsers: {shares}; the most is "
            f"{max(edges)}.\n"
        )
    yield "By the length of sentences, averaged over the treebanks that have such sentences:\n"
    yield table(
        ("words", "treebanks", "malformed trees, %"),
        ((name, found.items, averaged(found)) for name, found in by_length(effects).items()),
    )


def _treebanks(effects: Sequence[Effect]) -> Iterator[str]:
    """Write one row per treebank: as in the paper, malformed trees first, then accuracy."""
    yield "## Treebanks\n"
    yield listing(
        {
            "treebank": effect.treebank,
            "sentences to learn from": _learned(effect),
            "to be tested on": f"{effect.lengths.size:,}",
            "malformed trees, %": with_interval(effect.rate, effect.rate_interval),
            "in the paper, %": number(_printed(effect, "malformed")),
            "least and most by seed": f"{min(effect.rates):.2f}, {max(effect.rates):.2f}"
            if len(effect.rates) > 1
            else number(nan),
        }
        for effect in effects
    )
    for what, changes in _changes(effects).items():
        adjusted = holm([change.p for change in changes])
        column = COLUMNS[f"relative change of {what}"]
        yield f"## {what[0].upper()}{what[1:]} without and with the constraint\n"
        yield listing(
            {
                "treebank": effect.treebank,
                "sentences to learn from": _learned(effect),
                "without, %": number(change.rate_multi),
                "with, %": number(change.rate_single),
                "relative change, %": with_interval(change.relative, change.interval) + star(p),
                "in the paper, %": number(_printed(effect, column)),
                "p": p_value(change.p),
            }
            for effect, change, p in zip(effects, changes, adjusted, strict=True)
        )


def _learned(effect: Effect) -> str:
    """Write the number of training sentences, and the part if it is not the train part."""
    where = "loaded" if effect.loaded else effect.split
    count = f"{effect.size:,}" if effect.size else "unknown"
    return count if where == "train" else f"{count} ({where})"


def _curve(curve: Sequence[Effect]) -> Iterator[str]:
    """Write the learning curve, in which only the size varies."""
    first, last = curve[0], curve[-1]
    yield "## Learning curve\n"
    yield (
        f"Parsers of {last.treebank}, {len(last.roots)} of each size. Each of them learned from a\n"
        "sample of its own; those of the last row learned from all sentences, in different\n"
        "orders.\n"
    )
    yield listing(
        {
            "sentences to learn from": f"{effect.size:,}",
            "malformed, %": _averaged(effect.rates, len(effect.roots)),
            "UAS without, %": number(effect.uas.rate_multi),
            "UAS with, %": number(effect.uas.rate_single),
            "change of UAS, %": _averaged(effect.uas.each, len(effect.roots)),
            "change of exact match, %": _averaged(effect.exact.each, len(effect.roots)),
        }
        for effect in curve
    )
    if len(curve) > 1:
        rates = [effect.rate for effect in curve]
        power = (
            f", about as the size to the power of "
            f"{log_slope([effect.size for effect in curve], rates):.2f}"
            if min(rates) > 0
            else ""
        )
        yield (
            f"From {first.size:,} to {last.size:,} sentences "
            "the percentage of malformed\n"
            f"trees goes from {first.rate:.2f} to {last.rate:.2f}{power}.\n"
        )


def _losses(studied: Mapping[str, Sequence[Effect]]) -> Iterator[str]:
    """Write the effect of the training loss on malformed trees."""
    treebanks = next(iter(studied.values()))
    yield "## What parsers learn by\n"
    yield (
        f"The same for parsers that were trained in other ways, over {len(treebanks)} treebanks.\n"
        "`-multi` and `-single` are about training: the trees that a parser learns with have any\n"
        "number of root edges, or one. The loss `head` looks at words, not at trees; the\n"
        "paper's parsers were trained in this way.\n"
    )
    yield listing(
        {
            "": method,
            **{
                f"malformed, {name}, %": _averaged([one.rate for one in some], len(some))
                for name, some in groups(effects).items()
            },
            "UAS without, %": number(average(one.uas.rate_multi for one in effects).value),
            "UAS with, %": number(average(one.uas.rate_single for one in effects).value),
            "change of UAS, %": _averaged([one.uas.relative for one in effects], len(effects)),
            "change of exact match, %": _averaged(
                [one.exact.relative for one in effects], len(effects)
            ),
        }
        for method, effects in studied.items()
    )
