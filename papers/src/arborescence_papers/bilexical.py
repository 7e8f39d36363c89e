"""A generative bilexical dependency model (Smith 2017): each head generates its dependents.

A small model for teaching and comparison: estimated from counts, without relations.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.errors import OptionError
from arborescence.inference.decode import decode
from arborescence.parsers.shared.given import as_sentences
from arborescence.parsers.shared.training_trees import checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.treebank import Sentence

    Codes = NDArray[np.int64]

_UNKNOWN: Final = 0


class Counts(NamedTuple):
    """The counts of events."""

    events: Codes  # (E,) int64: event codes, in ascending order
    counts: Codes  # (E,) int64

    @classmethod
    def of(cls, events: Codes) -> Self:
        """Count events: O(E log E)."""
        return cls(*np.unique(events, return_counts=True))

    def look_up(self, events: Codes) -> Codes:
        """Return the counts of events, 0 for unseen ones: O(log E) each."""
        at = np.searchsorted(self.events, events)
        at[at == len(self.events)] = 0
        return np.where(self.events[at] == events, self.counts[at], 0)


class Estimate(NamedTuple):
    """Probabilities of outcomes given contexts, from the most specific context to the most general.

    Interpolated Witten-Bell smoothing (Chen and Goodman 1998, Section 2.6): for a context that was
    seen c times, with t different outcomes,

    p(x | context) = (c(context, x) + κ t p(x | next context)) / (c + κ t)

    An unseen context has the estimate of the next; the last one backs off to the uniform
    distribution.
    """

    outcomes: int  # the number of outcomes; their codes are 0 to ``outcomes - 1``
    # κ, the weight of the more general context; 1 is the original Witten-Bell smoothing
    backoff: float
    # for each context: its counts with each outcome, its total
    # counts, and its numbers of different outcomes
    levels: list[tuple[Counts, Counts, Counts]]

    @classmethod
    def of(cls, outcome: Codes, contexts: Sequence[Codes], outcomes: int, backoff: float) -> Self:
        """Count events, each with its outcome and its contexts, the most specific context first."""
        levels = []
        for context in contexts:
            pairs = Counts.of(context * outcomes + outcome)
            levels.append((pairs, Counts.of(context), Counts.of(pairs.events // outcomes)))
        return cls(outcomes, backoff, levels)

    def log(self, outcome: Codes, contexts: Sequence[Codes]) -> NDArray[np.float64]:
        """Return the log-probabilities of outcomes given contexts; all arrays have one shape."""
        p = np.full(outcome.shape, 1 / self.outcomes)
        for context, level in zip(reversed(contexts), reversed(self.levels), strict=True):
            pairs, times, kinds = level
            c, t = times.look_up(context), self.backoff * kinds.look_up(context)
            seen = pairs.look_up(context * self.outcomes + outcome)
            np.divide(seen + t * p, c + t, out=p, where=c > 0)
        logarithms: NDArray[np.float64] = np.log(p)
        return logarithms


class Lexicon(NamedTuple):
    """Numbers of words and tags: 0 is an unknown one, the number after the last is the root."""

    # words, tags: the known ones, numbered from 1
    words: dict[str, int]
    tags: dict[str, int]

    @classmethod
    def of(cls, sentences: Iterable[Sentence], with_tags: bool) -> Self:
        """Collect the words that occur more than once (in lower case), and all tags."""
        words, tags = Counter[str](), set[str]()
        for sentence in sentences:
            words.update(form.lower() for form in sentence.forms)
            tags.update(sentence.upos if with_tags else ())
        known = sorted(word for word, count in words.items() if count > 1)
        return cls(
            {word: code for code, word in enumerate(known, 1)},
            {tag: code for code, tag in enumerate(sorted(tags), 1)},
        )

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of words and of tags, each including the unknown one."""
        return len(self.words) + 1, len(self.tags) + 1

    def nodes(self, sentence: Sentence) -> tuple[Codes, Codes]:
        """Return the numbers of the word and of the tag of each node, (n + 1,) each."""
        root_word, root_tag = self.sizes
        words = [self.words.get(form.lower(), _UNKNOWN) for form in sentence.forms]
        tags = [self.tags.get(tag, _UNKNOWN) for tag in sentence.upos]
        return np.array([root_word, *words]), np.array([root_tag, *tags])

    def contexts(self, word: Codes, tag: Codes, side: Codes) -> list[Codes]:
        """Return the contexts of heads: word, tag and side; tag and side; side alone."""
        tags = self.sizes[1] + 1
        return [(word * tags + tag) * 2 + side, tag * 2 + side, side]

    def contexts_of_words(self, contexts: Sequence[Codes], tag: Codes) -> list[Codes]:
        """Return the contexts of a dependent's word: its tag with two head contexts, or alone."""
        tags = self.sizes[1]
        return [contexts[0] * tags + tag, contexts[1] * tags + tag, tag]


