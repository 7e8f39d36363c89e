"""`parse --kbest`, `parse --json`, `evaluate --oracle`, `decode --kbest`."""

from __future__ import annotations

import gzip
import json
import re
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import arborescence as arb
from arborescence.treebank import (
    Sentence,
    evaluate,
    read_kbest,
    word_ranges,
    write,
    write_kbest,
)
from lessons import BIRDS, CATS, TREES, sentences_of

if TYPE_CHECKING:
    from pathlib import Path

    from lessons import Command

LESSONS = [BIRDS, TREES, CATS, ("Sleep", "VERB", [0], "root")]


@pytest.fixture(scope="session")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kbest") / "gold.conllu"
    sentences = [
        sentence.replace(comments=[f"# sent_id = s{i}", f"# text = {' '.join(sentence.forms)}"])
        for i, sentence in enumerate(sentences_of(LESSONS), 1)
    ]
    write(sentences, path)
    return path


@pytest.fixture(scope="session")
def model(gold: Path) -> Path:
    """Train on the first two sentences: the others are hard enough to get wrong."""
    from arborescence.parsers import LinearParser
    from arborescence.treebank import read

    path = gold.with_name("kbest.model")
    LinearParser.train(list(read(gold))[:2], projective=False, epochs=1).save(path)
    return path


@pytest.fixture
def kbest(gold: Path, model: Path, tmp_path: Path) -> Path:
    """Parse into a file of the 50 best trees."""
    path = tmp_path / "kbest.conllu"
    write_kbest(arb.load(model).kbest(_read(gold), 50), path)
    return path


def _read(path: Path) -> list[Sentence]:
    from arborescence.treebank import read

    return list(read(path))


def test_parse(command: Command, gold: Path, model: Path, kbest: Path, tmp_path: Path) -> None:
    result = command("parse", "-m", model, gold, "--kbest", 50)
    assert (result.status, result.err) == (0, "")
    assert result.out == kbest.read_text()
    assert result.out.startswith("# sent_id = s1\n# text = Birds sing .\n# kbest_rank = 1\n# kbest")
    lists = list(read_kbest(kbest))
    assert [len(analyses) for analyses in lists] == [9, 50, 9, 1]  # n ** (n - 1) trees, or 50
    assert [analyses[0][0].tree.tolist() for analyses in lists] == [
        sentence.tree.tolist() for sentence in arb.load(model).parse(_read(gold))
    ]

    target = tmp_path / "again.conllu.gz"  # ranks that are there already are replaced
    one = command("parse", "-m", model, gold, "--kbest", 1)
    again = command("parse", "-m", model, "--kbest", 1, "--threads", 2, "-o", target, stdin=one.out)
    assert (again.status, again.out, again.err) == (0, "", "")
    assert gzip.decompress(target.read_bytes()).decode() == one.out


def test_parse_with_several_roots(command: Command, gold: Path, model: Path) -> None:
    result = command("parse", "-m", model, gold, "--kbest", 50, "--root", "multi")
    assert result.out.count("kbest_rank = 16\n") == 3  # (n + 1) ** (n - 1) trees of three words
    assert result.out.count("kbest_rank = 17\n") == 1


def test_parse_json(command: Command, gold: Path, model: Path, kbest: Path) -> None:
    lines = command("parse", "-m", model, gold, "--json").out.splitlines()
    parsed = list(arb.load(model).parse(_read(gold)))
    described = [sentence.to_dict() for sentence, _ in word_ranges(parsed)]
    assert [json.loads(line) for line in lines] == described
    lines = command("parse", "-m", model, gold, "--json", "--kbest", 50).out.splitlines()
    for line, analyses in zip(lines, read_kbest(kbest), strict=True):
        found = json.loads(line)
        words = described[0].keys() - {"heads", "deprels"}
        assert found.keys() == words | {"analyses"}
        assert found["analyses"] == [
            {"weight": weight, "heads": tree.heads.tolist(), "deprels": tree.deprels}
            for tree, weight in analyses
        ]


