"""The words of many sentences as arrays: byte offsets of columns, sentences and tokens."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.tree import projective_kernel, tree_kernel
from arborescence.errors import TreebankError
from arborescence.treebank.conllu import chunks
from arborescence.treebank.joined import Joined
from arborescence.treebank.sentence import FORM, LEMMA, MISC, Sentence, read_head_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Integers = npt.NDArray[np.int64]

_BATCH = 1 << 20
_NEWLINE, _HASH, _HYPHEN, _TAB, _ZERO, _UNDERSCORE = b"\n#-\t0_"

# Heads that are not words.
ROOT = -1
UNKNOWN = -2


@dataclass(frozen=True)
class Columns:
    """Consecutive sentences, as columns."""

    #: uint8 (size,): the bytes of the sentences.
    data: Bytes
    #: int64 (n, 11): column `c` of word `i` is ``data[spans[i, c] : spans[i, c + 1] - 1]``.
    spans: Integers
    #: int64 (s + 1,): the number of words before each of the `s` sentences, and in all.
    offsets: Integers
    #: int64 (s + 1,): the first byte of each sentence, and the size.
    begins: Integers
    #: The file of each sentence; an empty string if there is none.
    sources: list[str]
    #: The line in which each sentence begins.
    lines: list[int]
    #: The number of sentences before these.
    before: int
    #: uint8: all tokens, joined without spaces, in UTF-8.
    characters: Bytes
    #: int64 (n,): the start of each word's token in `characters`.
    starts: Integers
    #: int64 (n,): the end of each word's token in `characters`.
    ends: Integers
    #: (n,): whether each word's token is a multiword token.
    in_multiword: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, joined: Joined, sources: list[str], lines: list[int], before: int = 0) -> Columns:
        """Make columns of joined sentences."""
        data, places, offsets, _ = joined
        spans = joined.places_of_columns
        n = len(spans)
        characters = np.empty(data.size, dtype=np.uint8)
        starts, ends = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        in_multiword = np.empty(n, dtype=np.bool_)
        size = _tokens(data, spans, offsets, places, characters, starts, ends, in_multiword)
        return cls(
            data,
            spans,
            offsets,
            places,
            sources,
            lines,
            before,
            characters[:size].copy(),
            starts,
            ends,
            in_multiword,
        )

    @classmethod
    def of_sentences(cls, sentences: list[Sentence], before: int = 0) -> Columns:
        """Make columns of sentences."""
        return cls.of(
            Joined.of(sentences),
            [sentence.source for sentence in sentences],
            [sentence.line for sentence in sentences],
            before,
        )

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def sentence_spans(self) -> tuple[Integers, Integers]:
        """The start and end of each sentence in `characters`, shapes (s,)."""
        return self.starts[self.offsets[:-1]], self.ends[self.offsets[1:] - 1]

    @property
    def token_spans(self) -> tuple[Integers, Integers]:
        """The start and end of each token in `characters`."""
        first = ~self.in_multiword
        first[1:] |= self.starts[1:] != self.starts[:-1]
        first[:1] = True
        return self.starts[first], self.ends[first]

    def part(self, first: int, last: int) -> Columns:
        """Return the sentences `first` to `last` - 1."""
        word, end = int(self.offsets[first]), int(self.offsets[last])
        byte, byte_end = int(self.begins[first]), int(self.begins[last])
        at = 0 if first == 0 else int(self.ends[word - 1])
        stop = at if first == last else int(self.ends[end - 1])
        return Columns(
            self.data[byte:byte_end],
            self.spans[word:end] - byte,
            self.offsets[first : last + 1] - word,
            self.begins[first : last + 1] - byte,
            self.sources[first:last],
            self.lines[first:last],
            self.before + first,
            self.characters[at:stop],
            self.starts[word:end] - at,
            self.ends[word:end] - at,
            self.in_multiword[word:end],
        )

    def followed_by(self, more: Columns) -> Columns:
        """Return these sentences and the next sentences, concatenated."""
        n, size, length = len(self.spans), self.data.size, self.characters.size
        data = np.concatenate([self.data, more.data])
        data.setflags(write=False)  # read-only as bytes: kernels are compiled for one type only
        return Columns(
            data,
            np.concatenate([self.spans, more.spans + size]),
            np.concatenate([self.offsets, more.offsets[1:] + n]),
            np.concatenate([self.begins, more.begins[1:] + size]),
            self.sources + more.sources,
            self.lines + more.lines,
            self.before,
            np.concatenate([self.characters, more.characters]),
            np.concatenate([self.starts, more.starts + length]),
            np.concatenate([self.ends, more.ends + length]),
            np.concatenate([self.in_multiword, more.in_multiword]),
        )

    def text(self, word: int, column: int) -> str:
        """Return one column of one word."""
        start, stop = self.spans[word, column], self.spans[word, column + 1] - 1
        return self.data[start:stop].tobytes().decode()

    def place(self, character: int) -> str:
        """Describe the word at a place in `characters`, for an error message."""
        if character >= self.characters.size:
            return "the end"
        return self.describe(int(np.searchsorted(self.starts, character, side="right")) - 1)

    def describe(self, word: int) -> str:
        """Describe a word, for an error message."""
        index = int(np.searchsorted(self.offsets, word, side="right")) - 1
        number = word - self.offsets[index] + 1
        return f"'{self.text(word, FORM)}' ({self.place_of(index)}, word {number})"

    def place_of(self, sentence: int) -> str:
        """Return the place of a sentence: its file and line, or its number."""
        source, line = self.sources[sentence], self.lines[sentence]
        return f"{source}:{line}" if source else f"sentence {self.before + sentence + 1}"

    def is_blank(self, column: int) -> npt.NDArray[np.bool_]:
        """Return for each word whether a column is ``_``, shape (n,)."""
        starts, stops = self.spans[:, column], self.spans[:, column + 1] - 1
        blank: npt.NDArray[np.bool_] = (stops - starts == 1) & (self.data[starts] == _UNDERSCORE)
        return blank

    def sentence(self, number: int) -> Sentence:
        """Make the sentence with this number."""
        begin, end = int(self.begins[number]), int(self.begins[number + 1])
        rows = self.spans[self.offsets[number] : self.offsets[number + 1]] - begin
        raw = self.data[begin:end].tobytes()
        return Sentence(raw, rows.astype("int32"), self.sources[number], self.lines[number])

    def head_vectors(self) -> Integers:
        """Return the concatenated head vectors of all sentences, shape (n + s,)."""
        vectors = np.empty(len(self.spans) + len(self), dtype=np.int64)
        read_head_vectors(self.data, self.spans, self.offsets, vectors)
        return vectors

    def count_trees(self, vectors: Integers) -> tuple[int, int, int, int]:
        """Count trees without exactly one root edge, trees with crossing edges, and non-trees.

        The last number is the first sentence whose heads are not a tree, or -1.
        """
        return _count_trees(vectors, self.offsets, np.empty(vectors.size, np.int64))

    def heads(self, vectors: Integers) -> Integers:
        """Return each word's head as an index among all words, or ROOT or UNKNOWN, shape (n,)."""
        lengths = np.diff(self.offsets)
        roots = self.offsets[:-1] + np.arange(len(self))
        within = np.delete(vectors, roots)
        heads = within - 1 + np.repeat(self.offsets[:-1], lengths)
        heads[within == 0] = ROOT
        heads[within == -1] = UNKNOWN
        return heads


