"""What parsing one input needs: for `parse`, and for each file of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from arborescence.cli.lengths import watched
from arborescence.cli.sentences import hinting
from arborescence.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arborescence.cli.sentences import Format, Skipped
    from arborescence.core.choices import Root
    from arborescence.parsers import Parser
    from arborescence.treebank import Sentence
    from arborescence.treebank.kbest import Analyses


class Options(NamedTuple):
    """The options of `arborescence parse` that say what is found."""

    models: list[str]
    weights: str | None
    encoder: str | None
    device: str | None
    format: Format
    kbest: int | None
    root: Root
    projective: bool | None
    confidence: bool
    threads: int
    skip_invalid: bool
    max_words: int
    quiet: bool


def loaded(options: Options) -> Parser:
    """Load a model, or several that parse together; raise OptionError for wrong weights."""
    from arborescence.parsers import CombinedParser, load

    parsers = [load(model, options.encoder) for model in options.models]
    if len(parsers) == 1 and options.weights is None:
        parser = parsers[0]
    else:
        weights = options.weights
        try:
            numbers = None if weights is None else [float(w) for w in weights.split(",")]
            parser = CombinedParser(parsers, numbers)
        except ValueError as error:
            raise OptionError(f"--weights {weights}: {error}") from error
    return parser.to(options.device) if options.device else parser


def analyses(
    sentences: Iterator[Sentence], parser: Parser, options: Options, skipped: Skipped | None
) -> Iterator[Analyses]:
    """Parse sentences; yield the trees of each with their weights, or one tree with weight 0."""
    if options.format == "conllu":
        sentences = hinting(sentences)
    sentences = watched(
        sentences,
        parser,
        options.max_words,
        projective=options.projective,
        kbest=bool(options.kbest),
        confidence=options.confidence,
        quiet=options.quiet,
        skipped=skipped,
    )
    if options.kbest:
        return parser.kbest(
            sentences,
            options.kbest,
            root=options.root,
            projective=options.projective,
            confidence=options.confidence,
            threads=options.threads,
        )
    trees = parser.parse(
        sentences,
        root=options.root,
        projective=options.projective,
        confidence=options.confidence,
        threads=options.threads,
    )
    return ([(tree, 0.0)] for tree in trees)
