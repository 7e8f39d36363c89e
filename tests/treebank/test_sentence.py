"""Sentences: made of words, changed, and exact to the byte."""

import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arborescence.errors import TreebankError, TreeError
from arborescence.treebank import Sentence, read

RICH = """# sent_id = garden-1
# text = We'll prune it tomorrow
# a comment = without a meaning = known here
1-2	We'll	_	_	_	_	_	_	_	_
1	We	we	PRON	PRP	Case=Nom|Number=Plur	3	nsubj	3:nsubj	_
2	'll	will	AUX	MD	VerbForm=Fin	3	aux	3:aux	_
3	prune	prune	VERB	VB	VerbForm=Inf	0	root	0:root	_
3.1	surely	surely	ADV	_	_	_	_	3:advmod	CopyOf=-1
4	it	it	PRON	PRP	_	3	obj	3:obj	_
5	tomorrow	tomorrow	NOUN	NN	Number=Sing	3	obl:tmod	3:obl	SpaceAfter=No

"""


def sentence_of(text: str) -> Sentence:
    [sentence] = read(io.BytesIO(text.encode()))
    return sentence


def test_every_column_is_a_view_on_the_bytes():
    sentence = sentence_of(RICH)
    assert len(sentence) == 5
    assert sentence.forms == ["We", "'ll", "prune", "it", "tomorrow"]
    assert sentence.lemmas == ["we", "will", "prune", "it", "tomorrow"]
    assert sentence.upos == ["PRON", "AUX", "VERB", "PRON", "NOUN"]
    assert sentence.xpos == ["PRP", "MD", "VB", "PRP", "NN"]
    assert sentence.feats[:2] == ["Case=Nom|Number=Plur", "VerbForm=Fin"]
    assert sentence.tree.tolist() == [-1, 3, 3, 0, 3, 3]
    assert sentence.tree.dtype == np.int64
    assert sentence.deprels[-1] == "obl:tmod"
    assert sentence.deps[-1] == "3:obl"
    assert sentence.misc[-1] == "SpaceAfter=No"
    assert sentence.multiwords == [(1, 2, "We'll")]
    assert sentence.spans.shape == (5, 11)
    assert sentence.spans.dtype == np.int32
    assert str(sentence) == RICH
    assert bytes(sentence) == sentence.raw == RICH.encode()


def test_comments_are_whole_lines():
    sentence = sentence_of(RICH)
    assert sentence.comments == RICH.split("\n")[:3]
    assert sentence.sent_id == "garden-1"
    assert sentence.text == "We'll prune it tomorrow"
    bare = Sentence.from_words(["Grow"])
    assert bare.comments == []
    assert bare.sent_id is None
    assert bare.text is None


def test_replace_keeps_every_other_byte():
    changed = sentence_of(RICH).replace(heads=[-1, 10 - 8, 4, 5, 0, 1], upos=list("abcde"))
    expected = (
        RICH.replace(
            "PRON	PRP	Case=Nom|Number=Plur	3", "a	PRP	Case=Nom|Number=Plur	2"
        )
        .replace("AUX	MD	VerbForm=Fin	3", "b	MD	VerbForm=Fin	4")
        .replace("VERB	VB	VerbForm=Inf	0", "c	VB	VerbForm=Inf	5")
        .replace("PRON	PRP	_	3", "d	PRP	_	0")
        .replace("NOUN	NN	Number=Sing	3", "e	NN	Number=Sing	1")
    )
    assert str(changed) == expected
    assert changed == sentence_of(expected)
    assert np.array_equal(changed.spans, sentence_of(expected).spans)


def test_replace_can_write_every_column():
    values = {
        "lemmas": ["l1", "l2"],
        "upos": ["U1", "U2"],
        "xpos": ["X1", "é"],
        "feats": ["A=1", "_"],
        "deprels": ["root", "obl:npmod"],
        "misc": ["_", "SpaceAfter=No"],
    }
    sentence = Sentence.from_words(["a", "new form with spaces"])
    changed = sentence.replace(heads=np.array([-1, 0, 1]), comments=["# one", "#"], **values)
    for name, expected in values.items():
        assert getattr(changed, name) == expected
    assert changed.tree.tolist() == [-1, 0, 1]
    assert changed.comments == ["# one", "#"]
    assert changed == Sentence.from_words(
        ["a", "new form with spaces"], heads=[-1, 0, 1], comments=["# one", "#"], **values
    )
    assert changed.replace(comments=[]).comments == []
    assert changed.replace() is changed
    cleared = changed.replace(heads=None, comments=None, **dict.fromkeys(values))
    assert cleared == sentence
    assert changed.replace(upos=None) == changed.replace(upos=["_", "_"]) != changed


