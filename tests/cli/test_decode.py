"""`arborescence decode`: arrays in, head vectors out."""

from __future__ import annotations

import json
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


def test_one_sentence(command: Command, example: Path) -> None:
    assert command("decode", example).out == "0 3 1 2\n"
    assert command("decode", example, "--root", "multi").out == "0 0 4 2\n"


def test_edges_that_a_tree_must_have_or_must_not_have(command: Command, example: Path) -> None:
    assert command("decode", example, "--require", "4:1").out == "4 0 4 2\n"
    assert command("decode", example, "--forbid", "1,4:3").out == "4 0 2 2\n"
    one = command("decode", example, "--require", "0,4:1", "--forbid", "0:1", "--kbest", 9)
    assert [line.split("\t")[2:] for line in one.out.splitlines()] == [
        ["190.0", "4 0 4 2"],
        ["150.0", "4 0 2 2"],
        ["130.0", "4 0 1 2"],
    ]
    failed = command("decode", example, "--require", "0:1", "--require", "0:2", "--forbid", "3:4")
    assert failed.status == 1
    assert "0 → 1; " in failed.err
    assert "0 → 2; one root edge" in failed.err
    assert "3 → 4" not in failed.err
    for wrong in ("2", "2:x", "2:9", "1:2:3"):
        assert command("decode", example, "--require", wrong).status
    by_undirected = command("decode", example, "--require", "4:1", "--inference", "undirected")
    assert by_undirected.out == "4 0 4 2\n"
    np.save(example, np.zeros((2, 3, 3)))
    assert "of one sentence" in command("decode", example, "--forbid", "0:1").err


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


def test_projective(command: Command, tmp_path: Path) -> None:
    scores = np.zeros((4, 4))
    scores[0, 2] = scores[3, 1] = scores[2, 3] = 1  # the edges 0 -> 2 and 3 -> 1 cross
    np.save(tmp_path / "scores.npy", scores)
    assert command("decode", tmp_path / "scores.npy").out == "3 0 2\n"
    assert command("decode", tmp_path / "scores.npy", "--projective").out == "2 0 2\n"
    result = command("decode", tmp_path / "scores.npy", "--projective", "--kbest", 100)
    assert len(result.out.splitlines()) == 7


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
    for option in (["--kbest", 2], ["--projective"]):
        assert "does not go with --kbest" in command(*decode, *option).complaint(status=2)
    message = command(*decode, "--encoding", "product").complaint()
    assert "has the score -" in message


def test_json(command: Command, example: Path) -> None:
    assert json.loads(command("decode", example, "--json").out) == {
        "heads": [0, 3, 1, 2],
        "weight": 210.0,
    }
    path = example.with_suffix(".json")
    assert command("decode", example, "-o", path).out == ""
    assert path.read_text() == command("decode", example, "--json").out


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


def save(path: Path, scores: object, **more: object) -> Path:
    np.savez(path, scores=scores, **more) if more else np.save(path, scores)
    return path


def test_nan_is_named_with_its_place(command: Command, tmp_path: Path) -> None:
    scores = np.zeros((2, 3, 3))
    scores[1, 0, 2] = np.nan
    message = command("decode", save(tmp_path / "nan.npy", scores)).complaint()
    assert "nan" in message.lower()
    assert "0" in message
    assert "2" in message


def test_no_tree(command: Command, tmp_path: Path) -> None:
    scores = np.zeros((3, 3))
    scores[:, 2] = -np.inf
    assert "2" in command("decode", save(tmp_path / "none.npy", scores)).complaint()
    scores = np.where(np.arange(3)[:, np.newaxis] > 0, -np.inf, np.zeros((3, 3)))
    message = command("decode", save(tmp_path / "two.npy", scores)).complaint()
    assert "--root multi allows several" in message


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


def test_a_missing_file(command: Command, tmp_path: Path) -> None:
    message = command("decode", tmp_path / "none.npy").complaint()
    assert "none.npy: No such file or directory" in message


def test_wrong_shape_and_wrong_lengths(command: Command, tmp_path: Path) -> None:
    command("decode", save(tmp_path / "a.npy", np.zeros((3, 4)))).complaint()
    command("decode", save(tmp_path / "b.npz", np.zeros((1, 3, 3)), lengths=[7])).complaint()
