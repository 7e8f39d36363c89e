"""The component in pipelines: what it writes, what it keeps, how it is saved."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("spacy", reason="needs spaCy")

import spacy
from spacy import displacy
from spacy.tokens import Doc, Span
from spacy.training import Example

import arborescence as arb
from arborescence.integrations.spacy import ParserPipe, doc_of, sentences_of
from arborescence.treebank import Sentence

TEXT = "She has read the letters. Did you see where they went?"
HEADS = ["read", "read", "read", "letters", "read", "read"]
DEPS = ["nsubj", "aux", "ROOT", "det", "obj", "punct"]


def pipeline(**settings):
    nlp = spacy.blank("en")
    nlp.add_pipe("arborescence", config=settings)
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return pipeline()


def described(doc):
    return [
        (t.text, t.head.i, t.dep_, t.pos_, t.tag_, str(t.morph), t.lemma_, t.is_sent_start)
        for t in doc
    ]


def test_a_text_becomes_sentences_with_trees(nlp):
    first, second = nlp(TEXT).sents
    assert [token.head.text for token in first] == HEADS
    assert [token.dep_ for token in first] == DEPS
    assert [token.pos_ for token in first] == ["PRON", "AUX", "VERB", "DET", "NOUN", "PUNCT"]
    assert [token.tag_ for token in first] == ["PRP", "VBZ", "VBN", "DT", "NNS", "."]
    assert [token.lemma_ for token in first] == ["she", "have", "read", "the", "letter", "."]
    assert first[4].morph.to_dict() == {"Number": "Plur"}
    assert second.text == "Did you see where they went?"
    assert first.root.text == "read"
    assert [token.text for token in first.root.lefts] == ["She", "has"]


def test_trees_are_those_of_the_parser(nlp):
    parser = arb.load("english")
    for sentence in nlp(TEXT).sents:
        [parsed] = parser.parse([[token.text for token in sentence]])
        [converted] = sentences_of(sentence.as_doc())
        assert converted.tree.tolist() == parsed.tree.tolist()
        assert (converted.deprels, converted.feats) == (parsed.deprels, parsed.feats)
        assert (converted.upos, converted.xpos) == (parsed.upos, parsed.xpos)
        assert converted.lemmas == parsed.lemmas


def test_every_token_is_annotated(nlp):
    doc = nlp(f"\n {TEXT}  \n\n{TEXT}\t")
    for attribute in ("DEP", "POS", "TAG", "LEMMA", "MORPH", "SENT_START"):
        assert doc.has_annotation(attribute, require_complete=True)


def test_white_space_depends_on_the_word_before(nlp):
    doc = nlp("\n\n She  has read\tit.   They left.  \n")
    spaces = [token for token in doc if token.is_space]
    assert [(t.i, t.head.text) for t in spaces] == [
        (0, "She"), (2, "She"), (5, "read"), (8, "."), (12, ".")
    ]  # fmt: skip
    assert {(t.dep_, t.pos_, t.tag_) for t in spaces} == {("dep", "SPACE", "_SP")}
    assert [sentence.text.strip() for sentence in doc.sents] == ["She  has read\tit.", "They left."]
    # It changes nothing else.
    plain = nlp("She has read it. They left.")
    words = [token for token in doc if not token.is_space]
    assert [t.dep_ for t in words] == [t.dep_ for t in plain]
    assert [t.head.text for t in words] == [t.head.text for t in plain]


def test_nothing_but_white_space(nlp):
    doc = nlp(" \n\t ")
    assert [(t.dep_, t.head.i, t.pos_) for t in doc] == [("ROOT", 0, "SPACE")]
    words = Doc(nlp.vocab, words=["\n", "\t", "Go"], sent_starts=[True, False, True])
    doc = nlp(words)
    assert [(t.dep_, t.head.i) for t in doc] == [("ROOT", 0), ("dep", 0), ("ROOT", 2)]


def test_an_empty_document(nlp):
    assert len(nlp("")) == 0
    assert [len(doc) for doc in nlp.pipe(["", "Go", ""])] == [0, 1, 0]


def test_sentences_that_are_set_are_kept():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"punct_chars": [","]})
    nlp.add_pipe("arborescence")
    doc = nlp("One day, it rained. We stayed")
    assert [sentence.text for sentence in doc.sents] == ["One day,", "it rained. We stayed"]
    assert [token.text for token in doc if token.dep_ == "ROOT"] == ["day", "rained"]


def test_some_sentence_starts_are_set(nlp):
    doc = nlp.make_doc("They left early. We stayed and it rained. So we read.")
    doc[2].is_sent_start = True
    doc[4].is_sent_start = False
    nlp(doc)
    assert [sentence.text for sentence in doc.sents] == [
        "They left", "early. We stayed and it rained.", "So we read."
    ]  # fmt: skip
    assert sum(token.dep_ == "ROOT" for token in doc) == 3


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A model without sentences and lemmas."""
    parser = arb.load("english")
    parser.text = None
    path = tmp_path_factory.mktemp("models") / "bare.model"
    parser.save(path)
    return path


