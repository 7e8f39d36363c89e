"""Convert spaCy's documents to sentences and back.

In spaCy, a root word is its own head with the relation ``ROOT``, white space beyond single spaces
makes tokens, which are not words, and there are no multiword tokens.
"""

from __future__ import annotations

import io
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from arborescence.errors import TreebankError
from arborescence.system.files import opened, writing
from arborescence.treebank import Sentence, read
from arborescence.treebank.conllu import not_read_from
from arborescence.treebank.sentence import DEPREL, FEATS, HEAD, LEMMA, UPOS, XPOS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.text.tokenizer import Tokenizer


class DocLayout(NamedTuple):
    """The tokens of a document that are words, and the starts of its sentences."""

    #: (n,): the positions of the n words among the t tokens.
    words: NDArray[np.int64]
    #: The words; each run of white space inside a word is one space.
    forms: list[str]
    #: (t,): whether a sentence starts with a token; the first token starts a sentence.
    starts: NDArray[np.bool_]
    #: (s,): the number of words of each sentence that has words.
    lengths: NDArray[np.int64]

    def sentences(self) -> Iterator[tuple[int, int]]:
        """Return pairs of the first token of each sentence, and the token after its last token."""
        return pairwise([*np.flatnonzero(self.starts).tolist(), len(self.starts)])


def lay_out(doc: Doc, tokenizer: Tokenizer | None = None) -> DocLayout:
    """Find the words and sentences of a document; `tokenizer` decides unknown starts."""
    texts = [doc.vocab.strings[code] for code in doc.to_array("ORTH").reshape(-1).tolist()]
    forms = [" ".join(text.split()) for text in texts]
    words = np.flatnonzero([bool(form) for form in forms])
    known = doc.to_array("SENT_START").view(np.int64).reshape(-1)
    starts = known == 1
    free = known == 0
    free[:1] = False
    if tokenizer and free[words].any():
        firsts = words[_stops(doc, texts, forms, words, tokenizer)[:-1]]
        starts[firsts] |= free[firsts]
    starts[:1] = True
    lengths = np.bincount(np.cumsum(starts)[words])
    return DocLayout(words, [form for form in forms if form], starts, lengths[lengths > 0])


def _stops(
    doc: Doc,
    texts: list[str],
    forms: list[str],
    words: NDArray[np.int64],
    tokenizer: Tokenizer,
) -> list[int]:
    """Return, for each sentence, the number of the word after its last word."""
    spaces = doc.to_array("SPACY").reshape(-1) > 0
    sizes = np.array([len(text) for text in texts])
    starts = np.cumsum(sizes + spaces) - sizes - spaces
    stops = starts + sizes
    for i, (text, form) in enumerate(zip(texts, forms, strict=True)):
        if form != text:  # white space at a sentence's ends does not count
            starts[i] += len(text) - len(text.lstrip())
            stops[i] -= len(text) - len(text.rstrip())
    pieces = zip(texts, spaces.tolist(), strict=True)
    whole = "".join([f"{text} " if space else text for text, space in pieces])
    return tokenizer.sentence_stops(whole, starts[words], stops[words])


#: The columns besides the tree, by spaCy's names.
COLUMNS: Final = {"lemma": "lemmas", "pos": "upos", "tag": "xpos", "morph": "feats"}
_PLACES: Final = {"lemma": LEMMA, "pos": UPOS, "tag": XPOS, "morph": FEATS}
_BLANK: Final = "_"
# White space, as spaCy's own models annotate it.
_SPACE: Final = {"pos": "SPACE", "tag": "_SP", "morph": _BLANK}
_ATTACHED: Final = "dep"


def sentences_of(doc: Doc) -> list[Sentence]:
    """Convert a document to sentences, with all annotations that CoNLL-U has columns for.

    Tokens of white space are left out. A word whose head is a token of white space, or in another
    sentence, has no head.

    Parameters
    ----------
    doc
        A document; without known sentences, it is one sentence.

    Returns
    -------
    list of Sentence
        Sentences with ``# newdoc`` before the first, ``# text``, and ``SpaceAfter=No``.

    Examples
    --------
    >>> import spacy
    >>> [sentence] = sentences_of(spacy.blank("en")("Don't!"))
    >>> sentence.forms, sentence.misc
    (['Do', "n't", '!'], ['SpaceAfter=No', 'SpaceAfter=No', '_'])
    """
    return sentences_within(doc, lay_out(doc))


