"""The tables as CSV: a row for each treebank, group, point of the learning curve, and method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence.experiments.common import report as reports
from arborescence.experiments.root.findings import (
    MEASURES,
    PAPER,
    average,
    groups,
    significances,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from arborescence.experiments.root.effects import Effect
    from arborescence.experiments.root.findings import Findings

    Row = tuple[object, ...]


def _with_ends(name: str) -> tuple[str, ...]:
    return name, f"{name}_low", f"{name}_high"


_MEASURES: Final = ("malformed", "uas_change", "exact_change")
_TREEBANKS: Final = (
    *("treebank", "split", "lessons", "parsers", "sentences", "words"),
    *(*_with_ends("malformed"), "malformed_least", "malformed_most"),
    *("uas_multi", "uas_single", *_with_ends("uas_change"), "uas_p", "uas_p_holm"),
    *("exact_multi", "exact_single", *_with_ends("exact_change"), "exact_p", "exact_p_holm"),
)
_GROUPS: Final = (
    *("group", "treebanks", "malformed_paper"),
    *(column for name in _MEASURES for column in (*_with_ends(name), f"{name}_treebanks")),
)
_CURVE: Final = (
    *("treebank", "lessons", "parsers", *_with_ends("malformed"), "uas_multi", "uas_single"),
    *(*_with_ends("uas_change"), "exact_multi", "exact_single", *_with_ends("exact_change")),
)
_METHODS: Final = (
    *("treebank", "split", "lessons", "method", "parsers", "malformed"),
    *("uas_multi", "uas_single", "uas_change", "exact_multi", "exact_single", "exact_change"),
)


def write(findings: Findings, folder: Path) -> None:
    """Write ``treebanks.csv``, ``groups.csv``, ``curve.csv`` and ``objectives.csv`` into a folder.

    All rates and changes are in percent. What cannot be computed is empty.
    """
    files = {
        "treebanks.csv": (_TREEBANKS, treebank_rows(findings.effects)),
        "groups.csv": (_GROUPS, group_rows(findings.effects)),
        "curve.csv": (_CURVE, curve_rows(findings.curve)),
        "objectives.csv": (_METHODS, method_rows(findings.studied)),
    }
    reports.write(
        folder,
        {name: reports.csv_text(header, rows) for name, (header, rows) in files.items()},
    )


def treebank_rows(effects: Sequence[Effect]) -> Iterator[Row]:
    """Yield the rows of ``treebanks.csv``."""
    uas, exact = (
        significances([change.p for change in changes])
        for changes in ([one.uas for one in effects], [one.exact for one in effects])
    )
    for effect, *tests in zip(effects, uas, exact, strict=True):
        yield (
            *(effect.treebank, effect.split, effect.lessons, len(effect.roots)),
            *(effect.lengths.size, effect.uas.whole.sum()),
            *_cells(effect.rate, *effect.rate_interval, min(effect.rates), max(effect.rates)),
            *(
                cell
                for change, test in zip((effect.uas, effect.exact), tests, strict=True)
                for cell in _cells(
                    *(change.rate_multi, change.rate_single, change.relative, *change.interval),
                    *test,
                )
            ),
        )


def group_rows(effects: Sequence[Effect]) -> Iterator[Row]:
    """Yield the rows of ``groups.csv``."""
    for name, some in groups(effects).items():
        averages = [average(map(measure, some)) for measure in MEASURES.values()]
        yield (
            *(name, len(some), *_cells(PAPER[name])),
            *(
                cell
                for value, interval, count in averages
                for cell in (*_cells(value, *interval), count)
            ),
        )


def curve_rows(curve: Sequence[Effect]) -> Iterator[Row]:
    """Yield the rows of ``curve.csv``."""
    for effect in curve:
        rate, uas, exact = map(average, (effect.rates, effect.uas.each, effect.exact.each))
        yield (
            *(effect.treebank, effect.lessons, len(effect.roots)),
            *_cells(rate.value, *rate.interval, effect.uas.rate_multi, effect.uas.rate_single),
            *_cells(uas.value, *uas.interval, effect.exact.rate_multi, effect.exact.rate_single),
            *_cells(exact.value, *exact.interval),
        )


def method_rows(studied: dict[str, list[Effect]]) -> Iterator[Row]:
    """Yield the rows of ``objectives.csv``."""
    for method, effects in studied.items():
        for effect in effects:
            yield (
                *(effect.treebank, effect.split, effect.lessons, method, len(effect.roots)),
                *_cells(effect.rate),
                *(
                    cell
                    for change in (effect.uas, effect.exact)
                    for cell in _cells(change.rate_multi, change.rate_single, change.relative)
                ),
            )


def _cells(*numbers: float) -> list[str]:
    return [reports.exact(number) for number in numbers]
