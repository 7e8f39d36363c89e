"""The report on times in Markdown, with the papers' numbers for comparison; tables as CSV."""

from __future__ import annotations

from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING, Final

from arborescence.experiments.common.groups import grouped
from arborescence.experiments.common.report import (
    averaged,
    csv_text,
    left_out,
    listing,
    number,
    table,
    with_interval,
)
from arborescence.experiments.common.statistics import average, log_slope
from arborescence.experiments.runtime.clock import machine
from arborescence.experiments.runtime.decoders import (
    CONSTRAINED,
    DECODERS,
    EISNER,
    N_RUNS,
    NAIVE,
    REWEIGHTED,
    UNCONSTRAINED,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arborescence.core.graph import Root
    from arborescence.experiments.common.recipes import Recipe
    from arborescence.experiments.common.treebanks import LeftOut
    from arborescence.experiments.runtime.measure import Measured, Projective, Timed, Times

#: The speed-ups in the paper's Table 1, without the root constraint.
PAPER: Final[Mapping[int, float]] = {10: 1.42, 20: 1.39, 50: 1.37}
#: The names of the constraint in tables and plots.
ROOTS: Final[Mapping[Root, str]] = {"multi": "any number", "single": "one"}

_LIST_COLUMNS: Final = (
    *("graphs", "root", "k", "sentences", "words", "ours", "theirs", "our_call", "their_call"),
    *("as_called", "speed_up", "low", "high", "unequal"),
)
_DECODER_COLUMNS: Final = (
    *("graphs", "n", "sentences", "easy", "several_roots", "decoder", "microseconds"),
    *("times_unconstrained", "worse"),
)
_LAST: Final = 3  # the number of sizes used for the second exponent
_DECODERS: Final = """\
- *greedy pass*: the best head of each word. It reads each score once, and no exact decoder can do
  with less.
- *without the constraint*, *with the constraint*: `decode` with `root="multi"` and with
  `root="single"`. Both stop at the greedy graph where it is a tree that will do.
- *n runs*: one run without the constraint for each word, with the root edges of all others masked;
  the best of these trees.
- *reweighting*: all root edges are lowered by more than any two trees differ; then one run without
  the constraint, in float64.
"""


def texts(
    times: Times, figures: Mapping[str, str], recipe: Recipe, others: Sequence[LeftOut]
) -> dict[str, str]:
    """Return the content of ``lists.csv``, ``decoders.csv`` and ``report.md``.

    Parameters
    ----------
    times
        The measured times.
    figures
        The captions of the plots, keyed by file name.
    recipe
        The training recipe of the parsers.
    others
        The treebanks that were left out.
    """
    lists = [*times.treebanks, *times.with_words, *times.with_trees]
    return {
        "lists.csv": csv_text(_LIST_COLUMNS, _list_rows(lists)),
        "decoders.csv": csv_text(_DECODER_COLUMNS, _decoder_rows(times.decoders)),
        "report.md": "\n".join([*_report(times, figures, recipe), left_out(others)]),
    }


def _list_rows(measured: Iterable[Measured]) -> Iterator[tuple[object, ...]]:
    for name, words, lists in measured:
        ours, theirs = lists.microseconds
        calls = (f"{1e6 * fmean(call):.3f}" for call in (lists.our_calls, lists.their_calls))
        ratios = lists.called, lists.speed_up, *lists.interval
        row = (name, lists.root, lists.k, len(lists.ours), f"{words:.1f}")
        yield (*row, f"{ours:.3f}", f"{theirs:.3f}", *calls, *map(number, ratios), lists.unequal)


def _decoder_rows(decoders: Iterable[Timed]) -> Iterator[tuple[object, ...]]:
    for timed in decoders:
        for name, seconds in timed.seconds.items():
            multiple = seconds / timed.seconds[UNCONSTRAINED]
            row = (timed.kind, timed.n, timed.sentences, timed.easy, timed.several, name)
            yield *row, f"{1e6 * seconds:.3f}", f"{multiple:.2f}", timed.worse.get(name, "")


def _report(times: Times, figures: Mapping[str, str], recipe: Recipe) -> Iterator[str]:
    """Yield the parts of the report."""
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
        yield "### All treebanks\n"
        yield "How many times as fast `kbest` is, with intervals over sentences.\n"
        yield _all_treebanks(treebanks)
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
    """Compare the two algorithms on treebanks: our averages and the paper's."""
    count = len({measured.name for measured in treebanks})
    call, their_call = (
        1e6 * fmean(chain.from_iterable(lists))
        for lists in zip(
            *((one.lists.our_calls, one.lists.their_calls) for one in treebanks), strict=True
        )
    )
    yield "## The k best trees, beside Camerini et al.\n"
    yield (
        "`kbest` and the algorithm of Camerini, Fratta and Maffioli (1980), made of the same\n"
        "kernels: one call a sentence, on the scores of parsers. Where none was given, they were\n"
        f"trained by {recipe.method} ({recipe.effort}, seed\n"
        f"{recipe.seed}).\n\n"
        f"A call takes {call:.1f} and {their_call:.1f} microseconds before any search begins:\n"
        "that is the time for a sentence of one word. *Speed-up* is the ratio of the times\n"
        "without it, *as called* the ratio with it. Averages give each treebank the same weight;\n"
        "their intervals are over treebanks.\n"
    )
    rows = []
    for (root, k), group in grouped(treebanks, lambda one: (one.lists.root, one.lists.k)).items():
        ratios = [one.lists.speed_up for one in group]
        ours, theirs = zip(*(one.lists.microseconds for one in group), strict=True)
        rows.append({
            "root edges": ROOTS[root],
            "k": k,
            "the paper": number(PAPER[k]) if root == "multi" and k in PAPER else "–",
            f"speed-up, average of {count}": averaged(average(ratios)),
            "of all treebanks": f"{number(min(ratios))} to {number(max(ratios))}",
            "as called": number(fmean(one.lists.called for one in group)),
            "`kbest`": number(fmean(ours), 1),
            "Camerini et al.": number(fmean(theirs), 1),
        })  # fmt: skip
    yield listing(rows)
    lists = sum(len(one.lists.ours) for one in treebanks)
    unequal = sum(one.lists.unequal for one in treebanks)
    yield f"Of {lists:,} lists, {unequal:,} differ in the weights of their trees.\n"


def _all_treebanks(treebanks: Sequence[Measured]) -> str:
    rows = []
    header: list[str] = []
    for name, some in grouped(treebanks, lambda one: one.name).items():
        ratios = [with_interval(one.lists.speed_up, one.lists.interval) for one in some]
        rows.append((name, len(some[0].lists.ours), number(some[0].words, 1), *ratios))
        header = [f"{ROOTS[one.lists.root]}, k = {one.lists.k}" for one in some]
    return table(("treebank", "sentences", "words", *header), rows)


def _beside_others(decoders: Sequence[Timed]) -> Iterator[str]:
    """Compare the decoders on each kind of graphs."""
    kinds = grouped(decoders, lambda one: one.kind)
    last = [group[-1] for group in kinds.values()]
    sentences = []
    for name, other in (
        (CONSTRAINED, UNCONSTRAINED),
        (N_RUNS, CONSTRAINED),
        (REWEIGHTED, CONSTRAINED),
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
            **{n: f"{sum(one.worse[n] for one in group):,}" for n in (N_RUNS, REWEIGHTED)},
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
        times = zip(*(one.lists.microseconds for one in group), strict=True)
        for name, column in zip(("`kbest`", "Camerini et al."), times, strict=True):
            cells = [number(us / one.lists.k) for us, one in zip(column, group, strict=True)]
            rows.append((kind, ROOTS[root], name, *cells, *_exponents(header, column)))
    columns = (f"{axis} = {x:,}" for x in header)
    return table(("graphs", "root edges", "", *columns, "exponent", f"of the last {_LAST}"), rows)


def _exponents(sizes: Sequence[int], times: Sequence[float]) -> tuple[str, str]:
    """Return the exponents of power laws fitted to all sizes, and to the last ones."""
    exponent, later = (
        log_slope(sizes[-count:], times[-count:]) if len(sizes) > 1 else float("nan")
        for count in (len(sizes), _LAST)
    )
    return number(exponent), number(later)
