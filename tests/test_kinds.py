"""What `benchmarks/kinds.py` counts: cases of queries, right trees, LAS by genre."""

import gzip
from importlib import import_module
from pathlib import Path

import pytest

from arborescence.treebank import Sentence, read, validate

HERE = Path(__file__).parent
BENCHMARKS = HERE.parent / "benchmarks"
THIRTY = list(read(BENCHMARKS / "thirty.conllu"))
OTHERS = [
    *read(HERE / "parsers" / "english.conllu"),
    Sentence.from_words(
        ["What", "is", "it", "?"], upos=["PRON", "AUX", "PRON", "PUNCT"],
        feats=["PronType=Int", "_", "_", "_"], heads=[0, 1, 1, 1],
        deprels=["root", "cop", "nsubj", "punct"], comments=["# sent_id = what"],
    ),
    Sentence.from_words(
        ["Phone", ":", "12", "Fax", ":", "34"], heads=[0, 3, 1, 1, 6, 4],
        deprels=["root", "punct", "appos", "list", "punct", "appos"],
        comments=["# sent_id = list"],
    ),
]  # fmt: skip
#: The dependents of the edges of each construction, by sentence, in THIRTY and OTHERS.
FOUND = {
    "fronted adverbial clauses": {
        "new-10": ["waited"], "new-21": ["need"], "new-30": ["lacks"],
        "78": ["comes"], "82": ["closed"], "86": ["saw"],
    },
    "quotations before *she said*": {
        "48": ["told", "he"], "49": ["going", "she"], "51": ["wait", "doctor"],
        "52": ["pay", "woman"], "53": ["help", "clerk"],
    },
    "quotations before *said she*": {"52": ["pay", "woman"], "53": ["help", "clerk"]},
    "vocatives": {"new-11": ["Okafor"]},
    "two objects": {
        "new-14": ["brother", "ladder"], "1": ["me", "that"], "11": ["us", "basket"],
        "25": ["me", "way"], "38": ["me", "address"],
    },
    "comparative correlatives": {"new-10": ["waited"]},
    "*wh*-questions": {"new-1": ["buy", "What"]},
    "*what is it*": {"what": ["What", "it"]},
    "*what did you see*": {"new-1": ["What", "did", "cousin"]},
    "extraction out of a clause": {"new-2": ["caused", "What"]},
    "gapping": {"new-29": ["salad"]},
    "apposition": {"new-23": ["engineer"], "list": ["12", "34"]},
    "parataxis": {"new-7": ["replied"], "new-12": ["Tomas"], "new-18": ["fell"], "36": ["do"]},
    "clauses as subjects": {"81": ["find"], "85": ["Learning"]},
    "lists": {"list": ["Fax"]},
    "reduced relative clauses": {"new-16": ["walked"]},
    "coordination over more than eight words": {
        "new-7": ["closes"], "new-9": ["clocks"], "new-25": ["swim"], "new-30": ["pay"],
    },
}  # fmt: skip


