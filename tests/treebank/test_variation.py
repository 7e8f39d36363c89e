"""Same words, other analysis."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from arborescence.treebank import Sentence
from arborescence.treebank.variation import variations


def random_treebank(rng):
    """Sentences of few words, so that n-grams occur again."""
    sentences = []
    for _ in range(rng.integers(1, 8)):
        n = int(rng.integers(1, 7))
        heads = [int(rng.integers(0, word)) for word in range(1, n + 1)]
        sentences.append(
            Sentence.from_words(
                rng.choice(["a", "b"], n).tolist(),
                upos=rng.choice(["X", "Y"], n).tolist(),
                heads=heads,
                deprels=["root" if h == 0 else str(rng.choice(["l", "m"])) for h in heads],
            )
        )
    return sentences


def by_definition(sentences):
    """All n-grams of all lengths; the words at both ends of their insides are compared."""
    groups = defaultdict(list)
    for s, sentence in enumerate(sentences):
        words = ["^", *sentence.forms, "$"]
        for start in range(len(words)):
            for stop in range(start + 3, len(words) + 1):
                one, other = start + 1, stop - 2
                ngram = " ".join(words[start:stop])
                if one == other:
                    groups[ngram, "tag", 0].append((s, one, sentence.upos[one - 1]))
                for word, head in ((one, other), (other, one)) if one < other else ():
                    edge = sentence.heads[word - 1] == head
                    label = sentence.deprels[word - 1] if edge else "-"
                    groups[ngram, "edge", word - start].append((s, word, label))
    found = set()
    for (ngram, what, _), group in groups.items():
        counts = Counter(label for *_, label in group)
        for s, word, own in group:
            others = [count for label, count in counts.items() if label != own]
            if others and max(others) > counts[own] - 1:
                found.add((s, word, what, own, counts[own] - 1, max(others), ngram))
    return found


@pytest.mark.parametrize("seed", range(200))
def test_all_variations(seed):
    sentences = random_treebank(np.random.default_rng(seed))
    found = list(variations(sentences))
    ours = {(v.sentence, v.word, v.what, v.own, v.same, v.others, v.ngram) for v in found}
    assert ours == by_definition(sentences)
    assert len(ours) == len(found)
    assert all(each.odds > 0 and each.other != each.own for each in found)


def test_nothing():
    assert not list(variations([]))
