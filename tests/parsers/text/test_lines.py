"""Which line ends of raw text end something, and which are spaces."""

from __future__ import annotations

import textwrap

import pytest

from arborescence.parsers.text.lines import APART, END, Lines, last_end

PROSE = (
    "When we came to the river in the evening, the boats had gone, and nobody was there who could "
    "have told us why. So we sat down on the stones. Anna had bread with her, Peter some apples - "
    "we ate - and slowly it became dark. Then a light moved on the other side of the water. It "
    "came nearer. An old woman stood in a boat, and called to us, but the wind took her words away."
)
HEADLINES = """\
Minister opens new bridge in the north
Rain expected until Friday
Five things that nobody told you about old trees and the birds which live in them
Team wins at home
iPhone found in river after three years
Prices rise again
"""
TWEETS = """\
just saw a fox in my garden omg
Does anyone know a good dentist
@anna happy birthday!! see you tonight
RT @park: the gate is closed today because of the storm, sorry
Best. Coffee. Ever.
"""
VERSE = """\
The morning came across the hill,
And all the birds were singing;
The little river, never still,
Was to the valley bringing
The news that far away at sea,
"""
LIST = """\
Bring with you what you need for a week in the mountains, which is at least:
- a warm coat
- shoes that are good for long walks, also where there is snow or water on the
  path or no path at all
- bread
"""


def apart(text: str, lines: bool | None = None) -> list[str]:
    """Return the parts of a text between the line ends that stand apart."""
    parts, first = [], 0
    for place, mark in enumerate(Lines(lines).marks(text)):
        if mark == APART:
            parts.append(text[first:place])
            first = place + 1
    return [*parts, text[first:]]


@pytest.mark.parametrize("text", [HEADLINES, TWEETS, "Trees grow\nBirds sing", "Oak\r\nElm\r\nAsh"])
@pytest.mark.parametrize("end", ["", "\n", "\n\nMore.\n"])
def test_items(text: str, end: str) -> None:
    found = apart(text.rstrip("\n") + end)
    assert "\n".join(found) == text.rstrip("\n") + end
    assert len(found) == len(text.strip().split("\n"))


@pytest.mark.parametrize("width", range(40, 101))
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_wrapped_prose(width: int, between: str) -> None:
    sentences = PROSE.split(". ")
    for text in (PROSE, between.join([PROSE] * 3), PROSE.replace(" ", "\r", 1)):
        wrapped = between.join(textwrap.fill(each, width) for each in text.split(between))
        assert apart(wrapped) == [wrapped]
    # Short paragraphs of one sentence each, as in a novel.
    wrapped = "\n\n".join(textwrap.fill(sentence, width) for sentence in sentences)
    assert apart(wrapped) == [wrapped]


def test_verse_is_left_to_the_model() -> None:
    assert apart(VERSE) == [VERSE]


def test_entries_of_a_list() -> None:
    found = apart(LIST)
    assert [part.split("\n")[0].split()[0] for part in found] == ["Bring", "-", "-", "-"]
    assert found[2].count("\n") == 1
    many = HEADLINES + "- Sun again\n" + HEADLINES + "- More sun\n" + HEADLINES
    assert len(apart(many)) == many.count("\n")
    numbered = "1. Wash the apples.\n2. Cut them, and put them into a pot\n3. Wait"
    assert len(apart(numbered)) == 3
    # Dashes within wrapped prose begin no entry.
    dashes = "We waited in front of the house - nobody came - and after a time we left - so " * 5
    for width in range(40, 101):
        wrapped = textwrap.fill(dashes, width)
        assert apart(wrapped) == [wrapped]


def test_short_paragraphs_are_what_the_others_are() -> None:
    one = (
        "A headline that is longer than all others of this page, by far, and on its own\nShort one"
    )
    assert apart(one) == [one]
    assert len(apart(one + "\n\n" + HEADLINES)) == 1 + 1 + HEADLINES.count("\n") - 1
    known = Lines(None)
    known.marks(HEADLINES)
    known.remember(len(HEADLINES))
    assert (known.marks(one) == APART).sum() == 1


def test_what_is_said_holds() -> None:
    assert apart(HEADLINES, lines=False) == [HEADLINES]
    assert len(apart(PROSE.replace(" ", "\n"), lines=True)) == PROSE.count(" ") + 1


def test_line_ends_of_all_kinds() -> None:
    marks = Lines(False).marks("a\r\nb\rc\n\rd\u2028")
    assert marks.nonzero()[0].tolist() == [2, 4, 6, 7]
    assert set(marks.tolist()) == {0, END}


def test_the_last_paragraph_or_item() -> None:
    text = "a\n\nb\r\n \r\nc\nd\n"
    marks = Lines(False).marks(text)
    assert text[last_end(text, marks, len(text.rstrip())) :] == "c\nd\n"
    marks = Lines(True).marks(text)
    assert text[last_end(text, marks, len(text.rstrip())) :] == "d\n"
    assert last_end("a\nb", Lines(False).marks("a\nb"), 3) == 0
    assert last_end("", Lines(True).marks(""), 0) == 0


QUERIES = """\
what time is it in london
how tall is the eiffel tower
play some jazz music
set an alarm for seven
"""


@pytest.mark.parametrize("text", [QUERIES, "[ ] Open it\n[x] close it, then\n[ ] go home\n"])
def test_items_in_lower_case(text: str) -> None:
    assert len(apart(text.strip())) == text.count("\n")


@pytest.mark.parametrize("width", range(20, 101))
def test_wrapped_lower_case_prose(width: int) -> None:
    text = textwrap.fill(PROSE.lower().replace(".", "").replace(",", "").replace("-", "x"), width)
    assert apart(text) == [text]
