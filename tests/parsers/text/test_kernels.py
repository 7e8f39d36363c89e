"""The kernels that find the ends of words and sentences, beside slow sums; and characters."""

from __future__ import annotations

import numpy as np
import pytest

from arborescence.parsers import CombinedParser, TransitionParser, load
from arborescence.parsers.shared import classifier
from arborescence.parsers.shared.classifier import PLACES
from arborescence.parsers.text import Text, sentences, words
from arborescence.parsers.text.characters import (
    NO_GAP,
    PADDING,
    PARAGRAPH,
    SHORT_LINE,
    SPACE,
    WRAPPED,
    Characters,
)
from arborescence.parsers.text.tokenizer import _bounds, _spelled
from raw_texts import TREEBANK

TEXT = 'He said ("no") twice. Don\'t\nsing a song of 2.5 trees!\n\nOak\u3000中文。\n\n\nx'
NOTHING = np.zeros(0, dtype=np.bool_)
NOT_LEARNED = np.zeros((2, 0), dtype=np.float32)


def weights(seed):
    return np.random.default_rng(seed).integers(-5, 6, PLACES).astype(np.int8)


@pytest.mark.parametrize("seed", range(5))
def test_ends_of_words_are_where_slow_sums_are_above_0(seed):
    chars = Characters.of(TEXT)
    table, n = weights(seed), chars.folded.size
    ends = np.zeros(n, dtype=np.bool_)
    words.cut(chars, False, table, ends, NOTHING, NOT_LEARNED)
    around = words.stretches(chars)
    places = np.empty(50, dtype=np.uint64)
    room = classifier.values_of(words._TEMPLATES, 28)
    for first, last in zip(chars.paragraphs, chars.paragraphs[1:], strict=False):
        piece = before = np.uint64(words._START)
        length = 0
        for i in range(first + PADDING, last - PADDING):
            if not chars.kinds[i]:
                assert not ends[i]
                continue
            piece = np.uint64(words.mix(piece, np.uint64(chars.folded[i])))
            length += 1
            if chars.gaps[i] == NO_GAP:
                words._look(chars, around, i, piece, before, length, room, places)
                assert ends[i] == (sum(int(table[int(place)]) for place in places) > 0)
            else:
                assert ends[i]
            if ends[i]:
                piece, before, length = np.uint64(words._START), piece, 0


@pytest.mark.parametrize("seed", range(5))
def test_scores_of_sentences_are_slow_sums(seed):
    chars = Characters.of('Birds sing trees grow (oak "said" he\n\nx')
    cuts = np.zeros(chars.folded.size, dtype=np.bool_)
    words.cut(chars, False, weights(9), cuts, NOTHING, NOT_LEARNED)
    starts, ends = _bounds(chars, cuts)
    letters = _spelled(chars, starts, ends)
    table, scores = weights(seed), np.empty(ends.size)
    sentences.end(letters, table, scores, NOTHING, NOT_LEARNED)
    last = chars.gaps[ends] == PARAGRAPH
    assert np.isposinf(scores[last]).all()
    # The first token of all: nothing is open yet, and the sentence began with it.
    places = np.empty(54, dtype=np.uint64)
    room = classifier.values_of(sentences._TEMPLATES, 24)
    stop = int(np.flatnonzero(last)[0]) + 1
    kinds = letters[:stop, sentences.FIRST]
    upper, lower = int((kinds == 1).sum()), int((kinds == 2).sum())
    capitals = np.uint64(4 * upper // (upper + lower))
    sentences._look(letters, 0, stop, 0, 0, capitals, room, places)
    assert scores[0] == sum(int(table[int(place)]) for place in places)


def test_white_space_and_line_ends():
    """Where the next word would have fitted into the line, the line end was meant."""
    chars = Characters.of(" ab  cd\nlonger line\nx\n \ny ")
    there = chars.offsets >= 0
    assert "".join(map(chr, chars.folded[there])) == "ab cd longer line xy"
    gaps = chars.gaps[there & (chars.gaps != NO_GAP)]
    assert gaps.tolist() == [SPACE, WRAPPED, SPACE, WRAPPED, PARAGRAPH, PARAGRAPH]
    chars = Characters.of("ab\nc\nlonger line")
    assert chars.gaps[chars.gaps > 0].tolist() == [SHORT_LINE, SHORT_LINE, SPACE, PARAGRAPH]
    assert len(chars.paragraphs) == 2
    assert Characters.of("").paragraphs.tolist() == [0]


def test_parsers_of_all_kinds_keep_it(tmp_path):
    text = Text.train(TREEBANK)
    parser = TransitionParser.train(TREEBANK, epochs=1, bits=10, text=text)
    both = CombinedParser([TransitionParser.train(TREEBANK, epochs=1, bits=10), parser])
    raw = "They don't grow. He went du park!"
    found = {}
    for name, each in (("parser", parser), ("both", both)):
        each.save(tmp_path / name)
        found[name] = list(load(tmp_path / name).parse(raw))
        assert list(each.parse(raw)) == found[name]
        assert [s.forms for s in found[name]] == [s.forms for s in text.tokenizer.split(raw)]
    assert found["parser"][1].lemmas == ["he", "go", "de", "le", "park", "!"]
