"""A sentence of a treebank: its bytes, and the start of each column of each word.

An access to a column cuts its values out of the bytes, and new values are written into a copy: so
empty nodes, multiword tokens and comments stay.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.core.conversion import as_array
from arborescence.core.tree import is_tree
from arborescence.errors import OptionError, TreebankError, TreeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import EllipsisType

    import numpy.typing as npt

    from arborescence.core.choices import Root
    from arborescence.treebank.words import Word

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)

_TAB = 9
_ZERO = 48
_UNDERSCORE = 95
_SHOWN: Final = 5  # the most words of a cycle in a message


class Sentence:
    """One sentence of a treebank: immutable, and byte for byte as in the file.

    Sentences are made by `read` and `from_words`, and modified copies by `replace`. Each access to
    an attribute makes a new list: store it if you need it more than once.

    Attributes
    ----------
    raw : bytes
        The sentence as in the file, with the blank lines at its end.
    spans : ndarray, int32, shape (n, 11)
        Column `c` (0 is ID, 9 is MISC) of word `i` is ``raw[spans[i, c] : spans[i, c + 1] - 1]``.
        Only syntactic words have a row; multiword tokens and empty nodes do not.
    source : str
        The name of the file, or an empty string.
    line : int
        The number of the sentence's first line in the file.
    item : int or None
        The number, from 0, of the text or list of words that the sentence was made from, if a
        parser was given several: the row of a table, for example.
    offset : int or None
        The place of the first token in the text that the sentence was cut from; None: not known.
    plus : tuple of str
        The columns of a CoNLL-U Plus file, if it has others than the ten: see `read`.

    Examples
    --------
    >>> sentence = Sentence.from_words(["Old", "trees", "grow"], upos=["ADJ", "NOUN", "VERB"])
    >>> parsed = sentence.replace(heads=[2, 3, 0], deprels=["amod", "nsubj", "root"])
    >>> parsed.heads, parsed.tree
    (array([2, 3, 0]), array([-1,  2,  3,  0]))
    >>> len(parsed), parsed.forms, parsed.upos
    (3, ['Old', 'trees', 'grow'], ['ADJ', 'NOUN', 'VERB'])
    """

    __slots__ = ("item", "line", "offset", "plus", "raw", "source", "spans")

    raw: Final[bytes]
    spans: Final[npt.NDArray[np.int32]]
    source: Final[str]
    line: Final[int]
    item: Final[int | None]
    offset: Final[int | None]
    plus: Final[tuple[str, ...]]

    def __init__(
        self,
        raw: bytes,
        spans: npt.NDArray[np.int32],
        source: str = "",
        line: int = 1,
        item: int | None = None,
        offset: int | None = None,
        plus: tuple[str, ...] = (),
    ) -> None:
        self.raw = raw
        self.spans = spans
        spans.flags.writeable = False  # kernels take these numbers as places in `raw`
        self.source = source
        self.line = line
        self.item = item
        self.offset = offset
        self.plus = plus

    def derived(
        self,
        raw: bytes | None = None,
        spans: npt.NDArray[np.int32] | None = None,
        **origin: Any,
    ) -> Sentence:
        """Return a sentence with other bytes, or another `source`, `line` and so on.

        Examples
        --------
        >>> Sentence.from_words(["Grow"]).derived(source="trees.txt", line=7)
        <Sentence of 1 words at trees.txt:7: Grow>
        """
        if raw is None or spans is None:
            raw, spans = self.raw, self.spans
        if not origin:  # without a dictionary: this is done for each sentence that is parsed
            places = self.source, self.line, self.item, self.offset, self.plus
            return Sentence(raw, spans, *places)
        names = ("source", "line", "item", "offset", "plus")
        return Sentence(raw, spans, **{name: getattr(self, name) for name in names} | origin)

    @classmethod
    def from_words(
        cls,
        forms: Sequence[str],
        *,
        lemmas: Sequence[str] | None = None,
        upos: Sequence[str] | None = None,
        xpos: Sequence[str] | None = None,
        feats: Sequence[str] | None = None,
        heads: npt.ArrayLike | None = None,
        deprels: Sequence[str] | None = None,
        misc: Sequence[str] | None = None,
        comments: Sequence[str] = (),
    ) -> Sentence:
        r"""Make a sentence from words; columns that are not given are ``_``.

        Parameters
        ----------
        forms, lemmas, upos, xpos, feats, deprels, misc
            One string for each word: not empty, without tabs and line ends.
        heads
            The head of each word: 0 is the root, -1 unknown. Or a head vector of `decode`: n + 1
            numbers, the first -1.
        comments
            Whole lines, each with ``#`` at its start.

        Raises
        ------
        TreebankError
            If there are no words, or a string is not valid in its column.
        TreeError
            If `heads` are invalid for the sentence.

        Examples
        --------
        >>> sentence = Sentence.from_words(["Grow", "!"], comments=["# text = Grow!"])
        >>> print(str(sentence).replace("\t", " "))
        # text = Grow!
        1 Grow _ _ _ _ _ _ _ _
        2 ! _ _ _ _ _ _ _ _
        <BLANKLINE>
        <BLANKLINE>
        """
        if not len(forms):
            raise TreebankError("a sentence needs at least one word")
        numbers = [str(i) for i in range(1, len(forms) + 1)]
        blanks = "\t_" * 9
        raw = "".join(f"{number}{blanks}\n" for number in numbers) + "\n"
        widths = np.array([len(number) for number in numbers], dtype=np.int32)
        spans = np.empty((len(forms), 11), dtype=np.int32)
        spans[:, 10] = np.cumsum(widths + 19)
        spans[:, 1:10] = spans[:, 10:] + np.arange(-18, 0, 2, dtype=np.int32)
        spans[:, 0] = spans[:, 1] - widths - 1
        blank = cls(raw.encode(), spans)
        given = {
            "lemmas": lemmas,
            "upos": upos,
            "xpos": xpos,
            "feats": feats,
            "heads": heads,
            "deprels": deprels,
            "misc": misc,
            "comments": comments or None,
        }
        values: dict[str, Any] = {name: each for name, each in given.items() if each is not None}
        sentence = blank._with_columns({FORM: forms})
        return sentence.replace(**values) if values else sentence

    def replace(
        self,
        *,
        lemmas: Sequence[str] | EllipsisType | None = ...,
        upos: Sequence[str] | EllipsisType | None = ...,
        xpos: Sequence[str] | EllipsisType | None = ...,
        feats: Sequence[str] | EllipsisType | None = ...,
        heads: npt.ArrayLike | EllipsisType | None = ...,
        deprels: Sequence[str] | EllipsisType | None = ...,
        deps: Sequence[str] | EllipsisType | None = ...,
        misc: Sequence[str] | EllipsisType | None = ...,
        comments: Sequence[str] | EllipsisType | None = ...,
    ) -> Sentence:
        r"""Return the sentence with other values; all other bytes are kept.

        Parameters, besides `deps`, and errors are as for `from_words`. Columns that are not given
        are kept. None clears a column (to ``_`` for each word), or removes the comments.

        Examples
        --------
        >>> sentence = Sentence.from_words(["Trees", "grow"])
        >>> print(str(sentence.replace(heads=[2, 0])).replace("\t", " "))
        1 Trees _ _ _ _ 2 _ _ _
        2 grow _ _ _ _ 0 _ _ _
        <BLANKLINE>
        <BLANKLINE>
        >>> Sentence.from_words(["Trees"], upos=["NOUN"]).replace(upos=None).upos
        ['_']
        """
        columns: dict[int, Any] = {
            LEMMA: lemmas,
            UPOS: upos,
            XPOS: xpos,
            FEATS: feats,
            HEAD: heads if heads is ... or heads is None else self._written_heads(heads),
            DEPREL: deprels,
            DEPS: deps,
            MISC: misc,
        }
        given = {
            column: ["_"] * len(self) if values is None else values
            for column, values in columns.items()
            if values is not ...
        }
        changed = self._with_columns(given) if given else self
        return changed if comments is ... else changed._with_comments(comments or ())

    def with_forms(self, forms: Sequence[str]) -> Sentence:
        """Return the sentence with other forms of its words; all other bytes are kept.

        Examples
        --------
        >>> Sentence.from_words(["Don’t"]).with_forms(["Don't"]).forms
        ["Don't"]
        """
        return self._with_columns({FORM: forms})

    def comment(self, name: str) -> str | None:
        """Return the value of the first comment ``# name = value``, or None if there is none.

        Examples
        --------
        >>> sentence = Sentence.from_words(["Grow"], comments=["# newdoc id = garden"])
        >>> sentence.comment("newdoc id")
        'garden'
        """
        for comment in self.comments:
            key, equals, value = comment[1:].partition("=")
            if equals and key.strip() == name:
                return value.strip()
        return None

    @property
    def forms(self) -> list[str]:
        """The form of each word."""
        return self._column(FORM)

    @property
    def lemmas(self) -> list[str]:
        """The lemma of each word."""
        return self._column(LEMMA)

    @property
    def upos(self) -> list[str]:
        """The universal part of speech of each word."""
        return self._column(UPOS)

    @property
    def xpos(self) -> list[str]:
        """The treebank's own part-of-speech tag of each word."""
        return self._column(XPOS)

    @property
    def feats(self) -> list[str]:
        """The morphological features of each word, as one string."""
        return self._column(FEATS)

    @property
    def heads(self) -> npt.NDArray[np.int64]:
        """The head of each word, int64 (n,): 0 is the root; -1 where it is ``_``."""
        return self.tree[1:]

    @property
    def tree(self) -> npt.NDArray[np.int64]:
        """The head vector, as of `decode`, int64 (n + 1,): -1 for the root, then `heads`."""
        tree = np.empty(len(self) + 1, dtype=np.int64)
        raw = np.frombuffer(self.raw, dtype=np.uint8)
        read_head_vectors(raw, self.spans, np.array([0, len(self)]), tree)
        return tree

    @property
    def deprels(self) -> list[str]:
        """The relation of each word to its head."""
        return self._column(DEPREL)

    @property
    def deps(self) -> list[str]:
        """The enhanced dependencies of each word, as one string."""
        return self._column(DEPS)

    @property
    def misc(self) -> list[str]:
        """The column MISC of each word, as one string."""
        return self._column(MISC)

    @property
    def words(self) -> list[Word]:
        """The words as objects, which know their heads and children."""
        return [self.word(number) for number in range(1, len(self) + 1)]

    def word(self, number: int) -> Word:
        """Return a word as an object; words count from 1.

        Examples
        --------
        >>> Sentence.from_words(["Trees", "grow"], lemmas=["tree", "grow"]).word(1).lemma
        'tree'
        """
        from arborescence.treebank.words import Word

        return Word(self, number)

    def cell(self, word: int, column: str) -> str:
        """Return one column of a word, by the column's name in CoNLL-U.

        Examples
        --------
        >>> Sentence.from_words(["Trees", "grow"], upos=["NOUN", "VERB"]).cell(2, "UPOS")
        'VERB'
        """
        at = COLUMNS.index(column)
        start, end = self.spans[word - 1, at : at + 2].tolist()
        return self.raw[start : end - 1].decode()

    def children(self, word: int) -> list[int]:
        """Return the dependents of a word from left to right; 0 is the root. O(n).

        Examples
        --------
        >>> Sentence.from_words(["Old", "trees", "grow"], heads=[2, 3, 0]).children(3)
        [2]
        """
        places: list[int] = (np.flatnonzero(self.heads == self._node(word)) + 1).tolist()
        return places

    def subtree(self, word: int) -> list[int]:
        """Return a word and all words below it, in a cycle too, from left to right. O(n · depth).

        Examples
        --------
        >>> Sentence.from_words(["Old", "trees", "grow"], heads=[2, 3, 0]).subtree(2)
        [1, 2]
        """
        below = np.zeros(len(self) + 1, dtype=np.bool_)
        below[self._node(word)] = True
        heads = self.tree
        while True:
            more = below | (below[heads] & (heads >= 0))
            if (more == below).all():
                words: list[int] = np.flatnonzero(below[1:]).tolist()
                return [each + 1 for each in words]
            below = more

    def path(self, start: int, end: int) -> list[int]:
        """Return the nodes on the way from a word to another through the tree, both included.

        The way leads up to the lowest node that is above both, and down; 0 is the root. O(n).

        Raises
        ------
        OptionError
            If there is no such word.
        TreeError
            If a word has no head, or is below a cycle.

        Examples
        --------
        >>> sentence = Sentence.from_words(["Old", "trees", "grow", "slowly"], heads=[2, 3, 0, 3])
        >>> sentence.path(1, 4)
        [1, 2, 3, 4]
        """
        from arborescence.treebank.words import path_up

        heads = self.tree
        up, down = path_up(heads, self._node(start)), path_up(heads, self._node(end))
        while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
            up.pop()
            down.pop()
        return up + down[-2::-1]

    @property
    def depth(self) -> npt.NDArray[np.int64]:
        """The number of edges from the root to each word, (n,); 0 where no path leads there."""
        from arborescence.treebank.words import depths_of

        return depths_of(self.tree)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        r"""The place of each word in the text that the sentence was cut from: start and end.

        Characters (code points) from 0, the end excluded, in the whole text or file as it is; a
        byte order mark is not counted. Words of a multiword token have the place of the token.
        ``TokenRange`` in MISC has priority. If neither TokenRange nor `offset` is known, the place
        is in the text of the sentence alone, by ``SpaceAfter=No`` and ``# text``; `word_ranges`
        counts through all sentences.

        Examples
        --------
        >>> import arborescence as arb
        >>> [_, sentence] = arb.load("english-fast").split("Oh.\r\n\r\nDon't go!")
        >>> sentence.ranges, sentence.start, sentence.end
        ([(7, 12), (7, 12), (13, 15), (15, 16)], 7, 16)
        """
        from arborescence.treebank.surface import ranges_of

        return ranges_of(self)

    @property
    def start(self) -> int:
        """The place of the first word in the text: see `ranges`."""
        return self.ranges[0][0]

    @property
    def end(self) -> int:
        """The place after the last word in the text: see `ranges`."""
        return self.ranges[-1][1]

    def to_dict(self) -> dict[str, Any]:
        """Describe the sentence by lists and strings, ready for JSON.

        ``arborescence parse --json`` and the service write the same.

        Returns
        -------
        dict
            ``sent_id`` and ``text``, where there are such comments. ``words``, ``lemmas``,
            ``upos``, ``xpos``, ``feats``, ``misc``: a string for each word, as in CoNLL-U.
            ``start``, ``end``: the place of each word, see `ranges`. ``multiwords``: first word,
            last word and form of each multiword token. With a tree, ``heads`` (0 is the root, -1
            unknown) and ``deprels``. With probabilities in MISC, ``edge_probs`` and
            ``relation_probs``; with the probability of the tree in a comment, ``tree_prob``.

        Examples
        --------
        >>> described = Sentence.from_words(["Trees", "grow"], heads=[2, 0]).to_dict()
        >>> described["words"], described["heads"], described["start"], described["end"]
        (['Trees', 'grow'], [2, 0], [0, 6], [5, 10])
        """
        from arborescence.treebank.dictionaries import described

        return described(self)

    def _node(self, word: int) -> int:
        """Check the number of a node."""
        if not 0 <= word <= len(self):
            raise OptionError(f"word {word}: the words of the sentence are 1 to {len(self)}")
        return word

    @property
    def multiwords(self) -> list[tuple[int, int, str]]:
        """The multiword tokens: first word, last word (counted from 1) and the form."""
        tokens = []
        for line in self.raw[self._body() :].decode().split("\n"):
            number, _, rest = line.partition("\t")
            first, dash, last = number.partition("-")
            if dash:
                tokens.append((int(first), int(last), rest.partition("\t")[0]))
        return tokens

    @property
    def comments(self) -> list[str]:
        """The comment lines, each with its ``#``."""
        return self.raw[: self._body()].decode().split("\n")[self._opening() : -1]

    @property
    def sent_id(self) -> str | None:
        """The value of the comment ``# sent_id = ...``, or None."""
        return self.comment("sent_id")

    @property
    def text(self) -> str | None:
        """The value of the comment ``# text = ...``, or None."""
        return self.comment("text")

    def __len__(self) -> int:
        return len(self.spans)

    def __bytes__(self) -> bytes:
        return self.raw

    def __str__(self) -> str:
        return self.raw.decode()

    def __repr__(self) -> str:
        forms = self.forms
        words = " ".join(forms[:8]) + (" …" if len(forms) > 8 else "")
        where = f" at {self.source}:{self.line}" if self.source else ""
        return f"<Sentence of {len(self)} words{where}: {words}>"

    def _repr_svg_(self) -> str | None:
        """Draw the tree in a notebook; None, which shows `repr`, if a word has no head."""
        from arborescence.drawing.svg import draw_svg

        try:
            return draw_svg(self)
        except TreeError:
            return None

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if isinstance(other, Sentence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.raw)

    def __reduce__(self) -> tuple[type[Sentence], tuple[object, ...]]:
        origin = self.source, self.line, self.item, self.offset, self.plus
        return Sentence, (self.raw, self.spans, *origin)

    def _column(self, column: int) -> list[str]:
        raw = self.raw
        starts = self.spans[:, column].tolist()
        ends = self.spans[:, column + 1].tolist()
        return [raw[start : end - 1].decode() for start, end in zip(starts, ends, strict=True)]

    def _opening(self) -> int:
        """Count the blank lines before the sentence (only a file's first sentence may have any)."""
        return len(self.raw) - len(self.raw.lstrip(b"\n"))

    def _body(self) -> int:
        """Return the end of the comments in `raw`."""
        at = self._opening()
        while self.raw.startswith(b"#", at):
            at = self.raw.index(b"\n", at) + 1
        return at

    def _written_heads(self, heads: npt.ArrayLike) -> list[str]:
        vector, _ = as_array(heads, "heads")
        n = len(self)
        if vector.shape not in ((n,), (n + 1,)) or vector.dtype.kind not in "iu":
            raise TreeError(
                f"{self._where()}heads must be {n} integers, one for each word (or {n + 1}, the "
                f"head vector of decode), not an array of shape {vector.shape} and type "
                f"{vector.dtype}"
            )
        values: list[int] = vector.tolist()
        if len(values) > n and values.pop(0) != -1:
            raise TreeError(f"{self._where()}of {n + 1} heads, the first must be -1, for the root")
        for word, head in enumerate(values, 1):
            if not -1 <= head <= n or head == word:
                raise TreeError(
                    f"{self._where()}the head of word {word} is {head}, "
                    f"which is neither another of the {n} words nor 0 or -1"
                )
        return [str(head) if head >= 0 else "_" for head in values]

    def _with_columns(self, columns: dict[int, Sequence[str]]) -> Sentence:
        """Copy the bytes with new values in `columns`, which are in ascending order."""
        n = len(self)
        for column, values in columns.items():
            if isinstance(values, str) or len(values) != n:
                raise TreebankError(
                    f"{self._where()}{COLUMNS[column]} needs one string for each of the {n} words"
                )
        joined = "\t".join(chain.from_iterable(zip(*columns.values(), strict=True)))
        if not _fits(joined, n * len(columns)):
            raise TreebankError(self._where() + _misfit(columns))
        try:
            written = joined.encode() + b"\t"
        except UnicodeEncodeError as error:
            raise TreebankError(f"{self._where()}not valid Unicode: {error}") from error
        replaced = np.zeros(10, dtype=np.bool_)
        replaced[list(columns)] = True
        out, _, spans = rewritten(
            np.frombuffer(self.raw, dtype=np.uint8),
            np.array([0, len(self.raw)]),
            np.array([0, n]),
            self.spans,
            replaced,
            written,
        )
        return self.derived(out, spans)

    def _with_comments(self, comments: Sequence[str]) -> Sentence:
        for comment in comments:
            if not comment.startswith("#") or "\n" in comment or "\r" in comment:
                raise TreebankError(
                    f"{self._where()}a comment is one line that starts with '#', not {comment!r}"
                )
        opening, body = self._opening(), self._body()
        head = self.raw[:opening] + "".join(f"{comment}\n" for comment in comments).encode()
        shift = np.int32(len(head) - body)
        return self.derived(head + self.raw[body:], self.spans + shift)

    def _where(self) -> str:
        return f"{self.source}:{self.line}: " if self.source else ""


