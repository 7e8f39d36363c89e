"""`split` and `tag`: sentences, words, tags and lemmas, without trees."""

import json

import pytest

import arborescence as arb
from small_parsers import small_parser

TEXT = "Dr. Smith went home. He doesn't\nsing!\n\nBirds do."


@pytest.fixture(autouse=True)
def english():
    pytest.importorskip("arborescence_en", reason="needs arborescence-en")


def test_a_sentence_a_line(command):
    said = command("split", "-m", "english-fast", stdin=TEXT)
    assert said.out.splitlines() == ["Dr. Smith went home.", "He doesn't sing!", "Birds do."]


def test_words_with_spaces_between_them(command):
    said = command(
        "split", "-m", "english-fast", "--words", "--format", "lines", stdin="It isn't.\nGo on"
    )
    assert said.out.splitlines() == ["It is n't .", "Go on"]


def test_words_as_conllu(command, tmp_path):
    command("split", "-m", "english-fast", "-o", tmp_path / "words.conllu", stdin=TEXT)
    found = list(arb.treebank.read(tmp_path / "words.conllu"))
    expected = list(arb.load("english-fast").split(TEXT))
    assert [each.forms for each in found] == [each.forms for each in expected]
    assert found[1].forms == ["He", "does", "n't", "sing", "!"]


@pytest.mark.parametrize("form", ["conllu", "json"])
def test_tags_and_lemmas(command, tmp_path, form):
    output = tmp_path / f"tagged.{form}"
    command("tag", "-m", "english-fast", "--format", "tokens", "-o", output, stdin="Birds sing .")
    if form == "json":
        found = json.loads(output.read_text(encoding="utf-8"))
        assert (found["upos"], found["lemmas"]) == (
            ["NOUN", "VERB", "PUNCT"],
            ["bird", "sing", "."],
        )
    else:
        [found] = arb.treebank.read(output)
        assert (found.upos, found.lemmas) == (["NOUN", "VERB", "PUNCT"], ["bird", "sing", "."])
        assert found.xpos[0] == "NNS"
        assert (found.heads == -1).all()


def test_given_tags_are_kept_unless_they_are_to_be_replaced():
    parser = arb.load("english-fast")
    [given] = parser.tag([["Birds", "sing"]])
    given = given.replace(upos=["ADJ", "ADJ"])
    assert next(parser.tag([given])).upos == ["ADJ", "ADJ"]
    assert next(parser.tag([given], overwrite=True)).upos == ["NOUN", "VERB"]


def test_what_a_model_cannot_do(command, tmp_path):
    small_parser("projective").save(tmp_path / "bare.npz")
    said = command("tag", "-m", tmp_path / "bare.npz", "--format", "tokens", stdin="Birds sing")
    assert "has no tagger" in said.complaint()
    assert "cut raw text" in command("split", "-m", tmp_path / "bare.npz", stdin="A.").complaint()
