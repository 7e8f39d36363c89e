"""Probabilities at temperatures (Guo et al. 2017): of edges, relations, tags, trees; column MISC.

The *marginal* of an edge is the probability of all trees with this edge. Marginals are calibrated
only if scores are on the scale of log-probabilities; scores of MIRA, of the perceptron and of long
training are not. So the temperature is chosen on sentences that the parser has not learned from
(Section 4.2).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

import numpy as np

from arborescence.core.choices import check_choice
from arborescence.errors import TreebankError
from arborescence.inference.decode import decode
from arborescence.treebank.dictionaries import TREE_PROB, probabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.treebank import Sentence

#: For each kind of prediction, the name of its probability in MISC.
Probable = Literal["edge", "relation", "tag", "tree"]
_NAMES: Final = {"edge": "EdgeProb", "relation": "RelationProb", "tag": "UposProb"}
_LEAST: Final = 1e-12  # the lower limit of probabilities
_COOLEST, _HOTTEST = math.log(2**-10), math.log(2**10)
_CLOSE: Final = 0.005
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


def edge_probabilities(
    marginals: NDArray[np.floating[Any]], trees: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the marginals (B, N, N) of the edges of K trees each (B, K, N)."""
    # undefined where they are -1
    probabilities = np.ones(trees.shape)
    probabilities[..., 1:] = np.take_along_axis(marginals[:, :, 1:], trees[..., 1:], axis=1)
    return probabilities


def fit_temperature(
    scores: Iterable[NDArray[np.floating[Any]]],
    heads: Iterable[NDArray[np.int64]],
    *,
    root: Root,
    projective: bool,
    whole: bool = False,
) -> float:
    """Find the temperature at which probabilities best predict which edges, or trees, are right.

    Parameters
    ----------
    scores : (n + 1, n + 1) each
        Scores of sentences that the parser has not learned from.
    heads : (n + 1,) int64 each
        The gold trees of these sentences; -1 for an unknown head.
    root, projective
        As in `TreeDistribution`.
    whole
        Whether to predict which trees are wholly right, by their own probabilities.

    Returns
    -------
    temperature : float
        Between 2^-10 and 2^10, to 0.5 percent.

    Notes
    -----
    Golden-section search over the logarithm of the temperature. The loss is binary cross-entropy:
    each right edge of the best tree adds -log of its marginal, and each wrong edge
    -log(1 - marginal). The best tree does not depend on the temperature, so the search decodes all
    sentences once and computes their marginals 17 times. (The usual loss is the negative
    log-likelihood of gold edges. But among projective trees, crossing gold edges have probabilities
    near 0, and such edges would dominate the usual loss. On test of Gothic-PROIEL, the calibration
    error of a projective parser is 4.3 % with the usual loss and 1.5 % with this loss; of a
    non-projective parser, 2.3 % and 1.6 %.)

    Examples
    --------
    Each best tree wins by 20, and two of three are right: their edges should have probability 2/3.

    >>> scores = np.zeros((3, 3, 3))
    >>> scores[:, 0, 1] = scores[:, 1, 2] = 10
    >>> gold = np.array([[-1, 0, 1], [-1, 0, 1], [-1, 2, 0]])
    >>> temperature = fit_temperature(scores, gold, root="single", projective=False)
    >>> round(20 / temperature, 2) == round(math.log(2), 2)
    True
    """
    from arborescence.distribution.arrays import TreeDistribution

    by_length: dict[int, list[tuple[NDArray[Any], NDArray[np.int64]]]] = {}
    for matrix, gold in zip(scores, heads, strict=True):
        by_length.setdefault(len(gold), []).append((matrix, gold))
    groups = []
    for group in by_length.values():
        matrices, gold = map(np.stack, zip(*group, strict=True))
        trees = decode(matrices, root=root, projective=projective)
        groups.append((matrices, trees, trees == gold, gold >= 0))

    def loss(temperature: float) -> float:
        total = 0.0
        for matrices, trees, right, known in groups:
            believed = TreeDistribution(
                matrices / np.float32(temperature), root=root, projective=projective
            )
            if whole:
                total += _surprise(np.exp(believed.log_prob(trees)), (right | ~known).all(axis=1))
                continue
            marginals = edge_probabilities(believed.marginals(), trees[:, None])[:, 0]
            total += _surprise(marginals[known], right[known])
        return total

    return _coolest(loss)


def fit_choices(weights: NDArray[np.floating[Any]], right: NDArray[np.bool_]) -> float:
    """Find the temperature at which a softmax best predicts whether choices are right.

    Parameters
    ----------
    weights : (E, C)
        The weights of E choices among at most C classes; -inf for a class that a choice lacks.
        Choices without any class have no influence.
    right : (E,) bool
        Whether the class of the highest weight is right.

    Returns
    -------
    temperature : float
        As from `fit_temperature`.

    Examples
    --------
    >>> weights = np.array([[10, 0, -np.inf]] * 3)
    >>> temperature = fit_choices(weights, np.array([True, True, False]))
    >>> round(10 / temperature, 2) == round(math.log(2), 2)
    True
    """
    some = np.isfinite(weights).any(axis=1)
    weights, right = weights[some], right[some]
    return _coolest(lambda heat: _surprise(softmax(weights / heat).max(axis=1), right))


