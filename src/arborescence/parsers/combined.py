"""Parser combination by reparsing: the best tree by summed edge scores (Sagae and Lavie 2006).

Parsers of different kinds make different mistakes. Each parser scores the edges of a sentence; the
weighted sums are the edge scores of one graph, and its maximum spanning tree is the result.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

import numpy as np

from arborescence.core.errors import ModelError, OptionError
from arborescence.core.tree import is_projective
from arborescence.inference.decode import decode
from arborescence.inference.kbest import kbest
from arborescence.parsers import registry
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.base import Options, Parser
from arborescence.parsers.shared.confidence import with_edge_probs
from arborescence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.shared.types import Progress
    from arborescence.treebank import Sentence

_PARSER: Final = "parser/"
_MOST: Final = 64  # the most parsers in a file
_FIELDS: Final = {
    "parsers": scheme.list_of(scheme.MAPPING, 1, _MOST),
    "weights": scheme.list_of(scheme.real(1 / scheme.LARGEST, scheme.LARGEST), 1, _MOST),
}


class CombinedParser(Parser):
    """A parser that combines several others: it finds the tree of highest summed score.

    Each parser scores each edge: a graph-based parser by its marginal, any other parser by a vote
    for the edges of its own tree. The tree with the highest sum is decoded exactly. By default it
    may be non-projective only if some parser's tree of that sentence is.

    The relation of an edge is chosen by a weighted vote of the parsers whose trees have the edge,
    or of all parsers if none has it. Missing tags are filled in by the first parser.

    Created from parsers, by `train`, or by `arborescence.load`.

    Attributes
    ----------
    parsers : tuple of Parser
        The combined parsers.
    weights : tuple of float
        The factor of each parser's scores.
    info : dict
        The `info` of each parser, as a list under ``"parsers"``.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> from arborescence.parsers import LinearParser, TransitionParser
    >>> treebank = [
    ...     Sentence.from_words(["Old", "trees", "grow"], upos=["ADJ", "NOUN", "VERB"],
    ...                         heads=[-1, 2, 3, 0], deprels=["amod", "nsubj", "root"]),
    ...     Sentence.from_words(["Birds", "sing"], upos=["NOUN", "VERB"],
    ...                         heads=[-1, 2, 0], deprels=["nsubj", "root"]),
    ... ]
    >>> graph_based = LinearParser.train(treebank, epochs=3)
    >>> transition_based = TransitionParser.train(treebank, epochs=3)
    >>> both = CombinedParser([graph_based, transition_based])
    >>> new = Sentence.from_words(["Old", "birds", "sing"], upos=["ADJ", "NOUN", "VERB"])
    >>> [parsed] = both.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([-1,  2,  3,  0]), ['amod', 'nsubj', 'root'])
    """

    kind: ClassVar[str] = "combined"

    def __init__(self, parsers: Iterable[Parser], weights: Iterable[float] | None = None) -> None:
        """Combine parsers.

        Parameters
        ----------
        parsers
            One or more.
        weights
            A positive number for each parser; 1 if not given.

        Raises
        ------
        OptionError
            If there are no parsers, or the weights are not one positive number each.
        """
        self.parsers = tuple(parsers)
        given = [1] * len(self.parsers) if weights is None else weights
        self.weights = tuple(map(float, given))
        self.text = next((parser.text for parser in self.parsers if parser.text), None)
        self.info = {"parsers": [getattr(parser, "info", {}) for parser in self.parsers]}
        if not self.parsers:
            raise OptionError("there must be at least one parser")
        if len(self.weights) != len(self.parsers):
            raise OptionError(
                f"there are {len(self.parsers)} parsers, but {len(self.weights)} weights: give one "
                "for each"
            )
        if not all(0 < weight < np.inf for weight in self.weights):
            raise OptionError(f"weights must be positive numbers, not {list(self.weights)}")

    @classmethod
    def train(  # type: ignore[override]  # it has no options of its own, and asks for parsers
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        make_parsers: Sequence[Callable[..., Parser]] | None = None,
        weights: Iterable[float] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Train several parsers on the same treebank, one after the other.

        Parameters
        ----------
        treebank, dev, progress
            As for every `Parser`. Without `dev`, the probabilities of a graph-based parser are not
            calibrated.
        make_parsers
            Functions that train one parser each, called as
            ``make_parser(sentences, dev=dev, progress=progress)``; use `functools.partial` for
            settings. Default: a `LinearParser`, and a `TransitionParser` with swap and a beam of 8.
        weights
            A positive number for each parser; 1 if not given.
        """
        if make_parsers is None:
            swap = partial(registry.parser_class("transition").train, system="swap", beam=8)
            make_parsers = (registry.parser_class("linear").train, swap)
        count = len(make_parsers)
        treebank, dev = list(treebank), list(dev or ())

        def say(number: int, phase: str, done: int, total: int) -> None:
            if progress:
                progress(f"parser {number} of {count}, {phase}", done, total)

        made = (
            make(treebank, dev=dev, progress=partial(say, number))
            for number, make in enumerate(make_parsers, 1)
        )
        return cls(made, weights)

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weighted sum of the parsers' scores for each edge.

        Parameters
        ----------
        sentence
            A sentence of n words. Without UPOS, each parser that has a tagger tags it first.

        Returns
        -------
        scores : (n + 1, n + 1) float32
            ``scores[h, d]`` is a sum over the parsers, times their weights: the probability of the
            edge h -> d if the parser has probabilities; else 0.4 if its tree has the edge, and 0 if
            not. The tree that `parse` finds is ``arborescence.decode(scores)``, with
            ``projective=True`` if the trees of all parsers are projective.
        """
        [question] = self._ask([sentence], Options("single", None, False))
        return question.scores

    def to(self, device: str | None) -> Self:
        """Choose what runs the networks of those of the parsers that are neural ones."""
        neural = [parser for parser in self.parsers if type(parser).to is not Parser.to]
        if not neural:
            return super().to(device)
        for parser in neural:
            parser.to(device)
        return self

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file, including those of the parsers."""
        headers: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        for number, parser in enumerate(self.parsers):
            header, of_parser = parser.to_file()
            headers.append(header)
            arrays |= scheme.joined({f"{_PARSER}{number}/": of_parser})
        header = {
            "kind": self.kind,
            "library": __version__,
            "weights": self.weights,
            "parsers": headers,
        }
        return header, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from what `model_file.load` returned; raise ModelError if it is invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        parsers = [
            registry.from_file(of_parser, scheme.part(arrays, f"{_PARSER}{number}/"))
            for number, of_parser in enumerate(fields["parsers"])
        ]
        try:
            return cls(parsers, fields["weights"])
        except ValueError as error:
            raise ModelError(str(error)) from error

    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        parsed = []
        for question in self._ask(sentences, options):
            heads = decode(question.scores, root=options.root, projective=question.projective)
            parsed.append(question.answered(heads, options))
        return parsed

    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options
    ) -> list[list[tuple[Sentence, float]]]:
        found = []
        for question in self._ask(sentences, options):
            trees, of_trees = kbest(
                question.scores, k, root=options.root, projective=question.projective
            )
            parsed = [question.answered(heads, options) for heads in trees]
            found.append(list(zip(parsed, of_trees.tolist(), strict=True)))
        return found

    def _ask(self, sentences: list[Sentence], options: Options) -> Iterator[_Question]:
        """Run all parsers on some sentences."""
        # False becomes None, so that parsers that find projective trees only can take part too.
        wanted = options._replace(projective=options.projective or None, confidence=False)
        answers = [parser._evidence_batch(sentences, wanted) for parser in self.parsers]
        for of_sentence in zip(*answers, strict=True):
            parsed = [tree for tree, _ in of_sentence]
            trees = np.array([tree.heads for tree in parsed])
            scores = sum(
                weight * evidence
                for weight, (_, evidence) in zip(self.weights, of_sentence, strict=True)
            )
            yield _Question(
                sentence=parsed[0],
                trees=trees,
                relations=[tree.deprels for tree in parsed],
                weights=self.weights,
                scores=np.asarray(scores, dtype=np.float32),
                projective=bool(is_projective(trees).all())
                if options.projective is None
                else options.projective,
            )


