"""UDPipe's REST interface: formats and options are done, or refused."""

import re
from urllib.parse import urlencode

import pytest

from arborescence.errors import OptionError
from arborescence.treebank import Sentence

pytest.importorskip("starlette", reason="needs the extra 'serve'")

from arborescence.integrations.service import udpipe
from arborescence.integrations.service.request_content import form_of
from arborescence.parsers.text import Text
from samples import treebank


class Parser:
    """Only cuts text."""

    text = Text.train(treebank())

    def split(self, data):
        return self.text.tokenizer.split(data)

    def read_text(self, source, lines):
        return self.text.read(source, lines=lines)


def forms(**asked):
    return [sentence.forms for sentence in udpipe.sentences_of(asked, Parser())]


def test_horizontal_cuts_at_spaces_and_line_ends_only():
    data = "10\u00a0000 birds\u2028sing\u3000 .\r\n\n  Trees\tgrow \n"
    expected = [["10\u00a0000", "birds\u2028sing\u3000", "."], ["Trees", "grow"]]
    assert forms(data=data, input="horizontal") == expected


def test_vertical_cuts_at_line_ends_only():
    data = "New York\tX\n10\u00a0000\u2028\r\n\n\n\nTrees\ngrow"
    assert forms(data=data, input="vertical") == [
        ["New York", "10\u00a0000\u2028"],
        ["Trees", "grow"],
    ]


def test_what_is_written_is_read_again():
    given = [Sentence.from_words(["New York", "is", "old"]), Sentence.from_words(["Birds", "sing"])]
    vertical = udpipe.written(given, "vertical")
    assert forms(data=vertical, input="vertical") == [one.forms for one in given]
    horizontal = udpipe.written(given, "horizontal")
    assert horizontal == "New\u00a0York is old\nBirds sing\n"


def test_presegmented_lines_are_sentences():
    data = "Birds sing. The old\ntrees grow"
    assert len(forms(data=data, tokenizer="presegmented")) == 2
    assert forms(data=data, input="generic_tokenizer=presegmented") == forms(
        data=data, tokenizer="presegmented"
    )
    assert len(forms(data=data, tokenizer="")) != 2 or "grow" in forms(data=data, tokenizer="")[0]


def test_ranges_are_the_places_of_tokens():
    data = "  The birds\u00a0sing.\n\nTrees grow  "
    seen = []
    for sentence in udpipe.sentences_of({"data": data, "tokenizer": "ranges"}, Parser()):
        for form, misc in zip(sentence.forms, sentence.misc, strict=True):
            start, end = map(int, re.search(r"TokenRange=(\d+):(\d+)", misc).groups())
            assert data[start:end] == form
            seen.append(form)
    assert seen == [form for words in forms(data=data, tokenizer="") for form in words]


def test_normalized_spaces():
    misc = "SpacesAfter=\\n|SpaceAfter=No|SpacesBefore=\\s|SpacesInToken=a"
    sentence = Sentence.from_words(["a", "b"], misc=[misc, "SpacesAfter=\\n"])
    assert udpipe._without_spaces(sentence).misc == ["SpaceAfter=No", "_"]
    for sentence in udpipe.sentences_of(
        {"data": "Birds  sing .\n\n", "tokenizer": "normalized_spaces;ranges"}, Parser()
    ):
        assert "Spaces" not in str(sentence)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"tokenizer": "presegmented;allow_spaces=1"}, "no option 'allow_spaces=1'"),
        ({"input": "conllu=v1"}, "conllu has no options here"),
        ({"input": "horizontal=x"}, "horizontal has no options"),
        ({"input": "epe"}, "input must be one of"),
        ({"output": "matxin"}, "output must be one of"),
        ({"output": "plaintext=normalized_spaces"}, "output must be one of"),
        ({"tagger": "fast"}, "the tagger has no options here"),
        ({"parser": "beam_search=5"}, "the parser has no options here"),
        ({"tokeniser": ""}, "no parameter 'tokeniser'"),
    ],
)
def test_what_is_not_done_is_refused(asked, said):
    def answer():
        udpipe.check({"data": "Birds sing ."} | asked)
        return list(udpipe.sentences_of({"data": "Birds sing ."} | asked, Parser()))

    with pytest.raises(OptionError, match=re.escape(said)):
        answer()


def test_none_is_none():
    udpipe.check({"data": "", "tagger": "none", "parser": ""})
    assert not udpipe.wanted({"tagger": "none"}, "tagger")
    assert udpipe.wanted({"parser": ""}, "parser")


URLENCODED = {"content-type": "application/x-www-form-urlencoded"}
PARTS = {"content-type": 'multipart/form-data; boundary="x y"'}


def test_forms():
    asked = {"data": "a=b&c; é\r\n--x", "tokenizer": ""}
    assert form_of(urlencode(asked).encode(), {}, b"") == asked
    assert form_of(b"data=x", URLENCODED, urlencode(asked).encode()) == asked
    parts = "".join(
        f'--x y\r\nContent-Disposition: form-data; filename="name="; name="{name}"'
        f"\r\n\r\n{value}\r\n"
        for name, value in asked.items()
    )
    assert form_of(b"", PARTS, f"{parts}--x y--\r\n".encode()) == asked
    assert form_of(b"", PARTS, b"--x y--") == {}


@pytest.mark.parametrize(
    ("headers", "body", "said"),
    [
        (URLENCODED, b"a&" * 101, "at most 100 fields"),
        (PARTS, b"--x y\r\n\r\n" * 200, "at most 100 fields"),
        (PARTS, b'--x y\r\nC: f; name="a"\r\n\r\nb', "the end is missing"),
        (PARTS, b"--x y\r\n\r\nb\r\n--x y--", "no name"),
        ({"content-type": "multipart/form-data"}, b"x", "no boundary"),
        ({"content-type": "text/plain"}, b"data=x", "give a form"),
    ],
)
def test_forms_that_are_broken(headers, body, said):
    with pytest.raises(OptionError, match=said):
        form_of(b"", headers, body)


def test_a_form_that_is_not_utf8():
    with pytest.raises(UnicodeDecodeError):
        form_of(b"", URLENCODED, b"data=%ff")
