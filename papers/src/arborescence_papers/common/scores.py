"""Score files: a parser's edge scores and trees of a test set, for experiments with decoders.

A score file is an ``.npz`` of plain arrays. For S sentences of n_1, ..., n_S words, W in total:

========== ============================ =====================================================
array      dtype, shape                 what
========== ============================ =====================================================
header     uint8                        JSON text in UTF-8: ``kind`` is ``"scores"``, ``treebank``,
                                        ``split``, ``training_sentences``, ``projective``, and
                                        the origin of the scores in ``settings``
lengths    int32 (S,)                   the number of words of each sentence
gold       int32 (W,)                   the head of each word in the treebank; 0 is the root
counted    bool (W,)                    whether the word counts for UAS: whether its gold
                                        relation is not ``punct``
single     int32 (W,)                   the head of each word in the parser's tree with exactly
                                        one root edge
multi      int32 (W,)                   the same for one or more root edges
scores     float32 (sum of (n_i + 1)²,) the scores of all edges, sentence after sentence, each
                                        row by row: ``[head, dependent]``; missing if the parser
                                        has no edge scores
========== ============================ =====================================================

The words of all sentences are concatenated. The text of the sentences is not included.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, get_args

import numpy as np

from arborescence.core.choices import Root
from arborescence.core.tree import is_tree
from arborescence.errors import ModelError, NoTreeError, ScoresError, TreebankError
from arborescence.inference.decode import decode
from arborescence.parsers import GraphParser, model_file
from arborescence.parsers.shared import scheme
from arborescence.treebank.sentence import place
from arborescence.treebank.tally import base

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from arborescence.parsers import Parser
    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence

_KIND: Final = "scores"
_TEXT: Final = scheme.Field("a string", lambda value: isinstance(value, str))
_FIELDS: Final = {
    "treebank": _TEXT,
    "split": _TEXT,
    "training_sentences": scheme.whole(0, 10**12),
    "projective": scheme.one_of([False, True]),
    "settings": scheme.MAPPING,
}
_LENGTHS: Final = {"lengths": scheme.Array((np.int32,), ("sentences",), low=1)}
_ARRAYS: Final = {
    "gold": scheme.Array((np.int32,), ("words",), low=0),
    "counted": scheme.Array((np.bool_,), ("words",)),
    "single": scheme.Array((np.int32,), ("words",), low=0),
    "multi": scheme.Array((np.int32,), ("words",), low=0),
    "scores": scheme.Array((np.float32,), ("cells",), low=-np.inf),
}
_EVERY: Final = 100  # number of sentences between two progress reports


@dataclass(frozen=True)
class Scores:
    """A parser's edge scores and trees of a test set, with the gold trees.

    Attributes
    ----------
    treebank : str
        Its name.
    split : str
        The part that the parser was trained on: ``"train"`` or ``"dev"``.
    training_sentences : int
        The number of training sentences; 0 if unknown.
    settings : dict
        The origin of the scores: parser, data, version of the library; JSON values.
    projective : bool
        Whether the trees are projective.
    gold : list of (n + 1,) int64
        The head vectors of S sentences.
    counted : list of (n,) bool
        Which words count for UAS: those whose gold relation is not ``punct``.
    single, multi : list of (n + 1,) int64
        The parser's head vectors: with exactly one root edge, and with one or more.
    matrices : list of (n + 1, n + 1) float32, or None
        The edge scores, ``[head, dependent]``; None if the parser has none.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import arborescence as arb
    >>> from arborescence.parsers import LinearParser
    >>> from arborescence.treebank import Sentence
    >>> gold = Sentence.from_words(["Birds", "sing"], heads=[2, 0], deprels=["nsubj", "root"])
    >>> parser = LinearParser.train([gold], epochs=2, bits=10)
    >>> scores = Scores.by(parser, [gold], treebank="Birdish", split="train", settings={})
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "Birdish.npz"
    >>> scores.write(path)
    >>> again = Scores.read(path)
    >>> again.treebank, again.training_sentences, again.counted
    ('Birdish', 1, [array([ True,  True])])
    >>> again.single, arb.decode(again.matrices[0])
    ([array([-1,  2,  0])], array([-1,  2,  0]))
    """

    treebank: str
    split: str
    training_sentences: int
    settings: dict[str, Any]
    projective: bool
    gold: list[NDArray[np.int64]]
    counted: list[NDArray[np.bool_]]
    single: list[NDArray[np.int64]]
    multi: list[NDArray[np.int64]]
    matrices: list[NDArray[np.float32]] | None

    @property
    def lengths(self) -> NDArray[np.int32]:
        """The number of words of each sentence: (S,)."""
        return np.array([len(heads) - 1 for heads in self.gold], dtype=np.int32)

    @classmethod
    def by(
        cls,
        parser: Parser,
        test: Sequence[Sentence],
        *,
        treebank: str,
        split: str,
        settings: dict[str, Any],
        progress: Progress | None = None,
    ) -> Self:
        """Score a test set with a parser, and find its trees.

        Parameters
        ----------
        parser
            Any parser. Those whose edge scores define a distribution have their scores kept.
        test
            Sentences with gold trees.
        treebank, split, settings
            As the attributes.
        progress
            Called as ``progress(what, done, total)``.

        Raises
        ------
        TreebankError
            If the heads of a sentence are not a tree.
        """
        gold = [_gold(sentence) for sentence in test]  # raises errors before the slow part
        matrices = None
        projective = False
        if isinstance(parser, GraphParser) and parser.probabilistic:
            projective = parser.projective is True
            matrices = []
            for done, scores in enumerate(parser.scores_of(test)):
                if progress and done % _EVERY == 0:
                    progress("scores", done, len(test))
                matrices.append(scores)
        single, multi = (
            [parsed.tree for parsed in parser.parse(test, root=root, rules="none")]
            for root in get_args(Root)
        )
        info: dict[str, Any] = getattr(parser, "info", {})
        return cls(
            treebank=treebank,
            split=split,
            training_sentences=info.get("sentences", 0),
            settings=settings,
            projective=projective,
            gold=gold,
            counted=[counted_words(sentence) for sentence in test],
            single=single,
            multi=multi,
            matrices=matrices,
        )

    @classmethod
    def of(
        cls,
        matrices: Iterable[ArrayLike],
        test: Sequence[Sentence],
        *,
        treebank: str,
        split: str = "train",
        training_sentences: int,
        settings: dict[str, Any] | None = None,
    ) -> Self:
        """Find the trees for the edge scores of a parser of another library.

        Parameters
        ----------
        matrices
            The scores of each sentence of n words, (n + 1, n + 1), as in `arborescence.decode`.
            They are stored as float32.
        test
            Sentences with gold trees.
        treebank, split, training_sentences, settings
            As the attributes.

        Raises
        ------
        TreebankError
            If the heads of a sentence are not a tree.
        ScoresError
            If the numbers of matrices and sentences differ, or a matrix has the wrong shape or
            contains NaN.
        NoTreeError
            If so many edges are missing that there is no tree.

        Examples
        --------
        >>> from arborescence.treebank import Sentence
        >>> sentence = Sentence.from_words(["Birds", "sing"], heads=[2, 0],
        ...                                deprels=["nsubj", "root"])
        >>> scores = Scores.of([[[0, 2, 3], [0, 0, 0], [0, 1, 0]]], [sentence],
        ...                    treebank="Birdish", training_sentences=100)
        >>> scores.single, scores.multi
        ([array([-1,  2,  0])], [array([-1,  0,  0])])
        """
        kept = [np.asarray(matrix, dtype=np.float32) for matrix in matrices]
        if len(kept) != len(test):
            raise ScoresError(f"{len(kept)} matrices for {len(test)} sentences")
        trees: list[tuple[NDArray[np.int64], ...]] = []
        for matrix, sentence in zip(kept, test, strict=True):
            size = len(sentence) + 1
            try:
                if matrix.shape != (size, size):
                    raise ScoresError(f"scores have the shape {matrix.shape}, not {size, size}")
                trees.append(tuple(decode(matrix, root=root) for root in get_args(Root)))
            except (ScoresError, NoTreeError) as error:
                raise type(error)(f"{place(sentence)}: {error}") from error
        single, multi = map(list, zip(*trees, strict=True))
        return cls(
            treebank=treebank,
            split=split,
            training_sentences=training_sentences,
            settings=settings or {},
            projective=False,
            gold=[_gold(sentence) for sentence in test],
            counted=[counted_words(sentence) for sentence in test],
            single=single,
            multi=multi,
            matrices=kept,
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a score file atomically."""
        header = {"kind": _KIND} | {name: getattr(self, name) for name in _FIELDS}
        arrays: dict[str, NDArray[Any]] = {
            "lengths": self.lengths,
            "gold": _words(self.gold),
            "counted": np.concatenate(self.counted),
            "single": _words(self.single),
            "multi": _words(self.multi),
        }
        if self.matrices is not None:
            arrays["scores"] = np.concatenate([matrix.reshape(-1) for matrix in self.matrices])
        # Not compressed: compression takes ten times as long and saves little space.
        model_file.save(path, header, arrays, compress=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a score file.

        Raises
        ------
        ModelError
            If the file is missing, damaged, or not a score file.
        """
        header, arrays = model_file.load(path)
        if header.get("kind") != _KIND:
            kind = reprlib.repr(header.get("kind"))
            raise ModelError(f"{path}: not a score file but {kind}")
        try:
            return cls._from_file(header, arrays)
        except ModelError as error:
            raise ModelError(f"{path}: the score file is damaged ({error})") from error

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        fields = scheme.fields_of(header, _FIELDS)
        lengths = scheme.arrays_of(arrays, _LENGTHS, {})["lengths"].astype(np.int64)
        nodes = lengths + 1
        sizes = {
            "words": int(lengths.sum()),
            "cells": sum(size * size for size in nodes.tolist()),
        }
        kept = scheme.arrays_of(arrays, _ARRAYS, sizes, optional=("scores",))
        matrices = None
        if "scores" in kept:
            parts = np.split(kept["scores"], np.cumsum(nodes**2)[:-1])
            matrices = [part.reshape(n, n) for part, n in zip(parts, nodes.tolist(), strict=True)]
        fields |= {name: _trees(name, kept[name], lengths) for name in ("gold", "single", "multi")}
        return cls(
            **fields,
            counted=np.split(kept["counted"], np.cumsum(lengths)[:-1]),
            matrices=matrices,
        )


def is_score_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a score file (True) or a model file (False).

    Raises
    ------
    ModelError
        If it is neither of them.
    """
    return bool(model_file.load(path)[0].get("kind") == _KIND)


def counted_words(sentence: Sentence) -> NDArray[np.bool_]:
    """Return the mask, (n,), of the words that count for UAS: gold relation not ``punct``."""
    return np.array([base(name) != "punct" for name in sentence.deprels], dtype=np.bool_)


def _gold(sentence: Sentence) -> NDArray[np.int64]:
    heads = sentence.tree
    if (heads[1:] < 0).any() or not is_tree(heads, "multi"):
        raise TreebankError(f"{place(sentence)}: its heads are not a tree to compare with")
    return heads


def _words(trees: Sequence[NDArray[np.int64]]) -> NDArray[np.int32]:
    """Concatenate the heads of the words of all sentences."""
    return np.concatenate([heads[1:] for heads in trees]).astype(np.int32)


def _trees(
    name: str, flat: NDArray[np.int32], lengths: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Undo `_words`."""
    trees = [
        np.concatenate(([-1], part)).astype(np.int64)
        for part in np.split(flat, np.cumsum(lengths)[:-1])
    ]
    if not all(is_tree(tree, "multi") for tree in trees):
        raise ModelError(f"array '{name}' holds heads that are not those of trees")
    return trees
