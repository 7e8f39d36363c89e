"""White space in MISC: names, and texts put together again."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arborescence.treebank import Sentence, raw_text, read
from arborescence.treebank.surface import escaped, surface, unescaped


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_what_is_written_is_read(text: str) -> None:
    value = escaped(text)
    assert unescaped(value) == text
    assert not {*" \t\n\r|\u00a0\u2028\u3000\v\f\x85"} & {*value}


def test_names() -> None:
    text = " \t\n\r|\\\u00a0\u202f\u2028\u3000\v\f\u00ad"
    assert escaped(text) == r"\s\t\n\r\p\\\u00A0\u202F\u2028\u3000\u000B\u000C\u00AD"
    # What is no name stays as it is; a half of a character is none.
    for value in (r"\x", r"\u12", r"\ud800", "\\", "a b"):
        assert unescaped(value) == value


@pytest.mark.parametrize(
    ("misc", "comments", "text"),
    [
        (["_", "_", "_"], [], "Birds sing ."),
        (["_", "Gloss=x|SpaceAfter=No", "_"], [], "Birds sing."),
        ([r"SpacesAfter=\u00A0", r"SpacesInToken=sing\s|SpacesAfter=\s\p", r"SpacesAfter=\n"], [],
         "Birds\u00a0sing  |.\n"),
        ([r"SpacesBefore=\s\t", "_", "_"], [], " \tBirds sing ."),
    ],
)  # fmt: skip
def test_texts(misc: list[str], comments: list[str], text: str) -> None:
    sentence = Sentence.from_words(["Birds", "sing", "."], misc=misc, comments=comments)
    assert raw_text([sentence]) == text


def test_paragraphs_multiword_tokens_and_empty_nodes() -> None:
    rows = [
        "# newdoc", "1-2\tdu", "1\tde", "2\tle\tSpaceAfter=No", "2.1\tx", "3\tparc\tSpaceAfter=No",
        "", "1\tA", "", "# newpar", "1\tB", "", "# newdoc id = x", "1\tC\tSpacesAfter=\\n", "",
        "# newdoc", "1\tD", "", "",
    ]  # fmt: skip
    lines = []
    for row in rows:
        number, _, rest = row.partition("\t")
        form, _, misc = rest.partition("\t")
        lines.append("\t".join([number, form, *["_"] * 7, misc or "_"]) if form else row)
    sentences = list(read(io.BytesIO("\n".join(lines).encode())))
    assert raw_text(sentences) == "du parcA\n\nB\n\nC\nD"
    assert raw_text([]) == ""
    assert [(token.first, token.last) for token in surface(sentences[0])] == [(1, 2), (3, 0)]
