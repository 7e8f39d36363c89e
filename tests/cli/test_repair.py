"""`repair`: head columns of any kind become trees."""

import numpy as np
import pytest

import arborescence as arb
from samples import treebank
from small_parsers import small_parser


@pytest.fixture
def broken(tmp_path):
    """A file with a cycle, two roots, text, gaps and numbers that are too large."""
    path = tmp_path / "broken.conllu"
    arb.treebank.write(treebank()[:3], path)
    text = path.read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.split("\n")]
    words = [row for row in rows if len(row) > 1]
    for row, head in zip(words, ["2", "1", "99", "NaN", "", "0", "0", "3", "0"], strict=False):
        row[6] = head
    path.write_text("\n".join("\t".join(row) for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("with_model", [False, True])
def test_all_become_trees(broken, tmp_path, command, with_model):
    small_parser("linear").save(tmp_path / "small.npz")
    model = ("-m", tmp_path / "small.npz") if with_model else ()
    said = command("repair", *model, broken, "-o", tmp_path / "trees.conllu")
    found = list(arb.treebank.read(tmp_path / "trees.conllu"))
    assert len(found) == 3
    assert all(arb.is_tree(sentence.tree) for sentence in found)
    assert all("_" not in sentence.deprels for sentence in found)
    assert found[2].tree.tolist() == treebank()[2].tree.tolist()
    assert "heads changed, in 2 sentences" in said.err


def test_what_is_right_stays_byte_for_byte(tmp_path, command):
    path = tmp_path / "right.conllu"
    arb.treebank.write(treebank(), path)
    said = command("repair", path)
    assert said.out == path.read_text(encoding="utf-8")
    assert said.err.startswith("0 of ")


def test_other_faults_are_errors_with_their_line(tmp_path, command):
    path = tmp_path / "bad.conllu"
    path.write_text("# text = a\n1\ta\t_\t_\t_\t_\t7\t_\t_\n\n", encoding="utf-8")
    assert "bad.conllu:2: 9 columns" in command("repair", path).complaint()


def test_a_parser_decides_between_trees_that_keep_as_many(command, tmp_path):
    parser = small_parser("biaffine")
    sentence = treebank()[0].replace(heads=[-1, 2, 1, -1, -1, -1, -1])
    [(found, changed, _)] = arb.treebank.mended([sentence], parser=parser)
    assert arb.is_tree(found.tree)
    kept = np.flatnonzero(found.tree[1:3] == sentence.tree[1:3])
    assert len(kept) == 1
    assert len(changed) == 5


@pytest.mark.parametrize("with_model", [False, True])
def test_rules_are_kept(broken, tmp_path, command, with_model):
    small_parser("linear").save(tmp_path / "small.npz")
    model = ("-m", tmp_path / "small.npz") if with_model else ()
    said = command("repair", *model, "--rules", "ud", broken, "-o", tmp_path / "trees.conllu")
    assert "still break" not in said.err
    assert not list(arb.treebank.validate(tmp_path / "trees.conllu"))


def test_files_vote(tmp_path, command):
    right = treebank()[:2]
    first = [right[0].replace(heads=[3, 3, 4, 0, 3, 3]), right[1]]
    second = [right[0].replace(heads=[3, 3, 4, 0, 3, 3], deprels=["x"] * 6), right[1]]
    for name, sentences in {"a": right, "b": first, "c": second}.items():
        arb.treebank.write(sentences, tmp_path / f"{name}.conllu")
    files = [tmp_path / f"{name}.conllu" for name in "abc"]
    assert command("repair", "--votes", "3,1,1", *files).out == files[0].read_text(encoding="utf-8")
    command("repair", "--votes", "1,1,1", *files, "-o", tmp_path / "voted.conllu")
    found, _ = arb.treebank.read(tmp_path / "voted.conllu")
    assert found.heads.tolist() == [3, 3, 4, 0, 3, 3]
    assert found.deprels[1:4] == ["amod", "nsubj", "root"]
    said = command("repair", "--votes", "1,1", *files)
    assert "3 columns need as many weights, not 2" in said.complaint()
    assert "--votes 1,x: give whole numbers" in command("repair", "--votes", "1,x", *files).err
    arb.treebank.write(right[:1], files[1])
    said = command("repair", "--votes", "1,1,1", *files)
    assert "a.conllu:8: the files have other sentences here" in said.err
