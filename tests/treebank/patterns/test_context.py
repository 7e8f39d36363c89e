"""The lines and rows of matches, against one match at a time."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from arborescence.treebank import Sentence, read, write
from arborescence.treebank.columns import Columns
from arborescence.treebank.patterns import context
from arborescence.treebank.patterns.find import matches, parts
from arborescence.treebank.patterns.matching import Matcher
from arborescence.treebank.patterns.pattern import parse
from arborescence.treebank.surface import placed_tokens

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PATTERN = "A -> B"
CONLLU = """\
# sent_id = one
# text = L'eau du puits\u00a0: non.
1	L'	_	_	_	_	2	det	_	SpaceAfter=No
2	eau	_	_	_	_	0	root	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	_	_	_	_	5	case	_	_
4	le	_	_	_	_	5	det	_	_
5	puits	_	_	_	_	2	nmod	_	_
6	:	_	_	_	_	5	punct	_	_
7	non	_	_	_	_	3	x	_	SpaceAfter=No
8	.	_	_	_	_	4	punct	_	_

# text = Another text than the words
1	du	_	_	_	_	2	x	_	_
2	pain	_	_	_	_	0	root	_	SpaceAfter=No
3	!	_	_	_	_	2	punct	_	_

1	10 000	_	_	_	_	2	x	_	SpacesInToken=10\\u00A0000
2	arbres	_	_	_	_	0	root	_	SpacesAfter=\\n

#text=Des   arbres
# text = second
# sent_id =
1-2	Des	_	_	_	_	_	_	_	_
1	de	_	_	_	_	2	x	_	_
2	les	_	_	_	_	3	x	_	_
2.1	nothing	_	_	_	_	_	_	_	_
3	arbres	_	_	_	_	0	root	_	_

"""


def slowly(sentence: Sentence, words: dict[str, int]) -> tuple[str, dict[str, str]]:
    """The line and the text around a match, token by token."""
    [(_, tokens, _)] = placed_tokens([sentence])
    line, parts = "", {"left": "", "match": "", "right": ""}
    first, last = min(words.values()), max(words.values())
    for gap, token, written in tokens:
        ends = token.first, token.last or token.first
        names = [name for name, word in sorted(words.items(), key=lambda each: each[1])
                 if ends[0] <= word <= ends[1]]  # fmt: skip
        line += gap + (f"[{','.join(names)} {written}]" if names else written)
        part = "left" if ends[1] < first else "right" if ends[0] > last else "match"
        parts[part] += gap + written
    around = {name: " ".join(text.split()) for name, text in parts.items()}
    return " ".join(line.split()), around


def test_lines_and_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    sentences = list(read(path))
    for given in (path, sentences):
        every = [*parts(given, Matcher(parse(PATTERN)), None)]
        each, lines, rows = (
            [*chain.from_iterable(map(shown, every))]
            for shown in (matches, context.lines, context.rows)
        )
        assert len(each) == 12
        for match, line, row in zip(each, lines, rows, strict=True):
            sentence, words = match
            expected, around = slowly(sentence, words)
            place = sentence.sent_id or f"{path}:{sentence.line}"
            assert line == f"{place}\t{expected}"
            assert context.in_context(match) == expected
            assert row == {
                "file": str(path), "line": sentence.line, "sent_id": sentence.sent_id or "",
                **around,
                **{
                    f"{name}.{column}": getattr(sentence.word(word), column)
                    for name, word in words.items()
                    for column in ("id", "form", "lemma", "upos", "deprel")
                },
            }  # fmt: skip


def test_lines_of_sentences_with_text_make_no_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object for each match would cost more time than the search."""
    path = tmp_path / "a.conllu"
    sentence = Sentence.from_words(["Dogs", "bark"], heads=[2, 0], comments=["# text = Dogs bark"])
    write([sentence] * 3, path)
    monkeypatch.setattr(Columns, "sentence", None)
    every = [*parts(path, Matcher(parse(PATTERN)), None)]
    lines = [line.split("\t")[1] for found in every for line in context.lines(found)]
    assert lines == ["[B Dogs] [A bark]"] * 3
    assert [row["match"] for found in every for row in context.rows(found)] == ["Dogs bark"] * 3