def sentences_within(doc: Doc, layout: DocLayout) -> list[Sentence]:
    """Convert a document to sentences, as `sentences_of`, from its known words and sentences."""
    words = layout.words
    after = np.ones(len(doc) + 1, dtype=np.bool_)  # whether white space or the end follows
    after[:-1] = doc.to_array("SPACY").reshape(-1) > 0
    is_word = np.zeros(len(doc) + 1, dtype=np.bool_)
    is_word[words] = True
    no_space = ~after[words] & is_word[words + 1]
    columns = columns_of(doc, words)
    columns["heads"], columns["deprels"] = _edges(doc, layout)
    columns["misc"] = np.where(no_space, "SpaceAfter=No", _BLANK).tolist()
    return list(read(io.BytesIO(rows(layout, columns, _comments(doc, layout)))))


def doc_of(sentences: Iterable[Sentence], vocab: Vocab) -> Doc:
    r"""Convert sentences to one document.

    Multiword tokens are not kept: their words are tokens, with spaces between them, unless the
    concatenated words are the token (as in ``don't``).

    Parameters
    ----------
    sentences
        Sentences; values ``_`` are not set in the document.
    vocab
        The vocabulary of the pipeline that will use the document, ``nlp.vocab``.

    Examples
    --------
    >>> import spacy
    >>> from arborescence.treebank import Sentence
    >>> trees = Sentence.from_words(
    ...     ["Trees", "grow", "."], heads=[2, 0, 2], deprels=["nsubj", "root", "punct"],
    ...     misc=["_", "SpaceAfter=No", "_"],
    ... )
    >>> doc = doc_of([trees], spacy.blank("en").vocab)
    >>> doc.text, [token.head.text for token in doc]
    ('Trees grow.', ['grow', 'grow', 'grow'])
    """
    sentences = list(sentences)
    forms = [form for sentence in sentences for form in sentence.forms]
    spaces = [space for sentence in sentences for space in _spaces(sentence)]
    spaces[-1:] = [False] * len(spaces[-1:])
    doc = Doc(vocab, words=forms, spaces=spaces)
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    starts = np.zeros(len(forms), dtype=np.bool_)
    starts[np.cumsum(lengths) - lengths] = True
    layout = DocLayout(np.arange(len(forms)), forms, starts, lengths)
    annotate(doc, layout, sentences, tuple(COLUMNS), overwrite=True)
    return doc


def annotate(
    doc: Doc,
    layout: DocLayout,
    sentences: Sequence[Sentence],
    columns: Iterable[str],
    *,
    overwrite: bool,
) -> None:
    """Write trees and other columns of sentences to a document.

    `layout` has the words of the document; `sentences` are its sentences that have words; `columns`
    are names in `COLUMNS`; if `overwrite`, existing values of these columns are replaced.

    The head of white space is the word before it, or else the first word of its sentence.
    """
    if not len(doc):
        return
    strings = doc.vocab.strings
    table = _table(sentences)
    heads, relations = _tokens_edges(layout, table)
    hashes = {relation: strings.add(relation) for relation in set(relations)}
    names = ["HEAD", "DEP"]
    values = [
        (heads - np.arange(len(doc))).view(np.uint64),
        np.array([hashes[relation] for relation in relations], dtype=np.uint64),
    ]
    for column in columns:
        new = _codes(doc, column, _tokens_values(doc, layout, table, column))
        old = doc.to_array(column.upper()).reshape(-1)
        kept = new == 0 if overwrite else old != 0
        names.append(column.upper())
        values.append(np.where(kept, old, new))
    doc.from_array(names, np.stack(values, axis=1))
    # Without this, spaCy would find other sentences from the heads.
    starts = np.where(layout.starts, 1, -1).astype(np.int64)
    doc.from_array(["SENT_START"], starts.view(np.uint64))


def columns_of(
    doc: Doc, words: NDArray[np.int64], *, complete: bool = False
) -> dict[str, list[str]]:
    """Return lemmas, tags and features of words that have values, by the names of `Sentence`.

    With `complete`, columns that some words lack are left out.
    """
    strings = doc.vocab.strings
    columns: dict[str, list[str]] = {}
    for column, ours in COLUMNS.items():
        codes = doc.to_array(column.upper()).reshape(-1)[words]
        if codes.all() if complete else codes.any():
            names = {code: _cell(strings[code]) for code in np.unique(codes).tolist()}
            columns[ours] = [names[code] for code in codes.tolist()]
    return columns


def rows(
    layout: DocLayout, columns: Mapping[str, Sequence[str]], comments: Sequence[str] = ()
) -> bytes:
    """Write a document as CoNLL-U.

    `columns` has a list of n strings for each column with values, by the names of `Sentence`;
    `comments` has the lines before each sentence.
    """
    blank = [_BLANK] * len(layout.forms)
    order = ("lemmas", "upos", "xpos", "feats", "heads", "deprels", "deps", "misc")
    filled = [columns.get(name, blank) for name in order]
    tails = ["\t".join(cells) for cells in zip(layout.forms, *filled, strict=True)]
    written: list[str] = []
    first = 0
    for s, length in enumerate(layout.lengths.tolist()):
        if comments:
            written.append(comments[s])
        of_sentence = tails[first : first + length]
        written += [f"{number}\t{tail}\n" for number, tail in enumerate(of_sentence, 1)]
        written.append("\n")
        first += length
    return "".join(written).encode()