def test_unknown_heads_are_underscores():
    sentence = Sentence.from_words(["a", "b"], heads=[-1, -1, 0])
    assert "\n2\tb\t_\t_\t_\t_\t0\t" in str(sentence)
    assert sentence.tree.tolist() == [-1, -1, 0]


def test_replace_without_a_last_line_end():
    [sentence] = read(io.BytesIO(RICH.rstrip("\n").encode()))
    changed = sentence.replace(misc=["m"] * 5)
    assert changed.raw.endswith(b"\tm")
    assert changed.misc == ["m"] * 5
    assert changed.replace(misc=sentence.misc) == sentence


def test_heads_are_a_column_or_a_head_vector():
    words = Sentence.from_words(["a", "b"])
    for heads in ([2, 0], [-1, 2, 0]):
        sentence = words.replace(heads=heads)
        assert (sentence.heads.tolist(), sentence.tree.tolist()) == ([2, 0], [-1, 2, 0])
    assert words.replace(heads=[-1, 0]).heads.tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("heads", "fault"),
    [
        ([0], "2 integers"),
        ([0, 0, 1], "the first must be -1, for the root"),
        ([0, 3], "head of word 2 is 3"),
        ([-1, 0, 3], "head of word 2 is 3"),
        ([-1, 1, 0], "head of word 1 is 1"),
        ([-1, -2, 0], "head of word 1 is -2"),
        ([-1.0, 0.0, 1.0], "float64"),
    ],
)
def test_bad_heads(heads, fault):
    with pytest.raises(TreeError, match=fault):
        Sentence.from_words(["a", "b"]).replace(heads=heads)


@pytest.mark.parametrize("value", ["", "a\tb", "a\nb", "a\r", "\t", "\ud800"])
def test_bad_values(value):
    with pytest.raises(TreebankError):
        Sentence.from_words(["a", value])
    with pytest.raises(TreebankError):
        Sentence.from_words([value])
    with pytest.raises(TreebankError):
        Sentence.from_words(["a", "b"], upos=[value, "X"])


def test_errors_name_column_word_and_place():
    [sentence] = read(io.BytesIO(b"\n" + RICH.encode()))
    with pytest.raises(TreebankError, match="<stream>:1: DEPREL of word 2 is ''"):
        sentence.replace(deprels=["a", "", "b", "c", "d"])
    with pytest.raises(TreebankError, match="UPOS needs one string for each of the 5 words"):
        sentence.replace(upos=["X"])
    with pytest.raises(TreebankError, match="needs one string"):
        sentence.replace(upos="ABCDE")
    with pytest.raises(TreebankError, match="at least one word"):
        Sentence.from_words([])
    for comment in ("no hash", "# two\n# lines"):
        with pytest.raises(TreebankError, match="a comment is one line"):
            sentence.replace(comments=[comment])


def test_equality_hash_pickle_repr():
    sentence = sentence_of(RICH)
    again = pickle.loads(pickle.dumps(sentence))
    assert again == sentence
    assert hash(again) == hash(sentence)
    assert np.array_equal(again.spans, sentence.spans)
    assert (again.source, again.line) == ("<stream>", 1)
    assert sentence != Sentence.from_words(["We"])
    assert sentence != RICH
    assert repr(sentence) == "<Sentence of 5 words at <stream>:1: We 'll prune it tomorrow>"
    assert repr(Sentence.from_words(list("abcdefghi"))).endswith("a b c d e f g h …>")


VALUES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=5
)


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=120))
def test_any_words_survive_writing_and_reading(words):
    forms, upos, misc = map(list, zip(*words, strict=True))
    sentence = Sentence.from_words(forms, upos=upos, misc=misc)
    again = sentence_of(str(sentence))
    assert (again.forms, again.upos, again.misc) == (forms, upos, misc)
    assert np.array_equal(again.spans, sentence.spans)


def test_where_the_columns_are_cannot_be_changed():
    sentence = Sentence.from_words(["Trees", "grow"])
    with pytest.raises(ValueError, match="read-only"):
        sentence.spans[0, 0] = 1 << 30
    assert pickle.loads(pickle.dumps(sentence)).spans.flags.writeable is False
