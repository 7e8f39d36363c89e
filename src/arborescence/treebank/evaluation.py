"""How well predicted trees match gold trees, by the measures of the CoNLL 2018 shared task."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.errors import TreebankError
from arborescence.tree import is_projective, is_tree, root_count
from arborescence.treebank.alignment import Text, align
from arborescence.treebank.conllu import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    _Mask = npt.NDArray[np.bool_]

    from arborescence.treebank.sentence import Sentence

# What universal dependencies call relations of content words; CLAS counts these.
_CONTENT_RELATIONS = {
    *("acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep"),
    *("discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod"),
    *("nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "reparandum", "root", "vocative"),
    "xcomp",
}
# What the shared task compares of FEATS.
_UNIVERSAL_FEATURES = {
    *("Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender"),
    *("Mood", "NumType", "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex"),
    *("Tense", "VerbForm", "Voice"),
}
# Heads that are no words. The first two are also places in what `counterparts` returns.
_ROOT = -1
_UNKNOWN = -2
_UNALIGNED = -3


@dataclass(frozen=True)
class Score:
    """How many words are right, of how many in the gold and in the predicted treebank.

    Examples
    --------
    >>> score = Score(correct=3, gold=4, predicted=5)
    >>> score.precision, score.recall, round(score.f1, 3)
    (0.6, 0.75, 0.667)
    """

    correct: int
    gold: int
    predicted: int

    @property
    def precision(self) -> float:
        """The share of predicted words that are right; 0 where there is none."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of gold words that are right; 0 where there is none."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall: the accuracy where the words are the same."""
        total = self.gold + self.predicted
        return 2 * self.correct / total if total else 0.0

    def as_dict(self) -> dict[str, float]:
        """Give counts and rates, ready for JSON."""
        rates = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return rates | asdict(self)


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found.

    Attributes
    ----------
    words : Score
        How many words are words of both treebanks.
    upos, xpos, feats : Score
        Words with the right tag; of FEATS, the universal features are compared.
    uas, las, clas : Score
        Words with the right head; with the right head and relation; the same for content words.
    sentences : int
        The number of gold sentences.
    exact_unlabelled, exact_labelled : float
        The share of gold sentences in which every word has the right head (and relation).
    root_violations, gold_root_violations : float
        The share of trees without exactly one edge from the root.
    nonprojective, gold_nonprojective : float
        The share of trees with crossing edges.
    relations : dict of str to Score
        LAS for the words of each relation.
    """

    words: Score
    upos: Score
    xpos: Score
    feats: Score
    uas: Score
    las: Score
    clas: Score
    sentences: int
    exact_unlabelled: float
    exact_labelled: float
    root_violations: float
    gold_root_violations: float
    nonprojective: float
    gold_nonprojective: float
    relations: dict[str, Score]

    def as_dict(self) -> dict[str, Any]:
        """Give everything, ready for JSON; rates are shares between 0 and 1."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        relations = {name: score.as_dict() for name, score in self.relations.items()}
        scores = {
            name: value.as_dict() for name, value in values.items() if isinstance(value, Score)
        }
        return values | scores | {"relations": relations}

    def __str__(self) -> str:
        def row(name: str, score: Score, more: str = "") -> str:
            rates = (score.precision, score.recall, score.f1)
            return f"{name:<14}" + "".join(f"{100 * rate:>11.2f}" for rate in rates) + more

        def shares(name: str, *values: float) -> str:
            return f"{name:<36}" + "".join(f"{value:>11.2%}" for value in values)

        header = f"{'':<14}{'precision':>11}{'recall':>11}{'F1':>11}"
        lines = [
            header,
            row("words", self.words),
            row("UPOS", self.upos),
            row("XPOS", self.xpos),
            row("UFeats", self.feats),
            row("UAS", self.uas),
            row("LAS", self.las),
            row("CLAS", self.clas),
            "",
            f"{f'of {self.sentences} sentences':<36}{'predicted':>11}{'gold':>11}",
            shares("all heads right", self.exact_unlabelled),
            shares("all heads and relations right", self.exact_labelled),
            shares("not exactly one root edge", self.root_violations, self.gold_root_violations),
            shares("non-projective", self.nonprojective, self.gold_nonprojective),
            "",
            f"{header}{'gold words':>12}",
        ]
        lines += [row(name, score, f"{score.gold:>12}") for name, score in self.relations.items()]
        return "\n".join(lines)


def evaluate(
    gold: str | os.PathLike[str] | Iterable[Sentence],
    predicted: str | os.PathLike[str] | Iterable[Sentence],
    *,
    punctuation: bool = True,
) -> Evaluation:
    """Compare predicted trees with gold trees.

    The measures equal those of the official evaluation of the CoNLL 2018 shared task: relations
    are compared without their subtypes (``nsubj:pass`` is ``nsubj``), and where the treebanks
    split the text differently, its words are aligned by their characters and the scores are F1.

    Parameters
    ----------
    gold, predicted
        Paths of CoNLL-U files, or sentences. Both must hold the same text.
    punctuation
        Whether words with the gold relation ``punct`` count in UAS, LAS, exact match and the
        relations. Officially they do.

    Returns
    -------
    Evaluation
        Which prints as a table.

    Raises
    ------
    TreebankError
        If the texts differ, naming the first words that do, or a gold word has no head.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> words = Sentence.from_words(["Trees", "grow", "."])
    >>> gold = words.replace(heads=[-1, 2, 0, 2], deprels=["nsubj", "root", "punct"])
    >>> predicted = words.replace(heads=[-1, 2, 0, 1], deprels=["obj", "root", "punct"])
    >>> evaluation = evaluate([gold], [predicted])
    >>> round(evaluation.uas.f1, 3), round(evaluation.las.f1, 3)
    (0.667, 0.333)
    >>> evaluate([gold], [predicted], punctuation=False).uas.f1
    1.0
    """
    ours, theirs = Annotation(gold), Annotation(predicted)
    for word in np.flatnonzero(ours.heads == _UNKNOWN)[:1]:
        raise TreebankError(f"the gold word {ours.text.place(ours.text.starts[word])} has no head")
    g, p = align(ours.text, theirs.text)

    attached = ours.heads[g] == counterparts(g, p, len(theirs.heads))[theirs.heads[p]]
    labelled = attached & (ours.relations[g] == theirs.relations[p])

    our_words = np.ones(len(ours.heads), dtype=np.bool_)
    their_words = np.ones(len(theirs.heads), dtype=np.bool_)
    our_counted, their_counted = our_words, their_words
    if not punctuation:
        our_counted = ours.relations != "punct"
        their_counted = theirs.relations != "punct"
        their_counted[p] = our_counted[g]

    def score(correct: _Mask, of_ours: _Mask, of_theirs: _Mask) -> Score:
        return Score(int((correct & of_ours[g]).sum()), int(of_ours.sum()), int(of_theirs.sum()))

    def same(column: Callable[[Sentence], list[str]]) -> Score:
        return score(ours.column(column)[g] == theirs.column(column)[p], our_words, their_words)

    def exact(correct: _Mask) -> float:
        wrong = our_counted.copy()
        wrong[g[correct]] = False
        broken = np.unique(ours.sentence_of_word[wrong]).size
        return 1 - broken / len(ours.text.sentences) if ours.text.sentences else 0.0

    names = {*ours.relations[our_counted].tolist(), *theirs.relations[their_counted].tolist()}
    return Evaluation(
        words=score(np.ones(g.size, dtype=np.bool_), our_words, their_words),
        upos=same(lambda sentence: sentence.upos),
        xpos=same(lambda sentence: sentence.xpos),
        feats=same(lambda sentence: [_universal(feats) for feats in sentence.feats]),
        uas=score(attached, our_counted, their_counted),
        las=score(labelled, our_counted, their_counted),
        clas=score(labelled, ours.is_content, theirs.is_content),
        sentences=len(ours.text.sentences),
        exact_unlabelled=exact(attached),
        exact_labelled=exact(labelled),
        root_violations=theirs.share(_breaks_root),
        gold_root_violations=ours.share(_breaks_root),
        nonprojective=theirs.share(_crosses),
        gold_nonprojective=ours.share(_crosses),
        relations={
            name: score(
                labelled,
                our_counted & (ours.relations == name),
                their_counted & (theirs.relations == name),
            )
            for name in sorted(names)
        },
    )


def counterparts(
    gold_words: npt.NDArray[np.int64], predicted_words: npt.NDArray[np.int64], predicted: int
) -> npt.NDArray[np.int64]:
    """Say which gold word each of so many predicted words is, given the pairs that `align` found.

    Heads that are no words are their own counterparts: they index the last two places.
    """
    found = np.full(predicted + 2, _UNALIGNED)
    found[predicted_words] = gold_words
    found[[_ROOT, _UNKNOWN]] = _ROOT, _UNKNOWN
    return found


class Annotation:
    """What the measures compare: arrays over all words of a treebank."""

    def __init__(self, treebank: str | os.PathLike[str] | Iterable[Sentence]) -> None:
        sentences = list(read(treebank) if isinstance(treebank, (str, os.PathLike)) else treebank)
        self.text = Text(sentences)
        self.vectors = [sentence.heads for sentence in sentences]
        lengths = [len(sentence) for sentence in sentences]
        self.sentence_of_word = np.repeat(np.arange(len(sentences)), lengths)
        within = np.concatenate([np.empty(0, np.int64), *(heads[1:] for heads in self.vectors)])
        # The heads as indices of words among all words.
        self.heads = within - 1 + np.repeat(np.array(self.text.offsets[:-1], np.int64), lengths)
        self.heads[within == 0] = _ROOT
        self.heads[within == -1] = _UNKNOWN
        self.relations = self.column(lambda sentence: [base(name) for name in sentence.deprels])
        self.is_content = np.isin(self.relations, list(_CONTENT_RELATIONS))

    def column(self, values: Callable[[Sentence], list[str]]) -> npt.NDArray[np.str_]:
        """Collect a column of all words."""
        return np.array([value for s in self.text.sentences for value in values(s)], dtype=np.str_)

    def share(self, holds: Callable[[npt.NDArray[np.int64]], bool]) -> float:
        """Give the share of head vectors for which something holds."""
        return sum(map(holds, self.vectors)) / len(self.vectors) if self.vectors else 0.0


def base(relation: str) -> str:
    """Cut the subtype off a relation."""
    return relation.partition(":")[0]


def _universal(feats: str) -> str:
    known = (feat for feat in feats.split("|") if feat.partition("=")[0] in _UNIVERSAL_FEATURES)
    return "|".join(sorted(known))


def _breaks_root(heads: npt.NDArray[np.int64]) -> bool:
    return bool(root_count(heads) != 1)


def _crosses(heads: npt.NDArray[np.int64]) -> bool:
    return bool(is_tree(heads, root="multi") and not is_projective(heads))