class _Question(NamedTuple):
    """A sentence and the results of P parsers for it.

    Attributes
    ----------
    sentence : Sentence
        As returned by the first parser, with its tags.
    trees : (P, n + 1) int64
        The tree of each parser.
    relations : list of P lists of str
        The relations in these trees.
    weights : tuple of P floats
        The weight of each parser.
    scores : (n + 1, n + 1) float32
        The summed score of each edge.
    projective : bool
        Whether its tree must be projective.
    """

    sentence: Sentence
    trees: NDArray[np.int64]
    relations: list[list[str]]
    weights: tuple[float, ...]
    scores: NDArray[np.float32]
    projective: bool

    def answered(self, heads: NDArray[np.int64], options: Options) -> Sentence:
        """Return the sentence with a tree, relations, and edge probabilities if requested."""
        changed: dict[str, Any] = {"heads": heads, "deprels": self._vote(heads)}
        if options.confidence:
            words = np.arange(1, len(heads))
            shares = self.scores[heads[1:], words] / self.scores[:, 1:].sum(axis=0)
            changed["misc"] = with_edge_probs(self.sentence.misc, shares.tolist())
        return self.sentence.replace(**changed)

    def _vote(self, heads: NDArray[np.int64]) -> list[str]:
        """Vote on the relation of each edge of a tree; ties go to the first.

        If no parser has the edge, all vote with the relation of the word in their trees. But if the
        word is the root word in only one of the two trees (the given one and the parser's), the
        parser votes with its relation for the root word of the other tree.
        """
        root = _root(heads)
        agree = self.trees == heads
        may_vote = (agree | ~agree.any(axis=0))[:, 1:].tolist()
        votes: list[dict[str, float]] = [{} for _ in heads[1:]]
        for tree, relations, weight, of_parser in zip(
            self.trees, self.relations, self.weights, may_vote, strict=True
        ):
            swapped = {_root(tree) - 1: root - 1, root - 1: _root(tree) - 1}
            for word, (counts, of_word) in enumerate(zip(of_parser, votes, strict=True)):
                if counts:
                    relation = relations[swapped.get(word, word)]
                    of_word[relation] = of_word.get(relation, 0) + weight
        return [max(of_word, key=of_word.__getitem__) for of_word in votes]


def _root(heads: NDArray[np.int64]) -> int:
    """Return the first word whose head is the root."""
    return int(np.argmax(heads == 0))