def _cell(text: str) -> str:
    """Return a string that fits into a column of CoNLL-U."""
    return " ".join(text.split()) or _BLANK


def _edges(doc: Doc, layout: DocLayout) -> tuple[list[str], list[str]]:
    """Return the columns HEAD and DEPREL of a document's words."""
    words = layout.words
    strings = doc.vocab.strings
    relations = doc.to_array("DEP").reshape(-1)[words]
    targets = words + doc.to_array("HEAD").view(np.int64).reshape(-1)[words]
    sentence = np.cumsum(layout.starts)
    numbers = np.zeros(len(doc), dtype=np.int64)  # of words in their sentences, from 1
    numbers[words] = np.arange(len(words)) - _firsts(layout) + 1
    known = (relations != 0) & (numbers[targets] > 0) & (sentence[targets] == sentence[words])
    heads = np.where(targets == words, 0, numbers[targets]).tolist()
    names = {code: _cell(strings[code]) for code in np.unique(relations).tolist()}
    return (
        [str(head) if has else _BLANK for head, has in zip(heads, known.tolist(), strict=True)],
        ["root" if names[code] == "ROOT" else names[code] for code in relations.tolist()],
    )


def _firsts(layout: DocLayout) -> NDArray[np.int64]:
    """Return for each word the number of words before its sentence, shape (n,)."""
    return np.repeat(np.cumsum(layout.lengths) - layout.lengths, layout.lengths)


def _table(sentences: Iterable[Sentence]) -> list[tuple[str, ...]]:
    """Return the columns of all words; one pass is faster than the attributes of sentences."""
    lines = chain.from_iterable(str(sentence).split("\n") for sentence in sentences)
    cells = (line.split("\t") for line in lines if line)
    return list(zip(*(row for row in cells if row[0].isdecimal()), strict=True)) or [()] * 10


def _tokens_edges(
    layout: DocLayout, table: Sequence[tuple[str, ...]]
) -> tuple[NDArray[np.int64], list[str]]:
    """Return spaCy's heads (t,) and relations; a token without a head is its own head."""
    words, starts = layout.words, layout.starts
    ours = np.array([-1 if head == _BLANK else int(head) for head in table[HEAD]], dtype=np.int64)
    heads = np.arange(len(starts))
    heads[words] = np.where(ours > 0, words[_firsts(layout) + ours - 1], words)
    relations = [_ATTACHED] * len(starts)
    for i, head, relation in zip(words.tolist(), ours.tolist(), table[DEPREL], strict=True):
        relations[i] = relation if head > 0 else "ROOT" if head == 0 else ""
    if len(words) < len(starts):
        _attach_spaces(layout, heads, relations)
    return heads, relations


def _attach_spaces(layout: DocLayout, heads: NDArray[np.int64], relations: list[str]) -> None:
    """Write the heads of white space; in a sentence without words, the first token is the root."""
    is_word = np.zeros(len(heads), dtype=np.bool_)
    is_word[layout.words] = True
    for first, stop in layout.sentences():
        inside = np.flatnonzero(is_word[first:stop])
        host = first + (int(inside[0]) if inside.size else 0)
        if not inside.size:
            relations[host] = "ROOT"
        for i in range(first, stop):
            if is_word[i]:
                host = i
            else:
                heads[i] = host


def _tokens_values(
    doc: Doc, layout: DocLayout, table: Sequence[tuple[str, ...]], column: str
) -> Sequence[str]:
    """Return the values of a column for all tokens; "_" for unknown values."""
    of_words = table[_PLACES[column]]
    if of_words and set(of_words) <= {_BLANK}:
        return [_BLANK] * len(doc)
    values = list(of_words)
    if len(of_words) < len(doc):
        values = [_SPACE.get(column, token.text) for token in doc]
        for i, value in zip(layout.words.tolist(), of_words, strict=True):
            values[i] = value
    # If other words have features, a word without features is known to have none.
    return ["" if value == _BLANK else value for value in values] if column == "morph" else values


def _codes(doc: Doc, column: str, values: Sequence[str]) -> NDArray[np.uint64]:
    """Return spaCy's codes of values; 0 for "_", and for values that spaCy does not know."""
    codes = dict.fromkeys(values, 0)
    for value in codes.keys() - {_BLANK}:
        if column == "pos":
            codes[value] = POS_IDS.get(value, 0)
        elif column != "morph":
            codes[value] = doc.vocab.strings.add(value)
        elif not value or all(feature.count("=") == 1 for feature in value.split("|")):
            codes[value] = doc.vocab.morphology.add(value)
    return np.array([codes[value] for value in values], dtype=np.uint64)


