"""Equal sentences are parsed once: answers stay in memory, the last ones that were used."""

from __future__ import annotations

import re
from collections import OrderedDict
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.core.checks import check_count
from arborescence.errors import OptionError
from arborescence.treebank.dictionaries import TREE_PROB
from arborescence.treebank.joined import values_of, with_values
from arborescence.treebank.sentence import DEPS, LEMMA, MISC, Sentence
from arborescence.treebank.surface import RANGE, WHITE_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from functools import partial

#: The most bytes of answers: about 100,000 sentences of 12 words.
ROOM: Final = 2**26
_OF_ANSWER, _OF_TREE = 150, 150  # the bytes of an answer and of a tree in it, besides the values
#: Comments that parsing reads.
_READ: Final = re.compile(rb"^# *(?:language|RulesWaived) *=.*$", re.MULTILINE)
#: Comments that parsing writes. A sentence with one of these comments is always parsed.
_WRITTEN: Final = (b"# gave_up =", f"# {TREE_PROB} =".encode())
#: Enhanced dependencies, which parsing does not read: the column before the last.
_ENHANCED: Final = re.compile(rb"(?<=\t)[^\t\n]*:[^\t\n]*(?=\t[^\t\n]*$)", re.MULTILINE)
#: Entries of MISC that no model reads, and no rule but by its `but_misc`: white space and places.
_PLACE: Final = (*WHITE_SPACE, RANGE)
_ENTRY: Final = rf"(?:{'|'.join(_PLACE)})[^|\t\n]*"
_PLACES: Final = re.compile(
    rf"(?<=[\t|]){_ENTRY}(?:\|{_ENTRY})*(?=[^\t\n]*$)".encode(), re.MULTILINE
)


class _Tree(NamedTuple):
    """What a parser has written into a sentence."""

    #: the values of columns, by word, with a tab after each
    values: bytes
    #: new comments
    comments: tuple[str, ...]
    #: in a list of the k best; None: there is no list
    weight: float | None


#: A tree, or the k best.
_Answer = tuple[_Tree, ...]