def test_json_beside_other_output(command: Command, model: Path, tmp_path: Path) -> None:
    target = tmp_path / "trees.json.gz"
    arguments = ("parse", "-m", model, "--format", "tokens", "--kbest", 2, "--tree", "-o")
    for path in (target, tmp_path / "a.svg"):
        result = command(*arguments, path, stdin="Ça va")
        assert (result.status, result.err) == (0, "")
        assert result.out.count("# kbest_rank = ") == result.out.count("root") == 2
    picture = (tmp_path / "a.svg").read_text()
    assert picture.count("Ça") == 2
    assert re.findall(r">(\d)\. weight -?[\d.]+<", picture) == ["1", "2"]
    [line] = gzip.decompress(target.read_bytes()).decode().splitlines()
    assert '"words": ["Ça", "va"]' in line
    assert "sent_id" not in line


def test_broken_sentences_are_skipped(command: Command, model: Path) -> None:
    broken = "1\tBirds\n\n1\tsing\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    assert "<stdin>:1: " in command("parse", "-m", model, "--kbest", 2, stdin=broken).complaint()
    result = command("parse", "-m", model, "--kbest", 2, "--skip-invalid", stdin=broken)
    assert result.status == 0
    assert result.out.count("# kbest_rank = 1\n") == result.out.count("\n\n") == 1
    assert result.err.startswith("skipped 1 broken sentence (1 word, 1 line); ")


def test_parse_that_cannot_be(command: Command, gold: Path, model: Path, tmp_path: Path) -> None:
    for k in (0, -1, "two", 10**7, 10**30):
        assert "--kbest" in command("parse", "-m", model, gold, "--kbest", k).complaint(2)
    for arguments in ([], ["--json"]):
        target = tmp_path / "no" / "trees"
        result = command("parse", "-m", model, gold, "--kbest", 2, "-o", target, *arguments)
        assert f"{tmp_path / 'no'}: no such folder" in result.complaint()


def test_oracle(command: Command, gold: Path, kbest: Path) -> None:
    def score(*arguments: object, measure: str = "las") -> float:
        result = command("evaluate", "--oracle", gold, kbest, "--json", *arguments)
        assert (result.status, result.err) == (0, "")
        found: float = json.loads(result.out)[measure]["f1"]
        return found

    firsts = [analyses[0][0] for analyses in read_kbest(kbest)]
    assert score("--kbest", 1) == evaluate(gold, firsts).las.f1 <= score("--kbest", 3) <= score()
    assert score("--by", "uas", measure="uas") == 1  # all trees of three words are there
    assert (
        score("--kbest", 1, "--no-punctuation") == evaluate(gold, firsts, punctuation=False).las.f1
    )
    table = command("evaluate", "--oracle", gold, kbest).out
    assert f"{100 * score():.2f}" in table


def test_the_oracle_finds_trees_that_are_not_first(
    command: Command, gold: Path, kbest: Path, tmp_path: Path
) -> None:
    lists = [analyses[::-1] for analyses in read_kbest(kbest)]
    write_kbest(lists, tmp_path / "worst-first.conllu")
    worst = evaluate(gold, [analyses[0][0] for analyses in lists]).las.f1
    result = command("evaluate", "--oracle", gold, tmp_path / "worst-first.conllu", "--json")
    assert worst < json.loads(result.out)["las"]["f1"]


def test_oracle_of_a_pipe(command: Command, gold: Path, kbest: Path) -> None:
    piped = command("evaluate", "--oracle", gold, "-", stdin=kbest.read_bytes())
    assert piped.out == command("evaluate", "--oracle", gold, kbest).out


