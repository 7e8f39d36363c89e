"""What do the cards of the English models say? Accuracy on English-EWT test, and speed.

``python benchmarks/english.py [--quick] [MODEL ...]``: a run of named models or files only prints.
It needs ``../shared/ud/English-EWT``. Trees keep the rules of Universal Dependencies. The hundred
sentences are those of ``tests/parsers/english.conllu``. The speed is the best of some runs in
processor time, from the words of the test part, all models in one run.
"""

from __future__ import annotations

from collections import defaultdict
from time import process_time

from arborescence import load
from arborescence.parsers.shared.given import untagged
from arborescence.treebank import evaluate, raw_text, read
from inputs import TREEBANKS, file_of
from recording import ROOT, Results, options

MODELS = ("english", "english-fast", "english-large", "english-xl")
HUNDRED = ROOT / "tests" / "parsers" / "english.conllu"
GROUP = "# group = "
#: How often the speed is measured.
RUNS = 3
SCORES = ("sentence_spans", "words", "upos", "lemmas", "uas", "las")


def scores(gold, parsed):
    """Return the scores of parsed sentences, in percent."""
    found = evaluate(gold, parsed)
    return [f"{100 * getattr(found, name).f1:.2f}" for name in SCORES]


def by_group(sentences):
    """Return sentences by the group that their comments name."""
    found = defaultdict(list)
    for sentence in sentences:
        [group] = [each.removeprefix(GROUP) for each in sentence.comments if GROUP in each]
        found[group].append(sentence)
    return found


def speed(parser, words):
    """Return the words that a parser reads in a second of processor time, in its fastest run."""
    list(parser.parse(words[:50]))  # kernels are compiled before
    seconds = []
    for _ in range(RUNS):
        start = process_time()
        list(parser.parse(words))
        seconds.append(process_time() - start)
    return sum(map(len, words)) / min(seconds)


def main():
    chosen = options(__doc__, models=True)
    results = Results("english", "The English models", chosen.quick or chosen.models)
    gold = list(read(TREEBANKS / "English-EWT" / "en_ewt-ud-test.conllu.gz"))
    gold = gold[: 200 if chosen.quick else None]
    words, hundred = list(map(untagged, gold)), list(read(HUNDRED))
    accuracy, groups, whole = [], [], []
    for name in chosen.models or (MODELS[:1] if chosen.quick else MODELS):
        file = file_of(name)
        parser = load(file)
        inputs = {"gold tags": gold, "words only": words, "raw text": raw_text(gold)}
        accuracy += [[name, how, *scores(gold, parser(data))] for how, data in inputs.items()]
        parsed = list(parser.parse(map(untagged, hundred)))
        accuracy.append([name, "the 100 sentences", *scores(hundred, parsed)])
        for (group, some), others in zip(
            by_group(hundred).items(), by_group(parsed).values(), strict=True
        ):
            groups.append([name, group, sum(map(len, some)), *scores(some, others)[2:]])
        right = sum(
            list(one.heads) == list(other.heads) for one, other in zip(hundred, parsed, strict=True)
        )
        size = f"{file.stat().st_size / 1e6:.1f} MB"
        whole.append([name, right, size, speed(parser, words[:600])])
    columns = ("sentences", "words", "UPOS", "lemmas", "UAS", "LAS")
    results.table(
        "accuracy", ["model", "input", *columns], accuracy, unit="percent",
        condition="the tags of the model, except with gold tags; trees keep the rules of UD",
    )  # fmt: skip
    results.table(
        "groups", ["model", "group", "words", *columns[2:]], groups, unit="percent",
        condition="the 100 sentences, words only",
    )  # fmt: skip
    results.table(
        "whole", ["model", "right", "size", "words/s"], whole, unit="trees of the 100 sentences",
        condition="right: every head is right; the speed: from words only, one core",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
