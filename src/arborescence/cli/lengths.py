"""Very long sentences: a warning about time and memory before they are parsed, and a limit.

Some parsing takes O(n³) time: a treebank without sentence ends would seem to hang.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.cli.progress import note
from arborescence.errors import TreebankError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arborescence.parsers import Parser
    from arborescence.parsers.shared.types import Effort
    from arborescence.treebank import Sentence

#: A sentence is announced if its estimated time is at least this many seconds.
WORTH_A_WORD: Final = 15.0


class Cost(NamedTuple):
    """What parsing takes: seconds for each n², and for each n³; bytes for each n²."""

    square: float
    cube: float
    room: float

    def of(self, words: int) -> tuple[float, float]:
        """Return the seconds and the bytes for a sentence of so many words."""
        return self.square * words**2 + self.cube * words**3, self.room * words**2

    def told(self, words: int) -> str:
        """Say the same in words."""
        seconds, room = self.of(words)
        return f"it takes about {duration(seconds)} and {room / 1e9:.1f} GB"


#: By task (the best tree, the k best trees, or edge probabilities) and by family (non-projective or
#: projective). Measured with the English model on sentences of 1,000 to 5,000 words:
#: docs/command-line.md.
COSTS: Final[dict[tuple[Effort, bool], Cost]] = {
    ("best", False): Cost(6e-8, 0.0, 5.0),
    ("best", True): Cost(6e-8, 7.5e-10, 36.0),
    ("kbest", False): Cost(8e-8, 0.0, 20.0),
    ("kbest", True): Cost(6e-8, 2e-8, 270.0),
    ("marginals", False): Cost(6e-8, 7.5e-10, 50.0),
    ("marginals", True): Cost(6e-8, 2.8e-9, 88.0),
}


def watched(
    sentences: Iterable[Sentence],
    parser: Parser,
    options: Any,  # of `parsing`
    skipped: Callable[[Exception], None] | None,
) -> Iterator[Sentence]:
    """Pass sentences on: announce those that take long, and refuse those of too many words."""
    # Those raise TreebankError, unless `skipped` takes it
    asked: Effort = "kbest" if options.kbest else "marginals" if options.confidence else "best"
    task, projective, most = parser.effort(asked), options.projective, options.max_words
    planar = parser.projective if projective is None else projective
    cost = COSTS[task, bool(planar)] if task else Cost(0.0, 0.0, 0.0)
    for number, sentence in enumerate(sentences, 1):
        words = len(sentence)
        where = f"{sentence.source}:{sentence.line}" if sentence.source else f"sentence {number}"
        if words > most:
            error = TreebankError(
                f"{where}: {words:,} words; --max-words is {most:,}. If that is one "
                f"sentence, raise the limit: {cost.told(words)}; else leave it out with "
                "--skip-invalid"
            )
            if not skipped:
                raise error
            skipped(error)
            continue
        if cost.of(words)[0] > WORTH_A_WORD:
            note(f"{where}: {words:,} words: {cost.told(words)}", quiet=options.quiet)
        yield sentence


def duration(seconds: float) -> str:
    """Write a time as people say it."""
    for unit, length in (("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count:,} {unit}{'s' if count > 1 else ''}"
    return f"{seconds:.0f} seconds"