def softmax(weights: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the probabilities of classes, (..., C), by their weights."""
    powers = np.exp((weights - weights.max(axis=-1, keepdims=True)).astype(np.float64))
    likely: NDArray[np.float64] = powers / powers.sum(axis=-1, keepdims=True)
    return likely


def _surprise(probabilities: NDArray[Any], right: NDArray[np.bool_]) -> float:
    """Return the sum of the binary cross-entropies of predictions."""
    likely = np.where(right, probabilities, 1 - probabilities)
    return -float(np.log(np.maximum(likely, _LEAST)).sum())


def _coolest(loss: Callable[[float], float]) -> float:
    """Return the temperature of the lowest loss: golden-section search over its logarithm."""
    low, high = _COOLEST, _HOTTEST
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    of_left, of_right = loss(math.exp(left)), loss(math.exp(right))
    while high - low > _CLOSE:
        if of_left < of_right:
            high, right, of_right = right, left, of_left
            left = high - _GOLDEN * (high - low)
            of_left = loss(math.exp(left))
        else:
            low, left, of_left = left, right, of_right
            right = low + _GOLDEN * (high - low)
            of_right = loss(math.exp(right))
    return math.exp((low + high) / 2)


def with_probs(
    misc: Sequence[str], probabilities: Sequence[float], name: str = "EdgeProb"
) -> list[str]:
    """Return MISC with a probability of each word: of its edge, relation or tag."""
    # other entries stay; sorted entries stay sorted
    key, written = f"{name}=", []
    for entry, probability in zip(misc, probabilities, strict=True):
        others = [] if entry == "_" else entry.split("|")
        others = [other for other in others if not other.startswith(key)]
        at = next((i for i, o in enumerate(others) if o.lower() > key.lower()), len(others))
        others.insert(at, f"{key}{probability:.4f}")
        written.append("|".join(others))
    return written


def edge_probs(sentence: Sentence, name: str = "EdgeProb") -> list[float]:
    """Return the probability of each word's edge from MISC, as `parse` with confidence writes it.

    Parameters
    ----------
    sentence
        A sentence that was parsed with confidence.
    name
        ``"EdgeProb"``; or ``"RelationProb"``, the probability of the relation, given the edge; or
        ``"UposProb"``, the probability of a tag that the parser has predicted.

    Raises
    ------
    TreebankError
        If a word has no such probability.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> edge_probs(Sentence.from_words(["Trees", "grow"], misc=["EdgeProb=0.97", "EdgeProb=1"]))
    [0.97, 1.0]
    """
    numbers = []
    for word, probability in enumerate(probabilities(sentence, name), start=1):
        if probability is None:
            raise TreebankError(
                f"{sentence!r}: word {word} has no probability {name}=... in MISC; parse with "
                "confidence"
            )
        numbers.append(probability)
    return numbers


class Reliability(NamedTuple):
    """Mean probability and accuracy of edges, in bins of probability; see `reliability`.

    Attributes
    ----------
    confidence : (bins,) float64
        The mean probability of the edges in each bin; NaN for an empty bin.
    accuracy : (bins,) float64
        The share of right edges in each bin; NaN for an empty bin.
    counts : (bins,) int64
        The number of edges in each bin.
    """

    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean over edges of |confidence - accuracy|."""
        gaps = np.abs(self.confidence - self.accuracy) * self.counts
        return float(gaps[self.counts > 0].sum() / self.counts.sum())


def reliability(
    gold: Iterable[Sentence],
    parsed: Iterable[Sentence],
    *,
    bins: int = 10,
    of: Probable = "edge",
) -> Reliability:
    """Compare probabilities with accuracy.

    Parameters
    ----------
    gold
        Sentences with the gold heads. Words without a head do not count.
    parsed
        The same sentences, parsed with confidence.
    bins
        The number of bins of equal width from 0 to 1.
    of
        The probabilities of edges; of relations, for the words whose head is right; of tags; or of
        whole trees, without relations.

    Returns
    -------
    Reliability
        A parser is *calibrated* if accuracy and confidence are equal in each bin.

    Raises
    ------
    TreebankError
        As from `edge_probs`.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> gold = Sentence.from_words(["Trees", "grow"], heads=[2, 0])
    >>> parsed = gold.replace(heads=[0, 1], misc=["EdgeProb=0.75", "EdgeProb=0.75"])
    >>> bins = reliability([gold, gold, gold], [gold.replace(misc=parsed.misc)] * 2 + [parsed])
    >>> bins.counts, round(bins.error, 4)
    (array([0, 0, 0, 0, 0, 0, 0, 6, 0, 0]), 0.0833)
    """
    check_choice("of", of, get_args(Probable))
    believed: list[float] = []
    right: list[bool] = []
    for answer, guess in zip(gold, parsed, strict=True):
        known = answer.heads >= 0
        heads = (answer.heads == guess.heads) & known
        if of == "tree":
            believed.append(float(guess.comment(TREE_PROB) or np.nan))
            right.append(bool(heads.all()))
            continue
        shares = edge_probs(guess, _NAMES[of])
        if of == "edge":
            same = heads
        else:
            ours, theirs = (tree.upos if of == "tag" else tree.deprels for tree in (answer, guess))
            same = np.array(ours) == np.array(theirs)
        counted = heads if of == "relation" else known
        believed += np.array(shares)[counted].tolist()
        right += same[counted].tolist()
    probabilities = np.array(believed)
    of_bin = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    counts = np.bincount(of_bin, minlength=bins)
    with np.errstate(invalid="ignore"):
        return Reliability(
            np.bincount(of_bin, probabilities, bins) / counts,
            np.bincount(of_bin, np.array(right), bins) / counts,
            counts,
        )
