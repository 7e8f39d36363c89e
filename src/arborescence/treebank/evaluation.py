"""Evaluation of predicted trees with the measures of the CoNLL 2018 shared task (UAS, LAS, ...)."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from itertools import tee
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np

from arborescence.core.checks import check_count
from arborescence.core.choices import Measure, check_choice
from arborescence.errors import TreebankError
from arborescence.treebank.alignment import align, aligned_pieces
from arborescence.treebank.columns import Columns, Numbering, columns_of
from arborescence.treebank.comparison import TreeColumns, counterparts
from arborescence.treebank.conllu import read, read_kbest
from arborescence.treebank.sentence import DEPREL
from arborescence.treebank.tally import EvaluationCounts, base

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.treebank.columns import Integers
    from arborescence.treebank.conllu import Analyses
    from arborescence.treebank.details import Details
    from arborescence.treebank.sentence import Sentence

#: The scores of an `Evaluation`, and their names in its table.
_SCORES: Final = {
    "tokens": "tokens", "sentence_spans": "sentences", "words": "words",
    "upos": "UPOS", "xpos": "XPOS", "feats": "UFeats", "all_tags": "AllTags", "lemmas": "lemmas",
    "uas": "UAS", "las": "LAS", "clas": "CLAS", "mlas": "MLAS", "blex": "BLEX",
    "undirected_uas": "undirected UAS",
}  # fmt: skip

#: The most genres in the table.
_GENRES: Final = 20


@dataclass(frozen=True)
class Score:
    """The counts of a measure, and the rates from these counts."""

    #: The number of correct words.
    correct: int
    #: The number of words in the gold treebank.
    gold: int
    #: The number of words in the predicted treebank.
    predicted: int

    @property
    def precision(self) -> float:
        """The share of predicted words that are correct; 0 without predicted words."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of gold words that are correct; 0 without gold words."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; the accuracy if the words are the same."""
        total = self.gold + self.predicted
        return 2 * self.correct / total if total else 0.0

    def as_dict(self) -> dict[str, float]:
        """Return counts and rates, ready for JSON."""
        rates = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return rates | asdict(self)


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`.

    Attributes
    ----------
    tokens, sentence_spans : Score
        Tokens and sentences with the same first and last character in both treebanks.
    words : Score
        Words that are in both treebanks.
    upos, xpos, feats, all_tags, lemmas : Score
        Words with the correct tag, with all three tags correct, and with the correct lemma. Of
        FEATS, only universal features are compared; if the gold lemma is ``_``, every lemma is
        correct.
    uas, las : Score
        Words with the correct head; with the correct head and relation.
    clas, mlas, blex : Score
        LAS for content words; CLAS if UPOS, FEATS and the dependent function words must also be
        correct; CLAS if the lemma must also be correct.
    undirected_uas : Score
        Words whose gold edge is in the predicted tree in either direction (Levi, Reichart and
        Rappoport 2016): the word hangs from its head, or the head from the word.
    sentences : int
        The number of gold sentences.
    exact_unlabelled, exact_labelled : float
        The share of gold sentences in which every word has the correct head (and relation).
    root_violations, gold_root_violations : float
        The share of trees without exactly one edge from the root.
    nonprojective, gold_nonprojective : float
        The share of trees with crossing edges.
    broken, gold_broken : int
        The number of sentences that are no trees: they have a cycle, or a word without a head.
    first_broken, gold_first_broken : str
        The place of the first of these sentences: file and line, or number; else ``""``.
    relations : dict of str to Score
        LAS for the words of each relation.
    lengths, genres : dict of str to Score
        With ``details``: LAS for sentences of similar length, and for each genre, which comments
        (``# genre = ...``) or the beginnings of document ids name; without genres, for each file.
    details : Details or None
        With ``details``: confusions, intervals, and the comparison with another parser.
    """

    tokens: Score
    sentence_spans: Score
    words: Score
    upos: Score
    xpos: Score
    feats: Score
    all_tags: Score
    lemmas: Score
    uas: Score
    las: Score
    clas: Score
    mlas: Score
    blex: Score
    undirected_uas: Score
    sentences: int
    exact_unlabelled: float
    exact_labelled: float
    root_violations: float
    gold_root_violations: float
    nonprojective: float
    gold_nonprojective: float
    broken: int
    gold_broken: int
    first_broken: str
    gold_first_broken: str
    relations: dict[str, Score]
    lengths: dict[str, Score] = field(default_factory=dict)
    genres: dict[str, Score] = field(default_factory=dict)
    details: Details | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all results but the details, ready for JSON; rates are between 0 and 1."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del values["details"]
        return {name: _plain(value) for name, value in values.items()}

    def __str__(self) -> str:
        def row(name: str, score: Score, more: str = "") -> str:
            rates = (score.precision, score.recall, score.f1)
            return f"{name:<14}" + "".join(f"{100 * rate:>11.2f}" for rate in rates) + more

        def shares(name: str, *values: float) -> str:
            return f"{name:<36}" + "".join(f"{value:>11.2%}" for value in values)

        firsts = {"predicted": self.first_broken, "gold": self.gold_first_broken}
        header = f"{'':<14}{'precision':>11}{'recall':>11}{'F1':>11}"
        lines = [
            header,
            *(row(title, getattr(self, name)) for name, title in _SCORES.items()),
            "",
            f"{f'of {self.sentences} sentences':<36}{'predicted':>11}{'gold':>11}",
            shares("all heads right", self.exact_unlabelled),
            shares("all heads and relations right", self.exact_labelled),
            shares("not exactly one root edge", self.root_violations, self.gold_root_violations),
            shares("non-projective", self.nonprojective, self.gold_nonprojective),
            f"{'sentences that are no trees':<36}{self.broken:>11}{self.gold_broken:>11}",
            *(
                f"  the first of the {side} ones: {place}"
                for side, place in firsts.items()
                if place
            ),
            "",
            f"{header}{'gold words':>12}",
        ]
        groups = {"": self.relations, "length": self.lengths}
        # the largest ones: each document may be a genre of its own
        genres = sorted(self.genres.items(), key=lambda each: -each[1].gold)[:_GENRES]
        groups |= {"genre": dict(genres)} if len(genres) > 1 else {}
        for kind, scores in groups.items():
            if kind and scores:
                lines += ["", f"{f'LAS by {kind}':<14}{header[14:]}{'gold words':>12}"]
            lines += [row(name, score, f"{score.gold:>12}") for name, score in scores.items()]
        return "\n".join(lines)


