"""The report of the experiment on rules in Markdown; its tables as CSV."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING

from arborescence.version import __version__
from arborescence_papers.common.groups import by_size, grouped
from arborescence_papers.common.report import listing, number
from arborescence_papers.rules.measure import KEPT, OWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.rules.measure import Outcome

    Row = dict[str, object]


def parts(outcomes: Sequence[Outcome], figures: Iterable[str], *, recipe: Recipe) -> Iterator[str]:
    """Yield the parts of the report: of each kind of parser on each treebank, at least one."""
    kinds = grouped(outcomes, lambda outcome: outcome.kind)
    yield "# Parsing by the rules of Universal Dependencies\n"
    yield (
        "Trees that break a rule of `ud` are replaced by the best ones that keep all rules, on\n"
        "test parts of treebanks. Tags are gold. Means give each treebank the same weight.\n\n"
        f"Trained by arborescence {__version__}: MIRA, {recipe.effort}, seed {recipe.seed},\n"
        f"{recipe.sentences} sentences at most.\n"
    )
    yield "## By size of the treebank\n"
    yield listing(
        {"parser": kind, "sentences to learn from": group, **_of_many(part)}
        for kind, some in kinds.items()
        for group, part in by_size(some, lambda one: one.size).items()
    )
    for figure in figures:
        yield f"![{figure}]({figure})\n"
    yield "## Other ways to keep rules\n"
    yield listing(row for kind, some in kinds.items() for row in _ways(kind, some))
    yield "## Rules by how often\n"
    yield listing(_rules(kinds))
    for kind, some in kinds.items():
        yield f"## Treebanks: {kind}\n"
        yield listing(map(_of_one, some))


def _of_many(some: Sequence[Outcome]) -> Row:
    """Return means over treebanks, and sums."""
    broken = sum(one.ways[OWN].broken for one in some)
    sentences = sum(one.sentences for one in some)
    without, kept = (1000 * sum(one.seconds[i] for one in some) / sentences for i in (0, 1))
    return {
        "treebanks": len(some),
        "broken sentences, %": number(fmean(one.share for one in some)),
        "LAS without rules": number(fmean(one.ways[OWN].las for one in some)),
        "LAS with rules": number(fmean(one.ways[KEPT].las for one in some)),
        "gain": number(fmean(one.gain() for one in some)),
        "worst": number(min(one.gain() for one in some)),
        "best": number(max(one.gain() for one in some)),
        "broken sentences": number(broken, 0),
        "certified": number(sum(one.certified for one in some), 0),
        "broken afterwards": number(sum(one.ways[KEPT].broken for one in some), 0),
        "trees decoded a sentence": number(sum(one.decodes for one in some) / sentences),
        "ms a sentence without rules": number(without),
        "ms with rules": number(kept),
    }


def _ways(kind: str, some: Sequence[Outcome]) -> Iterator[Row]:
    """Yield what each way to keep rules gives on all treebanks."""
    for way in [way for way in some[0].ways if way != OWN]:
        gains = [one.gain(way) for one in some]
        yield {
            "parser": kind,
            "trees": way,
            "mean gain, LAS": number(fmean(gains)),
            "worst": number(min(gains)),
            "best": number(max(gains)),
            "sentences that still break a rule": number(
                sum(one.ways[way].broken for one in some), 0
            ),
        }


def _rules(kinds: dict[str, list[Outcome]]) -> Iterator[Row]:
    """Yield how many words break each rule, the most broken first."""
    counts = {kind: Counter[str]() for kind in kinds}
    for kind, some in kinds.items():
        for one in some:
            counts[kind].update(one.rules)
    total: Counter[str] = sum(counts.values(), Counter())
    if not total:
        yield {"rule": "none", **dict.fromkeys(kinds, 0)}
    for rule, _ in total.most_common():
        yield {"rule": f"`{rule}`", **{kind: f"{counts[kind][rule]:,}" for kind in kinds}}


def _of_one(one: Outcome) -> Row:
    """Return what a parser does on a treebank."""
    return {
        "treebank": one.treebank,
        "sentences to learn from": f"{one.size:,} ({one.split})",
        "test sentences": f"{one.sentences:,}",
        "broken in gold": one.gold,
        "broken": one.ways[OWN].broken,
        "broken, %": number(one.share),
        "broken rules": number(one.rules.total(), 0),
        "certified": one.certified,
        "broken afterwards": one.ways[KEPT].broken,
        **{f"LAS, {way}": number(trees.las) for way, trees in one.ways.items()},
        "gain": number(one.gain()),
        "trees decoded a sentence": number(one.decodes / one.sentences),
        "seconds without": number(one.seconds[0]),
        "seconds with": number(one.seconds[1]),
    }
