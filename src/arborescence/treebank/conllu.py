"""Reading and writing CoNLL-U as a stream, plain or gzip: in chunks of whole sentences."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Sequence
from itertools import chain, pairwise, starmap
from os import PathLike
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from arborescence.errors import ArborescenceWarning, OptionError, TreebankError
from arborescence.system.files import check_apart, opened, writing
from arborescence.treebank import plus
from arborescence.treebank.dictionaries import RANK, WEIGHT
from arborescence.treebank.encodings import UTF8, in_utf8
from arborescence.treebank.scanner import COLUMN_COUNT, NOT_UTF8, describe, scan
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

_CHUNK = 1 << 20
_LONGEST_SENTENCE = 1 << 24
_GZIP_MAGIC = b"\x1f\x8b"
# Blanks other than line ends, and the end of a sentence if lines may hold them.
_BLANK = (
    rb"(?:[ \t\v\f]|\xc2\xa0|\xe1\x9a\x80|\xe2(?:\x80[\x80-\x8a\xa8\xa9\xaf]|\x81\x9f)"
    rb"|\xe3\x80\x80)"
)
_BLANK_LINE = re.compile(b"^%b+$" % _BLANK, re.MULTILINE)
_SENTENCE_END = re.compile(rb"\n%b*\r?\n" % _BLANK)
_MARK_AT_A_LINE = re.compile(rb"^\xef\xbb\xbf", re.MULTILINE)
_WORD_LINE = re.compile(rb"^(?!#|\d+[-.]\d|\s*$)", re.MULTILINE)
_FIRST_WORD = re.compile(rb"^1\t", re.MULTILINE)


class Chunk(NamedTuple):
    """Consecutive whole sentences of a file, scanned."""

    #: The bytes of the sentences.
    data: bytes
    #: The spans of the words, as in `scan`.
    spans: npt.NDArray[np.int32]
    #: The sentences, as in `scan`.
    blocks: npt.NDArray[np.int64]
    #: The name of the file.
    name: str
    #: The number of the first line in the file.
    line: int
    #: The columns of CoNLL-U Plus; () for CoNLL-U.
    plus: tuple[str, ...] = ()

    def error(self, block: int) -> TreebankError:
        """Return the error for the invalid sentence at `block`."""
        start, stop = self.blocks[block : block + 2, 0].tolist()
        fault, at = self.blocks[block, 3:].tolist()
        where = self.line + self.data.count(b"\n", 0, at)
        if self.plus and fault == COLUMN_COUNT:
            fault_text = plus.misfit(self.data, at, self.plus)
        else:
            fault_text = describe(fault, self.data, at)
        error = TreebankError(f"{self.name}:{where}: {fault_text}")
        rows = self.data[start:stop].strip(b"\n")
        sentences = len(_FIRST_WORD.findall(rows))  # more than one if a blank line is missing
        error.lost = max(sentences, 1), len(_WORD_LINE.findall(rows)), rows.count(b"\n") + 1
        return error


def chunks(source: str | os.PathLike[str] | IO[bytes], encoding: str = UTF8) -> Iterator[Chunk]:
    """Read a CoNLL-U file in chunks of about a megabyte.

    Damaged gzip data or a missing sentence end is an error. Invalid sentences are marked, and raise
    no error.
    """
    with opened(source) as (file, name):
        line, plain = 1, PlainLines(name)
        columns: tuple[str, ...] | None = None
        for data in _whole_sentences(in_utf8(inflated(file, name), name, encoding), name):
            columns = plus.columns_in(data, name) if columns is None else columns
            if columns:
                data = plus.to_conllu(plain(data, line), columns)
            chunk = _scanned(data, name, line)
            # Lines with unusual ends or blanks have a fault; only then they are normalized.
            if chunk.blocks[:-1, 3].any():
                lines = plain(data, line)
                chunk = _scanned(lines, name, line) if lines != data else chunk
            if _first_bad_byte(chunk.data) is not None:
                _mark_bad_bytes(chunk.data, chunk.blocks)
            yield chunk._replace(plus=columns) if columns else chunk
            line += int(chunk.blocks[-1, 2])


def _scanned(data: bytes, name: str, line: int) -> Chunk:
    array = np.frombuffer(data, dtype=np.uint8)
    newlines = array == ord("\n")
    blank_lines = np.count_nonzero(newlines[1:] & newlines[:-1])
    # The line of a word has at least 20 bytes.
    spans = np.empty((len(data) // 20 + 2, 11), dtype=np.int32)
    blocks = np.empty((blank_lines + 3, 5), dtype=np.int64)
    count = scan(array, spans, blocks)
    return Chunk(data, spans, blocks[: count + 1], name, line)


class PlainLines:
    """Normalizes lines: LF as line end, no byte order marks, and no blanks in blank lines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told = False

    def __call__(self, data: bytes, line: int = 1) -> bytes:
        """Return normalized lines, the first with this number; warn of the first line of blanks."""
        lines = _MARK_AT_A_LINE.sub(b"", data.replace(b"\r\n", b"\n").removesuffix(b"\r"))
        blank = _BLANK_LINE.search(lines)
        if blank and not self._told:
            self._told = True
            warnings.warn(
                f"{self._name}:{line + lines.count(10, 0, blank.start())}: the line holds only "
                "blanks or tabs: it ends a sentence, as an empty line (other such lines, too)",
                ArborescenceWarning,
                stacklevel=2,
            )
        return _BLANK_LINE.sub(b"", lines) if blank else lines


