"""The parameters that are fitted on held-out sentences of the sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.distribution.arrays import TreeDistribution
from arborescence.parsers.harmonizer.constrained import keep_rules
from arborescence.parsers.harmonizer.lessons import SAME, Lessons
from arborescence.parsers.harmonizer.scorer import EdgeScorer
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.confidence import fit_temperature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.harmonizer.pairing import Pair
    from arborescence.parsers.harmonizer.scorer import Scored
    from arborescence.parsers.shared.keeping import Keeper

    Probabilities = NDArray[np.float64]
    #: Trees, and the number of the relation of each word.
    Labeled = tuple[Scored, NDArray[np.int64]]

#: In each part of the sample, one in this number of sentences is held out, up to a limit.
_FOLDS: Final = 5
_ENOUGH: Final = 500
#: The factors of a parser's scores that are tried.
_WEIGHTS: Final = (0.0, 0.2, 0.4, 0.6)
_SURE: Final = 1e-6
_STEPS: Final = 50
#: The fields of a model file.
FIELDS: Final = {
    "temperature": scheme.real(1e-4, 1e4),
    "edge_line": scheme.list_of(scheme.real(-1e4, 1e4), 2, 2),
    "relation_line": scheme.list_of(scheme.real(-1e4, 1e4), 2, 2),
}


class PlattCalibration(NamedTuple):
    """Turns scores into probabilities.

    Marginals at a temperature are too low in the middle and right at the ends. So the log-odds of a
    probability are replaced by a linear function of them (Platt 1999).

    Attributes
    ----------
    temperature : float
        The divisor of edges' scores.
    edge_line, relation_line : pairs of float
        The slope and the intercept of a linear function of log-odds.
    """

    temperature: float = 1.0
    edge_line: tuple[float, float] = (1.0, 0.0)
    relation_line: tuple[float, float] = (1.0, 0.0)

    def edges(self, scored: Scored, trees: Sequence[NDArray[np.int64]]) -> Probabilities:
        """Return the probability of each word's edge in head vectors."""
        return on_line(_marginals(scored, trees, self.temperature), self.edge_line)

    def relations(self, scored: Scored, rows: Any, labels: Any) -> Probabilities:
        """Return the probability of relations of candidates."""
        return on_line(scored.chances[rows, labels].astype(np.float64), self.relation_line)


class Fitted(NamedTuple):
    """The options that folds of a sample choose."""

    #: the factor of a parser's scores
    weight: float
    #: the conversion of scores into probabilities
    calibration: PlattCalibration
    #: whether words are right at least as often in trees that keep the rules
    rules_help: bool


