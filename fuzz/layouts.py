"""The same numbers, elsewhere in memory or of other types: the results are the same."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

import arborescence as arb
import array_kinds
import graphs
from cases import Case, WrongError, examine
from kinds import KINDS, ORDINARY, options, random_kind


def attack(rng):
    for _ in range(10):
        n = int(rng.choice([1, 2, 3, 4, 5, 9, 17]))
        kinds = ORDINARY if rng.random() < 0.5 else KINDS
        kind = random_kind(rng, kinds)
        batch = tuple(kind(rng, n) for _ in range(int(rng.integers(1, 5))))
        lengths = [int(rng.integers(0, n + 1)) for _ in batch]
        case = Case(batch, {**options(rng), "lengths": lengths, "ordinary": kinds is ORDINARY})
        yield from examine(one_by_one, case)
        yield from examine(padded, case)
    yield from examine(kinds_of_arrays, Case((), {"seed": int(rng.integers(2**31))}))


def kinds_of_arrays(case):
    """All public functions, each with arrays of some kinds."""
    rng = np.random.default_rng(case.options["seed"])
    for taker in array_kinds.takers(rng):
        kinds = list(array_kinds.cases(taker))
        for place in rng.choice(len(kinds), 8, replace=False):
            if fault := array_kinds.wrong(taker, kinds[place]):
                raise WrongError(f"{taker.name} of another kind of array", *kinds[place], fault)


def answers(case):
    """Yield functions of scores, and what their answers are compared by."""
    yield "decode", lambda scores: arb.decode(scores, **case.trees)
    yield "kbest", lambda scores: arb.kbest(scores, 4, **case.trees)[0]
    if case.options["ordinary"]:
        yield "marginals", lambda scores: arb.TreeDistribution(scores, **case.trees).marginals()
        yield "draws", lambda scores: arb.TreeDistribution(scores, **case.trees).sample(3, 1)


def one_by_one(case):
    for name, call in answers(case):
        try:
            right = call(case.scores)
        except arb.ArborescenceError:
            continue
        for i, other in enumerate([*graphs.layouts(case.scores), *other_kinds(case.scores)]):
            found = call(other)
            if not np.array_equal(np.asarray(found), right):
                raise WrongError(f"{name} in another layout", i, type(other).__name__)


def other_kinds(scores):
    """Yield the same scores as what is no array of NumPy, or another one."""
    yield scores.tolist() if scores.dtype in (np.float64, np.int64) else [*scores]
    yield scores.astype(np.float64)
    if scores.dtype.kind == "f":  # what is masked is absent, whatever stands there
        masked = np.isneginf(scores)
        yield np.ma.array(np.where(masked, scores.dtype.type(9), scores), mask=masked)
    with suppress(ImportError):
        import torch

        if scores.dtype not in (np.uint16, np.uint32):
            yield torch.from_numpy(scores.copy())
            yield torch.from_numpy(scores.T.copy()).mT
            yield torch.from_numpy(scores.copy()).unsqueeze(-1).expand(-1, -1, 3)[..., 1]


def padded(case):
    """A batch with lengths, over threads: each sentence as if it were alone."""
    graphs_, lengths = case.graphs, [min(x, len(case.scores) - 1) for x in case.options["lengths"]]
    if len({graph.dtype for graph in graphs_}) > 1:
        graphs_ = [graph.astype(np.float64) for graph in graphs_]
    size = len(case.scores)
    batch = np.stack(graphs_)
    if batch.dtype.kind == "f":
        for scores, n in zip(batch, lengths, strict=True):
            scores[n + 1 :] = scores[:, n + 1 :] = np.nan
    alone = []
    for scores, n in zip(graphs_, lengths, strict=True):
        try:
            heads = arb.decode(scores[: n + 1, : n + 1], **case.trees)
        except arb.NoTreeError:
            alone = None
            break
        alone.append([*heads.tolist(), *[-1] * (size - 1 - n)])
    for shape in ((len(batch),), (1, len(batch), 1)):
        shaped = batch.reshape(*shape, size, size)
        words = np.array(lengths).reshape(shape)
        for threads in (1, 2):
            try:
                found = arb.decode(shaped, words, **case.trees, threads=threads)
            except arb.NoTreeError:
                if alone is None:
                    continue
                raise
            if alone is None:
                raise WrongError("a batch has trees where a sentence has none")
            if found.reshape(len(batch), size).tolist() != alone:
                raise WrongError("a batch and its sentences differ", found.tolist(), alone)
            mask = np.arange(1, size) <= words[..., None]
            if not np.array_equal(arb.decode(shaped, mask, **case.trees), found):
                raise WrongError("a mask in place of lengths makes a difference")
