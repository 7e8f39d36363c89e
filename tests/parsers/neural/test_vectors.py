"""Pretrained word vectors: file formats, what is kept, and what is wrong in a file."""

import gzip
import io

import numpy as np
import pytest

from arborescence.errors import ModelError, OptionError
from arborescence.parsers import BiaffineParser
from arborescence.parsers.neural.inputs import Inputs
from arborescence.parsers.neural.vectors import Vectors, row_of, words_of
from arborescence.parsers.neural.vocabulary import Vocabulary
from arborescence.treebank import Sentence
from samples import treebank

LINES = b"the 1 0 -2.5\nof 0 1e-1 3\nTrees 4 5 6\ntrees 7 8 9\n"
TABLE = [[0, 0, 0], [1, 0, -2.5], [0, 0.1, 3], [4, 5, 6], [7, 8, 9]]


def read(data, *wanted, most=100):
    return Vectors.read(io.BytesIO(data), set(wanted), most)


@pytest.mark.parametrize(
    "data",
    [
        LINES,
        b"4 3\n" + LINES,
        b"\xef\xbb\xbf4 3\r\n" + LINES.replace(b"\n", b" \r\n"),
        LINES.replace(b" ", b"\t").rstrip(),
        gzip.compress(b"4 3\n" + LINES[:20], mtime=0) + gzip.compress(LINES[20:]),
        b"\n" + LINES + b"the 5 5 5\n \n",
    ],
    ids=["GloVe", "word2vec", "Windows", "tabs", "gzip", "twice"],
)
def test_the_formats(data):
    words, table = read(data)
    assert words == {"the": 1, "of": 2, "Trees": 3, "trees": 4}
    assert table.dtype == np.float32
    assert table.tolist() == np.array(TABLE, np.float32).tolist()


def test_a_path(tmp_path):
    path = tmp_path / "vectors.vec"
    path.write_bytes(LINES)
    assert Vectors.read(path).words == read(LINES).words


def test_the_wanted_and_the_most_frequent_are_kept():
    assert read(LINES, "trees", "oaks", most=1).words == {"the": 1, "trees": 2}
    assert read(LINES, "trees", most=0).words == {"trees": 1}
    assert len(read(LINES, most=2).table) == 3


def test_words_with_spaces():
    words, table = read(b"2 2\nau fur 1 2\n. . 3 4\nno\xc2\xa0break 5 6\n")
    assert list(words) == ["au fur", ". .", "no\xa0break"]
    assert table[1:].tolist() == [[1, 2], [3, 4], [5, 6]]


def test_a_header_of_more_words_than_follow():  # as after `head`
    assert len(read(b"2000000 3\n" + LINES).words) == 4


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "<stream>: no vectors: the file is empty"),
        (b"4 3\n", "<stream>: no vectors: the file is empty"),
        (b"4 0\n", "<stream>:1: neither"),
        (b"the\nof\n", "<stream>:1: neither"),
        (b"the 1 2\n\nof 1\n", "<stream>:3: 1 numbers, but the first line says 2"),
        (b"the 1 2\nof 1 2 3\n", "<stream>:2: 3 numbers, but the first line says 2"),
        (b"5 3\nthe 1 2\n", "<stream>:2: 2 numbers, but the first line says 3"),
        (b"the 1 2\nof 1 x\n", "<stream>:2: 'x' is not a finite number"),
        (b"the 1 2\nof nan 1\n", "<stream>:2: 'nan' is not a finite number"),
        (b"the 1 2\nof 1 1e39\n", "<stream>:2: '1e39' is not a finite number"),
        (b"the 1 2\nof 1 \xff\n", "<stream>:2: '\ufffd' is not a finite number"),
        (b"the 1 2\n\xe4sche 1 2\n", "<stream>:2: the word is not UTF-8: convert"),
        (b"\0" * 3_000_000, "<stream>:1: no end of the line within"),
        (gzip.compress(LINES, mtime=0)[:-9], "<stream>: the gzip data is"),
    ],
)
def test_what_is_wrong(data, message):
    with pytest.raises(ModelError, match=message):
        read(data)


