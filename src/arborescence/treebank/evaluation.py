"""Evaluation of predicted trees with the measures of the CoNLL 2018 shared task (UAS, LAS, ...)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from arborescence.treebank.alignment import together
from arborescence.treebank.columns import columns_of
from arborescence.treebank.tally import Tally

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from arborescence.treebank.sentence import Sentence


#: The scores of an `Evaluation`, and their names in its table.
_SCORES: Final = {
    "tokens": "tokens", "sentence_spans": "sentences", "words": "words",
    "upos": "UPOS", "xpos": "XPOS", "feats": "UFeats", "all_tags": "AllTags", "lemmas": "lemmas",
    "uas": "UAS", "las": "LAS", "clas": "CLAS", "mlas": "MLAS", "blex": "BLEX",
    "undirected_uas": "undirected UAS",
}  # fmt: skip


@dataclass(frozen=True)
class Score:
    """The number of correct words, of words in the gold treebank, and in the predicted one.

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
        """The share of predicted words that are correct; 0 if there are none."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of gold words that are correct; 0 if there are none."""
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
        LAS for content words; the same if UPOS, FEATS and the dependent function words must also be
        correct; the same if the lemma must also be correct.
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
    relations : dict of str to Score
        LAS for the words of each relation.
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
    relations: dict[str, Score]

    def as_dict(self) -> dict[str, Any]:
        """Return all results, ready for JSON; rates are between 0 and 1."""
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
            *(row(title, getattr(self, name)) for name, title in _SCORES.items()),
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

    Measures of that name equal those of the official evaluation of the CoNLL 2018 shared task:
    relations are compared without subtypes (``nsubj:pass`` is ``nsubj``). If the treebanks split
    the text differently, the words are aligned by their characters, and the scores are F1.

    Parameters
    ----------
    gold, predicted
        Paths of CoNLL-U files, or sentences. Both must have the same text.
    punctuation
        Whether words with the gold relation ``punct`` count in UAS (directed and undirected), LAS,
        exact match and the relations, as in the shared task.

    Returns
    -------
    Evaluation
        Printed as a table.

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
    >>> turned = words.replace(heads=[-1, 0, 1, 2], deprels=["root", "dep", "punct"])
    >>> scores = evaluate([gold], [turned])
    >>> round(scores.uas.f1, 3), round(scores.undirected_uas.f1, 3)
    (0.333, 0.667)
    >>> evaluate([gold], [predicted], punctuation=False).uas.f1
    1.0
    """
    tally = Tally(punctuation=punctuation)
    for ours, theirs in together(columns_of(gold), columns_of(predicted)):
        tally.add(ours, theirs)

    def score(name: str) -> Score:
        return Score(*tally.scores[name].tolist())

    def share(name: str, of: str) -> float:
        total = tally.sentences[of]
        return tally.sentences[name] / total if total else 0.0

    def exact(name: str) -> float:
        return 1 - share(name, "gold") if tally.sentences["gold"] else 0.0

    return Evaluation(
        **{name: score(name) for name in _SCORES},
        sentences=tally.sentences["gold"],
        exact_unlabelled=exact("inexact_unlabelled"),
        exact_labelled=exact("inexact_labelled"),
        root_violations=share("root_violations", "predicted"),
        gold_root_violations=share("gold_root_violations", "gold"),
        nonprojective=share("nonprojective", "predicted"),
        gold_nonprojective=share("gold_nonprojective", "gold"),
        relations={name: Score(*row.tolist()) for name, row in tally.relations.items()},
    )
