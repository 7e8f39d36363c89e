"""Compile every kernel ahead of time, by calling each part of the library on small inputs.

Numba compiles a kernel for the argument types of a call, so each combination in use is called.
"""

from __future__ import annotations

import io
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np

import arborescence as arb
from arborescence import parsers, transitions, treebank, undirected
from arborescence.parsers.shared.types import Loss
from arborescence.parsers.text import Text
from arborescence.undirected.spanning_tree import Algorithm

if TYPE_CHECKING:
    from collections.abc import Callable


def warmup(progress: Callable[[str, int, int], None] | None = None) -> None:
    """Compile every kernel and keep it in Numba's cache on disk, once for all later processes.

    Takes some minutes the first time, and seconds when everything is already compiled.

    Parameters
    ----------
    progress
        Called as ``progress(what, done, total)`` after each part.

    Examples
    --------
    >>> import arborescence as arb
    >>> arb.warmup()  # doctest: +SKIP
    """
    parts = (
        _decode,
        _kbest,
        _projective,
        _undirected,
        _transitions,
        _distribution,
        _read_and_evaluate,
        _train_and_parse,
        _train_and_parse_by_transitions,
        _rerank,
        _combine,
        _read_text,
        _parse_english,
    )
    for done, part in enumerate(parts):
        if progress:
            progress("compiling kernels", done, len(parts))
        part()
    if progress:
        progress("compiling kernels", len(parts), len(parts))


def _decode() -> None:
    generator = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        graphs = generator.normal(size=(4, 6, 6)).astype(dtype)
        graphs[1, 0] += 10  # many root edges
        graphs[2] = 1  # all scores are equal
        for scores in (graphs, graphs[:, :5, :5]):
            arb.decode(scores, root="multi")
            heads = arb.decode(scores)
            arb.is_tree(heads)
            arb.is_projective(heads)
            arb.projectivize(heads)
            arb.tree_weight(scores, heads)
        arb.decode_labeled(generator.normal(size=(2, 4, 4, 3)).astype(dtype))


def _kbest() -> None:
    for dtype in (np.float32, np.float64):
        graphs = np.random.default_rng(0).normal(size=(2, 6, 6)).astype(dtype)
        arb.kbest(graphs, 2)


def _projective() -> None:
    scores = np.random.default_rng(0).normal(size=(2, 6, 6))
    arb.decode(scores, projective=True)
    arb.decode(np.round(scores), projective=True)
    arb.kbest(scores, 2, projective=True)


def _undirected() -> None:
    scores = np.random.default_rng(0).normal(size=(2, 6, 6))
    undirected.decode(scores)
    edges = undirected.spanning_tree(undirected.encode(scores[0]))
    u, v = edges.T
    undirected.enhance(scores[0], undirected.orient(6, u, v))
    for algorithm in get_args(Algorithm):
        undirected.spanning_tree(6, u, v, np.ones(5), algorithm=algorithm)


def _transitions() -> None:
    eager = transitions.system("arc-eager")
    eager.replay(2, eager.derivation([-1, 2, 0]))
    eager.start(2).costs([-1, 2, 0])


def _distribution() -> None:
    scores = np.random.default_rng(0).normal(size=(6, 6))
    for projective in (False, True):
        dist = arb.TreeDistribution(scores, projective=projective)
        dist.covariance(scores)
        dist.sample(2, rng=0)
        dist.log_prob(dist.argmax)
        # Drawing all trees without replacement also needs the slow sampler.
        arb.TreeDistribution(scores[:4, :4], projective=projective).sample(20, rng=0, replace=False)
        # Root edges so far below the other edges that the sums are computed in logarithms.
        far = np.where(np.arange(6)[:, np.newaxis] == 0, scores - 1e9, scores)
        arb.TreeDistribution(far, projective=projective).entropy  # noqa: B018


def _sentences() -> list[treebank.Sentence]:
    words = treebank.Sentence.from_words(
        ["Old", "trees", "grow"],
        upos=["ADJ", "NOUN", "VERB"],
        heads=[-1, 2, 3, 0],
        deprels=["amod", "nsubj", "root"],
    )
    return [words] * 4


def _untagged() -> list[treebank.Sentence]:
    return [treebank.Sentence.from_words(["Old", "trees", "grow"])]


def _read_and_evaluate() -> None:
    file = io.BytesIO()
    treebank.write(_sentences(), file)
    file.seek(0)
    treebank.evaluate(_sentences(), treebank.read(file))


def _train_and_parse() -> None:
    tagger = parsers.Tagger.train(_sentences(), dev=_sentences(), epochs=2)
    for loss in get_args(Loss):
        parser = parsers.LinearParser.train(
            _sentences(), dev=_sentences(), loss=loss, epochs=1, bits=10, tagger=tagger
        )
    with tempfile.TemporaryDirectory() as folder:
        parser.save(Path(folder) / "model")
        loaded = parsers.load(Path(folder) / "model")
    for projective in (False, True):
        list(loaded.parse(_untagged(), projective=projective, confidence=True))
    pruned = parsers.LinearParser.train(
        _sentences(), dev=_sentences(), epochs=1, bits=10, prune=True
    )
    list(pruned.parse(_sentences()))


def _train_and_parse_by_transitions() -> None:
    for beam in (1, 2):
        parser = parsers.TransitionParser.train(
            _sentences(), dev=_sentences(), beam=beam, epochs=1, bits=10
        )
        parser.derivation(_sentences()[0])


def _rerank() -> None:
    make_parser = partial(parsers.LinearParser.train, epochs=1, bits=10)
    reranker = parsers.Reranker.train(
        _sentences(), dev=_sentences(), k=2, folds=2, epochs=1, bits=10, make_parser=make_parser
    )
    list(reranker.parse(_untagged()))


def _combine() -> None:
    make_parsers = (
        partial(parsers.LinearParser.train, epochs=1, bits=10),
        partial(parsers.TransitionParser.train, epochs=1, bits=10),
    )
    both = parsers.CombinedParser.train(_sentences(), dev=_sentences(), make_parsers=make_parsers)
    for projective in (False, True):
        list(both.kbest(_untagged(), 2, projective=projective))


def _read_text() -> None:
    words = (("1-2", "du", "_"), ("1", "de", "x"), ("2", "le", "x"))
    lines = ["\t".join([*word, *["_"] * 7]) for word in words]
    file = io.BytesIO("\n".join([*lines, "", ""]).encode())
    Text.train(list(treebank.read(file)) * 2)


def _parse_english() -> None:
    list(parsers.load("english").parse_text("Don't trees grow?"))