def _fits(joined: str, count: int) -> bool:
    """Return whether tab-joined values are `count` valid values of CoNLL-U columns."""
    return (
        joined.count("\t") == count - 1
        and "\t\t" not in joined
        and not joined.startswith("\t")
        and not joined.endswith("\t")
        and joined != ""
        and "\n" not in joined
        and "\r" not in joined
    )


def _misfit(columns: dict[int, Sequence[str]]) -> str:
    """Describe the first value that `_fits` rejected."""
    column, word, value = next(
        (column, word, value)
        for column, values in columns.items()
        for word, value in enumerate(values, start=1)
        if not _fits(value, 1)
    )
    return (
        f"{COLUMNS[column]} of word {word} is {value!r}: "
        "a value is not empty and has no tab or line end (use '_' for none)"
    )


@kernel
@takes(
    "uint8[::1], int32[:, ::1], int64[::1], out int64[::1]",
    "uint8[::1], int64[:, ::1], int64[::1], out int64[::1]",
)
def read_head_vectors(
    raw: np.ndarray, spans: np.ndarray, offsets: np.ndarray, vectors: np.ndarray
) -> None:
    """Read the column HEAD of sentences into concatenated head vectors. O(n).

    `raw` is uint8; `spans`, (n, 11), are the spans of n words, as indices into `raw`; `offsets`,
    int64 (B + 1,), has the number of words before each of B sentences, and in all. `vectors`, int64
    (n + B,), is written.
    """
    at = 0
    for sentence in range(offsets.shape[0] - 1):
        vectors[at] = -1
        at += 1
        for word in range(offsets[sentence], offsets[sentence + 1]):
            head = 0
            for place in range(spans[word, HEAD], spans[word, HEAD + 1] - 1):
                blank = raw[place] == _UNDERSCORE
                head = -1 if blank else 10 * head + int(raw[place]) - _ZERO
            vectors[at] = head
            at += 1


