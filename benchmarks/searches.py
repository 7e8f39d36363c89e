"""What searches for trees under constraints find, as digests: recorded once, compared later.

    python benchmarks/searches.py record FILE MODELS    at one commit
    python benchmarks/searches.py compare FILE MODELS   at another one: lists every difference

MODELS is a folder for parsers, which are trained once on some sentences of ten treebanks.
"""

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path

import numpy as np

import arborescence as arb
from arborescence.parsers import Keeper, LinearParser, SecondOrderParser
from arborescence.treebank import mended, read
from inputs import TREEBANKS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from random_rules import random_rules, rules_at_costs

#: Treebanks, each with the options of training that a search must know of.
TRAINED = {
    "Marathi-UFAL": {},
    "Kurmanji-MG": {},
    "Telugu-MTG": {},
    "Greek-GDT": {"prune": True},
    "Maltese-MUDT": {"projective": "pseudo"},
    "Galician-TreeGal": {"joint": True},
    "Turkish-IMST": {"prune": True, "projective": "pseudo"},
    "Lithuanian-HSE": {"projective": True},
    "Afrikaans-AfriBooms": {"root": "multi"},
    "French-Sequoia": {"kind": "second-order"},
}
LEARNED, PARSED = 100, 12
#: The budget of a search.
WORK = 2e6


def part(treebank, name, most):
    """The first sentences of a part of a treebank."""
    [file] = (TREEBANKS / treebank).glob(f"*-{name}.conllu*")
    return [sentence for sentence, _ in zip(read(file), range(most), strict=False)]


def parsers(folder):
    """Yield names, parsers, and sentences with trees."""
    yield "english-fast", arb.load("english-fast"), part("English-EWT", "test", 2 * PARSED)
    for treebank, given in TRAINED.items():
        file, how = folder / f"{treebank}.model", {"epochs": 3, "rng": 0, **given}
        kind = SecondOrderParser if how.pop("kind", "linear") == "second-order" else LinearParser
        if not file.exists():
            kind.train(part(treebank, "train", LEARNED), **how).save(file)
        parser = arb.load(file)
        yield treebank, parser, part(treebank, "test", PARSED)


def partly(rng, sentences, fixed, wrong):
    """Sentences with some of their heads and relations, of which some are wrong."""
    for sentence in sentences:
        n = len(sentence)
        heads = np.where(rng.random(n) < fixed, sentence.heads, -1)
        heads = np.where(rng.random(n) < wrong, rng.integers(0, n + 1, n), heads)
        heads[heads == np.arange(1, n + 1)] = -1
        named = rng.random(n) < fixed
        pairs = zip(sentence.deprels, named, strict=True)
        yield sentence.replace(heads=heads, deprels=[name if yes else "_" for name, yes in pairs])


def digest(*found):
    """Eight digits of what was found, as bytes or numbers."""
    return hashlib.sha256(b"|".join(map(str.encode, map(str, found)))).hexdigest()[:8]


def ways(parser, sentences):
    """Yield names and what a parser makes of sentences, one digest for each."""
    rng = np.random.default_rng(5)
    bare = [sentence.replace(heads=None, deprels=None) for sentence in sentences]
    some = list(partly(rng, sentences, 0.2, 0.0))
    wrong = list(partly(rng, sentences, 0.2, 0.2))
    others = [list(partly(rng, sentences, 0.9, 0.2)) for _ in range(3)]
    keeper = Keeper("ud", work=WORK)
    rules = keeper.rules
    yield "rules", map(digest, parser.parse(bare, rules=keeper))
    yield "rules, counted", [digest(keeper.counts)]
    yield "keep", map(digest, parser.parse(some, keep=True, rules="none"))
    for words, strict in ((some, False), (wrong[:4], True)):
        keeper = Keeper(rules, work=WORK, strict=strict)
        yield f"anyway {strict}", map(digest, parser.parse(words, keep="anyway", rules=keeper))
        yield f"anyway {strict}, counted", [digest(keeper.counts)]
    yield "anyway", map(digest, parser.parse(wrong, keep="anyway", rules="none"))
    for find in (parser.kbest, parser.kbest_labeled):
        for name in ("ud", "none"):
            rules_kept = Keeper(rules, work=WORK) if name == "ud" else name
            lists = find(bare[:8], 4, rules=rules_kept)
            yield (
                f"{find.__name__} {name}",
                (digest(*(part for pair in found for part in pair)) for found in lists),
            )
    for name, given, options in (
        ("repair", wrong, {}),
        ("repair, rules", wrong[:6], {"rules": "ud"}),
        ("repair, parser", wrong, {"parser": parser}),
        ("repair, parser, rules", wrong[:6], {"parser": parser, "rules": "ud"}),
    ):
        found = mended(given, **options)
        yield name, (digest(one.sentence, one.changed, one.broken) for one in found)
    found = mended(others[0], *others[1:], votes=[2, 1, 1], parser=parser)
    yield "votes, parser", (digest(one.sentence, one.changed) for one in found)
    yield "votes", (digest(one.sentence) for one in mended(others[0], *others[1:]))


def searched(scores, conflicts, k, **which):
    """Trees under rules, by today's name of the search."""
    budget = arb.Budget(1e6)
    try:
        if hasattr(arb, "solve"):
            wanted = arb.Constraints(conflicts=[conflicts], **which)
            found = arb.solve(scores, wanted, k, budget=budget)
        else:
            found = arb.kbest_constrained(scores, conflicts, k, budget=budget, **which)
    except (arb.NoTreeError, arb.StoppedError) as error:
        return digest(type(error))
    return digest(
        *((tree.weight, tree.bound, tree.certified, tree.paid, tree.heads) for tree in found)
    )


def random_searches():
    """Yield names and digests of searches in random graphs, with random rules."""
    for name, rules in (("hard", random_rules), ("costs", rules_at_costs)):
        rng = np.random.default_rng(7)
        yield f"random, {name}", [
            searched(
                rng.normal(size=(n + 1, n + 1, 2)), rules(rng, n, 2), k,
                root=("single", "multi")[n % 2], projective=bool(n % 3),
            )
            for n, k in zip(rng.integers(3, 7, 250).tolist(), [1, 1, 3] * 250, strict=False)
        ]  # fmt: skip


def recorded(folder):
    """Everything, by names."""
    found, spent = dict(random_searches()), {}
    for name, parser, sentences in parsers(folder):
        parser.rules = "none"
        start = time.process_time()
        for way, digests in ways(parser, sentences):
            try:
                found[f"{name}: {way}"] = list(digests)
            except arb.ArborescenceError as error:
                found[f"{name}: {way}"] = [str(error)]
            spent[f"{name}: {way}"] = round(time.process_time() - start, 2)
            start = time.process_time()
        print(name, sum(spent.values()), file=sys.stderr, flush=True)
    return {"found": found, "seconds": spent}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("models", type=Path)
    options = parser.parse_args()
    options.models.mkdir(parents=True, exist_ok=True)
    now = recorded(options.models)
    if options.what == "record":
        options.file.write_text(json.dumps(now, indent=0))
        return
    before = json.loads(options.file.read_text())
    differences = 0
    for name, digests in before["found"].items():
        other = now["found"].get(name, [])
        differ = [i for i, (a, b) in enumerate(zip(digests, other, strict=False)) if a != b]
        if differ or len(digests) != len(other):
            differences += 1
            print(f"{name}: {len(digests)} and {len(other)}; others are {differ}")
    seconds = [sum(one["seconds"].values()) for one in (before, now)]
    print(f"{differences} of {len(before['found'])} differ; seconds: {seconds}")


if __name__ == "__main__":
    main()