def _plain(value: Any) -> Any:
    """Return scores ready for JSON."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value.as_dict() if isinstance(value, Score) else value


def evaluate(
    gold: str | os.PathLike[str] | Iterable[Sentence],
    predicted: str | os.PathLike[str] | Iterable[Sentence],
    *,
    punctuation: bool = True,
    details: bool = False,
) -> Evaluation:
    """Compare predicted trees with gold trees.

    The measures equal the measures of the same name in the official evaluation of the CoNLL 2018
    shared task: relations are compared without subtypes (``nsubj:pass`` is ``nsubj``). If the
    treebanks split the text differently, the words are aligned by their characters, and the scores
    are F1.

    Parameters
    ----------
    gold, predicted
        Paths of CoNLL-U files or of folders with such files, or sentences. Both must have the same
        text.
    punctuation
        Whether words with the gold relation ``punct`` count in UAS (directed and undirected), LAS,
        exact match and the relations, as in the shared task.
    details
        Whether to count by sentences, lengths and genres, and the confusions of values.

    Returns
    -------
    Evaluation
        The scores; `print` shows a table.

    Raises
    ------
    TreebankError
        If the texts differ (the message names the first different words), or a gold word has no
        head.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> words = Sentence.from_words(["Trees", "grow", "."])
    >>> gold = words.replace(heads=[2, 0, 2], deprels=["nsubj", "root", "punct"])
    >>> predicted = words.replace(heads=[2, 0, 1], deprels=["obj", "root", "punct"])
    >>> evaluation = evaluate([gold], [predicted])
    >>> round(evaluation.uas.f1, 3), round(evaluation.las.f1, 3)
    (0.667, 0.333)
    >>> turned = words.replace(heads=[0, 1, 2], deprels=["root", "dep", "punct"])
    >>> scores = evaluate([gold], [turned])
    >>> round(scores.uas.f1, 3), round(scores.undirected_uas.f1, 3)
    (0.333, 0.667)
    >>> evaluate([gold], [predicted], punctuation=False).uas.f1
    1.0
    """
    counts = EvaluationCounts(punctuation=punctuation, details=details)
    for ours, theirs in aligned_pieces(columns_of(gold), columns_of(predicted)):
        counts.add(ours, theirs)

    def score(name: str) -> Score:
        return Score(*counts.scores[name].tolist())

    def scores(groups: dict[str, Integers]) -> dict[str, Score]:
        return {name: Score(*row.tolist()) for name, row in groups.items()}

    def share(name: str, of: str) -> float:
        total = counts.sentences[of]
        return counts.sentences[name] / total if total else 0.0

    def exact(name: str) -> float:
        return 1 - share(name, "gold") if counts.sentences["gold"] else 0.0

    return Evaluation(
        **{name: score(name) for name in _SCORES},
        sentences=counts.sentences["gold"],
        exact_unlabelled=exact("inexact_unlabelled"),
        exact_labelled=exact("inexact_labelled"),
        root_violations=share("root_violations", "predicted"),
        gold_root_violations=share("gold_root_violations", "gold"),
        nonprojective=share("nonprojective", "predicted"),
        gold_nonprojective=share("gold_nonprojective", "gold"),
        broken=counts.sentences["broken"],
        gold_broken=counts.sentences["gold_broken"],
        first_broken=counts.first_broken[1],
        gold_first_broken=counts.first_broken[0],
        relations=scores(counts.relations),
        lengths=scores(counts.details.by_length()) if counts.details else {},
        genres=scores(counts.details.by_genre()) if counts.details else {},
        details=counts.details,
    )


def best_of_k(
    gold: str | os.PathLike[str] | Iterable[Sentence],
    kbest: str | os.PathLike[str] | Iterable[Analyses],
    *,
    k: int | None = None,
    by: Measure = "las",
    punctuation: bool = True,
) -> Evaluation:
    """Evaluate the best of the k analyses of each sentence against its gold tree.

    The best analysis of a sentence has the highest number of words with the correct head and
    relation; at a tie, the highest number of correct heads; at another tie, the lowest rank.
    With ``by="uas"``, the number of correct heads comes first: the unlabelled oracle of the
    literature. The scores are of the chosen analyses, one tree for each sentence.

    Parameters
    ----------
    gold
        The path of a CoNLL-U file, or sentences.
    kbest
        The path of a file from `write_kbest`, or for each sentence its analyses with their weights,
        as from `Parser.kbest`. As in `evaluate`, the text must be the text of `gold`, but words and
        sentences may be split differently. The analyses are read as a stream.
    k
        Use only the first k analyses of each sentence.
    by
        The score that decides.
    punctuation
        As in `evaluate`.

    Returns
    -------
    Evaluation
        The evaluation of the chosen analyses, as in `evaluate`.

    Raises
    ------
    TreebankError
        If the texts differ; if a gold word has no head; or if `kbest` is not a k-best file. The
        message names the words, or file and line.
    OptionError
        If `k` or `by` is invalid.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> words = Sentence.from_words(["Trees", "grow"])
    >>> gold = words.replace(heads=[2, 0], deprels=["nsubj", "root"])
    >>> wrong = words.replace(heads=[0, 1], deprels=["root", "acl"])
    >>> analyses = [(wrong, 7.5), (gold, 3.0)]
    >>> best_of_k([gold], [analyses]).las.f1
    1.0
    >>> best_of_k([gold], [analyses], k=1).las.f1
    0.0
    """
    if k is not None:
        k = check_count(k)
    check_choice("by", by, get_args(Measure))
    golds, same_golds = tee(read(gold) if isinstance(gold, (str, os.PathLike)) else gold)
    lists = read_kbest(kbest) if isinstance(kbest, (str, os.PathLike)) else kbest
    chosen = (
        analyses[best]
        for ours, theirs in _stretches(golds, _first(k, lists))
        for analyses, best in zip(theirs, _best(ours, theirs, by, punctuation), strict=True)
    )
    return evaluate(same_golds, chosen, punctuation=punctuation)


def _first(k: int | None, lists: Iterable[Analyses]) -> Iterator[list[Sentence]]:
    for number, analyses in enumerate(lists, 1):
        if not analyses:
            raise TreebankError(
                f"sentence {number} has no analysis; give each sentence at least one"
            )
        yield [sentence for sentence, _ in analyses[:k]]


def _stretches(
    golds: Iterable[Sentence], lists: Iterable[list[Sentence]]
) -> Iterator[tuple[list[Sentence], list[list[Sentence]]]]:
    """Cut both treebanks where a sentence ends in both: nearly always after each sentence.

    If the texts differ, the last piece has the rest, and `evaluate` raises the error.
    """
    lists = iter(lists)
    ours: list[Sentence] = []
    theirs: list[list[Sentence]] = []
    ahead = 0  # the characters in `ours` minus those in `theirs`
    for gold in golds:
        ours.append(gold)
        ahead += _length(gold)
        while ahead > 0 and (analyses := next(lists, None)):
            theirs.append(analyses)
            ahead -= _length(analyses[0])
        if ahead == 0:
            yield ours, theirs
            ours, theirs = [], []
    theirs += lists
    yield ours, theirs


def _length(sentence: Sentence) -> int:
    return Columns.of_sentences([sentence]).characters.size


def _best(
    golds: list[Sentence], lists: list[list[Sentence]], by: str, punctuation: bool
) -> Iterator[int]:
    """Yield the index of the best analysis of each list; 0 if the texts differ."""
    ours = Columns.of_sentences(golds)
    theirs = Columns.of_sentences([analyses[0] for analyses in lists])
    if not np.array_equal(ours.characters, theirs.characters):
        yield from (0 for _ in lists)
        return
    g, p = align(ours, theirs)
    gold_word = counterparts(g, p, len(theirs.spans))
    relation = Numbering(DEPREL, base)
    trees = TreeColumns(ours, relation)
    for start, stop, analyses in zip(theirs.offsets, theirs.offsets[1:], lists, strict=False):
        words = np.flatnonzero(gold_word[start:stop] >= 0)
        gold = gold_word[start + words]
        columns = Columns.of_sentences(analyses)
        relations = relation(columns).reshape(len(analyses), -1)[:, words]
        if not punctuation:
            counted = trees.relations[gold] != relation.names.get("punct", -1)
            words, gold, relations = words[counted], gold[counted], relations[:, counted]
        within = columns.head_vectors().reshape(len(analyses), -1)[:, 1 + words]
        heads = gold_word[np.where(within > 0, start, 0) + within - 1]
        attached = trees.heads[gold] == heads
        labelled = attached & (trees.relations[gold] == relations)
        first, second = (labelled, attached) if by == "las" else (attached, labelled)
        yield int(np.argmax(first.sum(axis=1) * (1 + words.size) + second.sum(axis=1)))