def files_in(treebank: str | os.PathLike[str]) -> list[str | os.PathLike[str]]:
    """Return the CoNLL-U files in a folder and the folders in it; for a file, the file itself.

    TreebankError if a folder has no such file.
    """
    if not Path(treebank).is_dir():
        return [treebank]
    files = [
        str(each)
        for ending in ("conllu", "conllu.gz")
        for each in Path(treebank).rglob(f"*.{ending}")
        if each.is_file()
    ]
    if not files:
        raise TreebankError(
            f"{os.fspath(treebank)}: no file *.conllu or *.conllu.gz in this folder"
        )
    return [*sorted(files)]


def columns_of(treebank: str | os.PathLike[str] | Iterable[Sentence]) -> Iterator[Columns]:
    """Read a treebank as columns, a megabyte at a time; for a folder, all files of CoNLL-U.

    TreebankError names file, line and fault of an invalid sentence.
    """
    before = 0
    if isinstance(treebank, (str, os.PathLike)):
        for chunk in chain.from_iterable(map(chunks, files_in(treebank))):
            for block in np.flatnonzero(chunk.blocks[:-1, 3])[:1]:
                raise chunk.error(int(block))
            data = np.frombuffer(chunk.data, dtype=np.uint8)
            places, offsets = np.ascontiguousarray(chunk.blocks[:, :2].T)
            joined = Joined(data, places, offsets, chunk.spans[: offsets[-1]])
            lines = (chunk.blocks[:-1, 2] + chunk.line).tolist()
            yield Columns.of(joined, [chunk.name] * len(lines), lines, before)
            before += len(lines)
        return
    batch: list[Sentence] = []
    size = 0
    for sentence in treebank:
        batch.append(sentence)
        size += len(sentence.raw)
        if size >= _BATCH:
            yield Columns.of_sentences(batch, before)
            before += len(batch)
            batch, size = [], 0
    if batch:
        yield Columns.of_sentences(batch, before)


