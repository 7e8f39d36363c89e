"""The places of words in the text that sentences make."""

import io

from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
from arborescence.treebank import raw_text, read, with_ranges, word_ranges


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
