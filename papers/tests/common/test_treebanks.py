"""Which treebanks an experiment finds, and what it reads of them."""

from __future__ import annotations

import pytest

from arborescence import TreebankError
from arborescence_papers.common.treebanks import LeftOut, digest, find
from small_treebanks import sentences, write_treebanks


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory):
    return write_treebanks(tmp_path_factory.mktemp("treebanks"))


def test_those_with_something_to_learn_and_a_test(treebanks):
    birdish, arboric = find(treebanks).treebanks  # train parts come first
    assert (birdish.name, birdish.split) == ("Birdish", "train")
    assert (arboric.name, arboric.split) == ("Arboric", "dev")
    birds = sentences()
    assert birdish.read() == (birds[:4], birds[2:])
    assert arboric.read() == (birds[1:], birds[:3])


def test_several_files_of_a_part(tmp_path):
    write_treebanks(tmp_path)
    more = tmp_path / "Birdish" / "more-train.conllu"
    more.write_bytes(sentences()[4].raw)
    [birdish] = find(tmp_path, ["Birdish"]).treebanks
    assert birdish.read()[0] == [sentences()[4], *sentences()[:4]]


def test_only(treebanks):
    assert [treebank.name for treebank in find(treebanks, ["Arboric"]).treebanks] == ["Arboric"]
    for name in ("Untested", "Untaught", "Empty", "Missing"):
        with pytest.raises(TreebankError, match=name):
            find(treebanks, ["Arboric", name])


def test_none_at_all(tmp_path):
    with pytest.raises(TreebankError, match="no treebank that can be used"):
        find(tmp_path)
    with pytest.raises(FileNotFoundError):
        find(tmp_path / "missing")


def test_the_others_are_named(treebanks):
    assert find(treebanks).left_out == [
        LeftOut("Empty", "no part to learn from (train or dev)", failed=False),
        LeftOut("Untaught", "no part to learn from (train or dev)", failed=False),
        LeftOut("Untested", "no test part", failed=False),
    ]
    assert find(treebanks, ["Arboric"]).left_out == []


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("train.conllu", "train"),
        ("en_ewt-ud-test.conllu.gz", "test"),
        ("cs_pdt-ud-train-ca.conllu", "train"),
        ("de_hdt-ud-train-a-1.conllu", "train"),
        ("x_y-ud-dev.conllu", "dev"),
    ],
)
def test_names_of_files(tmp_path, name, part):
    place = tmp_path / "Birdish"
    place.mkdir()
    for file in ("dev.conllu", "test.conllu", "latest.conllu", "train.txt", name):
        (place / file).touch()
    [found] = find(tmp_path).treebanks
    files = found.test_files if part == "test" else found.training_files
    assert place / name in files
    assert found.split == ("train" if part == "train" else "dev")
    assert all(file.name != "latest.conllu" for file in (*found.training_files, *found.test_files))


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_part_without_sentences(tmp_path, part):
    write_treebanks(tmp_path)
    [file] = (tmp_path / "Birdish").glob(f"*{part}.conllu")
    file.write_bytes(b"\n")
    [birdish] = find(tmp_path, ["Birdish"]).treebanks
    with pytest.raises(TreebankError, match=rf"{part}.conllu: no sentence"):
        birdish.read()


def test_smallest(treebanks):
    both = find(treebanks).treebanks
    plain, packed = both
    assert packed.size < plain.size
    assert find(treebanks, smallest=1).treebanks == [packed]
    assert find(treebanks, smallest=3).treebanks == both


def test_digests(treebanks):
    [birdish] = find(treebanks, ["Birdish"]).treebanks
    one, two = *birdish.training_files, *birdish.test_files
    assert digest(one, two) == digest(one, two)
    assert len({digest(one), digest(two), digest(one, two), digest(two, one)}) == 4