@inlined_kernel
def _without_spaces(
    data: np.ndarray, start: int, stop: int, characters: np.ndarray, size: int
) -> int:
    """Append ``data[start:stop]`` without spaces (Zs) to `characters`; return the new size."""
    at = start
    while at < stop:
        byte = data[at]
        width = 0
        if byte == 0x20:
            width = 1
        elif byte == 0xC2 and at + 1 < stop:
            width = 2 if data[at + 1] == 0xA0 else 0
        elif 0xE1 <= byte <= 0xE3 and at + 2 < stop:
            second, third = data[at + 1], data[at + 2]
            if (
                (byte == 0xE1 and second == 0x9A and third == 0x80)
                or (byte == 0xE2 and second == 0x80 and (third <= 0x8A or third == 0xAF))
                or (byte == 0xE2 and second == 0x81 and third == 0x9F)
                or (byte == 0xE3 and second == 0x80 and third == 0x80)
            ):
                width = 3
        if width:
            at += width
        else:
            characters[size] = byte
            size += 1
            at += 1
    return size


@kernel
@takes(
    "uint8[::1], int64[:, ::1], int64[::1], int64[::1], out uint8[::1], out int64[::1], "
    "out int64[::1], out bool[::1]"
)
def _tokens(
    data: np.ndarray,
    spans: np.ndarray,
    offsets: np.ndarray,
    begins: np.ndarray,
    characters: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    in_multiword: np.ndarray,
) -> int:
    """Find the token of each word; return the number of bytes of all tokens. O(size).

    The last four arrays are written, as in `Columns`. `scan` has checked that only blank lines,
    comments, multiword tokens and empty nodes stand between the lines of words.
    """
    size = 0
    for sentence in range(offsets.shape[0] - 1):
        at = begins[sentence]
        first = offsets[sentence]
        covered = first  # earlier words are in a multiword token
        for word in range(first, offsets[sentence + 1]):
            while at < spans[word, 0]:
                line = at
                while data[at] != _NEWLINE:
                    at += 1
                at += 1
                if data[line] == _NEWLINE or data[line] == _HASH:
                    continue
                while 0 <= int(data[line]) - _ZERO <= 9:
                    line += 1
                if data[line] != _HYPHEN:
                    continue  # an empty node
                line += 1
                last = 0
                while data[line] != _TAB:
                    last = 10 * last + int(data[line]) - _ZERO
                    line += 1
                stop = line + 1
                while data[stop] != _TAB:
                    stop += 1
                covered = first + last
                start = size
                size = _without_spaces(data, line + 1, stop, characters, size)
                for covered_word in range(word, covered):
                    starts[covered_word] = start
                    ends[covered_word] = size
                    in_multiword[covered_word] = True
            at = spans[word, MISC + 1]
            if word >= covered:
                starts[word] = size
                size = _without_spaces(
                    data, spans[word, FORM], spans[word, LEMMA] - 1, characters, size
                )
                ends[word] = size
                in_multiword[word] = False
    return size