def read(
    source: str | os.PathLike[str] | IO[bytes],
    *,
    skip_invalid: Callable[[TreebankError], object] | None = None,
    encoding: str = UTF8,
) -> Iterator[Sentence]:
    r"""Read the sentences of a CoNLL-U file one by one, in constant memory.

    The structure is checked (ten columns, word numbers, heads within the sentence, UTF-8). The tree
    is not checked: head vectors may have cycles. Lines may end in CR LF, a byte order mark may come
    first, and a line that holds only blanks ends a sentence, with an `ArborescenceWarning`.

    A first line ``# global.columns = ID FORM ...`` names other columns (CoNLL-U Plus). Columns
    beside the ten become entries of MISC, such as ``PARSEME:MWE=1:LVC.full``, and `write` turns
    these entries into columns again.

    Parameters
    ----------
    source
        A path, an open binary file, or ``"-"`` for the standard input. Gzip is recognized by its
        first bytes, not by the name.
    skip_invalid
        If given, invalid sentences are skipped, and their errors passed to this function (for
        example to append them to a list); `lost` of an error counts the skipped sentences, words
        and lines. Otherwise the first error is raised.
    encoding
        The encoding of the file, by a name that Python knows, such as ``"cp1252"``.

    Yields
    ------
    Sentence
        The concatenated `raw` bytes of all sentences are the file, byte for byte, but for line ends
        other than LF, blanks on blank lines, byte order marks, another encoding than UTF-8, and
        other columns.

    Raises
    ------
    TreebankError
        If a sentence is invalid; the message names the file, the line and the fault. Damaged gzip
        data, a file without sentence ends, and a file in UTF-16 cannot be skipped.
    OptionError
        If Python does not know the encoding.
    OSError
        If the file cannot be opened or read.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO(b"1\tGrow\t_\t_\t_\t_\t0\troot\t_\t_\n\n1\tbroken\n\n")
    >>> errors = []
    >>> [sentence.forms for sentence in read(file, skip_invalid=errors.append)]
    [['Grow']]
    >>> print(errors[0])
    <stream>:3: 2 columns where CoNLL-U has 10, separated by single tabs: '1\tbroken'
    """
    for chunk in chunks(source, encoding):
        data, spans, name = chunk.data, chunk.spans, chunk.name
        for i, (block, after) in enumerate(pairwise(chunk.blocks.tolist())):
            start, first, line, fault, _ = block
            if not fault:
                # A copy, because a view would keep the array of the whole chunk in memory.
                rows = spans[first : after[1]].copy()
                at = chunk.line + line
                yield Sentence(data[start : after[0]], rows, name, at, plus=chunk.plus)
            elif skip_invalid is None:
                raise chunk.error(i)
            else:
                skip_invalid(chunk.error(i))


def write(
    sentences: Iterable[Sentence],
    target: str | os.PathLike[str] | IO[bytes],
) -> None:
    r"""Write sentences to a CoNLL-U file.

    A path is written as a whole or not at all: after an error, the old file remains.

    Parameters
    ----------
    sentences
        Sentences, which are written unchanged, or, if the first sentence comes from a file in
        CoNLL-U Plus, in the columns of this file. The last sentence of a file may lack its blank
        line; the blank line is added if another sentence follows.
    target
        A path (compressed if the name ends in ``.gz``), an open binary file, or ``"-"`` for the
        standard output.

    Raises
    ------
    OptionError
        If a sentence was read from `target`, by this or another path or link.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write([Sentence.from_words(["Grow"])], file)
    >>> file.getvalue()
    b'1\tGrow\t_\t_\t_\t_\t_\t_\t_\t_\n\n'
    """
    with writing(target) as file:
        file.writelines(_pieces(not_read_from(sentences, target)))