@pytest.fixture
def kinds(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("kinds")


def changed(sentence, word, head=None, relation=None):
    """Return a sentence in which a word has another head, another relation, or both."""
    heads, relations = list(sentence.heads), list(sentence.deprels)
    heads[word - 1] = heads[word - 1] if head is None else head
    relations[word - 1] = relation or relations[word - 1]
    return sentence.replace(heads=heads, deprels=relations)


def named(sentences, name):
    return next(sentence for sentence in sentences if sentence.sent_id == name)


def test_the_trees_keep_the_rules():
    assert len(THIRTY) == 30
    assert list(validate(THIRTY)) == []


def test_the_trees_keep_the_rules_of_the_official_validator():
    pytest.importorskip("udtools")
    from official_validator import broken_rules

    assert broken_rules((BENCHMARKS / "thirty.conllu").read_text("utf-8")) == set()


def test_each_query_has_its_cases(kinds):
    assert set(FOUND) == set(kinds.queries())


@pytest.mark.parametrize("name", FOUND)
def test_queries_find_constructions(kinds, name):
    sentences = [*THIRTY, *OTHERS]
    found = {}
    for sentence, words in kinds.cases(sentences, kinds.queries()[name]):
        forms = named(sentences, sentence).forms
        found.setdefault(sentence, []).extend(forms[word - 1] for word in words)
    assert found == FOUND[name]


def test_a_case_is_right_if_all_its_edges_are(kinds):
    lent = named(THIRTY, "new-14")

    def right(parsed):
        return {name: (found, good) for name, found, good in kinds.constructions([lent], [parsed])}

    assert right(lent)["two objects"] == (1, 1)
    for word in (5, 7):
        assert right(changed(lent, word, relation="obl"))["two objects"] == (1, 0)
        assert right(changed(lent, word, head=9))["two objects"] == (1, 0)
    assert right(changed(lent, 7, relation="obj:other"))["two objects"] == (1, 1)
    assert right(changed(lent, 9, head=7, relation="nmod"))["two objects"] == (1, 1)
    assert right(lent)["gapping"] == (0, 0)


def test_a_case_counts_once(kinds):
    """A pattern may match several times with the same edges."""
    cities = Sentence.from_words(
        ["Rome", "or", "Oslo"], heads=[0, 3, 1], deprels=["root", "cc", "conj"],
        comments=["# sent_id = 1"],
    )  # fmt: skip
    query = "A -[conj]-> B; C []"
    assert list(kinds.cases([cities, named(THIRTY, "new-1")], query)) == [("1", (3,))]


def test_trees_are_right_but_for_open_words_and_punctuation(kinds):
    sentences = [named(THIRTY, name) for name in ("new-3", "new-21")]
    shops, bell = sentences
    assert kinds.tried(sentences, sentences) == (2, 0)
    assert kinds.tried(sentences, [changed(shops, 5, head=1), bell]) == (2, 0)  # nearby is open
    assert kinds.tried(sentences, [shops, changed(bell, 5, head=6)]) == (2, 0)  # a comma
    assert kinds.tried(sentences, [shops, changed(bell, 8, relation="obl")]) == (1, 0)
    turned = changed(changed(bell, 6, 3, "parataxis"), 3, 0, "root")
    assert kinds.tried(sentences, [shops, turned]) == (1, 1)


def test_only_documents_of_dev_and_test_are_read_of_gum(kinds, monkeypatch, tmp_path):
    (tmp_path / "splits.md").write_text(
        "# Splits\n\n## dev\n\n  * GUM_bio_one\n\n## test\n\n  * GUM_bio_two\n\n"
        "## test2\n\n  * GENTLE_bio_three\n\n## train\n\n  * GUM_bio_four\n  * GUM_bio_one_b\n"
    )
    ids = ["GUM_bio_one-1", "GUM_bio_two-1", "GENTLE_bio_three-1", "GUM_bio_four-1"]
    ids += ["GUM_bio_one_b-1", "GUM_bio_one-2"]
    row = "1\tBirds\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    text = "".join(f"# sent_id = {name}\n{row}" for name in ids)
    (tmp_path / "bio.conllu.gz").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(kinds, "GUM", tmp_path)
    found = [sentence.sent_id for sentence in kinds.gum()]
    assert found == ["GUM_bio_one-1", "GUM_bio_two-1", "GUM_bio_one-2"]


def test_genres_are_measured_from_words_and_from_raw_text(kinds):
    def birds(name, *, newdoc="", head=0):
        comments = [*([f"# newdoc id = {newdoc}"] if newdoc else []), f"# sent_id = {name}"]
        return Sentence.from_words(
            ["Birds", "sing"], heads=[2, 0] if head == 0 else [0, 1],
            deprels=["nsubj", "root"] if head == 0 else ["root", "dep"], comments=comments,
        )  # fmt: skip

    gold = [birds("a", newdoc="email-1"), birds("b"), birds("c", newdoc="weblog-1")]
    words = [gold[0], birds("b", head=1), gold[2]]
    raw = [gold[0], gold[1], birds("c", newdoc="weblog-1", head=1)]
    assert kinds.genres(gold, words, raw) == [["email", 4, 50.0, 100.0], ["weblog", 2, 100.0, 0.0]]
