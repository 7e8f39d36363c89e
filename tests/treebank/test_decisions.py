"""Accepted corrections of a treebank."""

import json

import pytest

from arborescence.errors import TreebankError
from arborescence.treebank import Sentence, decided, read, write

BIRDS = Sentence.from_words(
    ["Birds", "sing"], upos=["VERB", "VERB"], heads=[2, 0], deprels=["obj", "root"],
    comments=["# sent_id = b"],
)  # fmt: skip
RELATION = {"word": 1, "form": "Birds", "was": [2, "obj", "VERB"], "now": [2, "nsubj", "VERB"]}
TAG = {"word": 1, "form": "Birds", "was": [2, "obj", "VERB"], "now": [2, "obj", "NOUN"]}
ROOT = {"word": 1, "form": "Birds", "was": [2, "obj", "VERB"], "now": [0, "root", "VERB"]}
CYCLE = {"word": 2, "form": "sing", "was": [0, "root", "VERB"], "now": [1, "obj", "VERB"]}


def entry(*changes, decision="accept", line=1, file="elsewhere/bank.conllu"):
    return {"decision": decision, "file": file, "line": line, "changes": list(changes)}


@pytest.fixture
def apply(tmp_path):
    """Apply decisions to a treebank of two sentences."""
    write([BIRDS, BIRDS], tmp_path / "bank.conllu")

    def apply(*entries):
        file = tmp_path / "decisions.jsonl"
        lines = (each if isinstance(each, str) else json.dumps(each) for each in entries)
        file.write_text("\n".join(lines), encoding="utf-8")
        return list(decided(read(tmp_path / "bank.conllu"), file))

    return apply


def test_only_what_is_accepted_changes(apply):
    first, second = apply(entry(RELATION, line=5), entry(ROOT, decision="reject"))
    assert first == BIRDS
    assert second == BIRDS.replace(deprels=["nsubj", "root"])
    assert apply() == [BIRDS, BIRDS]


def test_several_changes_of_a_sentence(apply):
    [first, _] = apply(entry(ROOT, CYCLE))
    assert (first.heads.tolist(), first.deprels) == ([0, 1], ["root", "obj"])
    [first, _] = apply(entry(RELATION), entry(RELATION))
    assert first.deprels == ["nsubj", "root"]


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (["{"], r"decisions.jsonl:1: not a line of the file"),
        ([entry(RELATION), "{}"], r"decisions.jsonl:2: not a line of the file"),
        ([{**entry(RELATION), "changes": [{"word": 1}]}], "not a line of the file"),
        ([entry(RELATION, line=3)], r"decisions.jsonl:1: no sentence begins at bank.conllu:3"),
        ([entry(RELATION, file="x")], r"no sentence begins at x:1"),
        ([entry({**RELATION, "form": "Bird"})], r"bank.conllu:1: word 1 is not as it was"),
        ([entry({**RELATION, "was": [2, "dep", "VERB"]})], "word 1 is not as it was"),
        ([entry({**RELATION, "word": 3})], "word 3 is not as it was"),
        ([entry(RELATION), entry(TAG)], r"jsonl:2: .*bank.conllu:1: word 1 has two accepted"),
        ([entry(CYCLE)], r"bank.conllu:1: the accepted changes make no tree"),
    ],
)
def test_what_cannot_be_applied(apply, entries, said):
    with pytest.raises(TreebankError, match=said):
        apply(*entries)