Item = TypeVar("Item", Sentence, "Sentence | Analyses")


def not_read_from(
    items: Iterable[Item], target: str | os.PathLike[str] | IO[bytes]
) -> Iterator[Item]:
    """Yield the sentences; OptionError if a sentence was read from `target`."""
    path = target if isinstance(target, (str, PathLike)) else None
    known = ""
    for item in items:
        source = (item if isinstance(item, Sentence) else item[0][0]).source
        if path is not None and source != known:
            known = source
            check_apart(path, ["-" if source == "<stdin>" else source])
        yield item


def _pieces(sentences: Iterable[Sentence]) -> Iterator[bytes]:
    columns: tuple[str, ...] | None = None  # the first sentence decides
    for sentence in sentences:
        raw = sentence.raw
        if columns is None:
            columns = sentence.plus
            raw = plus.to_plus(raw, columns, first=True) if columns else raw
        elif columns:
            raw = plus.to_plus(raw, columns, first=False)
        # One empty line ends each sentence, also if its file had more empty lines.
        yield raw.strip(b"\n") + b"\n\n"


def inflated(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed if its first bytes are those of gzip."""
    # From a pipe, read1 returns the available bytes; read would wait for a full chunk.
    next_bytes = getattr(file, "read1", file.read)
    data = next_bytes(_CHUNK)
    if isinstance(data, str):
        raise OptionError(f"{name} is open as text: open it in binary mode ('rb')")
    if len(data) == 1:
        data += next_bytes(_CHUNK)
    if data.startswith(_GZIP_MAGIC):
        yield from _inflate(data, next_bytes, name)
        return
    while data:
        yield data
        data = next_bytes(_CHUNK)


def _inflate(data: bytes, next_bytes: Callable[[int], bytes], name: str) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    try:
        while data:
            yield member.decompress(data, _CHUNK)
            if member.eof:  # gzip files may have several members, and zeros at the end
                data = member.unused_data.lstrip(b"\0") or next_bytes(_CHUNK).lstrip(b"\0")
                member = zlib.decompressobj(wbits=31) if data else member
            else:
                data = member.unconsumed_tail or next_bytes(_CHUNK)
    except zlib.error as error:
        raise TreebankError(f"{name}: the gzip data is damaged ({error})") from error
    if not member.eof:
        raise TreebankError(f"{name}: the gzip data is cut off; get the whole file again")


def _whole_sentences(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Regroup chunks so that each ends with a whole sentence."""
    held = b""
    for chunk in chunks:
        held += chunk
        # The last sentence is kept for the next chunk, where its blank lines may continue. Blank
        # lines at the start of the file belong to its first sentence.
        opening = len(held) - len(held.lstrip(b"\n"))
        end = held.rfind(b"\n\n", opening, len(held.rstrip(b"\n"))) + 2
        if end < 2:  # blank lines may have blanks, or CR LF
            stop = len(held.rstrip())
            ends = [match.end() for match in _SENTENCE_END.finditer(held, opening, stop)]
            end = max(ends, default=0)
        if end >= 2:
            yield held[:end]
            held = held[end:]
        elif len(held) > _LONGEST_SENTENCE:
            raise TreebankError(
                f"{name}: no end of a sentence (a blank line) within {len(held)} bytes: "
                "not CoNLL-U, or with line ends other than LF and CR LF"
            )
    if held:
        yield held


def _mark_bad_bytes(data: bytes, blocks: npt.NDArray[np.int64]) -> None:
    """Mark sentences that are not UTF-8, if they have no other fault."""
    for block, stop in zip(blocks[:-1], blocks[1:, 0], strict=True):
        at = _first_bad_byte(data[block[0] : stop])
        if at is not None and not block[3]:
            block[3:] = NOT_UTF8, block[0] + at


def _first_bad_byte(raw: bytes) -> int | None:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


#: The analyses of one sentence with their weights, best first.
Analyses = Sequence[tuple[Sentence, float]]


class Analysis(NamedTuple):
    """One of the k best analyses of a sentence."""

    #: The sentence with the tree of the analysis.
    sentence: Sentence
    #: The weight of the tree.
    weight: float


class Ranked(list[Analysis]):
    """The analyses of one sentence, as from `Parser.kbest`; notebooks draw them."""

    def __init__(self, analyses: Iterable[tuple[Sentence, float]] = ()) -> None:
        super().__init__(starmap(Analysis, analyses))

    def _repr_svg_(self) -> str:
        from arborescence.drawing.svg import draw_svg

        titles = [f"{rank}. weight {weight:.6g}" for rank, (_, weight) in enumerate(self, 1)]
        return draw_svg(*(tree for tree, _ in self), titles=titles)


def write_kbest(sentences: Iterable[Analyses], target: str | os.PathLike[str] | IO[bytes]) -> None:
    r"""Write the k best analyses of each sentence to a CoNLL-U file, a block for each analysis.

    Parameters
    ----------
    sentences
        For each sentence its analyses with their weights, best first, as from `Parser.kbest`. The
        comments ``# kbest_rank = 1`` (counted from 1) and ``# kbest_weight = -3.25`` are written
        after the other comments; they replace comments with the same names.
    target
        As in `write`.

    Examples
    --------
    >>> import io
    >>> from arborescence.treebank import Sentence
    >>> words = Sentence.from_words(["Trees", "grow"])
    >>> analyses = [(words.replace(heads=[2, 0]), 7.5), (words.replace(heads=[0, 1]), 3.0)]
    >>> file = io.BytesIO()
    >>> write_kbest([analyses], file)
    >>> print(file.getvalue().decode().replace("\t", " ").rstrip())
    # kbest_rank = 1
    # kbest_weight = 7.5
    1 Trees _ _ _ _ 2 _ _ _
    2 grow _ _ _ _ 0 _ _ _
    <BLANKLINE>
    # kbest_rank = 2
    # kbest_weight = 3.0
    1 Trees _ _ _ _ 0 _ _ _
    2 grow _ _ _ _ 1 _ _ _
    """
    write(chain.from_iterable(map(ranked, sentences)), target)


def ranked(analyses: Analyses) -> list[Sentence]:
    """Return the analyses of a sentence with rank and weight in their comments."""
    sentences = []
    for rank, (sentence, weight) in enumerate(analyses, 1):
        kept = [comment for comment in sentence.comments if _name(comment) not in (RANK, WEIGHT)]
        new = [f"# {RANK} = {rank}", f"# {WEIGHT} = {float(weight)!r}"]
        sentences.append(sentence.replace(comments=kept + new))
    return sentences


def read_kbest(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[Ranked]:
    r"""Read the k best analyses of each sentence from a file of `write_kbest`, in constant memory.

    Parameters
    ----------
    source
        As in `read`.

    Yields
    ------
    Ranked: a list of Analysis, with `sentence` and `weight`
        The analyses of one sentence, in the order of their ranks.

    Raises
    ------
    TreebankError
        If a sentence is invalid or has no rank or weight, or if its rank or its words do not fit
        the previous analysis. The message names file and line.
    OSError
        If the file cannot be opened or read.

    Examples
    --------
    >>> import io
    >>> from arborescence.treebank import Sentence
    >>> words = Sentence.from_words(["Trees", "grow"])
    >>> file = io.BytesIO()
    >>> write_kbest([[(words.replace(heads=[2, 0]), 7.5)]], file)
    >>> _ = file.seek(0)
    >>> [[(sentence, weight)]] = read_kbest(file)
    >>> sentence.heads, weight
    (array([2, 0]), 7.5)
    """
    analyses = Ranked()
    for sentence in read(source):
        rank, weight = _number(sentence, RANK, int), _number(sentence, WEIGHT, float)
        if rank == 1 and analyses:
            yield analyses
            analyses = Ranked()
        if rank != len(analyses) + 1:
            before = f"after {len(analyses)}" if analyses else "at the start"
            raise _error(sentence, f"{RANK} is {rank} {before}; is a part of the file missing?")
        if analyses and sentence.forms != analyses[0][0].forms:
            raise _error(
                sentence,
                f"{RANK} is {rank}, but the words are not those of the analysis before; "
                "is a part of the file missing?",
            )
        analyses.append(Analysis(sentence, weight))
    if analyses:
        yield analyses


def _name(comment: str) -> str:
    return comment[1:].partition("=")[0].strip()


def _number(sentence: Sentence, name: str, kind: type[int] | type[float]) -> float:
    value = sentence.comment(name)
    if value is None:
        raise _error(
            sentence,
            f"no comment '# {name} = ...': not a list of the k best analyses "
            "(`write_kbest` writes them)",
        )
    try:
        return kind(value)
    except ValueError:
        raise _error(sentence, f"{name} is {value!r}, which is not a number") from None


def _error(sentence: Sentence, fault: str) -> TreebankError:
    return TreebankError(f"{sentence.source}:{sentence.line}: {fault}")