class _Fold(NamedTuple):
    """Sentences that are held out, and scores that are not learned from them."""

    #: the scorer, which learned from the other sentences
    scorer: EdgeScorer
    #: the sentences in both annotations
    pairs: list[Pair]
    #: their edges and columns
    lessons: Lessons

    def scored(self, weight: float) -> Scored:
        """Score the sentences, with a factor of the parser's scores."""
        self.scorer.weight = weight
        return self.scorer.scored([each.old for each in self.pairs])

    def keeping(self, scored: Scored, keeper: Keeper) -> Labeled:
        """Return trees that keep rules, with the right tags; and their relations."""
        labels, first, sentences = scored.labels, 0, []
        tags, names = self.lessons.columns["upos"], self.scorer.relations
        for each, tree in zip(self.pairs, scored.trees, strict=True):
            part = slice(first, first := first + len(each.old))
            upos = [
                old if new in ("", SAME) else new
                for old, new in zip(each.old.upos, tags[part], strict=True)
            ]
            relations = [names[k] for k in labels[part].tolist()]
            sentences.append(each.old.replace(heads=tree, deprels=relations, upos=upos))
        kept = [None] * len(sentences)
        return keep_rules(keeper, sentences, scored, labels, names, kept)[0], labels

    def right(self, scored: Scored) -> NDArray[np.bool_]:
        """Return a mask of the words that have the right head, (words,)."""
        heads: NDArray[np.int64] = np.concatenate([tree[1:] for tree in scored.trees])
        return np.asarray(heads == self.lessons.heads)

    def right_relations(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a mask of the words that have the right relation, (words,)."""
        names = np.array(self.scorer.relations)[labels]
        return np.asarray(names == np.array(self.lessons.relations))


def fitted(
    pairs: Sequence[Pair],
    epochs: int,
    rng: np.random.Generator,
    *,
    parser: bool,
    keeper: Keeper | None,
) -> Fitted:
    """Fit the factor of a parser's scores and a calibration, and try rules, on folds of the sample.

    Scores that were learned from the other sentences are compared with the new trees of a fold.
    Samples with fewer sentences than folds are too small for a comparison. `keeper` has the rules
    of the new scheme.
    """
    folds: list[_Fold] = []
    held = 0
    for fold in range(_FOLDS if len(pairs) >= _FOLDS else 0):
        others = [each for i, each in enumerate(pairs) if i % _FOLDS != fold]
        part = list(pairs[fold::_FOLDS])
        lessons = Lessons(others)
        if held < _ENOUGH and lessons.learnable:
            scorer = EdgeScorer.learn(others, lessons, epochs, rng, parser=parser)
            folds.append(_Fold(scorer, part, Lessons(part)))
            held += len(part)
    if not folds:
        return Fitted(_WEIGHTS[2], PlattCalibration(), rules_help=True)
    weight, scored, most = 0.0, [], -1
    for factor in _WEIGHTS if parser else _WEIGHTS[:1]:
        tried = [each.scored(factor) for each in folds]
        right = sum(int(a.right(b).sum()) for a, b in zip(folds, tried, strict=True))
        if right > most:
            weight, scored, most = factor, tried, right
    trees = [(each, each.labels) for each in scored]
    temperature = _temperature(folds, scored)
    helps = False
    if keeper is not None:
        kept = [fold.keeping(each, keeper) for fold, each in zip(folds, scored, strict=True)]
        helps = _right_words(folds, kept) >= _right_words(folds, trees)
        trees = kept if helps else trees
    return Fitted(weight, _calibrated(folds, trees, temperature), helps)


def _right_words(folds: list[_Fold], trees: list[Labeled]) -> int:
    """Return the number of words with the right head and the right relation."""
    return sum(
        int(fold.right_relations(each[1])[fold.right(each[0])].sum())
        for fold, each in zip(folds, trees, strict=True)
    )


def _temperature(folds: list[_Fold], scored: list[Scored]) -> float:
    matrices, trees = [], []
    for fold, each in zip(folds, scored, strict=True):
        ends = np.cumsum([len(pair.old) for pair in fold.pairs])[:-1]
        matrices += each.matrices
        trees += [np.append(-1, heads) for heads in np.split(fold.lessons.heads, ends)]
    return fit_temperature(matrices, trees, root="single", projective=False)


def _calibrated(folds: list[_Fold], trees: list[Labeled], temperature: float) -> PlattCalibration:
    edges, rights, chances, rights_named = [], [], [], []
    for fold, (scored, labels) in zip(folds, trees, strict=True):
        known, right = fold.lessons.heads >= 0, fold.right(scored)
        edges.append(_marginals(scored, scored.trees, temperature)[known])
        rights.append(right[known])
        chances.append(scored.chances[scored.rows[right], labels[right]])
        rights_named.append(fold.right_relations(labels)[right])
    return PlattCalibration(
        temperature,
        fit_line(np.concatenate(edges), np.concatenate(rights)),
        fit_line(np.concatenate(chances), np.concatenate(rights_named)),
    )


def _marginals(
    scored: Scored, trees: Sequence[NDArray[np.int64]], temperature: float
) -> Probabilities:
    """Return the marginal of each word's edge at a temperature."""
    heat = np.float32(temperature)
    shares = []
    for matrix, tree in zip(scored.matrices, trees, strict=True):
        marginals = TreeDistribution(matrix / heat).marginals()
        shares.append(marginals[tree[1:], np.arange(1, tree.size)])
    return np.concatenate(shares)


def _log_odds(probabilities: NDArray[np.floating[Any]]) -> Probabilities:
    inside = np.clip(probabilities.astype(np.float64), _SURE, 1 - _SURE)
    return np.asarray(np.log(inside / (1 - inside)))


def on_line(probabilities: NDArray[np.floating[Any]], line: tuple[float, float]) -> Probabilities:
    """Return probabilities by a linear function of the log-odds of given probabilities."""
    return np.asarray(1 / (1 + np.exp(-(line[0] * _log_odds(probabilities) + line[1]))))


def fit_line(
    probabilities: NDArray[np.floating[Any]], right: NDArray[np.bool_]
) -> tuple[float, float]:
    """Find the linear function of log-odds that best predicts correct edges.

    Parameters
    ----------
    probabilities, right : (E,)
        The probabilities of E edges, and whether each edge is right.

    Returns
    -------
    factor, added : float

    Notes
    -----
    Newton's method for logistic regression. A weak penalty draws the line to (1, 0), so that few
    words change little.

    Examples
    --------
    >>> given = np.array([0.9, 0.9, 0.9, 0.9] * 500)
    >>> line = fit_line(given, np.array([True, False] * 1000))
    >>> on_line(given[:1], line).round(2)
    array([0.5])
    """
    # Sums in place of products of matrices: BLAS would take more threads than one.
    odds = _log_odds(probabilities)
    line = start = np.array([1.0, 0.0])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(line[0] * odds + line[1], -30, 30)))
        wrong, spread = chances - right, chances * (1 - chances)
        slope = np.array([(odds * wrong).sum(), wrong.sum()]) + line - start
        both, mixed, intercepts = (
            1 + (spread * odds**2).sum(),
            (spread * odds).sum(),
            1 + spread.sum(),
        )
        inverse = np.array([[intercepts, -mixed], [-mixed, both]]) / (both * intercepts - mixed**2)
        step = (inverse * slope).sum(axis=1)
        line = line - np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-6:
            break
    return float(line[0]), float(line[1])
