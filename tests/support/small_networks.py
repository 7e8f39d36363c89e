"""Small networks with random weights, and sentences for them, without PyTorch."""

import numpy as np

from arborescence.parsers.neural.inputs import Inputs
from arborescence.parsers.neural.settings import Settings
from arborescence.parsers.neural.stored import shapes_of
from arborescence.parsers.neural.vocabulary import Vocabulary
from arborescence.parsers.tagger.kernels import Guesses
from arborescence.treebank import Sentence

SIZES = {
    "word": 7,
    "letter": 5,
    "filters": 6,
    "tag": 4,
    "hidden": 8,
    "arc": 9,
    "label": 5,
}
RELATIONS = 6
WORDS = ["I", "see", "trees", "of", "green", "Ünïcödé", "anti-disestablishmentarianism" * 2, "."]
TAGS = {
    "upos": ["NOUN", "VERB", "_"],
    "xpos": ["NN", "NNS", "VB", "X"],
    "feats": ["_", "Case=Nom|Number=Sing", "Number=Plur", "Case=Acc"],
}


def sentences(lengths, seed=0):
    """Draw sentences of random words and tags."""
    generator = np.random.default_rng(seed)

    def drawn(values, count):
        return [values[i] for i in generator.integers(len(values), size=count)]

    return [
        Sentence.from_words(
            drawn(WORDS, n),
            lemmas=drawn(WORDS, n),
            **{column: drawn(values, n) for column, values in TAGS.items()},
        )
        for n in lengths
    ]


def settings_of(columns=("form", "upos", "xpos", "feats"), **changes):
    """Return settings of a small network."""
    return Settings(columns=columns, **SIZES | changes)


def vocabulary_of(settings, seed=1):
    """Return a vocabulary that lacks some words and characters."""
    known = [word for word in WORDS if word != "green"]
    treebank = [each for each in sentences([20] * 5, seed) for _ in range(2)]
    found = Vocabulary.of(treebank, settings.columns)
    words = {word.lower(): number for number, word in enumerate(known, 2)}
    return found._replace(words=words)


def weights_of(settings, vocabulary, hinted=True, seed=2):
    """Draw random weights: large enough that gates are open or shut, and trees differ."""
    generator = np.random.default_rng(seed)
    weights = {
        name: generator.normal(0, 0.5, shape).astype(np.float32)
        for name, shape in shapes_of(
            settings, vocabulary, hinted=hinted, relations=RELATIONS
        ).items()
    }
    weights["letters.weight"][0] = 0
    return weights


def inputs_of(some, vocabulary, hinted=True, seed=3):
    """Look up sentences; a random half of them shows its tags."""
    shown = np.random.default_rng(seed).random(len(some)) < 0.5
    given = dict.fromkeys([*vocabulary.tags, "lemma"], shown)
    return Inputs.of(some, vocabulary, hints_for(some, vocabulary) if hinted else None, given)


def hints_for(some, vocabulary, seed=4, k=3):
    """Draw the guesses of a linear tagger; some tags are unknown to the vocabulary.

    The probabilities of a word's tags have a sum of at most 1.
    """
    generator = np.random.default_rng(seed)
    return [
        {
            column: Guesses(
                generator.integers(-1, len(tagset.values), (len(sentence), k)),
                generator.random((len(sentence), k), dtype=np.float32) / np.float32(k),
            )
            for column, tagset in vocabulary.tags.items()
        }
        for sentence in some
    ]