def test_nothing_wanted():
    with pytest.raises(ModelError, match="none of the wanted words"):
        read(LINES, "oaks", most=0)
    with pytest.raises(OptionError, match="most"):
        read(LINES, most=-1)


def test_a_few_words_that_are_not_utf8_are_skipped():
    lines = [b"w%d 1 2\n" % i for i in range(200)]
    lines[50] = b"cut\xe4 1 2\n"
    assert len(read(b"".join(lines), most=1000).words) == 199


def test_what_no_sentence_can_have_is_skipped():
    assert list(read(b"the 1 2\n 1 2\na\tb 3 4\nof 1 2").words) == ["the", "of"]


def test_forms_are_looked_up_as_they_are_then_in_lower_case():
    words = {"trees": 1, "Trees": 2}
    assert [row_of(form, words) for form in ("trees", "Trees", "TREES", "oaks")] == [1, 2, 1, 0]
    assert words_of([Sentence.from_words(["Trees", "GROW"])]) == {"Trees", "trees", "GROW", "grow"}


def test_inputs_have_the_rows():
    sentences = [Sentence.from_words(words) for words in (["Trees"], ["old", "TREES"])]
    vocabulary = Vocabulary.of(sentences, ["form"])._replace(vectors={"trees": 1, "old": 2})
    inputs = Inputs.of(sentences, vocabulary, None, {})
    assert inputs.vectors[inputs.spelling][inputs.layout.rows].tolist() == [[0, 1, 0], [0, 2, 1]]
    assert Inputs.of(sentences, Vocabulary.of(sentences, ["form"]), None, {}).vectors is None


TINY = {"word": 8, "letter": 4, "filters": 8, "tag": 4, "hidden": 16, "arc": 16, "label": 16}
TINY |= {
    "precision": "float16",
    "dropout": 0,
    "word_dropout": 0,
    "columns": ("form", "upos"),
    "rate": 0.02,
}


def test_training_and_files(tmp_path):
    pytest.importorskip("torch", reason="training needs the extra 'torch'")
    few = treebank()[:3]
    forms = [*sorted({form.lower() for sentence in few for form in sentence.forms}), "oaks"]
    rng = np.random.default_rng(1)
    lines = [" ".join([form, *map(str, rng.normal(size=6).round(3))]) for form in forms]
    (tmp_path / "vectors").write_text("\n".join(lines))
    parser = BiaffineParser.train(few, vectors=tmp_path / "vectors", epochs=60, **TINY)
    assert list(parser.vocabulary.vectors) == forms
    table = parser.weights["pretrained.weight"].astype(np.float32)
    given = Vectors.read(tmp_path / "vectors").scaled().table
    np.testing.assert_allclose(table, given, rtol=1e-3)  # not trained
    assert not table[0].any()
    parsed = parser.parse([sentence.replace(upos=["_"] * len(sentence)) for sentence in few])
    for tree, gold in zip(parsed, few, strict=True):
        assert (tree.tree.tolist(), tree.deprels) == (gold.tree.tolist(), gold.deprels)
    parser.save(tmp_path / "model")
    loaded = BiaffineParser.load(tmp_path / "model")
    for sentence in treebank():
        scores = loaded.scores(sentence)
        assert (scores == parser.scores(sentence)).all()
        wanted = parser.to("cpu").scores(sentence)
        assert np.abs(scores - wanted).max() < 0.1 * np.abs(wanted).max()  # products of bytes
        parser.to(None)
    # Unknown words differ by their pretrained vectors, if they have one.
    one, two = (parser.scores(Sentence.from_words([word, "sing"])) for word in ("oaks", "oaksx"))
    assert not np.allclose(one, two)
    assert loaded.vocabulary == parser.vocabulary
