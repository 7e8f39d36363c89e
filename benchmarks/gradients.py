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
from recording import table
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
    yield f"EWT: {lengths.mean():.0f} words, at most {lengths.max()}", scores, lengths


def ours(scores, lengths, root, projective):
    return TreeDistribution(scores, lengths, root=root, projective=projective).log_partition


def theirs(scores, lengths, root, projective):
    if projective:
        return PEER.distribution((scores, lengths), projective, root).partition
    return deptree_part(scores, root == "multi", lengths)


def milliseconds(log_partition, scores, *options):
    def call():
        leaf = scores.detach().clone().requires_grad_()
        log_partition(leaf, *options).sum().backward()

    return 1e3 * least_seconds(call, budget=2, at_least=7, clock=time.process_time)


def main():
    torch.set_num_threads(1)
    rows, errors = [], []
    for name, batch, words in batches():
        scores, lengths = torch.from_numpy(batch), torch.from_numpy(words)
        (edges,) = PEER.arguments(batch)
        for projective in (False, True):
            for root in ("single", "multi"):
                options = (lengths, root, projective)
                one = milliseconds(ours, scores, *options)
                other = milliseconds(theirs, edges, *options)
                kind = "projective" if projective else "non-projective"
                rows.append([name, kind, root, f"{one:.2f}", f"{other:.2f}"])
                precise = ours(scores.double(), *options)
                for found in (ours(scores, *options), theirs(edges, *options)):
                    errors.append((found.double() - precise).abs().max().item())
    print(f"### Log-partition and gradient, {BATCH} sentences, float32 scores (ms a batch)\n")
    table(["sentences", "trees", "root", "arborescence.torch", "torch-struct"], rows)
    print(f"Largest errors: {max(errors[::2]):.0e}, torch-struct {max(errors[1::2]):.0e}")


if __name__ == "__main__":
    main()