@inlined_kernel
def equal(
    data: np.ndarray, start: int, stop: int, others: np.ndarray, other: int, other_stop: int
) -> bool:
    """Return whether ``data[start:stop]`` and ``others[other:other_stop]`` are the same bytes."""
    if stop - start != other_stop - other:
        return False
    for i in range(stop - start):  # noqa: SIM110 (Numba knows no generators)
        if data[start + i] != others[other + i]:
            return False
    return True


@kernel
@takes("int64[::1], int64[::1], out int64[::1]")
def _count_trees(
    vectors: np.ndarray, offsets: np.ndarray, mark: np.ndarray
) -> tuple[int, int, int, int]:
    """Count trees without exactly one root edge, and non-projective trees. O(n · edge length).

    Also count sentences with a cycle, or a word without a head; the last number is the first of
    these sentences.
    """
    broken = 0
    crossing = 0
    others = 0
    first_other = -1
    for sentence in range(offsets.shape[0] - 1):
        first = offsets[sentence] + sentence
        stop = whole = offsets[sentence + 1] + sentence + 1
        while stop > first + 1 and vectors[stop - 1] < 0:
            stop -= 1
        heads = vectors[first:stop]
        roots = 0
        for word in range(1, heads.shape[0]):
            roots += 1 if heads[word] == 0 else 0
        broken += 1 if roots != 1 else 0
        is_tree = tree_kernel(heads, False, mark)
        crossing += 1 if is_tree and not projective_kernel(heads) else 0
        if not is_tree or stop < whole:
            others += 1
            if first_other < 0:
                first_other = sentence
    return broken, crossing, others, first_other


_ALL = slice(None)
_HASH_START = np.uint64(0xCBF29CE484222325)
_HASH_FACTOR = np.uint64(0x100000001B3)


class Numbering:
    """Integer ids for a column's values, normalized by `normal`; the same ids in all `Columns`."""

    def __init__(self, column: int, normal: Callable[[str], str]) -> None:
        self.column = column
        self.normal = normal
        self.names: dict[str, int] = {}
        self._known: dict[bytes, int] = {}

    def __call__(self, columns: Columns, words: Integers | slice = _ALL) -> Integers:
        """Return the id of the value of each word, or of the words at `words`."""
        starts = np.ascontiguousarray(columns.spans[words, self.column])
        stops = columns.spans[words, self.column + 1] - 1
        n = len(starts)
        ids, firsts = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        table = np.full(1 << (2 * n).bit_length(), -1)
        count = _distinct(columns.data, starts, stops, ids, firsts, table)
        firsts = firsts[:count]
        data = columns.data
        numbers = [
            self._number(data[start:stop].tobytes())
            for start, stop in zip(starts[firsts].tolist(), stops[firsts].tolist(), strict=True)
        ]
        return np.array(numbers, dtype=np.int64)[ids]

    def _number(self, value: bytes) -> int:
        number = self._known.get(value)
        if number is None:
            number = self.names.setdefault(self.normal(value.decode()), len(self.names))
            self._known[value] = number
        return number


@kernel
@takes("uint8[::1], int64[::1], int64[::1], out int64[::1], out int64[::1], out int64[::1]")
def _distinct(
    data: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    ids: np.ndarray,
    firsts: np.ndarray,
    table: np.ndarray,
) -> int:
    """Give each different string among ``data[starts[i]:stops[i]]`` an id; return the id count.

    A hash table with linear probing and FNV-1a: O(size). Written are `ids`, (n,), the id of each
    string, and `firsts`, (n,), the first string of each id. The length of `table` is a power of two
    above n, and its entries are -1.
    """
    mask = np.uint64(table.size - 1)
    count = 0
    for i in range(starts.shape[0]):
        key = _HASH_START
        for at in range(starts[i], stops[i]):
            key = (key ^ np.uint64(data[at])) * _HASH_FACTOR
        slot = key & mask
        while True:
            number = table[slot]
            if number < 0:
                table[slot] = number = count
                firsts[count] = i
                count += 1
                break
            other = firsts[number]
            if equal(data, starts[i], stops[i], data, starts[other], stops[other]):
                break
            slot = (slot + np.uint64(1)) & mask
        ids[i] = number
    return count