def test_oracle_that_cannot_be(command: Command, gold: Path, kbest: Path, tmp_path: Path) -> None:
    assert "gold.conllu:1: no comment" in command("evaluate", "--oracle", kbest, gold).complaint()
    assert "--oracle" in command("evaluate", gold, gold, "--kbest", 2).complaint(2)
    assert "--oracle" in command("evaluate", gold, gold, "--by", "uas").complaint(2)
    assert "--kbest" in command("evaluate", "--oracle", gold, kbest, "--kbest", 0).complaint(2)

    cut = tmp_path / "cut.conllu"
    text = kbest.read_text()
    cut.write_text(text[: text.rindex("# sent_id = s4")])
    assert "predicted has the end" in command("evaluate", "--oracle", gold, cut).complaint()
    cut.write_text(text[: text.rindex("2\tsee")])
    assert "cut.conllu:" in command("evaluate", "--oracle", gold, cut).complaint()
    cut.write_text(text.replace("# kbest_rank = 2\n", "", 1))
    assert "cut.conllu:9: no comment" in command("evaluate", "--oracle", gold, cut).complaint()
    cut.write_text(text[text.index("# kbest_rank = 2") :])
    assert "cut.conllu:1: kbest_rank is 2" in command("evaluate", "--oracle", gold, cut).complaint()


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    scores = np.random.default_rng(0).normal(size=(3, 5, 5)).astype(np.float32)
    np.savez(tmp_path / "batch.npz", scores=scores, lengths=[4, 1, 2])
    return tmp_path / "batch.npz"


def test_decode_a_batch(command: Command, batch: Path, tmp_path: Path) -> None:
    with np.load(batch) as file:
        heads, weights, counts = arb.kbest(file["scores"], 3, lengths=file["lengths"])
    assert counts.tolist() == [3, 1, 2]
    result = command("decode", batch, "--kbest", 3, "--threads", 2)
    assert result.out.splitlines() == [
        f"{b}\t{r + 1}\t{float(weights[b, r])!r}\t"
        + " ".join(map(str, heads[b, r, 1 : n + 1].tolist()))
        for b, n in enumerate([4, 1, 2])
        for r in range(counts[b])
    ]
    lines = command("decode", batch, "--kbest", 3, "--json").out.splitlines()
    assert [[tree["weight"] for tree in json.loads(line)["analyses"]] for line in lines] == [
        weights[b, : counts[b]].tolist() for b in range(3)
    ]

    target = tmp_path / "trees.npz"
    assert command("decode", batch, "--kbest", 3, "-o", target).out == ""
    with np.load(target) as file:
        np.testing.assert_array_equal(file["heads"], heads)
        np.testing.assert_array_equal(file["weights"], weights)
        np.testing.assert_array_equal(file["counts"], counts)


def test_decode_one_sentence(command: Command, tmp_path: Path) -> None:
    """Decode Fig. 2 of Zmigrod et al. (2020), where few edges are there, so few trees."""
    scores = np.full((5, 5), -np.inf)
    edges = [(0, 1, 90), (0, 2, 40), (1, 3, 10), (2, 3, 30), (2, 4, 60), (3, 2, 50)]
    for head, word, weight in [*edges, (4, 3, 70), (4, 1, 20)]:
        scores[head, word] = weight
    path, target = tmp_path / "scores.npy", tmp_path / "trees.npz"
    np.save(path, scores)
    out = command("decode", path, "--kbest", 9).out
    assert out.startswith("0\t1\t210.0\t0 3 1 2\n0\t2\t")
    count = out.count("\n")
    assert count < 9
    found = json.loads(command("decode", path, "--kbest", 9, "--json", "-o", target).out)
    assert found["analyses"][0] == {"weight": 210.0, "heads": [0, 3, 1, 2]}
    with np.load(target) as file:
        assert file["heads"].shape == (count, 5)
        assert file["weights"].tolist() == [tree["weight"] for tree in found["analyses"]]
        assert file["counts"] == count
    assert "--kbest" in command("decode", path, "--kbest", 0).complaint(2)
    scores[:, 2] = -np.inf
    np.save(path, scores)
    assert "2" in command("decode", path, "--kbest", 2).complaint()


@pytest.mark.races
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("to_file", [True, False])
def test_progress_on_a_terminal(
    terminal: Command, gold: Path, model: Path, tmp_path: Path, to_file: bool
) -> None:
    """The bar is shown where the trees do not run through the same terminal."""
    more = ["-o", tmp_path / "kbest.conllu"] if to_file else []
    status, seen = terminal("parse", gold, "-m", model, *more, streams=("stdout", "stderr"))
    assert status == 0
    assert ("sentences parsed" in seen) is to_file
    assert ("Birds" in seen) is not to_file
