import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arborescence.treebank import Sentence, read
from arborescence.treebank.joined import (
    Joined,
    names_of,
    values_of,
    with_columns,
    with_trees,
    with_values,
)
from arborescence.treebank.sentence import DEPREL, DEPS, FORM, LEMMA, MISC, UPOS, XPOS
from real import TREEBANKS

NAMES = ["nsubj", "csubj:outer", "ergänzung", "_", "root"]
WITH_EVERYTHING = b"""# sent_id = 1
1-2\tvamos\t_\t_\t_\t_\t_\t_\t_\t_
1\tva\tir\tVERB\t_\t_\t0\troot\t_\tNote=\xc3\xa9
2\tnos\tnos\tPRON\t_\t_\t1\tobj\t1:obj\t_
2.1\tnada\t_\t_\t_\t_\t_\t_\t1:obj\t_
3\tya\tya\tADV\t_\t_\t1\tadvmod\t_\t_

"""


def annotate(sentences, generator):
    heads, labels = [], []
    for sentence in sentences:
        n = len(sentence)
        tree = generator.integers(-1, n + 1, n + 1)
        tree[tree == np.arange(n + 1)] = 0
        tree[0] = -1
        heads.append(tree)
        labels.append(generator.integers(-1, len(NAMES), n + 1))
    spelled = [*NAMES, "_"]
    one_by_one = [
        sentence.replace(heads=tree, deprels=[spelled[label] for label in row[1:]])
        for sentence, tree, row in zip(sentences, heads, labels, strict=True)
    ]
    at_once = with_trees(sentences, np.concatenate(heads), np.concatenate(labels), NAMES)
    for one, other in zip(one_by_one, at_once, strict=True):
        assert one.raw == other.raw
        assert one.spans.dtype == other.spans.dtype
        assert one.spans.tolist() == other.spans.tolist()
        assert (one.source, one.line) == (other.source, other.line)


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(1, 120), min_size=1, max_size=6), st.integers(0, 99))
def test_the_same_as_one_by_one(lengths, seed):
    sentences = [Sentence.from_words(["wörd"] * n, misc=["X=y"] * n) for n in lengths]
    annotate(sentences, np.random.default_rng(seed))


def test_comments_multiwords_and_empty_nodes_are_kept(tmp_path):
    path = tmp_path / "all.conllu"
    path.write_bytes(WITH_EVERYTHING * 2)
    annotate(list(read(path)), np.random.default_rng(1))


@pytest.mark.skipif(not TREEBANKS.exists(), reason="needs the treebanks in ../shared/ud")
@pytest.mark.parametrize("name", ["Turkish-IMST", "Lithuanian-HSE"])
def test_real_sentences(name):
    [path] = (TREEBANKS / name).glob("*-test.conllu.gz")
    annotate(list(read(path)), np.random.default_rng(2))


def test_nothing_at_all():
    nothing = np.empty(0, dtype=np.int64)
    assert with_trees([], nothing, nothing, NAMES) == []
    annotate([Sentence.from_words(["Grow"])], np.random.default_rng(0))


def test_what_does_not_fit():
    one = [Sentence.from_words(["Grow"])]
    tree = np.array([-1, 0])
    with pytest.raises(ValueError, match="1 heads and 2 labels for 2 nodes"):
        with_trees(one, tree[:1], tree, NAMES)
    with pytest.raises(ValueError, match="label 7 has no name: there are 5"):
        with_trees(one, tree, np.array([0, 7]), NAMES)


def test_columns_of_many_sentences_where_some_words_keep_their_values(tmp_path):
    path = tmp_path / "all.conllu"
    path.write_bytes(WITH_EVERYTHING * 3)
    sentences = [*read(path), Sentence.from_words(["Grow", "!"], upos=["VERB", "PUNCT"])]
    words = sum(map(len, sentences))
    new = {
        LEMMA: [b"" if word % 3 == 0 else b"l%d" % word for word in range(words)],
        UPOS: names_of(["N", "ÄDJ"], np.arange(words) % 2, np.arange(words) > 4),
        XPOS: [b"x"] * words,
    }
    first = 0
    for old, changed in zip(sentences, with_columns(sentences, new), strict=True):
        stop = first + len(old)
        lemmas, upos, xpos = (
            [value.decode() or kept for value, kept in zip(values[first:stop], own, strict=True)]
            for values, own in zip(new.values(), (old.lemmas, old.upos, old.xpos), strict=True)
        )
        one = old.replace(lemmas=lemmas, upos=upos, xpos=xpos)
        assert (one.raw, one.spans.tolist()) == (changed.raw, changed.spans.tolist())
        assert (one.source, one.line) == (changed.source, changed.line)
        first = stop
    joined = Joined.of(sentences)
    assert with_columns(sentences, new, joined) == with_columns(sentences, new)
    assert with_columns(sentences, dict.fromkeys(new, [b""] * words)) == sentences


@pytest.mark.parametrize("columns", [range(LEMMA, DEPS), [FORM, LEMMA, DEPREL, MISC], [MISC]])
def test_values_that_move_to_equal_words(tmp_path, columns):
    path = tmp_path / "all.conllu"
    path.write_bytes(WITH_EVERYTHING * 2)
    sentences = [*read(path), Sentence.from_words(["Grow", "!"], upos=["VERB", "PUNCT"])]
    values = values_of(sentences, columns)
    for sentence, of_sentence in zip(sentences, values, strict=True):
        of_words = zip(*(sentence._column(column) for column in columns), strict=True)
        assert of_sentence.decode() == "".join(f"{v}\t" for word in of_words for v in word)
    assert with_values(sentences, columns, b"".join(values)) == sentences
    blank = with_columns(sentences, {each: [b"_"] * sum(map(len, sentences)) for each in columns})
    assert with_values(blank, columns, b"".join(values)) == sentences
    assert values_of([], columns) == with_values([], columns, b"") == []
    with pytest.raises(ValueError, match="a tab or a line end"):
        with_values(sentences, columns, b"".join(values[1:]))


@pytest.mark.parametrize("values", [[b"a", b"b"], [b"a\tb"], [b"a\n"], [b"\r"]])
def test_values_that_do_not_fit(values):
    with pytest.raises(ValueError, match=r"2 values for 1 words|a tab or a line end"):
        with_columns([Sentence.from_words(["Grow"])], {LEMMA: values})
