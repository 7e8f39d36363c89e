"""The best of k analyses: chosen fast, and by evaluating every choice."""

from itertools import product

import numpy as np
import pytest

from arborescence.errors import TreebankError
from arborescence.treebank import Sentence, best_of_k, evaluate, write, write_kbest
from random_treebanks import cut_at_random, guess

WORDS = Sentence.from_words(["Old", "trees", "grow", "."])
GOLD = WORDS.replace(heads=[-1, 2, 3, 0, 3], deprels=["amod", "nsubj:x", "root", "punct"])
HEADS = WORDS.replace(heads=[-1, 2, 3, 0, 3], deprels=["dep", "dep", "dep", "punct"])
LABELS = WORDS.replace(heads=[-1, 2, 0, 2, 2], deprels=["amod", "root", "root", "punct"])
NEITHER = WORDS.replace(heads=[-1, 4, 4, 4, 0], deprels=["dep", "dep", "dep", "root"])


def listed(*sentences):
    return [(sentence, -float(place)) for place, sentence in enumerate(sentences)]


@pytest.mark.parametrize("by", ["las", "uas"])
@pytest.mark.parametrize("punctuation", [True, False])
def test_equals_the_best_of_all_choices(by, punctuation):
    generator = np.random.default_rng(30)
    better_than_first = 0
    for _ in range(60):
        text = "".join(generator.choice(list("abc"), 8))
        golds = [guess(words, generator) for words in cut_at_random(text, generator)]
        lists = [
            listed(*(guess(words, generator) for _ in range(generator.integers(1, 5))))
            for words in cut_at_random(text, generator)
        ]

        def merit(choice, golds=golds):
            e = evaluate(golds, choice, punctuation=punctuation)
            return (e.las.correct, e.uas.correct)[:: 1 if by == "las" else -1]

        choices = product(*([sentence for sentence, _ in analyses] for analyses in lists))
        best = max(choices, key=merit)  # the first of equals
        found = best_of_k(golds, lists, by=by, punctuation=punctuation)
        assert found == evaluate(golds, best, punctuation=punctuation)
        better_than_first += found != best_of_k(golds, lists, k=1, punctuation=punctuation)
    assert better_than_first > 10


def test_by_las_or_by_uas():
    analyses = listed(NEITHER, HEADS, LABELS)
    by_las = best_of_k([GOLD], [analyses])
    assert (by_las.las.correct, by_las.uas.correct) == (1, 4)
    richer = WORDS.replace(heads=[-1, 2, 3, 4, 0], deprels=["amod", "nsubj", "dep", "root"])
    by_las = best_of_k([GOLD], [listed(HEADS, richer)])
    by_uas = best_of_k([GOLD], [listed(HEADS, richer)], by="uas")
    assert (by_las.las.correct, by_las.uas.correct) == (2, 2)
    assert (by_uas.las.correct, by_uas.uas.correct) == (1, 4)


def test_the_first_k():
    lists = [listed(NEITHER, LABELS, GOLD)] * 3
    scores = [best_of_k([GOLD] * 3, lists, k=k).las.correct for k in (1, 2, 3, 4, None)]
    assert scores == [0, 3, 12, 12, 12]
    assert best_of_k([GOLD] * 3, lists, k=1) == evaluate([GOLD] * 3, [NEITHER] * 3)


def test_files(tmp_path):
    gold, kbest = tmp_path / "gold.conllu.gz", tmp_path / "kbest.conllu.gz"
    write([GOLD, GOLD], gold)
    write_kbest([listed(NEITHER, GOLD), listed(LABELS)], kbest)
    evaluation = best_of_k(gold, kbest)
    assert (evaluation.las.correct, evaluation.las.gold, evaluation.sentences) == (5, 8, 2)
    assert best_of_k(str(gold), str(kbest)) == evaluation
    with pytest.raises(TreebankError, match=r"gold\.conllu\.gz:1: no comment '# kbest_rank"):
        best_of_k(kbest, gold)


@pytest.mark.parametrize("missing", [1, 2])
def test_different_texts_are_told(tmp_path, missing):
    gold, kbest = tmp_path / "gold.conllu", tmp_path / "kbest.conllu"
    write([GOLD, GOLD, GOLD], gold)
    write_kbest([listed(NEITHER, LABELS)] * (3 - missing), kbest)
    with pytest.raises(TreebankError) as caught:
        best_of_k(gold, kbest)
    place = f"gold has 'Old' ({gold}:{1 + 5 * (3 - missing)}, word 1)"
    assert f"{place} where predicted has the end" in str(caught.value)
    with pytest.raises(TreebankError, match="gold has the end where predicted has 'Old'"):
        best_of_k([GOLD], kbest) if missing == 1 else best_of_k([], kbest)
    with pytest.raises(TreebankError, match=r"gold has 'Old' \(sentence 2, word 1\)"):
        best_of_k([GOLD, GOLD], [listed(GOLD), listed(Sentence.from_words(["Young", "trees"]))])


def test_gold_words_without_heads():
    with pytest.raises(TreebankError, match=r"'Old' \(sentence 1, word 1\) has no head"):
        best_of_k([WORDS], [listed(GOLD)])


def test_nothing_to_evaluate():
    assert best_of_k([], []) == evaluate([], [])


def test_settings_that_make_no_sense():
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        best_of_k([GOLD], [listed(GOLD)], k=0)
    with pytest.raises(ValueError, match="by must be 'las' or 'uas', not 'clas'"):
        best_of_k([GOLD], [listed(GOLD)], by="clas")
    with pytest.raises(TreebankError, match="sentence 2 has no analysis"):
        best_of_k([GOLD, GOLD], [listed(GOLD), []])
