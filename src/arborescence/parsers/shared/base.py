"""The common interface of trainable parsers: train, save, load, parse, k-best lists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import replace
from functools import partial
from itertools import chain, compress
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    Self,
    TypedDict,
    TypeVar,
)

import numpy as np

from arborescence.core.budget import Budget
from arborescence.core.checks import check_count, check_root
from arborescence.errors import ModelError, OptionError
from arborescence.parsers import model_file, registry
from arborescence.parsers.shared import reading, scheme
from arborescence.parsers.shared.confidence import with_probs
from arborescence.parsers.shared.given import BATCH_WORDS, as_sentences, batches, within
from arborescence.parsers.shared.keeping import Keeper, keeper_of, scheme_of
from arborescence.parsers.shared.options import settings_from
from arborescence.parsers.shared.reading import Reading
from arborescence.parsers.shared.repeats import Once, Repeats
from arborescence.parsers.shared.run import Task
from arborescence.parsers.shared.training_trees import checked
from arborescence.projective.pseudo import MARK, deprojectivize
from arborescence.treebank.conllu import Ranked
from arborescence.treebank.dictionaries import TREE_PROB
from arborescence.treebank.encodings import UTF8
from arborescence.treebank.joined import with_trees
from arborescence.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from typing import Unpack

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.given import Given, Texts
    from arborescence.parsers.shared.options import Progress, Projective
    from arborescence.parsers.shared.run import ParserRun
    from arborescence.rules.sets import AnyRules
    from arborescence.treebank.sentence import Sentence

_Parsed = TypeVar("_Parsed")

# Older model files have no rules, and still older files have no characters of the treebank.
_FIELDS: Final = {
    "rules": scheme.one_of(("ud", "none"), "none"),
    "reading": replace(reading.FIELD, default=None),
}

#: The score of each edge in the tree of a parser without probabilities, when parsers are combined.
#: Chosen by UAS on the development sets of English-EWT and Gothic-PROIEL: benchmarks/results.
VOTE: Final = 0.4
#: Batches become smaller by this factor at most where several threads parse.
_PARTS: Final = 4


class ParseOptions(TypedDict, total=False):
    """The options of all methods that parse, by name: those of `Options`, `threads` and `once`.

    ``threads`` is the number of threads that parse batches, with the calling thread; 1 by default.

    ``once`` tells whether equal sentences are parsed once (false by default), which is faster where
    sentences repeat, such as the headers of mails. True: during this call; a `Repeats`: during all
    calls with it. Sentences are equal if their words are equal in all columns, besides DEPS, and
    white space and places in MISC; with `confidence`, all of MISC must be equal. The result is the
    same as without ``once``, but `Keeper.counts` has each sentence once. Networks that PyTorch runs
    may round a sentence's numbers by the batch that it is in; the other models of this library do
    not. ``once`` does not go with a `budget`.
    """

    threads: int
    once: bool | Repeats
    root: Root
    projective: bool | None
    confidence: bool
    rules: AnyRules | Keeper | None
    keep: bool | Literal["anyway"]
    budget: Budget | None


class Options(NamedTuple):
    """The options of all methods that parse: the trees that are wanted.

    Attributes
    ----------
    root : {"single", "multi"}
        Exactly one edge leaves the root, or one or more.
    projective : bool or None
        Whether the trees must be projective. None: as the parser was trained.
    confidence : bool
        Whether to write probabilities: of each word's relation and predicted tag into MISC, as
        ``RelationProb=0.9912`` and ``UposProb=0.9987``, of the tree into a comment, ``# tree_prob =
        0.4312``, and of each word's edge into MISC, as ``EdgeProb=0.9731``: its
        marginal in the distribution over trees that the scores define.
    rules : Keeper or None
        The rules that trees keep: ``"ud"``, the rules of Universal Dependencies; a file of rules; a
        sequence of rules; or a `Keeper`, which counts changed sentences and decodes. ``"none"``: no
        rules. None: `Parser.rules` for the best trees, no rules for the k best. Parsers with
        undirected inference raise ModelError. Transition-based parsers keep rules about tags,
        directions and numbers of dependents, and count sentences that still break a rule.
    keep : bool or "anyway"
        Whether trees keep the heads and relations that sentences have already, where these are not
        ``_``; for graph-based parsers. If no tree has all of them, TreebankError says where; with
        ``"anyway"``, the fewest heads are given up, and the comment ``# gave_up =`` names their
        words.
    budget : Budget
        The limit on the work for all sentences together, and a function that may stop the work.
        When the budget ends, a search under rules gives the best tree so far; other work raises
        StoppedError. None: no limit.
    """

    root: Root = "single"
    projective: bool | None = None
    confidence: bool = False
    rules: Keeper | None = None
    keep: bool | Literal["anyway"] = False
    budget: Budget = Budget()

    @classmethod
    def of(cls, **options: Any) -> Self:
        """Make the record of options by name; OptionError for other names or values."""
        unknown = options.keys() - {*cls._fields}
        if unknown:
            known = ", ".join(["threads", "once", *cls._fields])
            raise OptionError(f"no option of parsing is called {min(unknown)!r}: there are {known}")
        rules = keeper_of(options.get("rules"))
        budget = options.get("budget") or Budget()
        made = cls(**options | {"rules": None if rules == "none" else rules, "budget": budget})
        check_root(made.root)
        if made.projective not in (None, False, True):
            raise OptionError(f"projective must be None, False or True, not {made.projective!r}")
        if made.keep not in (False, True, "anyway"):
            raise OptionError(f"keep must be False, True or 'anyway', not {made.keep!r}")
        if not isinstance(budget, Budget):
            raise OptionError(f"budget must be a Budget, not {budget!r:.60}")
        return made


class Parser(ABC):
    """A parser that can be trained, saved and applied to sentences.

    Subclasses define `_trainer` (or `train`), `scores`, `_stored`, `from_file`, `_parse_batch` and
    `_kbest_batch`.
    """

    #: The name of this kind of parser in the headers of model files.
    kind: ClassVar[str]
    #: The options of `train`.
    settings_class: ClassVar[type[Any]]
    #: The relations that the parser can assign; relations of lifted edges have a mark.
    labels: tuple[str, ...] = ()
    #: Whether the parser's trees are projective.
    projective: Projective = False
    #: A `Text`, which splits raw text into words and finds lemmas, if the model has one.
    text: Any = None
    #: A `Tagger`, if the model has one.
    tagger: Any = None
    #: The rules that trees keep by default: ``"ud"`` or ``"none"``.
    rules: str = "none"
    #: The characters that the parser reads for the characters of forms.
    reading: Reading = Reading()

    @classmethod
    def train(
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        start: Self | None = None,
        tagger: Any = None,
        text: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Self:
        """Train a parser on the trees of a treebank, and nothing else.

        `arborescence.parsers.train` also reads files, and trains a tagger and a tokenizer.
        The result depends on data and settings only.

        Parameters
        ----------
        treebank
            Sentences whose heads are trees. Neural parsers, and linear parsers without `joint` or
            undirected inference, also learn from sentences where some heads are missing (-1). The
            loss decides whether they learn from all trees with the known heads, from the best of
            these trees, or from the known heads alone.
        dev
            The development set, by which the best epoch (by LAS), the end of training and the
            temperatures are chosen. Without `dev`, all epochs are run, and the last epoch counts.
        start
            A parser of this kind from which training continues, with its settings, weights, words
            and relations. New words and relations are added.
        tagger
            A `Tagger`, stored in the model, for sentences without UPOS.
        text
            A `Text`, stored in the model, for raw text and words without lemmas. By default,
            `tagger` and `text` are those of `start`.
        checkpoint
            A file for the state of training after each epoch. If the file exists, training
            continues from its state, with the same result as without interruption.
        progress
            Called as ``progress(phase, done, total)``.
        **settings
            The options of the kind of parser: the fields of its `Settings`.

        Raises
        ------
        TreebankError
            Before training begins, if the treebank is empty, or the heads of a sentence, also of
            `dev`, are not a tree, or relations already contain the mark of lifted edges.
        ModelError
            If `checkpoint` belongs to other data or settings, or cannot be read.
        OptionError
            If a setting is invalid, or incompatible with another one.
        """
        chosen = cls.settings_class.of(settings_from(start) | settings)
        parts = checked(treebank, dev, chosen.root, in_part=chosen.in_part)
        task = Task(*cls._read(parts, start), chosen, cls, start)
        trainer = cls._trainer(task)
        trainer.run(chosen.epochs, chosen.patience, checkpoint=checkpoint, progress=progress)
        kept: dict[str, Any] = {"tagger": tagger, "text": text}
        if start is not None:
            kept = {"tagger": tagger or start.tagger, "text": text or start.text}
        parser = cls(**trainer.parts(), **kept)
        return parser._finished(task)

    @staticmethod
    def _read(
        parts: tuple[list[Sentence], list[Sentence]], start: Parser | None
    ) -> tuple[list[Sentence], list[Sentence]]:
        """Return treebank and dev with the characters that the parser will read."""
        reading = Reading.of(parts[0]) if start is None else start.reading
        return reading.sentences(parts[0]), reading.sentences(parts[1])

    def _finished(self, task: Task) -> Self:
        """Complete a trained parser, for example by its temperatures; return the parser."""
        self.reading = Reading.of(task.treebank) if task.start is None else task.start.reading
        if task.start is None:
            whole = [sentence for sentence in task.treebank if (sentence.heads >= 0).all()]
            self.rules = self._own_rules(whole)
        else:
            self.rules = task.start.rules
        return self

    def _own_rules(self, treebank: Sequence[Sentence] = ()) -> str:
        """Return the default of `rules`, by the parser's labels and its training trees."""
        return scheme_of(self.labels, treebank) if self._keeps_all_rules else "none"

    @property
    def _keeps_all_rules(self) -> bool:
        """Whether the parser can look for the best tree that keeps rules."""
        return False

    @classmethod
    def _trainer(cls, task: Task) -> ParserRun:
        """Make the training run of `train`; kinds of parsers that override `train` have none."""
        raise NotImplementedError

    @abstractmethod
    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weights of all edges, ``[head, dependent]``: (n + 1, n + 1)."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the complete model to one file, atomically."""
        header, arrays = self.to_file()
        model_file.save(path, header, arrays)

    @classmethod
    def load(
        cls,
        model: str | os.PathLike[str] | None = None,
        encoder: str | os.PathLike[str] | None = None,
        language: str | None = None,
    ) -> Self:
        """Load a trained parser of this kind; `arborescence.load` takes any kind.

        Parameters
        ----------
        model
            The name of an installed model, or the path of a model file.
        encoder, language
            As in `arborescence.load`.

        Raises
        ------
        ModelError
            If there is no such file, or the file is damaged or holds a parser of another kind.
        """
        parser = registry.load(model, encoder, language)
        if not isinstance(parser, cls):
            raise ModelError(
                f"{model or registry.DEFAULT}: holds a parser of the kind {parser.kind!r}"
            )
        return parser

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file, including those of its parts."""
        fields, arrays = self._stored()
        own: dict[str, Any] = {"kind": self.kind, "library": __version__, "rules": self.rules}
        own["reading"] = self.reading.known
        return own | fields, arrays

    @classmethod
    def _restored(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser by `from_file`, and add the fields that files of all kinds have."""
        parser = cls.from_file(header, arrays)
        fields = scheme.fields_of(header, _FIELDS)
        parser.rules = fields["rules"]
        if "reading" in header:
            parser.reading = Reading(fields["reading"])
        return parser

    @abstractmethod
    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of the header that this kind has, and the arrays."""

    @classmethod
    @abstractmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from the header and the arrays that `model_file.load` returns."""

    def beginning(self, language: str | None = None) -> Parser:
        """Return the parser with which training begins: the parser itself, if it has one language.

        Parameters
        ----------
        language
            For a model of several languages, one of them or a new one.

        Raises
        ------
        ModelError
            If a language is named, but the parser reads one language; or none is named and needed.

        Examples
        --------
        >>> import arborescence as arb
        >>> parser = arb.load("english-fast")
        >>> parser.beginning() is parser
        True
        """
        if language is not None:
            raise ModelError(registry.ONE_LANGUAGE.format(language))
        return self

    def to(self, device: str | None) -> Self:
        """Choose the device that runs a neural parser's network; other parsers: OptionError.

        Parameters
        ----------
        device
            None: NumPy. ``"cpu"``, ``"cuda"``: PyTorch, on this device.
        """
        raise OptionError(
            f"device={device} goes with neural parsers, not with a {self.kind} parser"
        )

    @abstractmethod
    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        """Parse some sentences; may run in several threads at once."""

    @abstractmethod
    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options
    ) -> list[list[tuple[Sentence, float]]]:
        """Find the k best parses of some sentences; may run in several threads at once."""

    def _evidence_batch(
        self, sentences: list[Sentence], options: Options
    ) -> list[tuple[Sentence, NDArray[Any]]]:
        """Parse sentences, and score each edge, ``[head, dependent]``."""
        # marginals, or votes for its tree
        return [(tree, VOTE * votes(tree)) for tree in self._parse_batch(sentences, options)]

    def __call__(
        self,
        given: Given | None = None,
        *,
        texts: Texts | None = None,
        **options: Unpack[ParseOptions],
    ) -> list[Sentence]:
        """Return what `parse` yields, as a list.

        Examples
        --------
        >>> import arborescence as arb
        >>> parser = arb.load("english")
        >>> for sentence in parser("The birds sing. The cats don't sleep."):
        ...     print(sentence.forms, sentence.heads)
        ['The', 'birds', 'sing', '.'] [2 3 0 3]
        ['The', 'cats', 'do', "n't", 'sleep', '.'] [2 5 5 5 0 5]
        """
        return list(self.parse(given, texts=texts, **options))

    def parse(
        self,
        given: Given | None = None,
        *,
        texts: Texts | None = None,
        **options: Unpack[ParseOptions],
    ) -> Iterator[Sentence]:
        """Fill in heads and relations.

        Parameters
        ----------
        given
            Any number of sentences, read in batches as results are consumed: `Sentence` objects, or
            lists of words; None, NaN and empty lists give no sentence. A single `Sentence` need not
            be in a list. Or raw text, which is cut into sentences and words: a string. Or a file,
            as a `pathlib.Path`: CoNLL-U if its name ends in ``.conllu``, else raw text (see
            `read_text`).
        texts
            Instead of `given`, several raw texts: a list, or the column of a table. `item` of each
            parsed sentence is the number of its text, from 0, which also begins its ``sent_id``.
            None, NaN and empty strings give no sentence; an `ArborescenceWarning` says how many.
        **options
            ``threads``, ``once``, ``root``, ``projective``, ``confidence``, ``rules``, ``keep``,
            ``budget``: see `ParseOptions`.

        Yields
        ------
        Sentence
            The same sentences in the same order, parsed.

        Warns
        -----
        ArborescenceWarning
            If `given` is a list of strings, which could be words or texts. Strings without spaces
            are read as the words of one sentence, other strings as texts.

        Raises
        ------
        OptionError
            If an option is invalid, or `given` is none of these inputs.
        TreebankError
            If a word or a file is not valid CoNLL-U.
        ModelError
            If the model cannot cut raw text.
        StoppedError
            If the `budget` has ended before all sentences were parsed.

        Examples
        --------
        >>> import arborescence as arb
        >>> parser = arb.load("english")
        >>> [parsed] = parser.parse([["Old", "trees", "grow", "slowly"]])
        >>> parsed.heads
        array([2, 3, 0, 3])
        >>> for parsed in parser.parse(texts=["They sing. They dance.", "Birds sing."]):
        ...     print(parsed.item, parsed.sent_id, parsed.forms)
        0 0-1 ['They', 'sing', '.']
        0 0-2 ['They', 'dance', '.']
        1 1-1 ['Birds', 'sing', '.']
        """
        if options.get("rules") is None:
            options["rules"] = "none" if self.rules == "none" else Keeper(self.rules, strict=False)
        return self._in_batches(self._parse_batch, self.split(given, texts=texts), **options)

    def split(
        self,
        given: Given | None = None,
        *,
        texts: Texts | None = None,
        contractions: bool = False,
        budget: Budget | None = None,
    ) -> Iterator[Sentence]:
        """Cut raw text into sentences and words, without tags and trees: fast.

        Parameters
        ----------
        given, texts, budget
            As for `parse`.
        contractions
            Whether to split given words, too, that stand for several words (French *du*, English
            *don't*): into multiword tokens, by the model's rules. Sentences that have multiword
            tokens stay as they are. Words that are split lose the values of other columns; their
            sentences lose their trees.

        Yields
        ------
        Sentence
            As from `read_text`.

        Raises
        ------
        ModelError, OptionError, TreebankError, StoppedError
            As for `parse`.

        Examples
        --------
        >>> import arborescence as arb
        >>> parser = arb.load("english")
        >>> [sentence.text for sentence in parser.split("Dr. Smith sings. Birds don't.")]
        ['Dr. Smith sings.', "Birds don't."]
        >>> [sentence] = parser.split([["Birds", "don't", "."]], contractions=True)
        >>> sentence.forms, sentence.multiwords
        (['Birds', 'do', "n't", '.'], [(2, 3, "don't")])
        """
        sentences = self._sentences_of(given, texts, budget)
        if not contractions or self.text is None:
            return sentences
        gathered = batches(sentences, stoppable=budget is not None)
        return chain.from_iterable(map(self.text.tokenizer.split_contractions, gathered))

    def _sentences_of(
        self, given: Given | None, texts: Texts | None, budget: Budget | None
    ) -> Iterator[Sentence]:
        """Return the sentences of any input, within a budget."""
        return within(as_sentences(given, self._cut, texts), budget)

    def tag(
        self,
        given: Given | None = None,
        *,
        texts: Texts | None = None,
        overwrite: bool = False,
        budget: Budget | None = None,
    ) -> Iterator[Sentence]:
        """Fill in tags and lemmas, without trees, by the linear tagger of the model: fast.

        A neural parser's own network finds the tags of `parse`, which may differ.

        Parameters
        ----------
        given, texts, budget
            As for `parse`.
        overwrite
            Whether to replace given tags and lemmas. By default, these are kept.

        Yields
        ------
        Sentence
            The same sentences in the same order.

        Raises
        ------
        ModelError, OptionError, TreebankError, StoppedError
            As for `parse`; and ModelError if the model has no tagger.

        Examples
        --------
        >>> import arborescence as arb
        >>> parser = arb.load("english")
        >>> [tagged] = parser.tag("Old birds went home.")
        >>> tagged.upos, tagged.lemmas
        (['ADJ', 'NOUN', 'VERB', 'ADV', 'PUNCT'], ['old', 'bird', 'go', 'home', '.'])
        """
        if self.tagger is None:
            raise ModelError("the model has no tagger: it was trained on words with tags only")

        def annotated(sentences: list[Sentence]) -> Iterator[Sentence]:
            tagged: Iterator[Sentence] = self.tagger.tag(sentences, overwrite=overwrite)
            if self.text is None or self.text.lemmatizer is None:
                return tagged
            lemmatized: Iterator[Sentence] = self.text.lemmatizer.lemmatize(
                tagged, overwrite=overwrite
            )
            return lemmatized

        sentences = self.split(given, texts=texts, budget=budget)
        gathered = batches(sentences, stoppable=budget is not None)
        return chain.from_iterable(map(partial(self.reading.around, annotated), gathered))

    def read_text(
        self,
        source: str | os.PathLike[str] | IO[bytes],
        *,
        lines: bool | None = None,
        warn: Callable[[str], None] | None = None,
        encoding: str = UTF8,
    ) -> Iterator[Sentence]:
        """Read raw text, and split it into sentences and words as in the training treebank.

        Parameters
        ----------
        source
            A path, an open binary file, or ``"-"`` for the standard input; gzip is recognized by
            its first bytes. It is read in constant memory.
        lines
            Whether each line is a sentence (True), or line ends are spaces (False). None: line ends
            are spaces, but lines that are items, such as headlines, are read one by one (see
            `Tokenizer.split`). Blank lines end paragraphs.
        warn
            Called with a message for the first sentence of more than 500 words, as such sentences
            are split; and for the first lines that are read as items. None: the first message is a
            Python warning.
        encoding
            The encoding of the source, by a name that Python knows, such as ``"cp1252"``.

        Yields
        ------
        Sentence
            With ``# newdoc``, ``# newpar``, ``# sent_id`` and ``# text``, multiword tokens, and
            white space in MISC (see `treebank.raw_text`).

        Raises
        ------
        ModelError
            If the model cannot split raw text.
        TreebankError
            If the source has another encoding; the message names the line.
        """
        how: dict[str, Any] = {"lines": lines, "warn": warn, "encoding": encoding}
        sentences: Iterator[Sentence] = self._text().read(source, **how)
        return sentences

    def _cut(self, given: str | os.PathLike[str], name: str | None) -> Iterator[Sentence]:
        """Cut raw text, or the text of a file, into sentences."""
        if isinstance(given, str):
            cut: Iterator[Sentence] = self._text().tokenizer.stream([given], name=name)
            return cut
        return self.read_text(given)

    def _text(self) -> Any:
        if self.text is None:
            raise ModelError(
                "the model has not learned to cut raw text into words (it is older, or was trained "
                "with text=False): train it again, or give lists of words"
            )
        return self.text

    def kbest(
        self,
        given: Given | None = None,
        k: int = 2,
        *,
        texts: Texts | None = None,
        **options: Unpack[ParseOptions],
    ) -> Iterator[Ranked]:
        """Find the k best parses of each sentence: the k trees of highest weight, with relations.

        Parameters
        ----------
        given, texts
            As for `parse`.
        k
            The number of trees. Any two trees differ in their heads; each tree has the relations
            that `parse` would give it.
        **options
            As for `parse`.

        Yields
        ------
        Ranked: a list of Analysis, with `sentence` and `weight`
            For each sentence, in the same order: its k-best list of pairs of a parsed sentence and
            a weight, best first; all trees if there are fewer than k. The weight is the sum of the
            `scores` of the tree's edges. With the same `rules`, `parse` returns the first parse.

        Raises
        ------
        OptionError
            If `k` or `threads` is less than 1, or another option has an unknown value.
        """
        k = check_count(k)
        parse, sentences = partial(self._kbest_batch, k=k), self.split(given, texts=texts)
        return map(Ranked, self._in_batches(parse, sentences, k, **options))

    def _in_batches(
        self,
        parse: Callable[..., list[_Parsed]],
        sentences: Iterator[Sentence],
        k: int = 1,
        *,
        threads: int = 1,
        once: bool | Repeats = False,
        **options: Any,
    ) -> Iterator[_Parsed]:
        """Parse sentences in batches, which are smaller for larger `k`, to save memory.

        Batches are also smaller for more `threads`, so that threads end at about the same time.
        """
        check_count(threads, "threads")
        wanted = Options.of(**options)
        within_budget = within(sentences, wanted.budget, k)
        enough = BATCH_WORDS // (k * min(threads, _PARTS))
        gathered = batches(within_budget, enough, stoppable=options.get("budget") is not None)
        work = partial(parse, options=wanted)
        if not once:
            return _run(work, gathered, threads)
        if options.get("budget") is not None:
            raise OptionError(
                "once=True does not go with a budget: where the budget ends, equal sentences may "
                "have different trees"
            )
        repeats = once if isinstance(once, Repeats) else Repeats()
        return _run(Once(work, wanted, repeats), gathered, threads)


