"""Is asking worth more than taking what comes? Learning curves by simulation.

From 50 annotated sentences, small linear parsers choose what is annotated next: whole sentences, or
single words, by each doubt of `rank` or at random; gold trees answer. 20 more sentences choose the
epoch and the temperature. ``python benchmarks/asking.py [--quick]``, some minutes.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from arborescence.parsers import LinearParser
from arborescence.parsers.ranking import rank
from arborescence.parsers.shared.options import Doubt
from arborescence.treebank import evaluate, read
from inputs import TREEBANKS
from recording import Results, options

NAMES = ("Afrikaans-AfriBooms", "French-Sequoia", "Turkish-IMST")
FIRST, DEV, POOL, TEST = 50, 20, 400, 300  # sentences
ASKED = (500, 1000, 2000)  # words, in all
SEEDS = 2


def asked_for(parser, pool, given, how, budget, rng):
    """Return the words to annotate next, as pairs (sentence, word), and as many as the budget."""
    words, by = how
    free = {
        number: [word for word, head in enumerate(given[number], 1) if head < 0]
        for number in range(len(pool))
    }
    free = {number: left for number, left in free.items() if left}
    if by == "random" and words:
        places = [(number, word) for number, left in free.items() for word in left]
        order = [places[i] for i in rng.permutation(len(places))[:budget]]
    elif by == "random":
        numbers = rng.permutation(list(free))
        order = [(int(number), word) for number in numbers for word in free[number]][:budget]
    else:
        bare = {number: pool[number].replace(heads=given[number], deprels=None) for number in free}
        number_of = {id(sentence): number for number, sentence in bare.items()}
        found = rank(parser, bare.values(), by="loss" if words else by, words=words, budget=budget)
        order = [
            (number_of[id(one.sentence)], word)
            for one in found
            for word in ([one.word] if words else free[number_of[id(one.sentence)]])
        ]
    return order


def curve(train, test, how, seed):
    """Return LAS on test after each number of words asked for."""
    rng = np.random.default_rng(seed)
    chosen = [train[i] for i in rng.permutation(len(train))[: FIRST + DEV + POOL]]
    first, dev, pool = chosen[:FIRST], chosen[FIRST : FIRST + DEV], chosen[FIRST + DEV :]
    given = [np.full(len(one), -1) for one in pool]
    asked, found, parser = 0, [], None
    for total in (0, *ASKED):
        if total:
            for number, word in asked_for(parser, pool, given, how, total - asked, rng):
                given[number][word - 1] = pool[number].heads[word - 1]
                asked += 1
        partly = [
            one.replace(
                heads=heads,
                deprels=[
                    name if head >= 0 else "_"
                    for name, head in zip(one.deprels, heads, strict=True)
                ],
            )
            for one, heads in zip(pool, given, strict=True)
            if (heads >= 0).any()
        ]
        parser = LinearParser.train(
            [*first, *partly], dev=dev, epochs=5, projective=False, rng=seed
        )
        found.append(100 * evaluate(test, parser.parse(test, rules="none")).las.f1)
    return found


def curves(name, seeds):
    """Return the rows of a treebank: means of all seeds, and a deviation."""
    train, test = (
        [one for file in (TREEBANKS / name).glob(f"*-{part}.conllu.gz") for one in read(file)]
        for part in ("train", "test")
    )
    rows, test = [], test[:TEST]
    ways = [(False, "random"), *((False, by) for by in get_args(Doubt))]
    for words, by in [*ways, (True, "random"), (True, "loss")]:
        found = [curve(train, test, (words, by), seed) for seed in range(seeds)]
        what, ends = "words" if words else "sentences", [each[-1] for each in found]
        rows.append([name, what, by, *np.mean(found, axis=0), float(np.std(ends))])
        print(*rows[-1][:3], np.round(found, 1).tolist(), flush=True)
    return rows


def main():
    quick = options(__doc__).quick
    results = Results("asking", "learning curves of what `rank` asks for", quick)
    names, seeds = NAMES[: 1 if quick else None], 1 if quick else SEEDS
    rows = [row for name in names for row in curves(name, seeds)]
    results.table(
        "curves", ["treebank", "what", "by", "0", *map(str, ASKED), "deviation at the end"], rows,
        unit="LAS", condition=f"after so many words and {FIRST} sentences; mean of {SEEDS} seeds",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