def _comments(doc: Doc, layout: DocLayout) -> list[str]:
    """Return the comments of each sentence with words: text, and the start of a document."""
    texts = [doc[first:stop].text.split() for first, stop in layout.sentences()]
    comments = [f"# text = {' '.join(text)}\n" for text in texts if text]
    comments[:1] = [f"# newdoc\n{first}" for first in comments[:1]]
    return comments


def _spaces(sentence: Sentence) -> list[bool]:
    """Return for each word whether a space follows."""
    spaces = ["SpaceAfter=No" not in misc.split("|") for misc in sentence.misc]
    multiwords = sentence.multiwords
    if multiwords:
        forms = sentence.forms
        outside = _outside(sentence)
        for (first, last, form), space in zip(multiwords, outside, strict=True):
            apart = "".join(forms[first - 1 : last]) != form
            spaces[first - 1 : last] = [apart] * (last - first) + [space]
    return spaces


def _outside(sentence: Sentence) -> list[bool]:
    """Return for each multiword token whether a space follows."""
    lines = [line.split("\t") for line in str(sentence).split("\n") if not line.startswith("#")]
    return ["SpaceAfter=No" not in columns[9].split("|") for columns in lines if "-" in columns[0]]


#: The suffix of these files.
SUFFIX: Final = ".spacy"


class _Read(NamedTuple):
    """A document that was read."""

    #: The document.
    doc: Doc
    #: The words and sentences of the document.
    layout: DocLayout
    #: The sentences.
    sentences: list[Sentence]


class DocFiles:
    """The documents of some files, from reading to writing; `tokenizer` decides unknown starts."""

    def __init__(self, tokenizer: Tokenizer | None = None) -> None:
        self._tokenizer = tokenizer
        self._vocab = Vocab()
        self._read: list[_Read] = []
        self._written = 0
        self._places: dict[tuple[str, int], tuple[int, int]] = {}
        self._counts: dict[str, int] = {}

    def read(self, path: str) -> Iterator[Sentence]:
        """Read the sentences of a file, numbered by `line`; TreebankError if it is damaged."""
        for doc in _docs_of(path, self._vocab):
            layout = lay_out(doc, self._tokenizer)
            sentences = []
            for k, sentence in enumerate(sentences_within(doc, layout)):
                number = self._counts[path] = self._counts.get(path, 0) + 1
                self._places[path, number] = len(self._read), k
                sentences.append(sentence.derived(source=path, line=number))
            self._read.append(_Read(doc, layout, list(sentences)))
            yield from sentences

    def write(self, sentences: Iterable[Sentence], path: str) -> None:
        """Write documents to a file, atomically.

        Sentences that were read go back to their documents, in order; a document without new
        sentences stays the same. Other sentences make new documents: from each ``# newdoc`` on;
        before the first ``# newdoc``, each sentence is a document.
        """
        documents = DocBin(store_user_data=True)
        for doc in self._finished(not_read_from(sentences, path)):
            documents.add(doc)
        with writing(path) as file:
            file.write(documents.to_bytes())

    def _finished(self, sentences: Iterable[Sentence]) -> Iterator[Doc]:
        new: list[Sentence] = []
        reached = 0
        for sentence in sentences:
            place = self._places.get((sentence.source, sentence.line))
            if new and (place or not _begins(new[0]) or _begins(sentence)):
                yield doc_of(new, self._vocab)
                new = []
            if place is None:
                yield from self._annotated(reached)
                new.append(sentence)
            else:
                number, k = place
                yield from self._annotated(number)
                self._read[number].sentences[k] = sentence
                reached = number + 1
        if new:
            yield doc_of(new, self._vocab)
        yield from self._annotated(len(self._read))

    def _annotated(self, stop: int) -> Iterator[Doc]:
        """Yield the earlier documents that have not been written."""
        for doc, layout, sentences in self._read[self._written : stop]:
            annotate(doc, layout, sentences, COLUMNS, overwrite=False)
            yield doc
        self._written = max(self._written, stop)


def _begins(sentence: Sentence) -> bool:
    """Return whether a document begins with this sentence."""
    return any(comment[1:].split()[:1] == ["newdoc"] for comment in sentence.comments)


def _docs_of(path: str, vocab: Vocab) -> Iterator[Doc]:
    with opened(path) as (file, name):
        data = file.read()
    try:
        docs = list(DocBin().from_bytes(data).get_docs(vocab))
    except Exception as error:  # of damaged data, spaCy raises errors of any kind
        raise TreebankError(
            f"{name}: cannot be read as documents of spaCy, which a DocBin writes ({error})"
        ) from error
    yield from docs