def rewritten(
    # raw, places, offsets, spans: as in `Joined`
    raw: npt.NDArray[np.uint8],
    places: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    spans: npt.NDArray[np.int32],
    replaced: npt.NDArray[np.bool_],  # (10,): whether each column gets new values
    # the new values, by word and column, a tab after each; nothing before the tab: the old value
    values: bytes,
) -> tuple[bytes, npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return sentences' bytes, places and spans with new values in some columns. O(bytes)."""
    out = np.empty(raw.size + len(values), dtype=np.uint8)
    new_places, new_spans = np.empty_like(places), np.empty_like(spans)
    given = np.frombuffer(values, dtype=np.uint8)
    _rewrite(raw, places, offsets, spans, replaced, given, out, new_places, new_spans)
    return out[: new_places[-1]].tobytes(), new_places, new_spans


@kernel
@takes(
    "uint8[::1], int64[::1], int64[::1], int32[:, ::1], bool[::1], uint8[::1], "
    "out uint8[::1], out int64[::1], out int32[:, ::1]"
)
def _rewrite(
    raw: np.ndarray,
    places: np.ndarray,
    offsets: np.ndarray,
    spans: np.ndarray,
    replaced: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
    new_places: np.ndarray,
    new_spans: np.ndarray,
) -> None:
    """Do the work of `rewritten`: write the results to the last three arrays. O(bytes)."""
    written = 0
    value = 0
    for b in range(places.shape[0] - 1):
        start = read = places[b]
        begun = new_places[b] = written
        for i in range(offsets[b], offsets[b + 1]):
            for column in range(10):
                new_spans[i, column] = start + spans[i, column] - read + written - begun
                if replaced[column]:
                    if values[value] != _TAB:
                        for at in range(read, start + spans[i, column]):
                            out[written] = raw[at]
                            written += 1
                        read = start + spans[i, column + 1] - 1
                    while values[value] != _TAB:
                        out[written] = values[value]
                        written += 1
                        value += 1
                    value += 1
            new_spans[i, 10] = start + spans[i, 10] - read + written - begun
        for at in range(read, places[b + 1]):
            out[written] = raw[at]
            written += 1
    new_places[places.shape[0] - 1] = written


def check_tree(sentence: Sentence, root: Root) -> None:
    """Raise TreebankError if the heads of a sentence are not a tree, or not a tree for `root`."""
    # A missing head is -1, which is padding for `is_tree`.
    heads = sentence.heads
    missing = np.flatnonzero(heads < 0) + 1
    if not missing.size and is_tree(sentence.tree, root):
        return
    remedy = "correct the sentence, or leave it out"
    if missing.size:
        fault = f"the heads are not a tree: word {missing[0]} has no head; give it one, or {remedy}"
    elif root == "single" and is_tree(sentence.tree, "multi"):
        roots = np.flatnonzero(heads == 0) + 1
        fault = (
            f"several words have the root as their head: {roots[0]} and {roots[1]}; train with "
            "root='multi', or leave the sentence out"
        )
    else:
        fault = f"the heads are not a tree: {_cycle(sentence.tree)} form a cycle; {remedy}"
    raise TreebankError(f"{place(sentence)}: {fault}")


def _cycle(tree: npt.NDArray[np.int64]) -> str:
    """Name the words of a cycle."""
    for start in range(1, len(tree)):
        above = [start]
        while (head := int(tree[above[-1]])) > 0 and head not in above:
            above.append(head)
        if head > 0:
            words = sorted(above[above.index(head) :])
            shown = [str(word) for word in words[:_SHOWN]]
            return f"the words {', '.join(shown)}{' and others' if len(words) > _SHOWN else ''}"
    raise AssertionError("a tree has no cycle")


def size_of(sentence: Sentence) -> tuple[int, int, int]:
    """Return the numbers of sentences, words and lines that are lost with a sentence."""
    return 1, len(sentence), sentence.raw.strip().count(b"\n") + 1


def place(sentence: Sentence) -> str:
    """Return the position of a sentence for error messages: file and line, else its repr."""
    return f"{sentence.source}:{sentence.line}" if sentence.source else repr(sentence)
