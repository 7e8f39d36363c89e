"""A second-order graph-based parser with a linear model, decoded by dual decomposition.

The edges that the pruner keeps are scored as by the linear parser; siblings and grandparents of
these edges get scores, too (Carreras 2007; Koo et al. 2010; Martins et al. 2013).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, Self

import numpy as np

from arborescence import second_order
from arborescence.core.errors import ModelError
from arborescence.parsers.linear.kept import Matrices
from arborescence.parsers.linear.parser import LinearParser
from arborescence.parsers.second_order.parts import (
    WIDE,
    PartModel,
    PartTemplates,
    list_parts,
    rounded,
    score_parts,
)
from arborescence.parsers.second_order.settings import Settings
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.base import Parser
from arborescence.parsers.shared.weights import Weights
from arborescence.second_order.listed import decode_listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.shared.run import ParserRun, Task
    from arborescence.treebank import Sentence

_FIELDS: Final = {"parts_unit": scheme.UNIT}
_ARRAYS: Final = {"parts": scheme.weights("2^parts", WIDE)}
# With some branchings, few rounds certify more sentences than many rounds alone:
# docs/second-order.md.
_ROUNDS: Final = 60
_BRANCHES: Final = 20


class SecondOrderParser(LinearParser):
    """A parser that scores edges, siblings and grandparents by linear functions of features.

    Created by `train`, or by `arborescence.load`. It finds the best tree of any kind by
    `arborescence.second_order.decode`, or a tree close to it; it has no k-best lists and no
    confidence. The attributes are those of `LinearParser`.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> treebank = [
    ...     Sentence.from_words(["Old", "trees", "grow"], upos=["ADJ", "NOUN", "VERB"],
    ...                         heads=[-1, 2, 3, 0], deprels=["amod", "nsubj", "root"]),
    ...     Sentence.from_words(["Birds", "sing"], upos=["NOUN", "VERB"],
    ...                         heads=[-1, 2, 0], deprels=["nsubj", "root"]),
    ... ]
    >>> parser = SecondOrderParser.train(treebank * 3, epochs=5)
    >>> new = Sentence.from_words(["Old", "birds", "sing"], upos=["ADJ", "NOUN", "VERB"])
    >>> [parsed] = parser.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([-1,  2,  3,  0]), ['amod', 'nsubj', 'root'])
    >>> parser.decode(new).exact
    True
    """

    kind: ClassVar[str] = "second-order"
    settings_class: ClassVar[type[Any]] = Settings

    def _add_templates(self, sides: list[str]) -> None:
        self._part_templates = PartTemplates.of(self.columns, sides)

    @classmethod
    def _trainer(cls, task: Task) -> ParserRun:
        from arborescence.parsers.second_order.training import Trainer

        return Trainer(task)

    def decode(self, sentence: Sentence, *, root: Root = "single") -> second_order.Found:
        """Return the tree of a sentence, with its weight and the bound that certifies it.

        Parameters
        ----------
        sentence
            It is tagged first if it has no UPOS and there is a tagger.
        root
            As for `parse`.
        """
        _, batch = self._prepare([sentence])
        [found] = self._decode(batch, root, projective=False)
        return found

    def _decode(self, batch: Batch, root: Root, *, projective: bool) -> list[second_order.Found]:
        assert self._pruning is not None  # noqa: S101 - see from_file
        kept = self._keep(batch, self._pruning, projective)
        table, unit = self._weights["parts"]
        model = PartModel(self._part_templates, table)
        if not projective:
            single = root == "single"
            listed, ends = list_parts(batch, kept, model, unit, single)
            return decode_listed(listed, ends, single=single, rounds=_ROUNDS, branches=_BRANCHES)
        found: list[Any] = [None] * (len(batch.starts) - 1)
        layout = Matrices.of(np.diff(batch.starts))
        for chosen, matrices in layout.split(kept.to_matrices(layout)):
            for b, scores in zip(chosen.tolist(), matrices, strict=True):
                edges = rounded(scores)
                parts = score_parts(batch, b, model, unit, edges)
                found[b] = second_order.decode(edges, *parts, root=root, projective=True)
        return found

    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        if options.confidence:
            self._refuse("confidence")
        sentences, batch = self._prepare(sentences)
        found = self._decode(batch, options.root, projective=bool(options.projective))
        heads = np.concatenate([tree.heads for tree in found])[np.newaxis]
        parsed = self._annotated(sentences, batch, heads, np.ones((1, 0)), options)
        return [tree for [tree] in parsed]

    def _kbest_batch(self, *_: Any) -> Any:
        self._refuse("k-best lists")

    def _evidence_batch(
        self, sentences: list[Sentence], options: Options
    ) -> list[tuple[Sentence, NDArray[Any]]]:
        return Parser._evidence_batch(self, sentences, options)

    def _refuse(self, what: str) -> NoReturn:
        raise ModelError(
            f"a second-order parser has no {what}, only the best tree: a linear parser has"
        )

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file, including those of the tagger."""
        header, arrays = super().to_file()
        table, header["parts_unit"] = self._weights["parts"]
        return header, arrays | {"parts": table}

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from what `model_file.load` returned; raise ModelError if it is invalid."""
        parser = super().from_file(header, arrays)
        if parser._pruning is None:
            raise ModelError("pruning is null, and second-order parsers have a filter")
        unit = scheme.fields_of(header, _FIELDS)["parts_unit"]
        table = scheme.arrays_of(arrays, _ARRAYS, {})["parts"]
        parser._weights = {**parser._weights, "parts": Weights(table, unit)}
        return parser