def load(
    model: str | os.PathLike[str] | None = None,
    encoder: str | os.PathLike[str] | None = None,
    language: str | None = None,
) -> Parser:
    """Load a trained parser.

    Parameters
    ----------
    model
        The name of a model that is installed, or the path of a model file; by default
        ``"english"``. The distribution arborescence-en has that, and ``"english-fast"``, which is
        less accurate and many times faster.
    encoder
        For a parser that was trained with a pretrained encoder: the encoder's folder, or its name
        on the Hugging Face hub, from which a missing encoder is downloaded. By default, the encoder
        that the file names is searched among earlier downloads.
    language
        For a model of several languages: the code of the language, such as ``"de"``.
        ``load("NAME:de")`` is the same.

    Returns
    -------
    Parser
        Of the kind that the file names.

    Raises
    ------
    ModelError
        If there is no such file or model (the message says what to install); if the file is
        damaged, holds no parser, or needs a newer version; if there is no such encoder, or the
        parser was trained with another encoder; or if a model of several languages is loaded
        without a language, or with a language that it lacks (the message lists its languages).

    Examples
    --------
    >>> load("no/such/file")
    Traceback (most recent call last):
      ...
    arborescence.ModelError: no/such/file: No such file or directory
    """
    return Parser.load(model, encoder, language)


