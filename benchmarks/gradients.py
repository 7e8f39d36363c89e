"""What the log-partition and its gradient take in PyTorch: batches of 32, one thread.

Beside `arborescence.torch` is torch-struct, in its float32. ``python benchmarks/gradients.py``
"""

from __future__ import annotations

import time

import numpy as np
import torch
from torch_struct.deptree import deptree_part

from arborescence.torch import TreeDistribution
from inputs import english_lengths, padded, projective_like
from peers import TorchStruct
from recording import Results, options
from timing import least_seconds

BATCH = 32
SIZES = (10, 25, 50)
PEER = TorchStruct()


def batches():
    """Yield (name, scores, lengths): sentences of one length, then those of English-EWT."""
    for n in SIZES:
        scores = projective_like(np.random.default_rng(n), BATCH, n)
        yield f"n = {n}", scores, np.full(BATCH, n)
    [(scores, lengths)] = padded(np.random.default_rng(0), english_lengths(BATCH), BATCH)
    yield "EWT", scores, lengths


def ours(scores, lengths, root, projective):
    return TreeDistribution(scores, lengths, root=root, projective=projective).log_partition()


def theirs(scores, lengths, root, projective):
    if projective:
        return PEER.distribution((scores, lengths), projective, root).partition
    return deptree_part(scores, root == "multi", lengths)


def milliseconds(log_partition, scores, *options):
    def call():
        leaf = scores.detach().clone().requires_grad_()
        log_partition(leaf, *options).sum().backward()

    return 1e3 * least_seconds(call, budget=1, at_least=5, clock=time.process_time)


def main():
    quick = options(__doc__).quick
    results = Results("gradients", "the log-partition and its gradient in PyTorch", quick)
    torch.set_num_threads(1)
    cells, errors = {}, []
    some = list(batches())[: 1 if quick else None]
    for _, batch, words in some:
        scores, lengths = torch.from_numpy(batch), torch.from_numpy(words)
        (edges,) = PEER.arguments(batch)
        for projective in (False, True):
            chosen = (lengths, "single", projective)
            kind = "projective" if projective else "non-projective"
            cells.setdefault(kind, []).append(milliseconds(ours, scores, *chosen))
            cells.setdefault(f"{kind}: torch-struct", []).append(
                milliseconds(theirs, edges, *chosen)
            )
            precise = ours(scores.double(), *chosen)
            for found in (ours(scores, *chosen), theirs(edges, *chosen)):
                errors.append((found.double() - precise).abs().max().item())
    results.table(
        "batches", ["", *(name for name, _, _ in some)],
        [[name, *values] for name, values in cells.items()], unit="ms a batch",
        condition="log-partition and gradient, 32 sentences, float32, one root, processor time",
    )  # fmt: skip
    results.table(
        "errors", ["arborescence.torch", "torch-struct"],
        [[f"{max(each):.0e}" for each in (errors[::2], errors[1::2])]], unit="nats",
        condition="largest error of a log-partition",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
