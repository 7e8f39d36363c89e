"""The evaluation: by hand on small trees, and as the official script has it on real ones."""

import json

import numpy as np
import pytest
from udtools import udeval

from arborescence.errors import TreebankError
from arborescence.treebank import Sentence, evaluate, read, write
from real import TREEBANKS

REAL = {
    name: TREEBANKS / path
    for name, path in {
        "English": "English-EWT/en_ewt-ud-dev.conllu.gz",
        "French": "French-GSD/fr_gsd-ud-test.conllu.gz",
        "Hebrew": "Hebrew-HTB/he_htb-ud-dev.conllu.gz",
        "Turkish": "Turkish-IMST/tr_imst-ud-test.conllu.gz",
    }.items()
}
MEASURES = {
    "Words": "words",
    "UPOS": "upos",
    "XPOS": "xpos",
    "UFeats": "feats",
    "UAS": "uas",
    "LAS": "las",
    "CLAS": "clas",
}
WORDS = Sentence.from_words(["Old", "trees", "grow", "slowly", "."])
GOLD = WORDS.replace(
    heads=[-1, 2, 3, 0, 3, 3], deprels=["amod", "nsubj:x", "root", "advmod", "punct"]
)


def real(language):
    path = REAL[language]
    if not path.exists():
        pytest.skip(f"needs {path.name} in ../shared/ud")
    return path


def official(gold, predicted):
    with gold.open(encoding="utf-8") as first, predicted.open(encoding="utf-8") as second:
        scores = udeval.evaluate(
            udeval.load_conllu(first, str(gold), {}), udeval.load_conllu(second, str(predicted), {})
        )
    return {
        ours: (scores[theirs].correct, scores[theirs].gold_total, scores[theirs].system_total)
        for theirs, ours in MEASURES.items()
    }


def ours(gold, predicted):
    evaluation = evaluate(gold, predicted)
    scores = {name: getattr(evaluation, name) for name in MEASURES.values()}
    return {name: (s.correct, s.gold, s.predicted) for name, s in scores.items()}


def perturbed(sentence, generator):
    """Attach some words to the root's child, and change some relations and tags."""
    heads = sentence.heads
    root = int(np.flatnonzero(heads == 0)[0])
    move = np.flatnonzero(generator.random(heads.size) < 0.15)
    heads[move] = root
    heads[[0, root]] = -1, 0

    def noisy(values, noise):
        return [noise if generator.random() < 0.1 else value for value in values]

    return sentence.replace(
        heads=heads,
        deprels=noisy(sentence.deprels, "obl:noise"),
        upos=noisy(sentence.upos, "X"),
        xpos=noisy(sentence.xpos, "NOISE"),
        feats=noisy(sentence.feats, "Number=Plur|Noise=Yes"),
    )


@pytest.fixture(scope="module")
def generator():
    return np.random.default_rng(20)


@pytest.mark.parametrize("language", REAL)
def test_equals_the_official_evaluation(tmp_path, generator, language):
    gold, predicted = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    sentences = list(read(real(language)))
    write(sentences, gold)
    write((perturbed(sentence, generator) for sentence in sentences), predicted)
    assert ours(gold, predicted) == official(gold, predicted)


def retokenized(sentence, generator):
    """Join, split and regroup words at random; the characters stay."""
    heads = sentence.heads
    grouped = {first: last for first, last, _ in sentence.multiwords}
    forms, lines, word = sentence.forms, [], 1
    groups = []
    while word <= len(forms):
        last = grouped.get(word, word)
        chance = generator.random()
        if last > word and chance < 0.7:
            form = next(form for first, _, form in sentence.multiwords if first == word)
            groups.append((form, forms[word - 1 : last] + ["extra"] * (chance < 0.2)))
        elif last > word:
            form = next(form for first, _, form in sentence.multiwords if first == word)
            groups.append((form, None))
        elif chance < 0.1 and len(forms[word - 1]) > 2:
            groups.append((forms[word - 1][:1], None))
            groups.append((forms[word - 1][1:], None))
        elif chance < 0.2 and len(forms[word - 1]) > 2:
            form = forms[word - 1]
            groups.append((form, [form[:2].upper(), form]))
        elif chance < 0.3 and word < len(forms) and word + 1 not in grouped:
            pair = forms[word - 1 : word + 1]
            groups.append(("".join(pair), pair if chance < 0.25 else None))
            last = word + 1
        else:
            groups.append((forms[word - 1], None))
        word = last + 1
    number = 1
    total = sum(len(words) if words else 1 for _, words in groups)
    for form, words in groups:
        if words:
            lines.append(f"{number}-{number + len(words) - 1}\t{form}" + "\t_" * 8)
        for item in words or [form]:
            head = min(int(heads[min(number, len(heads) - 1)]), total)
            head = 0 if number == 1 else (head if 0 < head < number else number - 1)
            relation = sentence.deprels[min(number, len(forms)) - 1]
            lines.append(f"{number}\t{item}\t_\tNOUN\t_\t_\t{head}\t{relation}\t_\t_")
            number += 1
    return "\n".join(lines) + "\n\n"


