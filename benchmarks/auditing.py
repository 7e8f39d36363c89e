"""Does ``audit`` find errors that were planted? The table of docs/confidence.md.

Errors that the treebanks have already count as false. ``python benchmarks/auditing.py [--quick]``,
some minutes for each treebank.
"""

from __future__ import annotations

import numpy as np

from arborescence.parsers.auditing import audit
from arborescence.treebank import read
from inputs import TREEBANKS
from recording import Results, options

NAMES = ("Afrikaans-AfriBooms", "French-Sequoia", "Galician-TreeGal")
KINDS = ("head", "relation", "tag", "swapped")
SHARE = 0.01  # of the words that get an error
#: What words are ranked by: all, or a part of the evidence.
EVIDENCE = {
    "all": lambda odds: sum(odds),
    "edge": lambda odds: odds.edge,
    "tag": lambda odds: odds.tag,
    "rules": lambda odds: odds.rules,
    "words": lambda odds: odds.words,
}


def planted(treebank, rng):
    """Return the treebank with errors, and the kind of error of each wrong word (s, word)."""
    wrong = {}
    sentences = [
        {"heads": one.tree.tolist(), "deprels": ["", *one.deprels], "upos": ["", *one.upos]}
        for one in treebank
    ]
    places = [(s, word) for s, one in enumerate(treebank) for word in range(1, len(one) + 1)]
    share = round(SHARE * len(places) / len(KINDS))
    of_tag = {}
    for one in sentences:
        for tag, deprel in zip(one["upos"], one["deprels"], strict=True):
            of_tag.setdefault(tag, []).append(deprel)
    all_tags = [tag for one in sentences for tag in one["upos"][1:]]
    order = iter(rng.permutation(len(places)).tolist())
    for kind in KINDS:
        left = share
        while left > 0:
            s, word = places[next(order)]
            at = (word, sentences[s]["heads"][word]) if kind == "swapped" else (word,)
            if any((s, each) in wrong for each in at):
                continue
            if plant(sentences[s], word, kind, of_tag, all_tags, rng):
                wrong |= {(s, each): kind for each in at}
                left -= len(at)
    made = [
        one.replace(heads=new["heads"], deprels=new["deprels"][1:], upos=new["upos"][1:])
        for one, new in zip(treebank, sentences, strict=True)
    ]
    return made, wrong


def plant(sentence, word, kind, of_tag, all_tags, rng):
    """Plant an error of a kind at a word; return whether it can be."""
    heads, deprels, tags = sentence["heads"], sentence["deprels"], sentence["upos"]
    head = heads[word]
    if kind == "relation":  # another one that words with this tag have
        others = [each for each in of_tag[tags[word]] if each != deprels[word]]
        if others:
            deprels[word] = others[rng.integers(len(others))]
        return bool(others)
    if kind == "tag":
        others = [each for each in all_tags if each != tags[word]]
        tags[word] = others[rng.integers(len(others))]
        return True
    if head == 0:
        return False
    if kind == "swapped":  # the edge, turned around
        heads[word], heads[head] = heads[head], word
        deprels[word], deprels[head] = deprels[head], deprels[word]
        return True
    near = [heads[head], *(d for d, h in enumerate(heads) if h == head and d != word)]
    near = [each for each in near if each > 0]  # the head's head, and its other dependents
    if near:
        heads[word] = near[rng.integers(len(near))]
    return bool(near)


def main():
    quick = options(__doc__).quick
    results = Results("auditing", "how many planted errors `audit` finds", quick)
    rows = []
    for name in NAMES:
        [file] = (TREEBANKS / name).glob("*-train.conllu.gz")
        sentences = list(read(file))[: 100 if quick else None]
        treebank, wrong = planted(sentences, np.random.default_rng(1))
        number = {id(sentence): s for s, sentence in enumerate(treebank)}
        found = audit(treebank)
        for what, value in EVIDENCE.items():
            ranked = sorted(
                (one for one in found if value(one.odds)),
                key=lambda one, value=value: -value(one.odds),
            )
            kinds = [wrong.get((number[id(one.sentence)], one.word)) for one in ranked[:1000]]
            right = [sum(map(bool, kinds[:k])) / k for k in (100, 1000)]
            shares = [kinds.count(kind) / list(wrong.values()).count(kind) for kind in KINDS]
            rows.append([name, what, len(wrong), *right, *shares])
    results.table(
        "found", ["treebank", "evidence", "planted", "P@100", "P@1000", *KINDS], rows,
        condition="1 % of the words are wrong; by kind: the share that is among the first 1,000",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
