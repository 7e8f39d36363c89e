"""Tokenizer: splits raw text into sentences and words, with log-linear models from a treebank.

It finds the ends of tokens (`words`) and of sentences (`sentences`), and splits multiword tokens
(`words.Splitter`). The training text is made from forms and ``SpaceAfter=No`` (Zeman et al. 2018),
with random line ends, so that the model learns how reliable line ends are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from unicodedata import category

import numpy as np

from arborescence.core.random import as_generator
from arborescence.errors import TreebankError
from arborescence.parsers.shared import reading, scheme
from arborescence.parsers.shared.classifier import (
    NO_GOLD,
    NOTHING,
    PLACES,
    Learned,
    pack,
    sums,
    unpack,
)
from arborescence.parsers.shared.reading import Read, Reading
from arborescence.parsers.text import sentences as ends_of_sentences
from arborescence.parsers.text import words as ends_of_words
from arborescence.parsers.text.characters import INSIDE, NO_GAP, PARAGRAPH, Characters
from arborescence.parsers.text.cut_words import is_known, joined, numbers_of
from arborescence.parsers.text.evidence import Evidence, without_chance
from arborescence.parsers.text.lines import Lines, last_end
from arborescence.parsers.text.quotations import (
    at_full_stops,
    before_spaces,
    end_at_full_stops,
    mend,
    without_spaces,
)
from arborescence.parsers.text.words import Splitter
from arborescence.parsers.text.writing import Tokens, Writer, stops_of, with_contractions
from arborescence.treebank.surface import NOT_SPACED, begins_paragraph, surface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt
    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence


_EPOCHS: Final = 6
_FIELDS: Final = {
    "with_spaces": scheme.one_of([False, True]),
    "multiwords": scheme.MAPPING_OR_NULL,
    # Older files lack these fields: the scripts and characters of their treebanks are not known.
    "reading": replace(reading.FIELD, default=None),
    "evidence": replace(scheme.MAPPING, default=Evidence().to_file()),
}
# The words of the treebank, if there is no splitter that has them. Older files lack this array.
_KNOWN: Final = {"known": scheme.Array((np.uint32,), ("known",))}
_NONE: Final = np.zeros(0, dtype=np.int64)
# The number of characters of a piece, and the number of them that the next piece repeats.
_PIECE: Final = 1 << 15
_AGAIN: Final = 1 << 11


class Tokenizer:
    """Splits raw text into sentences and words.

    Tokenizers are made by `train` and `from_file`.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> taught = [
    ...     Sentence.from_words(["Trees", "grow", "."], misc=["_", "SpaceAfter=No", "_"]),
    ...     Sentence.from_words(["Do", "they", "?"], misc=["_", "SpaceAfter=No", "_"]),
    ... ]
    >>> tokenizer = Tokenizer.train(taught * 5)
    >>> [sentence.forms for sentence in tokenizer.split("Do trees grow? They grow.")]
    [['Do', 'trees', 'grow', '?'], ['They', 'grow', '.']]
    """

    def __init__(
        self,
        words: NDArray[np.int8],
        sentences: NDArray[np.int8],
        splitter: Splitter | None,
        *,
        with_spaces: bool,
        reads: Reading,
        evidence: Evidence,
        known: NDArray[np.int64] = _NONE,
    ) -> None:
        # known: the hashes of the words of the treebank, in order; a splitter has them, too
        self._words = words
        self._sentences = sentences
        self._splitter = splitter
        self._with_spaces = with_spaces
        self._reading = reads
        self._evidence = evidence
        self._known = splitter.known if splitter else known

    @classmethod
    def train(
        cls, treebank: Iterable[Sentence], *, rng: Rng = 0, progress: Progress | None = None
    ) -> Self:
        """Train on the text of a treebank.

        Parameters
        ----------
        treebank
            Sentences in text order. ``# newpar`` and ``# newdoc`` mark the start of paragraphs,
            ``SpaceAfter=No`` a token without a space after it.
        rng
            A seed or a generator, for the random line breaks in the text.
        progress
            Called as ``progress(phase, done, total)``.

        Raises
        ------
        TreebankError
            If the treebank is empty.
        """
        generator = as_generator(rng)
        treebank = list(treebank)
        reads = Reading.of(treebank)
        paragraphs = [
            [[token.read(reads) for token in sentence] for sentence in paragraph]
            for paragraph in tokens_of(treebank)
        ]
        if not paragraphs:
            raise TreebankError("there are no sentences to learn from")
        tokens = [token for paragraph in paragraphs for sentence in paragraph for token in sentence]
        evidence = Evidence.of((token.form, token.spaced) for token in tokens)
        words, sentences = Learned(PLACES), Learned(PLACES)
        with_spaces = False
        for epoch in range(_EPOCHS + 1):
            # Even epochs use the plain text. The last text is only for multiword tokens.
            text = TrainingText.of(paragraphs, generator, plain=epoch % 2 == 0)
            characters = Characters.of(
                text.text, whole=partial(evidence.inside, Read(text.text, None))
            )
            in_text = characters.offsets >= 0
            right = np.zeros(in_text.size, dtype=np.bool_)
            right[in_text] = text.token_ends[characters.offsets[in_text]]
            starts, ends = _bounds(characters, right)
            letters = _spelled(characters, starts, ends)
            if epoch == _EPOCHS:
                break
            gaps = characters.gaps
            with_spaces = bool(((gaps != NO_GAP) & (gaps != INSIDE) & ~right).any())
            guess = np.empty_like(right)
            ends_of_words.cut(characters, with_spaces, words.weights, guess, right, words.table)
            gold = text.sentence_ends[characters.offsets[ends]]
            scores = np.empty(gold.size)
            ends_of_sentences.end(letters, sentences.weights, scores, gold, sentences.table)
            if epoch == _EPOCHS // 2 - 1:
                words.prune()
                sentences.prune()
            if progress:
                progress("words and sentences", epoch + 1, _EPOCHS)
        splitter = Splitter.train(
            [token.form for token in tokens],
            [token.words for token in tokens],
            letters,
            generator=generator,
            progress=lambda done, total: progress and progress("multiword tokens", done, total),
        )
        return cls(
            words.in_bytes(),
            sentences.in_bytes(),
            splitter,
            with_spaces=with_spaces,
            reads=reads,
            evidence=evidence,
            known=numbers_of(token.form.lower() for token in tokens),
        )

    def split(self, text: str, *, lines: bool | None = None) -> Iterator[Sentence]:
        """Split text into sentences and words.

        Parameters
        ----------
        text
            Paragraphs separated by blank lines. Each run of white space counts as one space.
        lines
            Whether each line is a sentence (True), or sentences go on from line to line (False).
            None: as False, but items, such as headlines or the entries of a list, are read one by
            one. Lines are items if they are short, or if the next word would have fitted into most
            of them; and if most of them begin with a capital letter.

        Yields
        ------
        Sentence
            A sentence with ``# sent_id``, ``# text``, ``# newpar`` at the start of a paragraph,
            multiword tokens, and in MISC the white space that is not one space (see
            `treebank.raw_text`).

        Raises
        ------
        TreebankError
            If the text contains lone surrogates, which are not characters.
        """
        return self.stream([text], lines=lines)

    def stream(
        self,
        pieces: Iterable[str],
        *,
        lines: bool | None = None,
        name: str | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> Iterator[Sentence]:
        r"""Split a text that is given in pieces, like `split`, in constant memory.

        Parameters
        ----------
        pieces
            Consecutive pieces of the text, cut anywhere. A line ends with ``\n``.
        lines
            As for `split`.
        name
            The name of the document, for ``# newdoc`` of the first sentence and as the start of
            every ``# sent_id``.
        warn
            Called with a message for the first sentence of more than 500 words, which is cut, and
            for the first lines that are read as items. None: the first message is a Python warning.
        """
        writer = Writer(name, warn, paragraphs=not lines)
        layout = Lines(lines, warn)
        held = ""
        for piece in pieces:
            held += piece
            while len(held) >= 2 * _PIECE:
                used, sentences = self._first(held[: 2 * _PIECE], writer, layout)
                held = held[used:]
                yield from sentences
        if held.strip():
            yield from writer.write(self._cut(held, layout.marks(held), layout, ends=True))

    def sentence_stops(self, text: str, starts: npt.ArrayLike, stops: npt.ArrayLike) -> list[int]:
        """Find the sentences of a text that another tokenizer has cut into tokens.

        Sentences of more than 500 tokens are cut at likely sentence ends.

        Parameters
        ----------
        text
            As for `split`.
        starts, stops : (t,) int
            The first character of each token, and the character after its last character, in the
            order of the text. A token is not empty, and has no white space at its ends.

        Returns
        -------
        list of int
            For each sentence, the number of the token after its last token.

        Examples
        --------
        >>> import arborescence as arb
        >>> tokenizer = arb.load("english").text.tokenizer
        >>> starts, stops = [0, 3, 7, 9, 11, 16, 20], [2, 6, 9, 10, 15, 20, 21]
        >>> tokenizer.sentence_stops("We saw it. They left.", starts, stops)
        [4, 7]
        """
        letters, gaps = self._letters(text, self._read(text), starts, stops)
        scores = self._scores(letters, gaps, text, np.asarray(starts))
        return list(stops_of(scores, [1] * len(letters), lambda _: None))

    def split_contractions(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Split words that stand for several into multiword tokens: see `Parser.split`."""
        if self._splitter is None:
            return list(sentences)
        forms = [form for sentence in sentences for form in sentence.forms]
        text = " ".join(forms)
        stops = np.cumsum([len(form) + 1 for form in forms]) - 1
        starts = stops - [len(form) for form in forms]
        read = self._reading.read(text)
        letters, _ = self._letters(text, read, starts, stops)
        words = self._splitter.split(list(map(self._reading.form, forms)), letters)
        split, first = [], 0
        for sentence in sentences:
            stop = first + len(sentence)
            parts = {
                t - first + 1: read.given(text, int(read.places(starts[t])), words[t])
                for t in range(first, stop)
                if t in words and " " not in forms[t]
            }
            split.append(with_contractions(sentence, parts))
            first = stop
        return split

    def _letters(
        self, text: str, read: Read, starts: npt.ArrayLike, stops: npt.ArrayLike
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Return the hashes of the tokens between places in a text, and the gaps after them."""
        characters = Characters.of(read.text, read.at(Lines(None).marks(text)))
        in_text = np.flatnonzero(characters.offsets >= 0)
        places = np.empty(len(read.text), dtype=np.int64)
        places[characters.offsets[in_text]] = in_text
        first = places[read.places(starts)]
        last = places[read.places(np.asarray(stops) - 1)]
        return _spelled(characters, first, last), characters.gaps[last]

    def _first(self, text: str, writer: Writer, layout: Lines) -> tuple[int, Iterable[Sentence]]:
        """Return the number of characters used, and complete sentences from the start of a text."""
        if begin := len(text) - len(text.lstrip()):
            writer.pass_over(text[:begin])
            return begin, ()
        marks = layout.marks(text)
        body = len(text.rstrip())
        if end := last_end(text, marks, body):
            used = body - len(text[end:body].lstrip())
            tokens = self._cut(text[:used], marks[:used], layout)
        else:
            tokens = self._cut(text, marks, layout)
            tokens.gaps[-1] = NO_GAP  # the paragraph may continue
            stops = np.flatnonzero(tokens.scores > 0) + 1
            # The last token stays for the next piece, with the white space after it.
            before = int(np.searchsorted(tokens.stops, len(text) - _AGAIN))
            most = min(before, len(tokens.forms) - 1)
            certain = stops[stops <= most]
            # If no sentence end is found, cut here.
            tokens = tokens.first(int(certain[-1]) if certain.size else max(most, 1))
            used = len(tokens.text)
        layout.remember(used)
        return used, writer.write(tokens)

    def _cut(
        self, text: str, marks: NDArray[np.uint8], layout: Lines, *, ends: bool = False
    ) -> Tokens:
        """Split a text into tokens; where lines are sentences, only their ends end sentences."""
        own, removed = joined(text, marks, self._knows)
        read = self._read(own.text)
        marks = own.at(marks)
        try:
            whole = partial(self._evidence.inside, read)
            characters = Characters.of(read.text, read.at(marks), whole)
        except UnicodeEncodeError as error:
            half = read.text[error.start]
            raise TreebankError(
                f"{half!r} in the text is half of a character (a lone surrogate): decode the text "
                "again"
            ) from error
        cuts = np.zeros(characters.folded.size, dtype=np.bool_)
        ends_of_words.cut(characters, self._with_spaces, self._words, cuts, NO_GOLD, NOTHING)
        spaced = before_spaces(read, own.text)
        certain = np.concatenate([spaced, at_full_stops(read.text)])
        if certain.size:
            cuts |= np.isin(characters.offsets, certain)
        starts, stops = _bounds(characters, cuts)
        letters = _spelled(characters, starts, stops)
        gaps = characters.gaps[stops]
        if layout.lines:
            scores = np.where(gaps >= PARAGRAPH, np.inf, -np.inf)
        else:
            scores = self._scores(letters, gaps, read.text, characters.offsets[starts])
            strange = self._evidence.strange(read)[characters.offsets[stops]]
            without_chance(scores, strange, gaps)
        first, last = characters.offsets[starts], characters.offsets[stops] + 1
        forms = self._forms(read.text, first, last)
        words = self._splitter.split(forms, letters) if self._splitter else {}
        words = {t: parts for t, parts in words.items() if " " not in forms[t]}
        begin, stop = first, last
        if read.starts is not None:
            begin, stop = read.starts[first], read.starts[last]
            if spaced.size:
                sizes = [len(form.rstrip()) for form in _texts(own.text, begin, stop)]
                stop = begin + np.array(sizes)
            for number, parts in words.items():
                words[number] = read.given(own.text, int(first[number]), parts)
            forms = self._forms(own.text, begin, stop)
        if own.starts is not None:
            begin, stop = own.starts[begin], own.starts[stop - 1] + 1
        begin, stop = begin.tolist(), stop.tolist()
        return Tokens(forms, begin, stop, gaps.tolist(), scores, words, text, removed, ends)

    def _read(self, text: str) -> Read:
        """Return a text as the model reads it."""
        return without_spaces(self._reading.read(text), text, self._reading.known or ())

    def _knows(self, word: str) -> bool:
        """Return whether the treebank has a word, or has the words that it stands for: *du*."""
        word = self._reading.form(word).lower()
        return is_known(word, self._known) or bool(self._splitter and self._splitter.parts(word))

    def _forms(self, text: str, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> list[str]:
        """Return the forms of tokens between places in a text."""
        forms = _texts(text, starts, stops)
        return [" ".join(form.split()) for form in forms] if self._with_spaces else forms

    def _scores(
        self,
        letters: NDArray[np.uint64],
        gaps: NDArray[np.uint8],
        text: str,
        starts: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return the score of a sentence end after each token."""
        scores = np.empty(len(letters))
        ends_of_sentences.end(letters, self._sentences, scores, NO_GOLD, NOTHING)
        end_at_full_stops(scores, letters, gaps, text, starts)
        mend(scores, letters, gaps)
        return scores

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file; see `from_file`."""
        parts = {"words/": pack(self._words), "sentences/": pack(self._sentences)}
        splitter = None
        if self._splitter:
            splitter, parts["multiwords/"] = self._splitter.to_file()
        elif self._known.size:
            parts[""] = {"known": np.diff(self._known.astype(np.uint32), prepend=np.uint32(0))}
        header = {
            "with_spaces": self._with_spaces,
            "multiwords": splitter,
            "reading": self._reading.known,
            "evidence": self._evidence.to_file(),
        }
        return header, scheme.joined(parts)

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a tokenizer from the output of `to_file`, or raise `ModelError`."""
        fields = scheme.fields_of(header, _FIELDS)
        splitter = fields["multiwords"]
        known = _NONE
        if "known" in arrays:
            known = sums(scheme.arrays_of(arrays, _KNOWN, {})["known"])
        return cls(
            unpack(scheme.part(arrays, "words/"), PLACES),
            unpack(scheme.part(arrays, "sentences/"), PLACES),
            None
            if splitter is None
            else Splitter.from_file(splitter, scheme.part(arrays, "multiwords/")),
            with_spaces=fields["with_spaces"],
            reads=Reading(fields["reading"]),
            evidence=Evidence.from_file(fields["evidence"]),
            known=known,
        )


def _bounds(
    characters: Characters, cuts: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last character of each token; tokens end at `cuts`."""
    ends = np.flatnonzero(cuts)
    written = np.flatnonzero(characters.kinds)
    return written[np.searchsorted(written, np.concatenate(([0], ends + 1))[: ends.size])], ends


def _texts(text: str, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> list[str]:
    """Return the parts of a text between places."""
    return [text[i:j] for i, j in zip(starts.tolist(), stops.tolist(), strict=True)]


def _spelled(
    characters: Characters, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return the hashes of tokens: see `sentences.spell`."""
    letters = np.empty((ends.size, ends_of_sentences.LETTERS), dtype=np.uint64)
    ends_of_sentences.spell(characters, starts, ends, letters)
    return letters


# The changes of the training text: the share of paragraphs that are joined to the next paragraph;
# the share without punctuation, half of them in lower case; the share that are wrapped at a random
# width; and the share with one line for each sentence.
_JOINED: Final = 0.25
_BARE: Final = 0.2
_WRAPPED: Final = 0.25
_A_LINE_EACH: Final = 0.25
_WIDTHS: Final = (40, 100)
# The mean number of sentences in a paragraph, for a treebank without paragraph marks.
_PARAGRAPH: Final = 5


class Token(NamedTuple):
    """A token of a treebank."""

    #: The form.
    form: str
    #: The words of a multiword token, else None.
    words: tuple[str, ...] | None
    #: Whether a space follows.
    spaced: bool

    def read(self, reads: Reading) -> Token:
        """Return the token as a model reads it."""
        words = None if self.words is None else tuple(map(reads.form, self.words))
        return Token(reads.form(self.form), words, self.spaced)


#: The tokens of each sentence.
Paragraph = list[list[Token]]


def tokens_of(treebank: Iterable[Sentence]) -> list[Paragraph]:
    """Return the tokens of a treebank, by paragraphs and sentences."""
    paragraphs: list[Paragraph] = []
    for sentence in treebank:
        if begins_paragraph(sentence) or not paragraphs:
            paragraphs.append([])
        paragraphs[-1].append(_tokens(sentence))
    return paragraphs


def _tokens(sentence: Sentence) -> list[Token]:
    forms = sentence.forms
    return [
        Token(
            " ".join(token.form.split()) or "_",
            tuple(forms[token.first - 1 : token.last]) if token.last else None,
            NOT_SPACED not in token.misc,
        )
        for token in surface(sentence)
    ]


class TrainingText(NamedTuple):
    """A text, and the ends of its tokens and sentences."""

    #: The text.
    text: str
    #: (len(text),): whether a token ends with each character.
    token_ends: NDArray[np.bool_]
    #: (len(text),): whether a sentence ends with each character.
    sentence_ends: NDArray[np.bool_]

    @classmethod
    def of(
        cls, paragraphs: Sequence[Paragraph], generator: np.random.Generator, *, plain: bool
    ) -> Self:
        """Make the text of paragraphs: plain, or with random changes and random line ends."""
        pieces: list[str] = []
        token_ends: list[int] = []
        sentence_ends: list[int] = []
        size = 0
        for paragraph in paragraphs if plain else _changed(paragraphs, generator):
            layout = 1.0 if plain else generator.random()
            width = int(generator.integers(*_WIDTHS)) if layout < _WRAPPED else 0
            a_line_each = _WRAPPED <= layout < _WRAPPED + _A_LINE_EACH
            line = size
            for sentence in paragraph:
                for place, token in enumerate(sentence, 1):
                    if width and size + len(token.form) - line > width and pieces[-1] == " ":
                        pieces[-1] = "\n"
                        line = size
                    pieces.append(token.form)
                    size += len(token.form)
                    token_ends.append(size - 1)
                    if place == len(sentence):
                        sentence_ends.append(size - 1)
                    if place == len(sentence) and a_line_each:
                        pieces.append("\n")
                        size += 1
                    elif token.spaced:
                        pieces.append(" ")
                        size += 1
            pieces.append("\n\n")
            size += 2
        return cls("".join(pieces), _marks(token_ends, size), _marks(sentence_ends, size))


def _marks(places: list[int], size: int) -> NDArray[np.bool_]:
    marks = np.zeros(size, dtype=np.bool_)
    marks[places] = True
    return marks


def _shorter(
    paragraphs: Sequence[Paragraph], generator: np.random.Generator
) -> Sequence[Paragraph]:
    """Cut the text into random paragraphs if the treebank has no paragraph marks."""
    if len(paragraphs) > 1:
        return paragraphs
    shorter: list[Paragraph] = [[]]
    for sentence in paragraphs[0]:
        shorter[-1].append(sentence)
        if generator.random() < 1 / _PARAGRAPH:
            shorter.append([])
    return [paragraph for paragraph in shorter if paragraph]


def _changed(paragraphs: Sequence[Paragraph], generator: np.random.Generator) -> list[Paragraph]:
    """Join some paragraphs, and take the punctuation out of some."""
    changed: list[Paragraph] = []
    joins = False
    for paragraph in _shorter(paragraphs, generator):
        kept = paragraph
        if generator.random() < _BARE:
            kept = _bare(paragraph, lower=generator.random() < 0.5)
        if joins and changed:
            changed[-1] = changed[-1] + kept
        elif kept:
            changed.append(kept)
        joins = generator.random() < _JOINED
    return changed


def _bare(paragraph: Paragraph, *, lower: bool) -> Paragraph:
    """Return a paragraph without punctuation."""
    bare: Paragraph = []
    for sentence in paragraph:
        tokens: list[Token] = []
        for token in sentence:
            if not all(category(character).startswith("P") for character in token.form):
                tokens.append(token._replace(form=token.form.lower()) if lower else token)
            elif tokens:
                tokens[-1] = tokens[-1]._replace(spaced=True)
        if tokens:
            bare.append([*tokens[:-1], tokens[-1]._replace(spaced=True)])
    return bare
