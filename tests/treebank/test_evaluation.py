"""The evaluation: by hand on small trees, and as the official script has it on real ones."""

import io
import json
import tracemalloc
from dataclasses import replace
from itertools import repeat

import numpy as np
import pytest
from udtools import udeval

from arborescence.errors import TreebankError
from arborescence.treebank import Sentence, columns, conllu, evaluate, read, write
from arborescence.treebank.evaluation import Score
from modes import rarely, some
from random_treebanks import cut_at_random, guess
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
LANGUAGES = [rarely("English"), "French", rarely("Hebrew"), "Turkish"]
MEASURES = {
    "Tokens": "tokens",
    "Sentences": "sentence_spans",
    "Words": "words",
    "UPOS": "upos",
    "XPOS": "xpos",
    "UFeats": "feats",
    "AllTags": "all_tags",
    "Lemmas": "lemmas",
    "UAS": "uas",
    "LAS": "las",
    "CLAS": "clas",
    "MLAS": "mlas",
    "BLEX": "blex",
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
    heads = sentence.tree
    root = int(np.flatnonzero(heads == 0)[0])
    move = np.flatnonzero(generator.random(heads.size) < 0.15)
    heads[move] = root
    heads[[0, root]] = -1, 0

    def noisy(values, noise):
        return [noise if generator.random() < 0.1 else value for value in values]

    return sentence.replace(
        heads=heads,
        deprels=noisy(noisy(sentence.deprels, "obl:noise"), "case"),
        lemmas=noisy(noisy(sentence.lemmas, "noise"), "_"),
        upos=noisy(sentence.upos, "X"),
        xpos=noisy(sentence.xpos, "NOISE"),
        feats=noisy(sentence.feats, "Number=Plur|Noise=Yes"),
    )


@pytest.fixture(scope="module")
def generator():
    return np.random.default_rng(20)


@pytest.mark.parametrize("language", LANGUAGES)
def test_equals_the_official_evaluation(tmp_path, generator, language):
    gold, predicted = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    sentences = list(read(real(language)))
    write(sentences, gold)
    write((perturbed(sentence, generator) for sentence in sentences), predicted)
    assert ours(gold, predicted) == official(gold, predicted)


def resegmented(sentences, generator):
    """Join some sentences that follow each other into one."""
    blocks, lines, shift = [], [], 0
    for sentence in sentences:
        for line in str(sentence).splitlines():
            columns = line.split("\t")
            if len(columns) == 1 or "." in columns[0]:
                continue  # comments and empty nodes
            columns[0] = "-".join(str(int(number) + shift) for number in columns[0].split("-"))
            if columns[6] not in "_0":
                columns[6] = str(int(columns[6]) + shift)
            elif columns[6] == "0" and shift:
                columns[6] = "1"
            lines.append("\t".join([*columns[:8], "_", "_"]))
        shift += len(sentence)
        if generator.random() < 0.5:
            blocks.append("\n".join(lines))
            lines, shift = [], 0
    return "\n\n".join([*blocks, *(["\n".join(lines)] if lines else []), ""])


def retokenized(sentence, generator):
    """Join, split and regroup words at random; the characters stay."""
    heads = sentence.tree
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


@pytest.mark.parametrize("language", LANGUAGES)
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_equals_the_official_evaluation_where_sentences_differ(tmp_path, generator, language):
    gold, predicted = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    sentences = list(read(real(language)))[:300]
    write(sentences, gold)
    predicted.write_text(resegmented(sentences, generator), encoding="utf-8")
    scores = ours(gold, predicted)
    assert scores == official(gold, predicted)
    assert 0 < scores["sentence_spans"][0] < scores["sentence_spans"][2] < len(sentences)


def chained(sentence, generator):
    """Give a sentence a tree that the official script accepts, and capitals here and there."""
    n = len(sentence)
    relations = ["root", *generator.choice(["obj", "case", "punct"], n - 1)]
    tree = sentence.replace(heads=[-1, *range(n)], deprels=relations).raw.decode()
    if generator.random() < 0.3:
        tree = tree.replace("\ta\t", "\tA\t")
    if generator.random() < 0.3:
        tree = tree.replace("\tab\t", "\ta b\t")
    return tree


def test_equals_the_official_evaluation_on_random_cuts(tmp_path):
    generator = np.random.default_rng(50)
    files = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    for _ in range(some(300)):
        text = "".join(generator.choice(list("aabé"), generator.integers(1, 60)))
        for file in files:
            cut = cut_at_random(text, generator)
            trees = "".join(chained(sentence, generator) for sentence in cut)
            # Forms of multiword tokens make the text: only those of words may have capitals.
            lines = [
                line if "-" in line.split("\t")[0] or "-" in before else line.replace("A", "a")
                for before, line in zip(["", *trees.split("\n")], trees.split("\n"), strict=False)
            ]
            file.write_text("\n".join(lines), encoding="utf-8")
        assert ours(*files) == official(*files)


def in_small_pieces(monkeypatch):
    monkeypatch.setattr(conllu, "_CHUNK", 64)
    monkeypatch.setattr(columns, "_BATCH", 64)


def test_pieces_make_no_difference(tmp_path, monkeypatch):
    generator = np.random.default_rng(40)
    pairs = []
    for number in range(some(200)):
        text = "".join(generator.choice(list("abcé"), generator.integers(1, 60)))
        cuts = [cut_at_random(text, generator) for _ in range(2)]
        pair = [[guess(words, generator) for words in cut] for cut in cuts]
        files = [tmp_path / f"{number}-{side}.conllu" for side in range(2)]
        for file, sentences in zip(files, pair, strict=True):
            write(sentences, file)
        pairs.append((pair, files, evaluate(*pair), evaluate(*pair, punctuation=False)))
    in_small_pieces(monkeypatch)
    for pair, files, expected, unpunctuated in pairs:
        # Files name the place of the first broken tree by their names.
        named = replace(
            evaluate(*files),
            first_broken=expected.first_broken,
            gold_first_broken=expected.gold_first_broken,
        )
        assert evaluate(*pair) == named == expected
        assert evaluate(*pair, punctuation=False) == unpunctuated


@pytest.mark.parametrize("language", LANGUAGES)
def test_pieces_make_no_difference_to_real_treebanks(monkeypatch, generator, language):
    sentences = list(read(real(language)))[:200]
    text = "".join(retokenized(sentence, generator) for sentence in sentences)
    expected = evaluate(sentences, read(io.BytesIO(text.encode())))
    in_small_pieces(monkeypatch)
    assert evaluate(sentences, read(io.BytesIO(text.encode()))) == expected


def peak_memory(sentences):
    tracemalloc.start()
    evaluate(repeat(GOLD, sentences), repeat(WORDS, sentences))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_treebank(monkeypatch):
    monkeypatch.setattr(columns, "_BATCH", 10_000)
    peak_memory(500)
    assert peak_memory(4000) < 1.5 * peak_memory(500)


def test_words_of_spaces_only():
    forms = ["a", "\N{NO-BREAK SPACE}", "b", "\N{IDEOGRAPHIC SPACE}"]
    heads = Sentence.from_words(forms, heads=[-1, 0, 1, 1, 1])
    assert evaluate([heads] * 3, [heads] * 3).uas.f1 == 1
    bare = Sentence.from_words(["ab"], heads=[-1, 0])
    assert evaluate([heads], [bare]).words.correct == 0
    blank = Sentence.from_words(["\N{EN QUAD}"], heads=[-1, 0])
    assert evaluate([blank, heads, blank], [heads]).words.correct == 4
    token = "1-2\t\N{THIN SPACE}" + "\t_" * 8 + "\n"
    lines = [f"{i}\tx{i}" + "\t_" * 4 + f"\t{i - 1}\troot\t_\t_\n" for i in (1, 2)]
    [hidden] = read(io.BytesIO((token + "".join(lines) + "\n").encode()))
    assert evaluate([hidden], [hidden]).words.correct == 2
    assert evaluate([heads, hidden], [heads]).words.correct == 4


def test_tokens_sentences_and_lemmas():
    halves = [
        Sentence.from_words(["Old", "treesgrow"], lemmas=["old", "x"], heads=[-1, 2, 0]),
        Sentence.from_words(["slowly", "."], lemmas=["slow", "."], heads=[-1, 0, 1]),
    ]
    gold = GOLD.replace(lemmas=["old", "tree", "grow", "slowly", "_"])
    evaluation = evaluate([gold, gold], [gold, *halves])
    assert evaluation.tokens == Score(8, 10, 9)
    assert evaluation.sentence_spans == Score(1, 2, 3)
    assert evaluation.lemmas == Score(7, 10, 9)


def test_function_words_count_in_mlas():
    words = Sentence.from_words(
        ["In", "the", "wood", "trees", "grow"],
        upos=["ADP", "DET", "NOUN", "NOUN", "VERB"],
        heads=[-1, 3, 3, 5, 5, 0],
        deprels=["case", "det", "obl", "nsubj", "root"],
    )
    moved = words.replace(heads=[-1, 3, 4, 5, 5, 0])
    evaluation = evaluate([words] * 2, [words, moved])
    assert evaluation.clas == evaluation.blex == Score(6, 6, 6)
    assert evaluation.mlas == Score(4, 6, 6)  # neither "wood" nor "trees"
    tagged = words.replace(upos=["ADP", "PRON", "NOUN", "NOUN", "VERB"])
    assert evaluate([words], [tagged]).mlas == Score(2, 3, 3)


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


def test_what_is_no_tree_is_counted_and_named(tmp_path):
    cycle = GOLD.replace(heads=[-1, 2, 1, 0, 3, 3])
    part = GOLD.replace(heads=[-1, 2, 3, 0, 3, -1])
    two_roots = GOLD.replace(heads=[-1, 2, 0, 0, 3, 3])
    evaluation = evaluate([GOLD, cycle], [two_roots, part])
    assert (evaluation.broken, evaluation.first_broken) == (1, "sentence 2")
    assert (evaluation.gold_broken, evaluation.gold_first_broken) == (1, "sentence 2")
    path = tmp_path / "cycles.conllu"
    write([GOLD, cycle, GOLD, cycle], path)
    evaluation = evaluate(path, path)
    assert evaluation.las.f1 == 1
    assert evaluation.as_dict()["gold_broken"] == evaluation.broken == 2
    line = 2 + len(bytes(GOLD).splitlines())
    table = str(evaluation).splitlines()
    at = next(n for n, row in enumerate(table) if row.startswith("sentences that are no trees"))
    assert table[at].split()[-2:] == ["2", "2"]
    assert table[at + 1] == f"  the first of the predicted ones: {path}:{line - 1}"
    assert table[at + 2] == f"  the first of the gold ones: {path}:{line - 1}"
    assert evaluate([GOLD], [GOLD]).first_broken == ""


def test_undirected_attachment_is_what_pairs_of_words_have_in_common():
    rng = np.random.default_rng(7)

    def tree(n):
        """Each word hangs from one that has been placed before."""
        order = rng.permutation(n) + 1
        heads = np.full(n + 1, -1)
        for place, word in enumerate(order):
            heads[word] = order[rng.integers(place)] if place else 0
        return heads

    pairs = [(tree(n), tree(n)) for n in rng.integers(1, 9, 200)]
    deprels = [rng.choice(["punct", "dep"], len(gold) - 1).tolist() for gold, _ in pairs]
    sentences = [
        [Sentence.from_words(["a"] * len(words), heads=one, deprels=words) for one in pair]
        for pair, words in zip(pairs, deprels, strict=True)
    ]
    gold, predicted = zip(*sentences, strict=True)

    def in_common(counts):
        right = 0
        for (one, other), words in zip(pairs, deprels, strict=True):
            edges = {frozenset((d, int(other[d]))) for d in range(1, len(other))}
            right += sum(
                frozenset((d, int(one[d]))) in edges
                for d in range(1, len(one))
                if counts(words[d - 1])
            )
        return right

    words = sum(map(len, deprels))
    score = evaluate(gold, predicted).undirected_uas
    assert score == Score(in_common(lambda _: True), words, words)
    score = evaluate(gold, predicted, punctuation=False).undirected_uas
    assert score.correct == in_common(lambda word: word == "dep")
    assert evaluate(gold, gold).undirected_uas == Score(words, words, words)


def test_undirected_attachment_of_aligned_words():
    gold = Sentence.from_words(["ab", "c", "d"], heads=[-1, 0, 1, 2])
    other = Sentence.from_words(["a", "b", "c", "d"], heads=[-1, 0, 1, 4, 0])
    # Of the two words that both have, "c" hangs from "d" instead of the other way round.
    assert evaluate([gold], [other]).uas == Score(0, 3, 4)
    assert evaluate([gold], [other]).undirected_uas == Score(1, 3, 4)


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
    with pytest.raises(TreebankError, match=r"gold has the end .* 'Old' \(sentence 3, word 1\)"):
        evaluate([GOLD, GOLD], [GOLD, GOLD, GOLD])


def test_different_texts_are_told_in_later_pieces(tmp_path, monkeypatch):
    in_small_pieces(monkeypatch)
    gold, predicted = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    grew = Sentence.from_words(["Old", "trees", "grew", "slowly", "."])
    write([GOLD] * 40, gold)
    write([GOLD] * 30 + [grew] + [GOLD] * 9, predicted)
    place = f"gold has 'grow' ({gold}:181, word 3) where predicted has 'grew' ({predicted}:181, "
    with pytest.raises(TreebankError) as caught:
        evaluate(gold, predicted)
    assert place in str(caught.value)
    with pytest.raises(TreebankError, match=r"'grow' \(sentence 31, word 3\) where"):
        evaluate([GOLD] * 40, [GOLD] * 30 + [grew] * 10)
    with pytest.raises(TreebankError, match=r"'Old' \(sentence 36, word 1\) has no head"):
        evaluate([GOLD] * 35 + [WORDS], [GOLD] * 36)


def test_broken_files_are_named(tmp_path):
    gold, broken = tmp_path / "gold.conllu", tmp_path / "broken.conllu"
    write([GOLD] * 3, gold)
    broken.write_bytes(GOLD.raw + GOLD.raw.replace(b"grow", b"gr\xf6w"))
    for pair in ((gold, broken), (broken, gold)):
        with pytest.raises(TreebankError, match=r"broken\.conllu:9: byte 5 .* not valid UTF-8"):
            evaluate(*pair)
    broken.write_bytes(b"\n\n" + GOLD.raw + b"1\tbroken\n\n")
    with pytest.raises(TreebankError, match=r"broken\.conllu:9: 2 columns where"):
        evaluate(broken, gold)


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
