"""Which treebanks an experiment finds, and what it reads of them."""

from __future__ import annotations

import pytest

from arborescence import TreebankError
from arborescence.experiments.corpora import find, fingerprint
from small_treebanks import sentences, write_treebanks


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory):
    return write_treebanks(tmp_path_factory.mktemp("treebanks"))


def test_those_with_something_to_learn_and_a_test(treebanks):
    birdish, arboric = find(treebanks)  # train parts come first
    assert (birdish.name, birdish.split) == ("Birdish", "train")
    assert (arboric.name, arboric.split) == ("Arboric", "dev")
    birds = sentences()
    assert birdish.read() == (birds[:4], birds[2:])
    assert arboric.read() == (birds[1:], birds[:3])


def test_several_files_of_a_part(tmp_path):
    write_treebanks(tmp_path)
    more = tmp_path / "Birdish" / "more-train.conllu"
    more.write_bytes(sentences()[4].raw)
    [birdish] = find(tmp_path, ["Birdish"])
    assert birdish.read()[0] == [sentences()[4], *sentences()[:4]]


def test_only(treebanks):
    assert [corpus.name for corpus in find(treebanks, ["Arboric"])] == ["Arboric"]
    for name in ("Untested", "Untaught", "Empty", "Missing"):
        with pytest.raises(TreebankError, match=name):
            find(treebanks, ["Arboric", name])


def test_none_at_all(tmp_path):
    with pytest.raises(TreebankError, match="no treebank that can be used"):
        find(tmp_path)
    with pytest.raises(FileNotFoundError):
        find(tmp_path / "missing")


def test_fingerprints():
    birds = sentences()
    same = fingerprint(birds[:2], birds[2:])
    assert fingerprint(iter(birds[:2]), birds[2:]) == same
    assert fingerprint(birds[:3], birds[3:]) != same
    assert fingerprint(birds[:2], [*birds[2:-1], birds[-1].replace(deprels=["dep"])]) != same
