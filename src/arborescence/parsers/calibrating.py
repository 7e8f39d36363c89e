"""The probabilities of a trained parser: fitted again, without training, and measured.

Training also fits them: see `GraphParser.fitted_temperatures`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.errors import ModelError, TreebankError
from arborescence.parsers.recipe import parts_of
from arborescence.parsers.shared.confidence import reliability
from arborescence.parsers.shared.given import untagged
from arborescence.parsers.shared.graph_parser import FITTED, TEMPERATURES, GraphParser
from arborescence.parsers.shared.training_trees import checked
from arborescence.treebank.conllu import read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.base import Parser
    from arborescence.treebank import Sentence

    Name = str | os.PathLike[str]

#: Temperatures that were fitted on fewer sentences count as not fitted.
FEWEST: Final = 200


class Calibration(NamedTuple):
    """The calibration errors of a parser's probabilities, in points; see `calibration`.

    Attributes
    ----------
    edges, relations, trees : float
        The error of the probabilities of edges, of relations, and of whole trees.
    """

    edges: float
    relations: float
    trees: float

    def __str__(self) -> str:
        return f"edges {self.edges:.1f}, relations {self.relations:.1f}, trees {self.trees:.1f}"


def calibrate(
    parser: Parser,
    dev: Name | Iterable[Name] | Iterable[Sentence],
    *,
    root: Root = "single",
) -> int:
    """Fit the temperatures of a parser, and of the parsers in it, without training.

    Trees, relations and tags stay the same, except those of a `CombinedParser`, which adds
    probabilities.

    Parameters
    ----------
    parser
        A graph-based parser with probabilities, or a parser that is made of such parsers.
    dev
        Data that the parser has not learned from: sentences with trees, files of CoNLL-U, or
        folders that have a dev part.
    root
        The trees of the distribution, as for `Parser.parse`.

    Returns
    -------
    int
        The number of sentences.

    Raises
    ------
    ModelError
        If the parser has no probabilities.
    TreebankError
        If there is no sentence, or the heads of a sentence are not a tree.

    Examples
    --------
    >>> import arborescence as arb
    >>> parser = arb.load("english-fast")
    >>> lessons = parser("Birds sing. Old trees grow. They sing in trees.")
    >>> calibrate(parser, lessons), parser.info["fitted"]
    (3, 3)
    """
    fittable = members(parser)
    if not fittable:
        raise ModelError(f"a {parser.kind} parser has no probabilities that could be fitted")
    sentences, _ = checked(_sentences(dev), None, root, in_part=True)
    for each in fittable:
        each.fit(sentences, root)
    return len(sentences)


def _sentences(source: Any) -> Iterable[Sentence]:
    """Yield the sentences of files and of the dev parts of folders, or the given sentences."""
    for item in [source] if isinstance(source, str | os.PathLike) else source:
        if not isinstance(item, str | os.PathLike):
            yield item
            continue
        files = parts_of(item)["dev"] if Path(item).is_dir() else [item]
        if not files:
            raise TreebankError(f"{os.fspath(item)}: the folder has no dev part: name a file")
        for file in files:
            yield from read(file)


def calibration(parser: Parser, gold: Iterable[Sentence]) -> Calibration:
    """Measure the differences between a parser's probabilities and the shares of right answers.

    Parameters
    ----------
    parser
        A parser with probabilities of edges, relations and trees.
    gold
        Sentences with trees, which the parser has not learned from. It gets only their words.

    Returns
    -------
    Calibration
        The errors of `reliability`, in ten bins, in points.

    Examples
    --------
    >>> import arborescence as arb
    >>> parser = arb.load("english-fast")
    >>> calibration(parser, parser("Birds sing. Old trees grow.")).edges < 50
    True
    """
    gold = list(gold)
    parsed = list(parser.parse(map(untagged, gold), confidence=True))
    return Calibration(
        *(100 * reliability(gold, parsed, of=of).error for of in ("edge", "relation", "tree"))
    )


def members(parser: Any) -> list[GraphParser]:
    """Return the parsers with probabilities among a parser and the parsers that it is made of."""
    inner = [*getattr(parser, "parsers", ()), *filter(None, [getattr(parser, "parser", None)])]
    own = [parser] if probabilistic(parser) else []
    return own + [each for member in inner for each in members(member)]


def probabilistic(parser: Any) -> bool:
    """Return whether a parser has temperatures, and scores that they divide."""
    return isinstance(parser, GraphParser) and parser.probabilistic


def fitted(parser: Any) -> bool:
    """Return whether all temperatures of a parser, and of the parsers in it, were fitted."""
    return fitted_on(parser) > 0 and all(
        getattr(each, name) != 1.0 for each in members(parser) for name in TEMPERATURES
    )


def fitted_on(parser: Any) -> int:
    """Return the number of sentences that the temperatures were fitted on; 0 if not recorded."""
    counts = [(each.info or {}).get(FITTED, 0) for each in members(parser)]
    return min((each if type(each) is int else 0 for each in counts), default=0)