@dataclass(frozen=True, eq=False, repr=False)
class BilexicalModel:
    """A generative model of trees and words: each head generates its dependents.

    On each side, a head decides repeatedly whether to take one more dependent. If so, it draws the
    dependent's tag and then its word. So the weight of an edge is

        log p(one more | head, side) + log p(tag | head, side) + log p(word | tag, head, side)

    The lecture's model has the first decision for both sides at once: left, right or stop, from one
    distribution for each head, as the rules of a bilexical grammar have (``sides=False``).

    The root draws exactly one dependent. The probability of a tree with its words is the product
    over its edges and over the stop decisions of all sides. The stop decisions have the same
    probability in all trees of a sentence, so `arborescence.decode` finds the most probable tree.

    With ``sides=False``, that product is the probability of one *derivation*, as in the lecture's
    formula for the score of a parse. A head with l dependents on the left and r on the right can
    draw them in (l + r)! / (l! r!) orders, so a tree has as many derivations as the product of
    these numbers over its heads. `arborescence.decode` finds the tree of the most probable
    derivation. The tree with the highest sum over its derivations can be another one.

    Each estimate backs off (`Estimate`) from the head's word and tag to its tag, then to the side
    alone (for the last factor: to the dependent's tag alone). Words are lowercased; all words that
    were seen only once count as one unknown word.

    Created by `train`.

    Attributes
    ----------
    lexicon : Lexicon
        The known words and tags.
    more, tag, word : Estimate
        The three factors. The outcomes of `more` are 0 (stop) and 1 (one more dependent on a side);
        or stop, 1 (one more on the left) and 2 (on the right).

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> treebank = [
    ...     Sentence.from_words(["The", "bird", "sings"], upos=["DET", "NOUN", "VERB"],
    ...                         heads=[2, 3, 0]),
    ...     Sentence.from_words(["Plant", "the", "tree"], upos=["VERB", "DET", "NOUN"],
    ...                         heads=[0, 3, 1]),
    ... ]
    >>> model = BilexicalModel.train(treebank)
    >>> new = Sentence.from_words(["A", "gardener", "plants", "the", "bulb"],
    ...                           upos=["DET", "NOUN", "VERB", "DET", "NOUN"])
    >>> [parsed] = model.parse([new])
    >>> parsed.heads
    array([2, 3, 0, 5, 3])
    """

    lexicon: Lexicon
    more: Estimate
    tag: Estimate
    word: Estimate

    @classmethod
    def train(
        cls,
        treebank: Iterable[Sentence],
        *,
        tags: bool = True,
        backoff: float = 5.0,
        sides: bool = True,
    ) -> Self:
        """Estimate a model from the counts in a treebank: O(m log m) for m words.

        Parameters
        ----------
        treebank
            Sentences whose heads are trees.
        tags
            Whether to use UPOS. Otherwise all words have the same tag.
        backoff
            The weight of more general contexts: see `Estimate`.
        sides
            Whether each side of a head has a distribution of its own for one more dependent or
            none. Otherwise, left, right and stop share one.

        Raises
        ------
        TreebankError
            If the treebank is empty, or has a sentence whose heads are not a tree.
        OptionError
            If `backoff` is not a positive number.
        """
        if not 0 < backoff < np.inf:
            raise OptionError(f"backoff must be a positive number, not {backoff}")
        sentences, _ = checked(treebank, None, "multi")
        lexicon = Lexicon.of(sentences, tags)
        words, tagset = lexicon.sizes

        edges, ends = [], []
        for sentence in sentences:
            heads = sentence.heads
            word, tag = lexicon.nodes(sentence)
            side = (np.arange(1, len(heads) + 1) > heads).astype(np.int64)
            edges.append(np.stack([word[heads], tag[heads], side, word[1:], tag[1:], heads > 0]))
            for end in (0, 1) if sides else (0,):
                ends.append(np.stack([word[1:], tag[1:], np.full(len(heads), end)]))

        *head, word, tag, of_word = np.concatenate(edges, axis=1)
        contexts = lexicon.contexts(*head)
        drawn = np.concatenate([np.stack(head)[:, of_word > 0], *ends], axis=1)
        outcome = np.zeros(drawn.shape[1], np.int64)
        outcome[: of_word.sum()] = 1 if sides else 1 + drawn[2, : of_word.sum()]
        drawn[2] *= sides
        return cls(
            lexicon,
            Estimate.of(outcome, lexicon.contexts(*drawn), 2 if sides else 3, backoff),
            Estimate.of(tag, contexts, tagset, backoff),
            Estimate.of(word, lexicon.contexts_of_words(contexts, tag), words, backoff),
        )

    def scores(self, sentence: Sentence) -> NDArray[np.float64]:
        """Return the weights of all edges of a sentence.

        Parameters
        ----------
        sentence
            Of n words, with UPOS if the model was trained with it.

        Returns
        -------
        scores : (n + 1, n + 1) float64
            ``scores[h, d]`` is the log-probability that h has the dependent d; column 0 and the
            diagonal are 0. O(n² log m) for a model of m words.
        """
        word, tag = self.lexicon.nodes(sentence)
        nodes = np.arange(len(word))
        side = (nodes[1:] > nodes[:, None]).astype(np.int64)
        head_word, head_tag, word, tag, side = np.broadcast_arrays(
            word[:, None], tag[:, None], word[1:], tag[1:], side
        )
        contexts = self.lexicon.contexts(head_word, head_tag, side)
        sides = self.more.outcomes == 2
        outcome = np.ones_like(side) if sides else 1 + side
        more = self.more.log(outcome, self.lexicon.contexts(head_word, head_tag, side * sides))
        more[0] = 0
        scores = np.zeros((len(nodes), len(nodes)))
        scores[:, 1:] = (
            more
            + self.tag.log(tag, contexts)
            + self.word.log(word, self.lexicon.contexts_of_words(contexts, tag))
        )
        np.fill_diagonal(scores, 0)
        return scores

    def parse(
        self,
        sentences: Iterable[Sentence | Sequence[str]],
        *,
        root: Root = "single",
        projective: bool = True,
    ) -> Iterator[Sentence]:
        """Fill in the heads of the most probable trees; the model has no relations: they become _.

        Parameters
        ----------
        sentences
            With UPOS if the model was trained with it.
        root, projective
            As in `arborescence.decode`. The model is defined for projective trees with one root
            edge.

        Yields
        ------
        Sentence
            The same sentences in the same order, parsed.
        """
        for sentence in as_sentences(sentences):
            heads = decode(self.scores(sentence), root=root, projective=projective)
            yield sentence.replace(heads=heads, deprels=None)
