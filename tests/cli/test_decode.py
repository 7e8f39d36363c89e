"""`arborescence decode`: batches, undirected trees, and files that are no arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import arborescence as arb

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """Write Fig. 2 of Zmigrod et al. (2020): the best tree has one root edge fewer."""
    scores = np.full((5, 5), -np.inf)
    edges = [(0, 1, 90), (0, 2, 40), (1, 3, 10), (2, 3, 30), (2, 4, 60), (3, 2, 50)]
    for head, word, weight in [*edges, (4, 3, 70), (4, 1, 20)]:
        scores[head, word] = weight
    np.save(tmp_path / "scores.npy", scores)
    return tmp_path / "scores.npy"


def test_demands_take_one_decode(
    command: Command, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver, decoded = arb.inference.solver, []
    kernel = solver.decode
    monkeypatch.setattr(
        solver, "decode", lambda *of, **how: decoded.append(of) or kernel(*of, **how)
    )
    monkeypatch.setattr(arb, "decode", None)
    assert command("decode", example, "--require", "4:1").out == "4 0 4 2\n"
    assert len(decoded) == 1


def test_undirected(command: Command, tmp_path: Path) -> None:
    scores = np.random.default_rng(4).normal(size=(9, 9))
    np.save(tmp_path / "scores.npy", scores)
    decode = ["decode", tmp_path / "scores.npy", "--inference", "undirected"]
    lines = set()
    for more, options in (
        ([], {}),
        (["--rounds", 0], {"rounds": 0}),
        (["--encoding", "min"], {"encoding": "min"}),
    ):
        heads = arb.undirected.decode(scores, **options)
        lines.add(command(*decode, *more).out)
        assert command(*decode, *more).out.split() == [str(head) for head in heads[1:]]
    assert len(lines) == 3


def test_a_batch_with_lengths(command: Command, tmp_path: Path) -> None:
    scores = np.random.default_rng(0).normal(size=(3, 6, 6)).astype(np.float32)
    np.savez(tmp_path / "batch.npz", scores=scores, lengths=[5, 2, 3])
    heads = arb.decode(scores, lengths=[5, 2, 3])
    result = command("decode", tmp_path / "batch.npz", "--threads", 2)
    lines = [[int(head) for head in line.split()] for line in result.out.splitlines()]
    assert lines == [heads[0, 1:].tolist(), heads[1, 1:3].tolist(), heads[2, 1:4].tolist()]

    target = tmp_path / "heads.npy"
    assert command("decode", tmp_path / "batch.npz", "-o", target).out == ""
    np.testing.assert_array_equal(np.load(target), heads)


def test_an_archive_without_scores(command: Command, tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", weights=np.zeros((3, 3)))
    message = command("decode", tmp_path / "other.npz").complaint()
    assert "no array named 'scores' (found: weights)" in message


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPY\x01\x00\x28\x00{'descr': '|i1', 'shape': (6, (2, }        \n",
        b"\x93NUMPY\x01\x00\x4c\x00%-75b\n\0"
        % b"{'descr': '|i1', 'fortran_order': False, 'shape': (True, True), }",
        b"\x93NUMPY\x01\x00\x88\x13" + b"-" * 5000,
        b"PK\x03\x04nonsense",
    ],
)
def test_not_an_array_file(command: Command, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.npy").write_bytes(content)
    message = command("decode", tmp_path / "bad.npy").complaint()
    assert "bad.npy: not a .npy or .npz file of numbers" in message


def test_pickles_are_not_opened(command: Command, tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([object()]), allow_pickle=True)
    assert "not a .npy or .npz file" in command("decode", tmp_path / "objects.npy").complaint()