def test_a_model_that_cannot_split_sentences(bare):
    doc = pipeline(model=str(bare))("They sing. It rained.")
    assert len(list(doc.sents)) == 1
    assert doc.has_annotation("POS")
    assert not doc.has_annotation("LEMMA")


def test_crossing_edges(monkeypatch):
    class Crossing:
        text = None

        def parse(self, sentences, *, projective, rules):
            assert projective is False
            assert rules == "ud"
            for sentence in sentences:
                yield sentence.replace(heads=[-1, 3, 4, 0, 3], deprels=["dep", "x", "root", "y"])

    pipe = ParserPipe(projective=False, rules="ud")
    monkeypatch.setattr(pipe, "_parser", Crossing())
    for words in (["a", "b", "c", "d"], ["\n", "a", "b", "\n", "c", "d", "\n"]):
        doc = pipe(Doc(spacy.blank("en").vocab, words=words))
        texts = {token.text: token.head.text for token in doc if not token.is_space}
        assert texts == {"a": "c", "b": "d", "c": "c", "d": "c"}
        assert [token.is_sent_start for token in doc] == [i == 0 for i in range(len(doc))]
        assert described(Doc(doc.vocab).from_bytes(doc.to_bytes())) == described(doc)


def test_trees_keep_rules():
    ours = pipeline(model="english-fast", rules="ud")
    again = pipeline().from_bytes(ours.to_bytes())
    own, none = (pipeline(model="english-fast", rules=rules) for rules in (None, "none"))
    for nlp, label in ((ours, "iobj"), (again, "iobj"), (own, "iobj"), (none, "nsubj")):
        doc = nlp("The song she taught us was old.")
        assert (doc[4].text, doc[4].dep_) == ("us", label)


def test_what_others_have_written_is_kept():
    given = ["NOUN", "VERB", "PUNCT"]
    nlp = pipeline()
    doc = Doc(nlp.vocab, words=["They", "sing", "."], pos=given, lemmas=["eux", "", ""])
    nlp(doc)
    assert [token.pos_ for token in doc] == given
    assert [token.lemma_ for token in doc] == ["eux", "sing", "."]
    assert [token.dep_ for token in doc] == ["nsubj", "ROOT", "punct"]

    pipeline(overwrite=True)(doc)
    assert [token.pos_ for token in doc] == ["PRON", "VERB", "PUNCT"]
    assert doc[0].lemma_ == "they"


def test_tags_are_read(nlp):
    words = ["Birds", "sing", "."]
    own = nlp(Doc(nlp.vocab, words=words))
    told = nlp(Doc(nlp.vocab, words=words, pos=["NOUN", "VERB", "PUNCT"]))
    partly = nlp(Doc(nlp.vocab, words=words, pos=["NOUN", "VERB", ""]))
    [right] = arb.load("english").parse(
        [Sentence.from_words(words, upos=["NOUN", "VERB", "PUNCT"])]
    )
    assert told[0].dep_ == right.deprels[0] == "nsubj"
    # Tags that some words lack are kept, but not read.
    assert [token.dep_ for token in partly] == [token.dep_ for token in own] != right.deprels


def test_entities_and_spans_stay(nlp):
    doc = nlp.make_doc(TEXT)
    doc.ents = [Span(doc, 4, 5, "THING")]
    doc.spans["all"] = [doc[:3]]
    nlp(doc)
    assert [entity.root.dep_ for entity in doc.ents] == ["obj"]
    assert [span.root.text for span in doc.spans["all"]] == ["read"]


