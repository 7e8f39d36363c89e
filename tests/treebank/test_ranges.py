"""The places of words in the text that sentences make."""

import io
import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
from arborescence.treebank import (
    Sentence,
    raw_text,
    read,
    read_tokens,
    with_ranges,
    word_ranges,
)
from modes import some


def test_words_of_a_multiword_token_have_the_range_of_the_token():
    token = "1-2\tVom\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    blanks = "\t_" * 8
    words = "".join(f"{i}\t{form}{blanks}\n" for i, form in enumerate(["von", "dem", "!"], 1))
    [given] = read(io.BytesIO(f"# a = b\n{token}{words}\n".encode()))
    assert [ranges for _, ranges in word_ranges([given])] == [[(0, 3), (0, 3), (3, 4)]]
    [marked] = with_ranges([given])
    assert "SpaceAfter=No|TokenRange=0:3" in str(marked)
    assert marked.misc == ["_", "_", "TokenRange=3:4"]
    [again] = with_ranges([marked])
    assert again == marked


@settings(max_examples=some(30))
@given(
    st.lists(
        st.text("ab.\u00e9\U0001f600 \n\u00a0\u0301’", min_size=1, max_size=40).filter(str.strip),
        min_size=1, max_size=3,
    )
)  # fmt: skip
def test_ranges_are_the_places_in_the_text(texts):
    text = "\n\n".join(texts)
    sentences = list(arb.load("english-fast").split(text))
    whole = raw_text(sentences)
    assert whole == text
    begun = end = 0
    for sentence, ranges in word_ranges(sentences):
        for form, (start, stop) in zip(sentence.forms, ranges, strict=True):
            assert end <= start < stop or (start, stop) == (begun, end)
            if not sentence.multiwords and "SpacesInToken" not in "".join(sentence.misc):
                assert text[start:stop] == form
            begun, end = start, stop
    assert not text[end:].strip()


def _file(*lines: str) -> io.BytesIO:
    rows = (f"{line.replace(' ', chr(9))}\t_\t_\t_\t_\t_\t_" for line in lines if line[0] != "#")
    comments = [line for line in lines if line[0] == "#"]
    return io.BytesIO("\n".join([*comments, *rows, "", ""]).encode())


def test_places_in_a_file_are_exact_through_pieces_of_it():
    """Also where a file begins with a byte order mark, has CR LF, or much white space."""
    text = "Café don't 😀 grow!\r\n\r\nThey  can't.\r\n" * 600
    text += "\n" * (2 << 20) + "Birds don't\r\nsing."
    file = io.BytesIO(b"\xef\xbb\xbf" + text.encode())
    sentences = list(arb.load("english-fast").read_text(file))
    for sentence, ranges in word_ranges(sentences):
        whole = {n: form for first, last, form in sentence.multiwords for n in (first, last)}
        for number, (form, (start, end)) in enumerate(zip(sentence.forms, ranges, strict=True), 1):
            assert text[start:end] == whole.get(number, form)
        assert ranges == sentence.ranges
        assert (sentence.start, sentence.end) == (ranges[0][0], ranges[-1][1])
    assert sentences[-1].end == len(text)
    assert sentences[-1].word(2).start == sentences[-1].word(3).start == len(text) - 12


def test_words_of_lines_have_their_places_in_the_file():
    text = " Old  trees\tgrow\r\n\r\n\n10\u00a0000 e\u0301 .\r\n"
    found = list(read_tokens(io.BytesIO(b"\xef\xbb\xbf" + text.encode())))
    places = [[text[start:end] for start, end in sentence.ranges] for sentence in found]
    assert places == [sentence.forms for sentence in found]
    assert found[0].misc == [r"SpacesAfter=\s\s", r"SpacesAfter=\t", "_"]


def test_a_comment_says_what_misc_does_not():
    [sentence] = read(_file("# text = Don't  go!", "1-2 Don't _ _", "1 Do _ _", "2 n't _ _",
                            "3 go _ _", "4 ! _ _"))  # fmt: skip
    assert sentence.ranges == [(0, 5), (0, 5), (7, 9), (9, 10)]
    assert raw_text([sentence]) == "Don't  go!"
    [other] = read(_file("# text = Do go!", "1 Go _ _", "2 ! _ _"))  # of other words
    assert other.ranges == [(0, 2), (3, 4)]


def test_each_file_begins_anew_and_given_places_stay(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(_file("1 Go _ _", "2 on _ _").getvalue() * 2)
    sentences = [sentence for name in ("a", "b") for sentence in read(tmp_path / name)]
    assert [ranges[0] for _, ranges in word_ranges(sentences)] == [(0, 2), (6, 8)] * 2
    marked = sentences[0].replace(misc=["TokenRange=70:72", "TokenRange=75:77"])
    assert marked.ranges == [(70, 72), (75, 77)]
    assert [s.misc for s in with_ranges([marked, sentences[1]])][1] == [
        "TokenRange=78:80", "TokenRange=81:83"
    ]  # fmt: skip
    assert marked.replace(misc=["TokenRange=70:72", "_"]).ranges == [(0, 2), (3, 5)]


def test_places_are_kept_by_copies(tmp_path):
    sentence = Sentence.from_words(["Go"]).derived(offset=7, plus=("ID", "FORM"))
    for copy in (pickle.loads(pickle.dumps(sentence)), sentence.replace(heads=[0], comments=["#"])):
        assert (copy.start, copy.plus) == (7, ("ID", "FORM"))