def votes(tree: Sentence) -> NDArray[np.float64]:
    """Return 1 for each edge of a tree and 0 for all others, ``[head, dependent]``."""
    edges = np.zeros((len(tree) + 1, len(tree) + 1))
    edges[tree.heads, np.arange(1, len(tree) + 1)] = 1
    return edges


def _run(
    parse: Callable[[list[Sentence]], list[_Parsed]],
    batches: Iterator[list[Sentence]],
    threads: int,
) -> Iterator[_Parsed]:
    """Parse batches, up to `threads` at the same time; yield results in order."""
    if threads == 1:
        for batch in batches:
            yield from parse(batch)
        return
    from concurrent.futures import ThreadPoolExecutor

    # The calling thread parses, too: instead of waiting, it takes a batch that nobody has begun.
    with ThreadPoolExecutor(threads - 1) as pool:
        running: deque[tuple[Future[list[_Parsed]], list[Sentence]]] = deque()
        try:
            for batch in batches:
                running.append((pool.submit(parse, batch), batch))
                if len(running) > 2 * threads:
                    yield from _first(running, parse)
            while running:
                yield from _first(running, parse)
        finally:
            for future, _ in running:
                future.cancel()


def _first(
    running: deque[tuple[Future[list[_Parsed]], list[Sentence]]],
    parse: Callable[[list[Sentence]], list[_Parsed]],
) -> list[_Parsed]:
    """Return the first of some results; while it is computed, parse other batches."""
    from concurrent.futures import Future

    for place, (future, batch) in enumerate(running):
        if running[0][0].done():
            break
        if future.cancel():
            mine: Future[list[_Parsed]] = Future()
            try:
                mine.set_result(parse(batch))
            except Exception as error:  # raised when the batch's result is taken
                mine.set_exception(error)
            running[place] = mine, batch
    return running.popleft()[0].result()


