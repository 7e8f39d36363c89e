"""Reranks a parser's k-best lists by features of whole trees (Charniak and Johnson 2005)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self

import numpy as np

from arborescence.core.checks import check_count
from arborescence.errors import TreebankError
from arborescence.parsers import registry
from arborescence.parsers.linear.parser import LinearParser
from arborescence.parsers.reranker.features import TreeTemplates, Workspace, score_lists
from arborescence.parsers.reranker.lists import KBestLists
from arborescence.parsers.reranker.training import Trainer
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.base import Parser
from arborescence.parsers.shared.features import Batch, Sides
from arborescence.parsers.shared.options import Bits, Option, OptionSet, Rng, Trees
from arborescence.parsers.shared.run import about
from arborescence.parsers.shared.scheme import COLUMNS, whole
from arborescence.parsers.shared.training_trees import checked, folds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.shared.reading import Reading
    from arborescence.treebank import Sentence
    from arborescence.treebank.conllu import Analyses

_PARSER: Final = "parser/"
_REPORT_EVERY: Final = 100
#: The maximum length of a k-best list.
MOST_TREES = 10_000


@dataclass(frozen=True, kw_only=True)
class Settings(OptionSet):
    """Options of a reranker of k-best lists (Charniak and Johnson 2005)."""

    k: Annotated[int, Option(whole(2, MOST_TREES))] = 50
    """The length of the k-best lists."""
    folds: Annotated[int, Option(whole(2))] = 5
    """The number of parts of the treebank for cross-validation."""
    rng: Rng = 1
    epochs: Annotated[int, Option(whole(1), stored=False)] = 4
    """The number of passes over the lists."""
    root: Trees = "single"
    bits: Bits = 20


_FIELDS: Final = {
    "k": scheme.whole(1, MOST_TREES),
    "scale": scheme.positive(),
    "info": scheme.INFO,
    "parser": scheme.MAPPING,
}
_ARRAYS: Final = {"weights": scheme.Array((np.float16,), ("2^weights",))}
_NO_TAGS = np.empty(0, dtype=np.uint64)


def make_linear(treebank: Iterable[Sentence], **options: Any) -> Parser:
    """Train a linear parser for any trees (marks of lifted edges would give equal trees twice)."""
    return LinearParser.train(treebank, projective=False, **options)


@dataclass(kw_only=True, eq=False, repr=False)
class Reranker(Parser):
    """Reranks the k best trees of another parser by features of whole trees.

    The score of a tree is its weight in the parser, times a scale, plus the sum of the weights of
    its features: consecutive siblings, grandparents, valency, relations of all children and more.
    Made by `train`, or by `arborescence.load`.

    A parser is too accurate on its own training sentences. So the k-best lists for training are
    made by cross-validation: the treebank is split into folds, and the trees of each fold are found
    by a parser trained on the other folds. The final parser is trained on all sentences.

    Attributes
    ----------
    parser : Parser
        Finds the trees and their relations.
    k : int
        The length of the parser's k-best lists, and the largest number of trees that `kbest`
        returns. You may change k: a smaller k is faster.
    weights : (2^bits,) float32
        The weights of hashed features.
    scale : float
        The factor of the parser's weight of a tree.
    info : dict
        The training settings, and the scores on the dev set after each epoch.

    Examples
    --------
    >>> import arborescence as arb
    >>> words = [["She", "sees", "cats"], ["He", "hears", "dogs"], ["She", "hears", "cats"]]
    >>> *treebank, new = arb.load("english-fast").parse(words)
    >>> reranker = Reranker.train(treebank * 2, k=4, folds=2)
    >>> [parsed] = reranker.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([2, 0, 2]), ['nsubj', 'root', 'obj'])
    """

    kind: ClassVar[str] = "reranker"
    settings_class = Settings

    parser: Parser
    k: int
    weights: NDArray[np.float32]
    scale: float
    info: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Compile the feature templates for the columns that the parser uses."""
        self.text, self.tagger = self.parser.text, self.parser.tagger
        self.labels = self.parser.labels
        self._sides, self._templates = _templates_of(self.parser)

    @classmethod
    def train(
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        make_parser: Callable[..., Parser] = make_linear,
        threads: int = 1,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Self:
        """Train a parser, and a reranker for it: ``folds + 1`` parsers in all.

        Parameters
        ----------
        treebank
            Sentences whose heads are trees.
        dev
            Sentences by which the best epoch and the scale of the parser's weight are chosen, by
            LAS. Without them, the last epoch is kept, and the scale is estimated on the treebank.
        make_parser
            Called as ``make_parser(sentences, dev=dev, root=root, progress=progress)``, for example
            ``functools.partial(LinearParser.train, projective=False, tagger=tagger)``.
        threads, progress, **settings
            As for `Parser.parse`; as for `Parser.train`; and the fields of `Settings`.

        Raises
        ------
        TreebankError
            Before the training, if there are fewer sentences than folds, or the heads of a sentence
            are not a tree; or by `make_parser`.
        OptionError
            If a setting is invalid.
        """
        chosen = Settings.of(settings)
        root, k, folds = chosen.root, chosen.k, chosen.folds
        check_count(threads, "threads")
        treebank, dev = checked(treebank, dev, root)
        if len(treebank) < folds:
            raise TreebankError(
                f"{len(treebank)} sentences cannot be split into {folds} folds: train on more "
                "sentences, or with fewer folds"
            )

        def make(sentences: list[Sentence], say: Progress) -> Parser:
            return make_parser(sentences, dev=dev, root=root, progress=say)

        def lists(model: Parser, sentences: list[Sentence], say: Progress) -> Iterator[Analyses]:
            lists_of_all = model.kbest(sentences, k, root=root, threads=threads)
            for done, trees in enumerate(lists_of_all, 1):
                if done % _REPORT_EVERY == 0 or done == len(sentences):
                    say(f"{k} best trees", done, len(sentences))
                yield trees

        def crosswise() -> Iterator[Analyses]:
            for number, (part, rest) in enumerate(parts, 1):
                say = about(progress, f"fold {number} of {folds}")
                yield from lists(make(rest, say), part, say)

        parser = make(treebank, about(progress, "parser"))
        parts = list(folds_of(treebank, folds, chosen.rng))
        sides, templates = _templates_of(parser)
        gold = [sentence for part, _ in parts for sentence in part]
        data = _prepared(crosswise(), sides, parser.reading, gold)
        ranked = lists(parser, dev, about(progress, "dev"))
        by = _prepared(ranked, sides, parser.reading, dev) if dev else None
        trainer = Trainer(data, by, templates, seed=chosen.rng, bits=chosen.bits)
        trainer.run(chosen.epochs, progress=progress)
        return cls(
            **trainer.parts(),
            parser=parser,
            k=k,
            info=chosen.stored() | trainer.info(),
        )

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the edge scores of the underlying parser: (n + 1, n + 1).

        The tree that `parse` returns is not always the best tree by these scores.
        """
        return self.parser.scores(sentence)

    def to(self, device: str | None) -> Self:
        """Choose the device that runs the network of the underlying parser, if it is neural."""
        self.parser.to(device)
        return self

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of the header that this kind of parser has, and the arrays."""
        parser, arrays = self.parser.to_file()
        header = {name: getattr(self, name) for name in ("k", "scale", "info")}
        weights = {"weights": self.weights.astype(np.float16)}
        return header | {"parser": parser}, scheme.joined({"": weights, _PARSER: arrays})

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a reranker from the header and arrays of a model file; ModelError if invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        weights = scheme.arrays_of(arrays, _ARRAYS, {})["weights"]
        return cls(
            parser=registry.from_file(fields.pop("parser"), scheme.part(arrays, _PARSER)),
            weights=weights.astype(np.float32),
            **fields,
        )

    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        return [trees[0][0] for trees in self._kbest_batch(sentences, 1, options)]

    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options
    ) -> list[list[tuple[Sentence, float]]]:
        ranked = list(self.parser.kbest(sentences, self.k, **options._asdict()))
        batch, lists = _prepared(ranked, self._sides, self.parser.reading)
        scores = np.empty(len(lists.weights))
        work = Workspace.of(batch, lists, self._templates)
        score_lists(batch, lists, self._templates, self.weights, work, scores)
        scores += self.scale * lists.weights
        reranked = []
        for trees, first in zip(ranked, lists.firsts.tolist(), strict=False):
            of_trees = scores[first : first + len(trees)]
            order = np.argsort(-of_trees, kind="stable")[:k].tolist()
            reranked.append([(trees[i][0], float(of_trees[i])) for i in order])
        return reranked


def _templates_of(parser: Parser) -> tuple[Sides, TreeTemplates]:
    """Compile the feature templates for the columns that the parser uses."""
    sides: list[str] = []
    templates = TreeTemplates.of(getattr(parser, "columns", COLUMNS), sides)
    return Sides.of(sides), templates


def _prepared(
    ranked: Iterable[Analyses],
    sides: Sides,
    reading: Reading,
    gold: list[Sentence] | None = None,
) -> tuple[Batch, KBestLists]:
    """Hash the words of the sentences, and convert their k-best lists to arrays."""
    sentences, lists = KBestLists.of(ranked, gold)
    return Batch.of(reading.sentences(sentences), sides, _NO_TAGS), lists
