"""The same words in different analyses: variation n-grams (Dickinson and Meurers 2003).

A *nucleus* is a word with its tag, or two words that are an edge somewhere in the treebank. Two
nuclei are only compared if the words between and the next word on each side are the same, too (Boyd
et al. 2008): then a rare analysis is more often a mistake than an ambiguity.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.treebank import Sentence


class Variation(NamedTuple):
    """A word whose analysis differs from the analysis of the same words elsewhere.

    Attributes
    ----------
    sentence, word : int
        The number of the sentence, from 0, and of the word in it.
    what : str
        ``"tag"``, the UPOS; or ``"edge"``, from the word at the other end of the nucleus.
    own, other : str
        The word's analysis, and the most frequent other analysis: the tag; or the relation, ``"-"``
        for no edge.
    same, others : int
        The numbers of the same words elsewhere with the same and with the other analysis.
    ngram : str
        The words; ``^`` and ``$`` are the ends of a sentence.
    """

    sentence: int
    word: int
    what: str
    own: str
    other: str
    same: int
    others: int
    ngram: str

    @property
    def odds(self) -> float:
        """The logarithm of the odds of the other analysis; 1/2 is added to both counts."""
        return math.log((self.others + 0.5) / (self.same + 0.5))

    def __str__(self) -> str:
        counts = f"{self.other} {self.others}, {self.own} {self.same} times elsewhere"
        return f"{self.what} in {self.ngram!r}: {counts}"


def variations(sentences: Sequence[Sentence]) -> Iterator[Variation]:
    """Yield the words whose analysis is rarer than another analysis of the same words elsewhere.

    Parameters
    ----------
    sentences
        A treebank: tags, heads and relations.

    Yields
    ------
    Variation
        The variations, with the shortest n-grams first.

    Notes
    -----
    n-grams that occur twice are extended until no n-gram occurs twice: O(n) for each length.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> noun = Sentence.from_words(["a", "saw", "!"], upos=["DET", "NOUN", "PUNCT"])
    >>> verb = noun.replace(upos=["DET", "VERB", "PUNCT"])
    >>> for variation in variations([noun, noun, verb]):
    ...     print(variation.sentence, variation.word, variation)
    2 2 tag in 'a saw !': NOUN 2, VERB 0 times elsewhere
    """
    words = [("^", *sentence.forms, "$") for sentence in sentences]
    tags = [("", *sentence.upos) for sentence in sentences]
    labels = [("", *sentence.deprels) for sentence in sentences]
    heads = [sentence.tree.tolist() for sentence in sentences]
    places = [(s, first) for s, forms in enumerate(words) for first in range(len(forms))]
    n = 0
    while places:
        n += 1
        groups = defaultdict(list)
        for s, first in places:
            if first + n <= len(words[s]):
                groups[words[s][first : first + n]].append((s, first))
        places = [place for group in groups.values() if len(group) > 1 for place in group]
        for ngram, group in groups.items():
            for word, head in ((1, n - 2), (n - 2, 1)) if n > 3 else ((1, 0),) if n == 3 else ():
                nuclei = [(s, first + word) for s, first in group]
                if n == 3:
                    analyses = [tags[s][w] for s, w in nuclei]
                else:
                    shift = head - word
                    analyses = [
                        labels[s][w] if heads[s][w] == w + shift else "-" for s, w in nuclei
                    ]
                counts = Counter(analyses)
                for (s, w), own in zip(nuclei, analyses, strict=True) if len(counts) > 1 else ():
                    other, others = max(
                        (each for each in counts.items() if each[0] != own),
                        key=lambda pair: pair[1],
                    )
                    if others >= counts[own]:
                        what, text = "tag" if n == 3 else "edge", " ".join(ngram)
                        yield Variation(s, w, what, own, other, counts[own] - 1, others, text)
