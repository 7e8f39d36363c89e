"""Documents to sentences and back: nothing is lost that both can hold."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("spacy", reason="needs spaCy")

import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from arborescence.integrations.spacy import doc_of, sentences_of
from arborescence.treebank import Sentence

VOCAB = spacy.blank("en").vocab


def tree(generator, words):
    """Draw a tree with one root edge, of many forms: most have crossing edges."""
    order = list(range(1, words + 1))
    generator.shuffle(order)
    heads = [-1] + [0] * words
    for i in range(1, words):
        nearest = max(0, i - generator.choice([1, 2, words]))
        heads[order[i]] = order[generator.randrange(nearest, i)]
    return heads


def sentence(generator, words, **others):
    heads = tree(generator, words)
    deprels = ["root" if head == 0 else generator.choice(["obj", "dep"]) for head in heads[1:]]
    return Sentence.from_words(["word"] * words, heads=heads, deprels=deprels, **others)


@pytest.mark.parametrize("words", [1, 2, 4, 9, 30])
def test_any_tree_survives(words):
    generator = random.Random(words)
    for _ in range(20):
        sentences = [sentence(generator, words) for _ in range(3)]
        doc = doc_of(sentences, VOCAB)
        copy = Doc(VOCAB).from_bytes(doc.to_bytes())  # what several processes send each other
        [stored] = DocBin(docs=[doc]).get_docs(Vocab())
        for each in (doc, copy, stored):
            starts = [token.is_sent_start for token in each]
            assert starts == [i % words == 0 for i in range(3 * words)]
            assert [back.tree.tolist() for back in sentences_of(each)] == [
                given.tree.tolist() for given in sentences
            ]
            assert [back.deprels for back in sentences_of(each)] == [
                given.deprels for given in sentences
            ]


def test_every_column_survives():
    given = Sentence.from_words(
        ["They", "sang", "old", "songs", "."],
        lemmas=["they", "sing", "old", "song", "."],
        upos=["PRON", "VERB", "ADJ", "NOUN", "PUNCT"],
        xpos=["PRP", "VBD", "JJ", "NNS", "."],
        feats=["Case=Nom|Number=Plur", "Tense=Past", "Degree=Pos", "Number=Plur", "_"],
        heads=[-1, 2, 0, 4, 2, 2],
        deprels=["nsubj", "root", "amod", "obj", "punct"],
        misc=["_", "_", "_", "SpaceAfter=No", "_"],
        comments=["# newdoc", "# text = They sang old songs."],
    )
    doc = doc_of([given], VOCAB)
    assert doc.text == "They sang old songs."
    assert [token.head.i for token in doc] == [1, 1, 3, 1, 1]
    assert [token.dep_ for token in doc] == ["nsubj", "ROOT", "amod", "obj", "punct"]
    assert [token.pos_ for token in doc] == given.upos
    assert doc[0].morph.to_dict() == {"Case": "Nom", "Number": "Plur"}
    assert doc[4].has_morph()
    assert sentences_of(doc) == [given]


def test_what_is_unknown_stays_unknown():
    bare = Sentence.from_words(["They", "sing"])
    doc = doc_of([bare, bare], VOCAB)
    for attribute in ("DEP", "POS", "TAG", "LEMMA", "MORPH"):
        assert not doc.has_annotation(attribute)
    assert [token.is_sent_start for token in doc] == [True, False, True, False]
    [first, _] = sentences_of(doc)
    assert first.tree.tolist() == [-1, -1, -1]
    assert set(first.deprels + first.upos + first.xpos + first.feats + first.lemmas) == {"_"}

    partly = Sentence.from_words(["They", "sing"], heads=[-1, 2, -1], deprels=["nsubj", "_"])
    [back] = sentences_of(doc_of([partly], VOCAB))
    assert back.tree.tolist() == [-1, 2, -1]


def test_values_that_spacy_does_not_know():
    odd = Sentence.from_words(["a", "b"], upos=["stop", "NOUN"], feats=["Plural", "A=b=c|D=e"])
    doc = doc_of([odd], VOCAB)
    assert [token.pos_ for token in doc] == ["", "NOUN"]
    assert not any(token.has_morph() for token in doc)


def test_multiword_tokens(tmp_path):
    from arborescence.treebank import read

    path = tmp_path / "french.conllu"
    rows = [
        ("1", "Il", "_"), ("2", "parle", "_"), ("3-4", "du", "_"), ("3", "de", "_"),
        ("4", "le", "_"), ("5-6", "temps-là", "SpaceAfter=No"), ("5", "temps", "_"),
        ("6", "-là", "_"), ("6.1", "ici", "_"), ("7", ".", "_"),
    ]  # fmt: skip
    path.write_text(
        "# sent_id = x\n"
        + "".join(f"{i}\t{form}" + "\t_" * 7 + f"\t{misc}\n" for i, form, misc in rows)
        + "\n"
    )
    doc = doc_of(read(path), VOCAB)
    assert [token.text for token in doc] == ["Il", "parle", "de", "le", "temps", "-là", "."]
    assert doc.text == "Il parle de le temps-là."


def test_a_document_of_several_sentences():
    doc = spacy.blank("en")("One.  Two\nthree.\n\n")
    doc[3].is_sent_start = True
    first, second = sentences_of(doc)
    assert first.comments == ["# newdoc", "# text = One."]
    assert second.comments == ["# text = Two three."]
    assert first.misc == ["SpaceAfter=No", "_"]
    assert second.misc == ["_", "SpaceAfter=No", "_"]
    assert sentences_of(spacy.blank("en")("")) == []
    assert sentences_of(spacy.blank("en")(" \n")) == []
    assert len(doc_of([], VOCAB)) == 0


def test_heads_that_sentences_cannot_have():
    doc = Doc(
        VOCAB,
        words=["a", "\n", "b", "c"],
        heads=[1, 1, 3, 3],
        deps=["x", "ROOT", "y", "ROOT"],
    )
    first, second = sentences_of(doc)
    assert first.tree.tolist() == [-1, -1]  # its head is no word
    assert second.tree.tolist() == [-1, 2, 0]


def test_without_spacy_the_extra_is_named(monkeypatch):
    import importlib
    import sys

    import arborescence.integrations.spacy as ours
    from arborescence import MissingExtraError

    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'arborescence\[spacy\]'"):
        importlib.reload(ours)
