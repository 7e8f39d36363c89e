"""Words cut into pieces, and long sentences into windows."""

import numpy as np
import pytest

from arborescence.errors import ModelError
from arborescence.parsers.neural.pieces import LONGEST_WORD, PieceSplitter, windows


class Tokenizer:
    """Letters are pieces: 'a' is 10; a word begins with a 5 if it is spaced. Vowels only count."""

    pad_token_id = 7
    unk_token_id = 9

    def __init__(self, spaced=False):
        self.spaced = spaced

    def __call__(self, texts, add_special_tokens=True):
        before, after = ([1, 2], [3]) if add_special_tokens else ([], [])
        ids = [[*before, *self.pieces(text), *after] for text in texts]
        return {"input_ids": ids}

    def pieces(self, text):
        letters = [10 + ord(letter) - ord("a") for letter in text if "a" <= letter <= "z"]
        return [*([5] if self.spaced and text.startswith(" ") else ()), *letters]


def slow_windows(counts, room):
    """Try every window of consecutive words that cannot grow to the right."""
    starts = [sum(counts[:i]) for i in range(len(counts) + 1)]
    found = [
        (b, max(e for e in range(b + 1, len(counts) + 1) if starts[e] - starts[b] <= room))
        for b in range(len(counts))
    ]
    return starts, found


def context(word, begin, end, starts):
    left = starts[word] - starts[begin] if begin else np.inf
    right = starts[end] - starts[word + 1] if end < len(starts) - 1 else np.inf
    return min(left, right)


def test_windows_against_their_definition():
    rng = np.random.default_rng(1)
    for _ in range(300):
        room = int(rng.integers(4, 20))
        counts = rng.integers(1, room // 2 + 1, int(rng.integers(1, 60))).tolist()
        found = windows(counts, room)
        starts, longest = slow_windows(counts, room)
        kept = [word for *_, words in found for word in words]
        assert kept == list(range(len(counts)))  # each word once, in order
        assert found[-1][1] == len(counts)
        for begin, end, words in found:
            assert (begin, end) in longest
            assert begin <= words.start
            assert words.stop <= end
        for begin, end, words in found:
            for word in words:
                others = [context(word, b, e, starts) for b, e, _ in found if b <= word < e]
                assert context(word, begin, end, starts) == max(others)
                # A quarter of the window, less half a word, is on both sides of each word.
                assert max(others) >= room // 4 - max(counts)


def test_one_window_if_there_is_room():
    assert windows([2, 2, 1], 5) == [(0, 3, range(3))]
    assert windows([1], 2) == [(0, 1, range(1))]


def test_pieces_of_words():
    pieces = PieceSplitter(Tokenizer(), 20)([["ab", "c"], ["a"]])
    assert pieces.ids.tolist() == [[1, 2, 10, 11, 12, 3], [1, 2, 10, 3, 7, 7]]
    assert pieces.lengths.tolist() == [6, 4]
    assert pieces.place.tolist() == [2, 3, 4, 8]
    assert pieces.word.tolist() == [0, 0, 1, 2]


def test_a_space_stands_before_words_unless_it_is_a_piece_of_its_own():
    class Joined(Tokenizer):
        def pieces(self, text):
            return [10 + (text[0] == " ")] if text.strip() else []

    assert PieceSplitter(Joined(), 20)([["ab"]]).ids.tolist() == [[1, 2, 11, 3]]
    assert PieceSplitter(Tokenizer(spaced=True), 20)([["ab"]]).ids.tolist() == [[1, 2, 10, 11, 3]]


def test_words_without_pieces():
    assert PieceSplitter(Tokenizer(), 20)([["\u200b", "a"]]).ids.tolist() == [[1, 2, 9, 10, 3]]
    without = Tokenizer()
    without.unk_token_id = None
    with pytest.raises(ModelError, match=r"no piece in '\\u200b'"):
        PieceSplitter(without, 20)([["\u200b", "a"]])


def test_long_words_are_cut_off():
    pieces = PieceSplitter(Tokenizer(), 10_000)([["a" * 1000, "b"]])
    assert pieces.lengths.tolist() == [LONGEST_WORD + 4]
    pieces = PieceSplitter(Tokenizer(), 13)([["a" * 1000, "b"]])  # room for 10, of which half
    assert pieces.ids.tolist() == [[1, 2, *[10] * 5, 11, 3]]


def test_long_sentences_become_windows():
    words = list("abcdefghij")
    pieces = PieceSplitter(Tokenizer(), 9)([words, ["k"]])
    assert [row.tolist() for row in pieces.ids] == [
        [1, 2, 10, 11, 12, 13, 14, 15, 3],
        [1, 2, 13, 14, 15, 16, 17, 18, 3],
        [1, 2, 16, 17, 18, 19, 3, 7, 7],
        [1, 2, 20, 3, 7, 7, 7, 7, 7],
    ]
    read = pieces.ids.reshape(-1)[pieces.place]
    assert read.tolist() == list(range(10, 21))  # each word once
    assert pieces.word.tolist() == list(range(11))


def test_no_room():
    with pytest.raises(ModelError, match="room for 4 pieces only"):
        PieceSplitter(Tokenizer(), 4)


def test_a_word_is_cut_once_while_there_is_room(monkeypatch):
    monkeypatch.setattr("arborescence.parsers.neural.pieces._MOST_KNOWN", 2)
    tokenizer = Tokenizer()
    cut = []
    monkeypatch.setattr(
        Tokenizer, "pieces", lambda _, text: cut.append(text) or [10 + ord(text[-1]) - ord("a")]
    )
    splitter = PieceSplitter(tokenizer, 20)
    for words, new in (("ab", "ab"), ("ba", ""), ("c", "c"), ("ac", "a"), ("cba", "abc")):
        cut.clear()
        ids = splitter([list(words)]).ids[0].tolist()
        expected = [1, 2, *(10 + ord(word) - ord("a") for word in words), 3]
        assert (ids, "".join(cut).replace(" ", "")) == (expected, new)