class Believed(NamedTuple):
    """The probabilities of K trees of B sentences with N nodes in all."""

    #: (K, N): the probability of each node's edge
    edges: NDArray[np.float64]
    #: (K, N): the probability of each edge's relation, given the edge
    relations: NDArray[np.float64] | None
    #: (K, B): the probability of each tree
    trees: NDArray[np.float64] | None

    def written(self, sentence: Sentence, k: int, b: int, start: int) -> dict[str, list[str]]:
        """Return MISC and the comments of tree k of sentence b."""
        nodes = slice(start + 1, start + 1 + len(sentence))
        misc = with_probs(sentence.misc, self.edges[k, nodes].tolist())
        if self.relations is not None:
            misc = with_probs(misc, self.relations[k, nodes].tolist(), "RelationProb")
        if self.trees is None:
            return {"misc": misc}
        others = [each for each in sentence.comments if not each.startswith(f"# {TREE_PROB} =")]
        return {"misc": misc, "comments": [*others, f"# {TREE_PROB} = {self.trees[k, b]:.4g}"]}

    def write(
        self, sentences: Sequence[Sentence], parsed: list[list[Sentence]], starts: NDArray[np.int64]
    ) -> None:
        """Write the probabilities into the parsed trees of each sentence."""
        for b, (sentence, trees, start) in enumerate(zip(sentences, parsed, starts, strict=False)):
            trees[:] = [
                tree.replace(**self.written(sentence, k, b, start)) for k, tree in enumerate(trees)
            ]