def test_what_to_annotate():
    doc = pipeline(annotate=["lemma"])(TEXT)
    assert doc.has_annotation("LEMMA")
    assert not any(map(doc.has_annotation, ("POS", "TAG", "MORPH")))


ODD = [
    "naïve café", "a\u0301 e\u0301", "🌳🌲 grow", "👩\u200d🌾 farms", "\u200b", "a\u00a0b",
    "日本語", "x\u2028y", "\u202eabc", "#", "# text = no", "1\t2", "_", "_ _", "-", "\x00", "\x85",
    "\ufeffBOM", "\U000e0001", "a" * 5000, "1-2 1.1", "\\s", "SpaceAfter=No|x",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ODD)))
def test_odd_characters(nlp, number):
    for text in (ODD[number], f"She has read {ODD[number]} twice."):
        doc = nlp(text)
        assert doc.text == text
        assert all(token.dep for token in doc)
        for sentence in doc.sents:
            assert sum(token.head == token for token in sentence) == 1
        assert doc_of(sentences_of(doc), nlp.vocab).has_annotation("DEP")


def test_tokens_with_white_space_in_them(nlp):
    doc = Doc(nlp.vocab, words=["They", "\n", " sing \t", "New \t York"])
    nlp(doc)
    assert [token.dep_ for token in doc] == ["nsubj", "dep", "ROOT", "obj"]
    doc = nlp.make_doc("They saw New  York in the rain.")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:5])
    assert nlp(doc)[2].dep_ == "obj"


def test_a_vocabulary_of_its_own():
    from spacy.vocab import Vocab

    doc = ParserPipe()(Doc(Vocab(), words=["They", "sing", "."]))
    assert [token.dep_ for token in doc] == ["nsubj", "ROOT", "punct"]
    assert [token.pos_ for token in doc] == ["PRON", "VERB", "PUNCT"]


def test_strings_of_a_memory_zone(nlp):
    with nlp.memory_zone():
        assert described(nlp("Qwyjibo grows."))
    assert nlp("Qwyjibo grows.")[0].lemma_


def test_batches_give_what_single_calls_give(nlp):
    texts = [TEXT, "", "Go!", "\n", "They went. We stayed."] * 3
    expected = [described(nlp(text)) for text in texts]
    for size in (1, 2, 100):
        assert [described(doc) for doc in nlp.pipe(texts, batch_size=size)] == expected


def test_only_the_document_that_fails_goes_to_the_error_handler():
    nlp = pipeline(max_words=4)
    texts = ["Birds sing.", "This sentence has too many words.", "Go!"]
    with pytest.raises(arb.TreebankError, match=r"'This sentence .* has 7 words, and max_words"):
        list(nlp.pipe(texts))
    failed = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append((name, docs[0].text)))
    assert [doc.text for doc in nlp.pipe(texts)] == ["Birds sing.", "Go!"]
    assert failed == [("arborescence", texts[1])]


def test_a_document_that_fails_is_not_changed():
    nlp = pipeline(max_words=4)
    doc = nlp.make_doc("This sentence has too many words.")
    with pytest.raises(arb.TreebankError):
        nlp(doc)
    assert not doc.has_annotation("DEP")


def test_very_long_sentences_are_cut(nlp):
    doc = nlp(" ".join(["word"] * 1200))
    assert all(len(sentence) <= 500 for sentence in doc.sents)


@pytest.mark.parametrize("settings", [{"annotate": ["heads"]}, {"max_words": 0}])
def test_wrong_settings(settings):
    with pytest.raises(arb.OptionError):
        pipeline(**settings)


def test_a_setting_of_another_type():
    with pytest.raises(ValueError, match="overwrite"):
        pipeline(overwrite="sometimes")


def test_a_model_that_is_not_there():
    nlp = pipeline(model="klingon")
    with pytest.raises(arb.ModelError, match="no model of this name"):
        nlp("Go!")
    assert nlp.pipe_labels["arborescence"] == []


