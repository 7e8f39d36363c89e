"""Equal sentences are parsed once: their answers stay in memory, up to a number of bytes."""

from __future__ import annotations

import re
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.treebank.dictionaries import TREE_PROB
from arborescence.treebank.joined import with_values
from arborescence.treebank.sentence import DEPS, LEMMA, MISC, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arborescence.parsers.shared.base import Options

#: The most bytes of answers: about 100,000 sentences of 10 words.
ROOM: Final = 2**25
_OF_ANSWER, _OF_TREE = 250, 150  # the bytes of an answer and of a tree in it, besides the values
#: Comments that parsing reads.
_READ: Final = re.compile(rb"^# *(?:language|RulesWaived) *=.*$", re.MULTILINE)
#: Comments that parsing writes; a sentence that has such a comment is always parsed.
_WRITTEN: Final = (b"# gave_up =", f"# {TREE_PROB} =".encode())
#: Entries of MISC that no model reads, and no rule but by its `but_misc`: white space and places.
_PLACE: Final = ("SpacesAfter=", "SpacesBefore=", "SpacesInToken=", "TokenRange=")
_ENTRY: Final = rf"(?:{'|'.join(_PLACE)})[^|\t\n]*"
_PLACES: Final = re.compile(
    rf"(?<=[\t|]){_ENTRY}(?:\|{_ENTRY})*(?=[^\t\n]*$)".encode(), re.MULTILINE
)


class _Tree(NamedTuple):
    """What a parser has written into a sentence."""

    #: the values of columns, by word, with tabs between them
    values: bytes
    #: new comments
    comments: tuple[str, ...]
    #: in a list of the k best; None: there is no list
    weight: float | None


#: A tree, or the k best.
_Answer = tuple[_Tree, ...]


class Repeats:
    """A function that parses batches, by another one which gets only sentences that are new.

    Two sentences are equal if all that parsing reads is equal: all columns of all words, besides
    white space and places of words in MISC, and the comments ``language`` and ``RulesWaived``. With
    probabilities, which stand in MISC, all of MISC is compared. The answers that were used the
    longest time ago are forgotten first. Several threads may call the function.

    Parameters
    ----------
    parse
        Returns, for each sentence of a list, the sentence with its tree, or the k best.
    options
        The options of parsing.
    room
        The most bytes of answers in memory.
    """

    def __init__(
        self, parse: Callable[[list[Sentence]], list[Any]], options: Options, room: int = ROOM
    ) -> None:
        self._parse, self._room = parse, room
        self._writes = options.confidence or bool(options.keep)
        self._columns = [*range(LEMMA, DEPS), MISC] if options.confidence else range(LEMMA, DEPS)
        rules = options.rules.rules if options.rules else ()
        told = any(getattr(rule, "but_misc", "").startswith(_PLACE) for rule in rules)
        self._reads_places = told or options.confidence
        self._answers: dict[bytes, _Answer] = {}
        self._size, self._lock = 0, Lock()

    def __call__(self, sentences: list[Sentence]) -> list[Any]:
        """Parse sentences; results are in order."""
        keys = [self._key(sentence) for sentence in sentences]
        answers = self._known(keys)
        first: dict[bytes | int, int] = {}  # the number of the first one of each new kind
        for number, key in enumerate(keys):
            if key not in answers:
                first.setdefault(key or number, number)
        numbers = [*first.values()]
        results = self._parse([sentences[number] for number in numbers]) if numbers else []
        parsed = dict(zip(numbers, results, strict=True))
        new = {key: self._answer(sentences[n], parsed[n]) for n in numbers if (key := keys[n])}
        self._remember(new)
        answers |= new
        others = {n: answers[key] for n, key in enumerate(keys) if n not in parsed}
        parsed |= self._repeated(sentences, others)
        return [parsed[number] for number in range(len(sentences))]

    def _key(self, sentence: Sentence) -> bytes:
        """Return a hash of all that parsing reads; b"" for a sentence that is always parsed."""
        raw, start = sentence.raw, int(sentence.spans[0, 0])
        if self._writes and any(comment in raw for comment in _WRITTEN):
            return b""
        words = raw[start:] if self._reads_places else _PLACES.sub(b"_", raw[start:])
        return blake2b(b"\n".join([*_READ.findall(raw, 0, start), words]), digest_size=16).digest()

    def _known(self, keys: Iterable[bytes]) -> dict[bytes, _Answer]:
        """Return the answers that are in memory."""
        with self._lock:
            here = [key for key in dict.fromkeys(keys) if key in self._answers]
            known = {key: self._answers.pop(key) for key in here}
            self._answers |= known  # now these are the last to be forgotten
        return known

    def _remember(self, new: Mapping[bytes, _Answer]) -> None:
        """Put answers into memory; forget others, if there is no room."""
        with self._lock:
            for key, answer in new.items():
                if key not in self._answers:
                    self._answers[key] = answer
                    self._size += _size(answer)
            while self._size > self._room:
                self._size -= _size(self._answers.pop(next(iter(self._answers))))

    def _answer(self, sentence: Sentence, result: Any) -> _Answer:
        """Return what a parser has written into a sentence."""
        trees = [(result, None)] if isinstance(result, Sentence) else result
        before = len(sentence.comments) if self._writes else 0
        return tuple(
            _Tree(self._values(tree), tuple(tree.comments[before:]) if self._writes else (), weight)
            for tree, weight in trees
        )

    def _values(self, tree: Sentence) -> bytes:
        """Return the values of the columns that a parser writes, with tabs between them."""
        raw, ends = tree.raw, tree.spans[:, [LEMMA, DEPS, MISC, MISC + 1]].tolist()
        if MISC in self._columns:
            return b"\t".join([raw[a:b] + raw[c : d - 1] for a, b, c, d in ends])
        return b"\t".join([raw[a : b - 1] for a, b, _, _ in ends])

    def _repeated(
        self, sentences: Sequence[Sentence], answers: Mapping[int, _Answer]
    ) -> Iterator[tuple[int, Any]]:
        """Yield the numbers of some sentences, and the sentences with their answers."""
        flat = [(sentences[n], tree) for n, answer in answers.items() for tree in answer]
        values = b"\t".join([*(tree.values for _, tree in flat), b""])
        filled = iter(with_values([sentence for sentence, _ in flat], self._columns, values))
        for number, answer in answers.items():
            trees = [(_with_comments(next(filled), each.comments), each.weight) for each in answer]
            yield number, trees[0][0] if answer[0].weight is None else trees


def _with_comments(sentence: Sentence, comments: Sequence[str]) -> Sentence:
    """Return a sentence with more comments."""
    return sentence.replace(comments=[*sentence.comments, *comments]) if comments else sentence


def _size(answer: _Answer) -> int:
    """Return about how many bytes an answer takes."""
    return _OF_ANSWER + sum(len(tree.values) + _OF_TREE for tree in answer)
