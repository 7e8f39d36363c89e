"""The tables as CSV: a row for each treebank, or group of treebanks, and k.

Numbers are percentages, but for counts, p-values, growth (a ratio) and ``well_formed`` (a number of
trees). ``_low`` and ``_high`` are the ends of 95 % intervals; what does not exist is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence.experiments.common.report import csv_text, exact
from arborescence.experiments.kbest.outcomes import adjusted_ps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arborescence.experiments.kbest.averages import Average, Averages
    from arborescence.experiments.kbest.outcomes import Outcome

_TREEBANK: Final = (
    *("treebank", "split", "lessons", "group", "sentences", "k"),
    *("malformed", "malformed_low", "malformed_high", "malformed_by_sentence"),
    *("touched", "well_formed", "multi_uas", "single_uas", "multi_exact", "single_exact"),
    *("gain", "gain_low", "gain_high", "gain_p", "gain_p_adjusted"),
)
_AVERAGE: Final = (
    *("group", "treebanks", "k", "malformed", "malformed_low", "malformed_high"),
    *("growth", "growth_low", "growth_high"),
    *("growth_mean", "growth_mean_low", "growth_mean_high", "growth_median", "without_growth"),
    *("touched", "well_formed", "multi_uas", "single_uas", "multi_exact", "single_exact"),
    *("gain", "gain_low", "gain_high", "gain_p"),
)


def treebank_rows(outcomes: Sequence[Outcome], ks: Sequence[int]) -> str:
    """Write ``treebanks.csv``.

    The p-values of ``gain``, what the constraint adds to the oracle UAS, are paired by sentences;
    those that are adjusted, by Holm's method over the treebanks of the same k.
    """
    return _csv(_TREEBANK, _of_treebanks(outcomes, ks))


def average_rows(groups: Mapping[str, Averages], ks: Sequence[int]) -> str:
    """Write ``averages.csv``. The p-values of ``gain`` are paired by treebanks."""
    return _csv(_AVERAGE, _of_groups(groups, ks))


def _of_treebanks(outcomes: Sequence[Outcome], ks: Sequence[int]) -> Iterator[list[object]]:
    for one, adjusted in zip(outcomes, adjusted_ps(outcomes), strict=True):
        columns = (
            *(ks, one.rates, one.rate_intervals, one.sentence_rates),
            *(one.touched, one.well_formed, one.multi_uas, one.single_uas),
            *(one.multi_exact, one.single_exact),
            *(one.gain, one.gain_intervals, one.gain_ps, adjusted),
        )
        for cells in zip(*columns, strict=True):
            yield [one.treebank, one.split, one.lessons, one.group, one.sentences, *cells]


def _of_groups(groups: Mapping[str, Averages], ks: Sequence[int]) -> Iterator[list[object]]:
    for name, mean in groups.items():
        columns = (
            *(ks, mean.rates, mean.growths),
            *map(_values, (mean.touched, mean.well_formed, mean.multi_uas, mean.single_uas)),
            *map(_values, (mean.multi_exact, mean.single_exact)),
            *(mean.gains, mean.gain_ps),
        )
        for cells in zip(*columns, strict=True):
            yield [name, mean.treebanks, *cells]


def _values(averages: Iterable[Average]) -> list[float]:
    return [average.value for average in averages]


def _csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    return csv_text(header, ([_text(cell) for cell in _flat(row)] for row in rows))


def _flat(cells: Iterable[object]) -> Iterator[object]:
    """Put an average, its interval, and what else is several numbers into columns of their own."""
    for cell in cells:
        if isinstance(cell, tuple):
            yield from _flat(cell)
        else:
            yield cell


def _text(cell: object) -> object:
    return exact(cell) if isinstance(cell, float) else cell