def test_saving_keeps_the_model(tmp_path, bare):
    text = "They sing. It rained."
    small = pipeline(model=str(bare), annotate=["pos"])
    expected = described(small(text))
    small.to_disk(tmp_path / "pipeline")
    config = (tmp_path / "pipeline" / "config.cfg").read_text()
    (tmp_path / "pipeline" / "config.cfg").write_text(config.replace(str(bare), "gone.model"))
    again = spacy.load(tmp_path / "pipeline")
    assert described(again(text)) == expected
    assert again.pipe_labels == small.pipe_labels

    other = pipeline(model="gone.model")
    other.from_bytes(small.to_bytes())
    assert described(other(text)) == expected


def test_saving_without_the_model():
    pipe = ParserPipe(max_words=3)
    data = pipe.to_bytes(exclude=["model"])
    assert len(data) < 1000
    assert ParserPipe().from_bytes(data).cfg == pipe.cfg


def test_a_damaged_model(tmp_path):
    ParserPipe().to_disk(tmp_path / "pipe", exclude=["model"])
    (tmp_path / "pipe" / "model.npz").write_bytes(b"no model")
    with pytest.raises(arb.ModelError):
        ParserPipe().from_disk(tmp_path / "pipe")


def test_a_component_of_another_pipeline(nlp):
    other = spacy.blank("en")
    other.add_pipe("arborescence", source=nlp, name="trees")
    assert described(other(TEXT)) == described(nlp(TEXT))


def test_labels(nlp):
    labels = nlp.get_pipe("arborescence").labels
    assert {"ROOT", "nsubj:pass", "dep"} <= set(labels)
    assert "root" not in labels
    assert nlp.pipe_labels["arborescence"] == list(labels)
    both = ParserPipe()
    both._parser = arb.parsers.CombinedParser([arb.load("english")])
    assert both.labels == labels


def test_the_analysis_of_the_pipeline():
    nlp = pipeline()
    nlp.add_pipe("merge_noun_chunks")
    analysis = nlp.analyze_pipes()
    assert "token.dep" in analysis["summary"]["arborescence"]["assigns"]
    assert analysis["problems"] == {"arborescence": [], "merge_noun_chunks": []}


def test_evaluation(nlp):
    gold = nlp(TEXT)
    gold[0].dep_ = "obj"
    gold[1].head = gold[4]
    gold[4].lemma_ = "letters"
    scores = nlp.evaluate([Example(nlp.make_doc(TEXT), gold)])
    # spaCy leaves punctuation out: 11 words count.
    assert scores["dep_uas"] == pytest.approx(10 / 11)
    assert scores["dep_las"] == pytest.approx(9 / 11)
    assert scores["sents_f"] == 1
    assert (scores["pos_acc"], scores["tag_acc"], scores["morph_acc"]) == (1, 1, 1)
    assert scores["lemma_acc"] == pytest.approx(12 / 13)


def test_initialize_and_train_others():
    nlp = pipeline()
    nlp.add_pipe("textcat").add_label("A")
    nlp.get_pipe("textcat").add_label("B")
    nlp.initialize()
    example = Example.from_dict(nlp.make_doc("Go!"), {"cats": {"A": 1.0, "B": 0.0}})
    nlp.update([example])
    assert nlp("Go!")[0].dep_ == "ROOT"


def test_displacy(nlp):
    page = displacy.render(nlp(TEXT), style="dep", page=True)
    assert page.count('class="displacy-arrow"') == 9  # punctuation has none
    assert "nsubj" in page


@pytest.mark.races
def test_two_processes(nlp):
    texts = [TEXT, "", "Go!", "They went.  We stayed."] * 2
    expected = [described(nlp(text)) for text in texts]
    found = nlp.pipe(texts, n_process=2, batch_size=2)
    assert [described(doc) for doc in found] == expected


SPAWNED = """
import multiprocessing, spacy
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    nlp = spacy.blank("en")
    nlp.add_pipe("arborescence")
    for doc in nlp.pipe(["They sing.", "Go!"], n_process=2, batch_size=1):
        print([token.dep_ for token in doc])
"""


@pytest.mark.races
@pytest.mark.long
def test_two_processes_that_are_spawned(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SPAWNED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.stdout == "['nsubj', 'ROOT', 'punct']\n['ROOT', 'punct']\n", done.stderr


def test_the_entry_point_is_cheap():
    script = (
        "import spacy, sys; nlp = spacy.blank('en'); "
        "assert 'arborescence.integrations.spacy.factory' in sys.modules; "
        "print({'numba', 'arborescence.parsers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr
