"""The four models of *undirected*, from three trainings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import arborescence
from arborescence.core.errors import ArborescenceError
from arborescence.experiments.common.measures import Counts
from arborescence.experiments.common.treebanks import LeftOut, digest
from arborescence.parsers import LinearParser
from arborescence.undirected import enhance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from arborescence.experiments.common.results import Results
    from arborescence.experiments.common.treebanks import Corpus
    from arborescence.parsers.shared.base import Progress
    from arborescence.treebank import Sentence

    #: The head vectors that a model finds for the sentences of a test set.
    Trees = list[list[int]]

DIRECTED: Final = "D-MST"
ENHANCED: Final = "U-MST-uf-lep"
UNDIRECTED: Final = "U-MST-uf"
ENCODED: Final = "U-MST-df"
#: In the order of the tables.
MODELS: Final = (DIRECTED, ENHANCED, UNDIRECTED, ENCODED)

#: Three are trained. `ENHANCED` is the trees of `UNDIRECTED` after local enhancement by the scores
#: of `DIRECTED`, so those two come first.
_TRAININGS: Final[Mapping[str, dict[str, Any]]] = {
    UNDIRECTED: {"inference": "undirected", "features": "undirected", "rounds": 0},
    DIRECTED: {"inference": "exact", "features": "directed"},
    ENCODED: {"inference": "undirected", "features": "directed", "rounds": 0},
}
_ORDER: Final = (UNDIRECTED, DIRECTED, ENHANCED, ENCODED)
_ROUNDS: Final = 5


@dataclass(frozen=True)
class Settings:
    """How every parser is trained: see `LinearParser.train`. There is no development set."""

    epochs: int
    seed: int
    bits: int


class Outcome(NamedTuple):
    """What the models made of a treebank.

    Attributes
    ----------
    treebank : str
        Its name.
    split : str
        The part that they learned from, ``"train"`` or ``"dev"``.
    lessons : int
        How many sentences that part has.
    counts : dict of str to Counts
        How each of `MODELS` did on the test part, in this order.
    """

    treebank: str
    split: str
    lessons: int
    counts: dict[str, Counts]


def outcomes(
    corpora: Sequence[Corpus],
    results: Results,
    settings: Settings,
    progress: Progress | None = None,
) -> Iterator[Outcome | LeftOut]:
    """Parse the test part of each treebank with each model, training what is missing.

    Parameters
    ----------
    corpora
        The treebanks.
    results
        Where the trees of a model are kept as soon as they are found, and taken from if they were
        found before with the same settings, sentences and version of the library.
    settings
        How to train.
    progress
        Called as ``progress(what, done, total)``: models, and sentences of the training that runs.

    Yields
    ------
    Outcome or LeftOut
        One for each treebank, in order. What went wrong with a treebank (it is broken or empty, or
        its trees could not be written) is named, and the rest goes on.
    """
    total = len(corpora) * len(_ORDER)
    for number, corpus in enumerate(corpora):
        trees: dict[str, Trees] = {}
        try:
            lessons, exams = corpus.read()
            about = asdict(settings) | {
                "library": arborescence.__version__,
                "treebank": digest(*corpus.lesson_files, *corpus.exam_files),
            }
            trained = cache(partial(_train, lessons, settings, progress))
            for done, name in enumerate(_ORDER, number * len(_ORDER)):
                if progress:
                    progress(f"models: {corpus.name}, {name}", done, total)
                make = partial(_parse, name, exams, trained, trees)
                trees[name] = results.once(f"{corpus.name}/{name}", about, make)
        except (ArborescenceError, OSError) as error:
            yield LeftOut.because(corpus.name, error)
        else:
            counts = {name: Counts.of(exams, trees[name]) for name in MODELS}
            yield Outcome(corpus.name, corpus.split, len(lessons), counts)
    if progress:
        progress("models: all done", total, total)


def _train(
    lessons: Sequence[Sentence], settings: Settings, progress: Progress | None, name: str
) -> LinearParser:
    def step(epoch: str, done: int, total: int) -> None:
        if progress:
            progress(f"this one: {epoch}", done, total)

    return LinearParser.train(lessons, **asdict(settings), **_TRAININGS[name], progress=step)


def _parse(
    name: str,
    exams: Sequence[Sentence],
    trained: Callable[[str], LinearParser],
    earlier: Mapping[str, Trees],
) -> Trees:
    """Find the trees of a model; `earlier` has those of the models before it."""
    if name != ENHANCED:
        return [parsed.heads.tolist() for parsed in trained(name).parse(exams)]
    scores = map(trained(DIRECTED).scores, exams)
    return [
        enhance(matrix, np.array(heads), rounds=_ROUNDS).tolist()
        for matrix, heads in zip(scores, earlier[UNDIRECTED], strict=True)
    ]
