import io
from collections import Counter
from itertools import islice

import numpy as np
import pytest

import arborescence as arb
from arborescence.rules import ud
from arborescence.treebank import Sentence, read, validate
from real import TREEBANKS

LABELS = """
    root nsubj nsubj:outer nsubj:pass csubj obj iobj obl obl:agent nmod advmod det det:poss case
    mark cc conj punct fixed flat goeswith appos aux aux:pass cop clf expl nummod vocative acl
    reparandum discourse parataxis
"""
TAGS = "NOUN PROPN PRON VERB AUX ADV ADJ ADP DET CCONJ SCONJ PART PUNCT NUM SYM INTJ X"
FEATS = ("_", "_", "_", "ExtPos=ADV", "ExtPos=PROPN", "Polarity=Neg", "Poss=Yes", "Foreign=Yes")
MISC = ("_", "_", "_", "SpaceAfter=No", "Subject=Outer")


def random_sentence(rng, number):
    """A random tree, with labels that break many rules, of words that know no better."""
    n = int(rng.integers(1, 11))
    few = rng.choice(LABELS.split(), int(rng.integers(1, 8)))
    heads = arb.decode(rng.normal(size=(n + 1, n + 1)), projective=bool(rng.integers(2)))
    deprels = rng.choice(few if rng.integers(2) else LABELS.split(), n)
    for d in range(1, n + 1):
        if heads[d] == 0 and rng.random() < 0.9:
            deprels[d - 1] = "root"
        elif heads[d] < d and rng.random() < 0.1:
            deprels[d - 1] = "goeswith"
        elif rng.random() < 0.2:
            deprels[d - 1] = "punct"
    return Sentence.from_words(
        [f"w{d}" for d in range(1, n + 1)],
        upos=rng.choice(TAGS.split(), n).tolist(),
        feats=rng.choice(FEATS, n).tolist(),
        misc=rng.choice(MISC, n).tolist(),
        heads=heads,
        deprels=deprels.tolist(),
        comments=[f"# sent_id = s{number}", "# text = x"],
    )


def text_of(sentences):
    return "".join(map(str, sentences))


def test_random_trees_beside_the_official_validator():
    pytest.importorskip("udtools")
    from official_validator import agree, broken_rules

    rng = np.random.default_rng(0)
    sentences = [random_sentence(rng, number) for number in range(1500)]
    text = text_of(sentences)
    [*read_again] = read(io.BytesIO(text.encode()))
    ours = list(validate(read_again))
    counts = Counter(one.rule for one in ours)
    assert counts.keys() == {rule.name for rule in ud.RULES}
    assert not agree(broken_rules(text), ours)


@pytest.mark.long
@pytest.mark.parametrize("gold", sorted(TREEBANKS.glob("*/*-test.conllu.gz")), ids=lambda p: p.name)
def test_real_treebanks_beside_the_official_validator(gold):
    """And again with every fourth label from elsewhere, which makes thousands of errors."""
    pytest.importorskip("udtools")
    from official_validator import agree, broken_rules

    rng = np.random.default_rng(0)
    sentences = list(islice(read(gold), 40))
    shuffled = []
    for number, sentence in enumerate(sentences):
        labels = np.array(sentence.deprels)
        moved = (rng.random(len(labels)) < 0.25) & (labels != "orphan")  # udtools fails at the root
        labels[moved] = rng.permutation(labels[moved])
        comments = [f"# sent_id = {number}", "# text = x"]
        shuffled.append(sentence.replace(deprels=labels.tolist(), comments=comments))
    for some in (sentences, shuffled):
        text = text_of(some)
        assert not agree(broken_rules(text), list(validate(read(io.BytesIO(text.encode())))))


def test_words_and_sentences_are_excused_from_rules():
    def broken(**columns):
        sentence = Sentence.from_words(
            ["She", "he", "saw", "him", "them", "it"],
            upos=["PRON", "PRON", "VERB", "PRON", "PRON", "PRON"],
            heads=[-1, 3, 3, 0, 3, 3, 3],
            deprels=["nsubj", "nsubj", "root", "obj", "obj", "punct"],
            **columns,
        )
        before = Sentence.from_words(
            ["One", "two"], heads=[-1, 0, 1], deprels=["root", "punct"], upos=["X", "X"]
        )
        lines = validate([before, sentence, before])
        return [(one.sentence, one.word, one.rule) for one in lines]

    subjects, objects = ("2", 3, "too-many-subjects"), ("2", 3, "too-many-objects")
    others = [("1", 2, "rel-upos-punct"), ("2", 6, "rel-upos-punct"), ("3", 2, "rel-upos-punct")]
    first, second, third = others
    assert broken() == [first, subjects, objects, second, third]
    assert broken(comments=["# RulesWaived = too-many-subjects, rel-upos-punct"]) == [
        first, objects, third,
    ]  # fmt: skip
    misc = ["_", "RulesWaived=too-many-objects", "A=b|RulesWaived=too-many-objects|C=d"]
    assert broken(misc=[*misc, "_", "_", "_"]) == [first, subjects, second, third]
    assert broken(comments=["# text = RulesWaived=too-many-objects"]) == broken()
    assert broken(feats=["RulesWaived=too-many-objects"] * 6) == broken()


@pytest.mark.parametrize(
    ("misc", "excused"),
    [("Subject=Outer", True), ("A=1|Subject=Outer|B=2", True), ("Subject=Outer2", False),
     ("NoSubject=Outer", False), ("_", False)],
)  # fmt: skip
def test_a_value_in_misc_is_a_whole_value(misc, excused):
    sentence = Sentence.from_words(
        ["Subject=Outer", "they", "came"],
        upos=["PRON", "PRON", "VERB"],
        heads=[3, 3, 0],
        deprels=["nsubj", "nsubj", "root"],
        misc=[misc, "_", "_"],
    )
    assert (not list(validate([sentence]))) == excused
