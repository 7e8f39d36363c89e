"""What an evaluation counts sentence by sentence."""

import numpy as np
import pytest

from arborescence.errors import TreebankError
from arborescence.treebank import Sentence, evaluate, write
from arborescence.treebank.statistics import ratio_interval

FORMS = ["Old", "trees", "grow", "slowly", "."]


def sentence(length, comments=(), wrong=(), upos=None, source=""):
    """A sentence whose words hang from the word before; `wrong` ones have another relation."""
    forms = [FORMS[at % 5] for at in range(length)]
    made = Sentence.from_words(
        forms,
        upos=upos or ["X"] * length,
        heads=range(length),
        deprels=["obl:x" if at in wrong else "root" if at == 0 else "obj" for at in range(length)],
        comments=comments,
    )
    return Sentence(made.raw, made.spans, source)


def shares(scores):
    return {name: (each.correct, each.gold) for name, each in scores.items()}


def test_which_for_which():
    gold = [sentence(4, upos=["ADJ", "NOUN", "VERB", "ADV"])]
    parsed = [sentence(4, wrong={1, 3}, upos=["ADJ", "ADJ", "VERB", "ADJ"])]
    found = evaluate(gold, parsed, details=True).details.confusions
    assert found["relations"] == {("obj", "obl"): 2}
    assert found["tags"] == {("NOUN", "ADJ"): 1, ("ADV", "ADJ"): 1}
    lines = list(evaluate(gold * 3, parsed * 3, details=True).details.confusion_lines(most=1))
    assert lines[2].split() == ["6", "obj", "obl"]
    assert lines[-1].split() == ["3", "in", "1", "other", "pairs"]
    assert evaluate(gold, parsed).details is None


def test_punctuation_is_left_out_of_confusions_too():
    words = Sentence.from_words(["Trees", "."], heads=[0, 1], deprels=["root", "punct"])
    parsed = words.replace(deprels=["root", "dep"])
    scores = evaluate([words], [parsed], details=True, punctuation=False)
    assert not scores.details.confusions["relations"]
    assert scores.details.counts.tolist() == [[1], [1], [1], [1], [2]]


def test_by_length():
    lengths = [1, 10, 11, 20, 40, 41, 60]
    gold = [sentence(length) for length in lengths]
    parsed = [sentence(length, wrong={0}) for length in lengths]
    found = evaluate(gold, parsed, details=True)
    assert shares(found.lengths) == {
        "1-10": (9, 11), "11-20": (29, 31), "31-40": (39, 40), "over 40": (99, 101),
    }  # fmt: skip
    assert "LAS by length" in str(found)
    assert found.as_dict()["lengths"]["1-10"]["correct"] == 9


def test_by_genre():
    comments = [
        ["# newdoc id = email-01"], [], ["# newdoc id = email-02"], ["# newdoc", "# text = x"],
        ["# genre = news"], [], ["# newdoc id = GUM_1", "# meta::genre = court"], [],
    ]  # fmt: skip
    gold = [sentence(2, each, source="a") for each in comments] + [sentence(2, source="b")]
    found = evaluate(gold, gold, details=True)
    genres = {"email": 3, "a": 1, "news": 2, "court": 2, "b": 1}
    assert shares(found.genres) == {name: (2 * n, 2 * n) for name, n in genres.items()}
    assert "LAS by genre" in str(found)
    assert "LAS by genre" not in str(evaluate(gold[:2], gold[:2], details=True))


def test_by_file_of_a_folder(tmp_path):
    (tmp_path / "more").mkdir()
    write([sentence(2)], tmp_path / "one.conllu")
    write([sentence(3)] * 2, tmp_path / "more" / "two.conllu.gz")
    found = evaluate(tmp_path, tmp_path, details=True)
    files = {str(tmp_path / "one.conllu"): 2, str(tmp_path / "more" / "two.conllu.gz"): 6}
    assert {name: each.gold for name, each in found.genres.items()} == files
    (tmp_path / "empty").mkdir()
    with pytest.raises(TreebankError, match=r"empty: no file \*.conllu"):
        evaluate(tmp_path / "empty", tmp_path)


def test_sentences_that_are_split_differently():
    """Words belong to the gold sentence in which they begin."""
    gold = [sentence(3), sentence(2)]
    parsed = [sentence(2), Sentence.from_words(["grow", "Oldtrees"], heads=[0, 1])]
    assert evaluate(gold, parsed, details=True).details.counts.tolist() == [
        [2, 0], [2, 0], [3, 2], [3, 1], [3, 2],
    ]  # fmt: skip


def test_intervals_and_differences():
    generator = np.random.default_rng(0)
    lengths = generator.integers(2, 30, 60)
    gold = [sentence(length) for length in lengths]
    one, other = (
        [
            sentence(length, wrong=np.flatnonzero(generator.random(length) < rate))
            for length in lengths
        ]
        for rate in (0.1, 0.3)
    )
    better, worse = (evaluate(gold, each, details=True) for each in (one, other))
    right = [sum(a == b for a, b in zip(g.deprels, p.deprels, strict=True))
             for g, p in zip(gold, one, strict=True)]  # fmt: skip
    assert better.details.interval("las") == ratio_interval(right, lengths)
    assert better.details.interval("uas") == (1, 1)
    found = better.details.difference(worse.details, "las")
    assert found.value == pytest.approx(better.las.f1 - worse.las.f1)
    assert 0.1 < found.interval.low < found.value < found.interval.high
    assert found.p < 0.001
    turned = worse.details.difference(better.details, "las")
    assert turned.value == pytest.approx(-found.value)
    assert turned.p == found.p
    same = better.details.difference(better.details, "las")
    assert (same.value, same.p) == (0, 1)
    with pytest.raises(TreebankError, match="the same gold sentences"):
        better.details.difference(evaluate(gold[1:], one[1:], details=True).details, "las")


def test_a_difference_where_the_words_differ():
    gold = [sentence(3), sentence(2)]
    joined = [Sentence.from_words(["Oldtrees", "grow"], heads=[2, 0]), sentence(2)]
    one, other = (evaluate(gold, each, details=True) for each in (gold, joined))
    found = one.details.difference(other.details, "las")
    assert found.value == pytest.approx(one.las.f1 - other.las.f1)
