"""The counts of an evaluation: the measures of the CoNLL 2018 shared task (Zeman et al. 2018)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.treebank.columns import Numbering
from arborescence.treebank.comparison import TreeColumns, compare
from arborescence.treebank.details import Details
from arborescence.treebank.sentence import DEPREL, FEATS, LEMMA, UPOS, XPOS

if TYPE_CHECKING:
    import numpy.typing as npt

    from arborescence.treebank.columns import Columns, Integers

    _Mask = npt.NDArray[np.bool_]

# The relations of content words in Universal Dependencies; CLAS, MLAS and BLEX count these.
CONTENT_RELATIONS: Final = {
    *("acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep"),
    *("discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod"),
    *("nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "reparandum", "root", "vocative"),
    "xcomp",
}
# The relations of function words; for MLAS, those of each content word must be correct.
FUNCTIONAL_RELATIONS: Final = {"aux", "cop", "mark", "det", "clf", "case", "cc"}
# The features of FEATS that the shared task compares.
_UNIVERSAL_FEATURES = {
    *("Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender"),
    *("Mood", "NumType", "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex"),
    *("Tense", "VerbForm", "Voice"),
}


class EvaluationCounts:
    """Counts over a text, added up part by part."""

    def __init__(self, *, punctuation: bool, details: bool = False) -> None:
        self.punctuation = punctuation
        self.details = Details() if details else None
        #: (3,) each: for each measure, the numbers of correct words, of gold words and of predicted
        #: words.
        self.scores: defaultdict[str, Integers] = defaultdict(lambda: np.zeros(3, np.int64))
        #: The numbers of gold and predicted sentences, and of sentences with certain properties.
        self.sentences: Counter[str] = Counter()
        #: The places of the first gold and the first predicted sentence that is no tree, or "".
        self.first_broken = ["", ""]
        self._relations = Numbering(DEPREL, base)
        self._tags = Numbering(UPOS, str)
        self._feats = Numbering(FEATS, _universal)
        self._of_relation = np.zeros((3, 0), dtype=np.int64)

    def add(self, ours: Columns, theirs: Columns) -> None:
        """Count a part of the text, the same in both treebanks.

        TreebankError if a gold word has no head.
        """
        compared = compare(ours, theirs, self._relations)
        g, p, gold, predicted = compared.g, compared.p, compared.gold, compared.predicted
        attached, labelled = compared.attached, compared.labelled
        tags = self._tags(ours, g), self._tags(theirs, p)
        upos = tags[0] == tags[1]
        xpos, feats, lemmas = (
            numbers(ours, g) == numbers(theirs, p)
            for numbers in (Numbering(XPOS, str), self._feats, Numbering(LEMMA, str))
        )
        lemmas |= ours.is_blank(LEMMA)[g]

        def count(of_ours: _Mask, of_theirs: _Mask, **measures: _Mask) -> None:
            words, their_words = np.count_nonzero(of_ours), np.count_nonzero(of_theirs)
            for name, right in measures.items():
                self.scores[name] += (np.count_nonzero(right & of_ours[g]), words, their_words)

        every, their_every = np.ones_like(ours.in_multiword), np.ones_like(theirs.in_multiword)
        count(
            every,
            their_every,
            words=every[g],
            upos=upos,
            xpos=xpos,
            feats=feats,
            all_tags=upos & xpos & feats,
            lemmas=lemmas,
        )
        counted, their_counted = every, their_every
        if not self.punctuation:
            counted = ~self._has_relation(gold, {"punct"})
            their_counted = ~self._has_relation(predicted, {"punct"})
            their_counted[p] = counted[g]
        count(
            counted,
            their_counted,
            uas=attached,
            las=labelled,
            undirected_uas=attached | compared.turned,
        )
        if self.details:
            self.details.add(compared, counted, their_counted)
            kept = counted[g]
            self.details.confuse(
                "relations", [*self._relations.names],
                gold.relations[g][kept], predicted.relations[p][kept],
            )  # fmt: skip
            self.details.confuse("tags", [*self._tags.names], *tags)
        tagged = labelled & upos & feats
        count(
            self._has_relation(gold, CONTENT_RELATIONS),
            self._has_relation(predicted, CONTENT_RELATIONS),
            clas=labelled,
            mlas=tagged & self._same_function_words(gold, predicted, g, p, tagged),
            blex=labelled & lemmas,
        )
        self.scores["tokens"] += _same_spans(ours.token_spans, theirs.token_spans)
        self.scores["sentence_spans"] += _same_spans(ours.sentence_spans, theirs.sentence_spans)

        self._count_relations(
            gold.relations[g[labelled & counted[g]]],
            gold.relations[counted],
            predicted.relations[their_counted],
        )
        for name, right in (("inexact_unlabelled", attached), ("inexact_labelled", labelled)):
            wrong = counted.copy()
            wrong[g[right]] = False
            inexact = np.logical_or.reduceat(wrong, ours.offsets[:-1])
            self.sentences[name] += int(np.count_nonzero(inexact))
        self.sentences.update(
            gold=len(ours),
            gold_root_violations=gold.root_violations,
            gold_nonprojective=gold.nonprojective,
            predicted=len(theirs),
            root_violations=predicted.root_violations,
            nonprojective=predicted.nonprojective,
            gold_broken=gold.broken,
            broken=predicted.broken,
        )
        pairs = zip(self.first_broken, (gold, predicted), strict=True)
        self.first_broken = [known or trees.first_broken for known, trees in pairs]

    @property
    def relations(self) -> dict[str, Integers]:
        """The counts of each relation that occurs."""
        counts = zip(self._relations.names, self._of_relation.T, strict=False)
        return {name: row for name, row in sorted(counts) if row.any()}

    def _count_relations(self, *words: Integers) -> None:
        """Count the relations of correct words, of gold words and of predicted words."""
        kinds = len(self._relations.names)
        counts = np.stack([np.bincount(kind, minlength=kinds) for kind in words])
        counts[:, : self._of_relation.shape[1]] += self._of_relation
        self._of_relation = counts

    def _has_relation(self, trees: TreeColumns, relations: set[str]) -> _Mask:
        listed = np.array([name in relations for name in self._relations.names], dtype=np.bool_)
        mask: _Mask = listed[trees.relations]
        return mask

    def _same_function_words(
        self, gold: TreeColumns, predicted: TreeColumns, g: Integers, p: Integers, tagged: _Mask
    ) -> _Mask:
        """Return for pairs of words whether they have the same function words as dependents.

        The same function words are aligned and `tagged`: with the correct head, relation, UPOS and
        FEATS.
        """
        functional = self._has_relation(gold, FUNCTIONAL_RELATIONS)
        counts = _dependents(gold, functional)[g]
        their_counts = _dependents(predicted, self._has_relation(predicted, FUNCTIONAL_RELATIONS))
        right = np.zeros_like(functional)
        right[g[tagged]] = True
        right_counts = _dependents(gold, functional & right)[g]
        same: _Mask = (counts == their_counts[p]) & (counts == right_counts)
        return same


def base(relation: str) -> str:
    """Return a relation without its subtype."""
    return relation.partition(":")[0]


def _universal(feats: str) -> str:
    known = (feat for feat in feats.split("|") if feat.partition("=")[0] in _UNIVERSAL_FEATURES)
    return "|".join(sorted(known))


def _dependents(trees: TreeColumns, words: _Mask) -> Integers:
    """Count the dependents of each word among `words`."""
    heads = trees.heads[words]
    return np.bincount(heads[heads >= 0], minlength=len(trees.heads))


def _same_spans(
    ours: tuple[Integers, Integers], theirs: tuple[Integers, Integers]
) -> tuple[int, int, int]:
    """Return the numbers of equal character spans, of our spans and of their spans."""
    (starts, ends), (their_starts, their_ends) = ours, theirs
    end_of = np.full(max(ends.max(initial=0), their_ends.max(initial=0)) + 1, -1)
    end_of[their_starts] = their_ends
    return int(np.count_nonzero(end_of[starts] == ends)), len(starts), len(their_starts)
