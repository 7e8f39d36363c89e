"""Sentences in other spellings: words, spaces and the comment of the text."""

from __future__ import annotations

import io

import pytest

from arborescence.errors import OptionError
from arborescence.parsers.text.tokenizer import tokens_of
from arborescence.treebank import Sentence, evaluate, read, respelled

NONE = "SpaceAfter=No"
LINES = """\
# sent_id = 1
# text = "I don't," she -- é -- 'said' ...
1\t"\t"\tPUNCT\t_\t_\t4\tpunct\t_\tSpaceAfter=No
2\tI\tI\tPRON\t_\t_\t4\tnsubj\t_\t_
3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\tTypo=Yes|SpaceAfter=No
3\tdo\tdo\tAUX\t_\t_\t0\troot\t_\t_
4\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_
5\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\tSpaceAfter=No
6\t"\t"\tPUNCT\t_\t_\t3\tpunct\t_\t_
7\tshe\tshe\tPRON\t_\t_\t3\tdep\t_\t_
8\t--\t--\tPUNCT\t_\t_\t3\tpunct\t_\t_
9\té\té\tX\t_\t_\t3\tdep\t_\t_
9.1\tgone\tgo\tVERB\t_\t_\t_\t_\t3:dep\t_
10\t--\t--\tPUNCT\t_\t_\t3\tpunct\t_\t_
11\t'\t'\tPUNCT\t_\t_\t3\tpunct\t_\tSpaceAfter=No
12\tsaid\tsay\tVERB\t_\t_\t3\tdep\t_\tSpaceAfter=No
13\t'\t'\tPUNCT\t_\t_\t3\tpunct\t_\t_
14\t...\t...\tPUNCT\t_\t_\t3\tpunct\t_\tSpaceAfter=No

"""


@pytest.fixture
def said():
    return next(read(io.BytesIO(LINES.encode())))


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        ("typographic", "“I don’t,” she — é — ‘said’ …"),
        ("guillemets", "«\u00a0I don’t,\u00a0» she — é — ‘said’ …"),
        ("straight", "\"I don't,\" she -- é -- 'said' ..."),
        ("lower", "\"i don't,\" she -- é -- 'said' ..."),
        ("upper", "\"I DON'T,\" SHE -- É -- 'SAID' ..."),
        ("nfd", "\"I don't,\" she -- e\u0301 -- 'said' ..."),
    ],
)
def test_text_and_words(said, spelling, text):
    [found] = respelled([said], spelling)
    assert found.text == text
    assert found.tree.tolist() == said.tree.tolist()
    assert (found.upos, found.lemmas) == (said.upos, said.lemmas)
    assert "9.1\tgone\tgo" in str(found)
    [[tokens]] = tokens_of([found])
    assert "".join(tokens[2].words) == tokens[2].form
    assert "Typo=Yes" in str(found)
    again = list(respelled([found], "straight"))
    if spelling == "typographic":
        assert again == [said]
    assert evaluate([found], [found]).words.f1 == 1


def test_spaces_of_french():
    forms = ["Quoi", "?", '"', "Oui", '"', "!"]
    misc = ["_", "_", NONE, NONE, "_", NONE]
    [found] = respelled(
        [Sentence.from_words(forms, misc=misc, comments=["# text = x"])], "guillemets"
    )
    assert found.text == "Quoi\u202f? «\u00a0Oui\u00a0»\u202f!"
    assert found.misc[0] == r"SpacesAfter=\u202F"
    assert found.misc[2] == r"SpacesAfter=\u00A0"


def test_quotation_marks_without_spaces_take_turns():
    forms = ["a", '"', "b", '"', "c", '"']
    [found] = respelled([Sentence.from_words(forms, misc=[NONE] * 6)], "typographic")
    assert found.forms == ["a", "“", "b", "”", "c", "“"]


def test_words_that_nobody_wrote_stay():
    lines = "1-2\taux\t_\t_\t_\t_\t_\t_\t_\t_\n1\tà\tà\tADP\t_\t_\t0\troot\t_\t_\n"
    lines += "2\tles\tle\tDET\t_\t_\t1\tdet\t_\t_\n\n"
    [sentence] = read(io.BytesIO(lines.encode()))
    assert [one.forms for one in respelled([sentence], "nfd")] == [["à", "les"]]
    assert [one.forms for one in respelled([sentence], "upper")] == [["À", "LES"]]


def test_another_spelling():
    with pytest.raises(OptionError, match="spelling must be"):
        list(respelled([], "Typographic"))