def annotated(
    sentences: Sequence[Sentence],
    starts: NDArray[np.int64],
    heads: NDArray[np.int64],
    labels: NDArray[np.int64],
    names: Sequence[str],
    *,
    lower: bool | None = None,
    believed: Believed | None = None,
) -> list[list[Sentence]]:
    """Return, for each sentence, a copy with each of its trees.

    Parameters
    ----------
    sentences
        B sentences.
    starts : (B + 1,) int64
        The first node of each sentence, as in `features.Batch`.
    heads : (K, N) int64
        The head vectors of all sentences in a row, K times, the best first; all -1 where a sentence
        has fewer trees.
    labels : (K, N) int64
        The relation of each word, as an index of `names`; -1 for no relation.
    names
        The relations of the parser.
    lower
        For a pseudo-projective parser: whether to lower lifted edges (`deprojectivize`), or only to
        remove the marks from the relations. None if the relations have no marks.
    believed
        The probabilities to write.
    """
    plain = names if lower is None else [name.partition(MARK)[0] for name in names]
    marked = np.array([MARK in name for name in names] + [False])  # the last: no relation
    words = np.diff(starts)
    parsed: list[list[Sentence]] = [[] for _ in sentences]
    for k, (row, numbers) in enumerate(zip(heads, labels, strict=True)):
        there = (row[starts[1:] - 1] >= 0) | (k == 0)
        nodes = np.repeat(there, words)
        trees = with_trees(list(compress(sentences, there)), row[nodes], numbers[nodes], plain)
        for b, tree in zip(np.flatnonzero(there).tolist(), trees, strict=True):
            parsed[b].append(tree)
        if lower and marked.any():
            lifted = np.flatnonzero(marked[numbers] & (row >= 0))
            for b in np.unique(np.searchsorted(starts, lifted, "right") - 1).tolist():
                nodes_of = slice(starts[b], starts[b + 1])
                parsed[b][k] = _lowered(sentences[b], row[nodes_of], numbers[nodes_of], names)
    if believed is not None:
        believed.write(sentences, parsed, starts)
    return parsed


def _lowered(
    sentence: Sentence, heads: NDArray[np.int64], labels: NDArray[np.int64], names: Sequence[str]
) -> Sentence:
    """Return a sentence with a tree (n + 1,) whose lifted edges are lowered by their marks."""
    spelled = [*names, "_"]
    relations = [spelled[number] for number in labels[1:].tolist()]
    tree, relations = deprojectivize(heads, relations)
    return sentence.replace(heads=tree, deprels=relations)
