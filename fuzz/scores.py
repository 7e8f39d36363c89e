"""Damaged files of scores, through ``arborescence decode``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cases import Case, WrongError, examine
from command import refused_or_done
from damage import as_npy, crafted_header, damaged, damaged_zip, hostile, members, packed_again
from kinds import small_graph


def attack(rng):
    for _ in range(40):
        yield from examine(decode, Case((), {"seed": int(rng.integers(2**31))}))


def decode(case):
    rng = np.random.default_rng(case.options["seed"])
    data, suffix = file_of(rng)
    Path(f"scores{suffix}").write_bytes(data)
    options = [[], ["--kbest", "3"], ["--projective"], ["--inference", "undirected"], ["--json"]]
    chosen = options[int(rng.integers(len(options)))]
    try:
        refused_or_done("decode", f"scores{suffix}", *chosen)
    except WrongError as error:
        raise WrongError(*error.args, chosen, data[:400]) from error


def file_of(rng):
    """Return a file of scores that is damaged in some way."""
    scores = small_graph(rng)
    if scores.dtype == bool or rng.random() < 0.3:
        scores = np.stack([scores.astype(np.float64)] * 2)
    turn = int(rng.integers(6))
    if turn == 0:
        return damaged(rng, as_npy(scores)), ".npy"
    if turn == 1:
        return as_npy(hostile(rng, scores)), ".npy"
    if turn == 2:
        return crafted_header(rng), ".npy"
    size = scores.shape[-1]
    lengths = rng.integers(0, size, scores.shape[:-2]) if rng.random() < 0.5 else None
    parts = {"scores.npy": as_npy(scores)}
    if lengths is not None:
        parts["lengths.npy"] = as_npy(np.asarray(lengths))
    if turn == 3:
        name = str(rng.choice([*parts]))
        choices = (crafted_header(rng), b"", b"no array", as_npy(hostile(rng, scores)))
        parts[name] = choices[int(rng.integers(4))]
        return packed_again(parts, rng), ".npz"
    data = packed_again(parts, rng)
    assert members(data) == parts
    return (damaged_zip if turn == 4 else damaged)(rng, data), ".npz"