class Repeats:
    """Sentences that were parsed, with their trees, for the option `once` of `Parser.parse`.

    Several calls may share an object, also in several threads, if parser and options are the same.
    The trees that were not used for the longest time are forgotten first. A copy in another process
    begins empty.

    Parameters
    ----------
    room
        The most bytes for trees; by default 64 MiB, about 100,000 sentences of 12 words.

    Raises
    ------
    OptionError
        If `room` is less than 1; from a parser, if the object was used with another parser, or with
        other options.

    Examples
    --------
    >>> import arborescence as arb
    >>> parser, once = arb.load("english-fast"), Repeats()
    >>> for mail in (["Dear reader,", "birds sing."], ["Dear reader,", "trees grow."]):
    ...     print([tree.deprels[-1] for tree in parser.parse(texts=mail, once=once)])
    ['punct', 'punct']
    ['punct', 'punct']
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = check_count(room, "room")
        self._answers: OrderedDict[bytes, _Answer] = OrderedDict()
        self._size, self._lock = 0, Lock()
        self._work: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Repeats, (self._room,)

    def check(self, work: Any) -> None:
        """Raise OptionError if the answers are of other work: another parser, or other options."""
        with self._lock:
            self._work = self._work or work
            if self._work != work:
                raise OptionError(
                    "once: these Repeats were used with another parser or other options: make new "
                    "ones, Repeats()"
                )

    def known(self, keys: Iterable[bytes]) -> dict[bytes, _Answer]:
        """Return the answers that are in memory."""
        known = {}
        with self._lock:
            for key in keys:
                if key in self._answers:
                    known[key] = self._answers[key]
                    self._answers.move_to_end(key)  # it is forgotten last
        return known

    def remember(self, new: Mapping[bytes, _Answer]) -> None:
        """Put answers into memory; forget others, if there is no room."""
        with self._lock:
            for key, answer in new.items():
                if key not in self._answers:
                    self._answers[key] = answer
                    self._size += _size(answer)
            while self._size > self._room:
                self._size -= _size(self._answers.popitem(last=False)[1])


def _size(answer: _Answer) -> int:
    """Return about how many bytes an answer takes."""
    return _OF_ANSWER + sum(len(tree.values) + _OF_TREE for tree in answer)


class Once:
    """A function that parses batches, by another one which gets only sentences that are new.

    Two sentences are equal if all that parsing reads is equal: all columns of all words, besides
    DEPS, and white space and places of words in MISC; and the comments ``language`` and
    ``RulesWaived``. With probabilities, which stand in MISC, all of MISC is compared. Several
    threads may call the function: if two of them have the same new sentence, both parse it.

    Parameters
    ----------
    parse
        Returns, for each sentence of a list, the sentence with its tree, or the k best.
    options
        The `Options` of parsing. Their module imports this one, so they have no type here.
    repeats
        The memory.
    """

    def __init__(self, parse: partial[list[Any]], options: Any, repeats: Repeats) -> None:
        self._parse, self._repeats = parse, repeats
        self._writes = options.confidence or bool(options.keep)
        self._columns = [*range(LEMMA, DEPS), *([MISC] if options.confidence else [])]
        keeper = options.rules
        rules = keeper.rules if keeper else ()
        told = any(getattr(rule, "but_misc", "").startswith(_PLACE) for rule in rules)
        self._reads_places = told or options.confidence
        kept = keeper and (rules, keeper.work, keeper.strict)
        wanted = options._asdict() | {"rules": kept, "budget": None}
        repeats.check((parse.func, parse.keywords | {"options": wanted}))

    def __call__(self, sentences: list[Sentence]) -> list[Any]:
        """Parse sentences; results are in order."""
        keys = [self._key(sentence) for sentence in sentences]
        answers = self._repeats.known(keys)
        first: dict[bytes | int, int] = {}  # the number of the first one of each new kind
        for number, key in enumerate(keys):
            if key not in answers:
                first.setdefault(key or number, number)
        numbers = [*first.values()]
        results = self._parse([sentences[number] for number in numbers]) if numbers else []
        parsed = dict(zip(numbers, results, strict=True))
        written = self._written([sentences[number] for number in numbers], results)
        new = dict(zip([keys[number] for number in numbers], written, strict=True))
        new.pop(b"", None)
        self._repeats.remember(new)
        answers |= new
        others = {n: answers[key] for n, key in enumerate(keys) if n not in parsed}
        parsed |= self._filled(sentences, others)
        return [parsed[number] for number in range(len(sentences))]

    def _key(self, sentence: Sentence) -> bytes:
        """Return a hash of all that parsing reads; b"" for a sentence that is always parsed."""
        raw, start = sentence.raw, int(sentence.spans[0, 0])
        if self._writes and any(comment in raw for comment in _WRITTEN):
            return b""
        read = raw[start:]
        if b":" in read:
            read = _ENHANCED.sub(b"_", read)
        if not self._reads_places and (b"Spaces" in read or RANGE.encode() in read):
            read = _PLACES.sub(b"_", read)
        if b"language" in raw or b"RulesWaived" in raw:
            read = b"\n".join([*_READ.findall(raw, 0, start), read])
        return blake2b(read, digest_size=16).digest()

    def _written(self, sentences: Sequence[Sentence], results: Sequence[Any]) -> Iterator[_Answer]:
        """Yield what the parser has written into each sentence."""
        lists = [[(of, None)] if isinstance(of, Sentence) else of for of in results]
        values = iter(values_of([tree for trees in lists for tree, _ in trees], self._columns))
        for sentence, trees in zip(sentences, lists, strict=True):
            before = len(sentence.comments) if self._writes else 0
            yield tuple(
                _Tree(next(values), tuple(tree.comments[before:]) if self._writes else (), weight)
                for tree, weight in trees
            )

    def _filled(
        self, sentences: Sequence[Sentence], answers: Mapping[int, _Answer]
    ) -> Iterator[tuple[int, Any]]:
        """Yield the numbers of some sentences, and the sentences with their answers."""
        flat = [(sentences[n], tree) for n, answer in answers.items() for tree in answer]
        values = b"".join([tree.values for _, tree in flat])
        filled = iter(with_values([sentence for sentence, _ in flat], self._columns, values))
        for number, answer in answers.items():
            trees = [(_with_comments(next(filled), each.comments), each.weight) for each in answer]
            yield number, trees[0][0] if answer[0].weight is None else trees


def _with_comments(sentence: Sentence, comments: Sequence[str]) -> Sentence:
    """Return a sentence with more comments."""
    return sentence.replace(comments=[*sentence.comments, *comments]) if comments else sentence