@pytest.mark.parametrize("language", REAL)
def test_equals_the_official_evaluation_where_words_differ(tmp_path, generator, language):
    gold, predicted = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    sentences = list(read(real(language)))[:300]
    write(sentences, gold)
    predicted.write_text(
        "".join(retokenized(sentence, generator) for sentence in sentences), encoding="utf-8"
    )
    scores = ours(gold, predicted)
    assert scores == official(gold, predicted)
    assert 0 < scores["words"][0] < scores["words"][1]


def test_a_treebank_equals_itself():
    evaluation = evaluate([GOLD], [GOLD])
    assert evaluation.las.f1 == evaluation.clas.f1 == evaluation.exact_labelled == 1
    assert evaluation.relations.keys() == {"amod", "nsubj", "root", "advmod", "punct"}
    assert evaluation.sentences == 1


def test_by_hand():
    predicted = WORDS.replace(
        heads=[-1, 3, 3, 0, 3, 0], deprels=["amod", "nsubj:y", "root", "obl", "punct"]
    )
    evaluation = evaluate([GOLD, GOLD], [GOLD, predicted])
    assert evaluation.uas.correct == 8
    assert evaluation.las.correct == 7
    assert (evaluation.clas.correct, evaluation.clas.gold, evaluation.clas.predicted) == (6, 8, 8)
    assert evaluation.exact_unlabelled == evaluation.exact_labelled == 0.5
    assert evaluation.root_violations == 0.5
    assert evaluation.gold_root_violations == 0
    assert evaluation.relations["obl"].f1 == evaluation.relations["obl"].recall == 0
    assert evaluation.relations["advmod"].precision == 1
    assert evaluation.relations["advmod"].recall == 0.5

    without = evaluate([GOLD, GOLD], [GOLD, predicted], punctuation=False)
    assert (without.uas.correct, without.uas.gold, without.uas.predicted) == (7, 8, 8)
    assert "punct" not in without.relations
    assert without.clas == evaluation.clas


def test_crossing_edges_are_counted():
    crossing = WORDS.replace(heads=[-1, 3, 0, 2, 1, 2])
    evaluation = evaluate([GOLD], [crossing])
    assert (evaluation.nonprojective, evaluation.gold_nonprojective) == (1, 0)


def test_unknown_predicted_heads_are_wrong_and_unknown_gold_heads_an_error():
    assert evaluate([GOLD], [WORDS]).uas.correct == 0
    with pytest.raises(TreebankError, match=r"'Old' \(sentence 1, word 1\) has no head"):
        evaluate([WORDS], [GOLD])


def test_different_texts_are_told(tmp_path):
    gold, predicted = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    write([GOLD, GOLD], gold)
    write([GOLD, Sentence.from_words(["Old", "trees", "grew"], heads=[-1, 2, 3, 0])], predicted)
    with pytest.raises(TreebankError) as caught:
        evaluate(gold, predicted)
    assert f"gold has 'grow' ({gold}:7, word 3)" in str(caught.value)
    assert f"predicted has 'grew' ({predicted}:7, word 3)" in str(caught.value)
    with pytest.raises(TreebankError, match="predicted has the end"):
        evaluate([GOLD, GOLD], [GOLD])


def test_sentence_breaks_may_differ():
    halves = [
        Sentence.from_words(["Old", "trees", "grow"], heads=[-1, 2, 3, 0], deprels=["a"] * 3),
        Sentence.from_words(["slowly", "."], heads=[-1, 0, 1], deprels=["a"] * 2),
    ]
    evaluation = evaluate([GOLD], halves)
    assert evaluation.words.f1 == 1
    assert evaluation.uas.correct == 3
    assert evaluation.root_violations == 0


def test_nothing_to_evaluate():
    assert evaluate([], []).las.f1 == 0


def test_reports():
    evaluation = evaluate([GOLD], [WORDS.replace(heads=[-1, 3, 3, 0, 3, 3], deprels=["amod"] * 5)])
    report = json.loads(json.dumps(evaluation.as_dict()))
    assert report["uas"]["f1"] == 0.8
    assert report["relations"]["amod"]["gold"] == 1
    assert report["exact_unlabelled"] == 0
    table = str(evaluation)
    assert "UAS                 80.00      80.00      80.00" in table
    assert table.splitlines()[-1].startswith("root")
