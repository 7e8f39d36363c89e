"""LAS of converted sentences by the size of the sample, and of parsers by what they learn from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean
from time import process_time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.errors import ArborescenceError
from arborescence.parsers import Harmonizer, LinearParser, pair, train
from arborescence.parsers.harmonizer.features import universal
from arborescence.parsers.harmonizer.lessons import Lessons
from arborescence.parsers.shared.confidence import reliability
from arborescence.treebank import evaluate, read, validate
from arborescence.version import __version__
from arborescence_papers.common.experiment import Results
from arborescence_papers.common.treebanks import LeftOut, digest
from arborescence_papers.conversion.sources import PARTS, Old

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from arborescence.parsers.harmonizer.pairing import Pair
    from arborescence.treebank import Sentence
    from arborescence_papers.common.experiment import Experiment
    from arborescence_papers.common.recipes import Recipe

#: The numbers of sentences to learn from.
SIZES: Final = (25, 50, 100, 200, 400)
#: What parsers learn from.
FROM: Final = ("dev", "old", "converted", "converted + dev")


class Plan(NamedTuple):
    """What is measured: see `reproduce`."""

    folder: Path
    converters: Path | None
    kind: str
    tested: int
    recipe: Recipe

    def draw(self, items: Sequence[Any], most: int | None) -> list[Any]:
        """Return items in random order, `most` of them at most."""
        order = np.random.default_rng(self.recipe.seed).permutation(len(items))
        return [items[i] for i in order[:most]]


@dataclass(frozen=True)
class Outcome:
    """LAS in percent.

    Attributes
    ----------
    treebank : str
        The treebank.
    pairs, words : int
        Test sentences that are in both schemes, and their paired words with a paired head.
    single : dict of str to float
        ``"as it is"``: the old annotation; ``"by hand"``: a converter that was written by hand.
    curves : dict of str to dict
        ``"conversion"``, ``"parser"``: by the number of sentences.
    whole : dict of str to float
        What `whole` returns.
    worth : dict of str to float
        Of parsers that have learned from each of `FROM`.
    """

    treebank: str
    pairs: int
    words: int
    single: dict[str, float]
    curves: dict[str, dict[int, float]]
    whole: dict[str, float]
    worth: dict[str, float]


def mean_at(outcomes: Sequence[Outcome], name: str, size: int = 0) -> float:
    """Return a mean over the treebanks that have all sizes."""
    whole = [one for one in outcomes if max(one.curves["parser"]) == max(SIZES)] or outcomes
    if not size:
        return fmean(one.single[name] for one in whole)
    return fmean(one.curves[name].get(size, float("nan")) for one in whole)


def measure(experiment: Experiment, names: Sequence[str], plan: Plan) -> list[Outcome]:
    """Measure each treebank; what is measured is kept, and not measured again."""
    results = Results(experiment.output / "measured")
    progress = experiment.progress or (lambda _what, _done, _total: None)
    outcomes = []
    for done, name in enumerate(names):
        progress(f"treebanks: {name}", done, len(names))
        try:
            outcomes.append(_outcome(results, name, plan))
        except (ArborescenceError, OSError) as error:
            experiment.left_out.append(LeftOut.because(name, error))
    progress("treebanks: all done", len(names), len(names))
    return outcomes


def _outcome(results: Results, name: str, plan: Plan) -> Outcome:
    settings = {
        "library": __version__,
        "files": digest(*(plan.folder / file for file in PARTS[name].files)),
        "tested": plan.tested,
        "seed": plan.recipe.seed,
    }
    found = results.once(f"curve/{name}", settings, partial(curve, name, plan))
    by_hand = converted_by_hand(name, plan)
    of_dev = results.once(f"whole/{name}", settings, partial(whole, name, plan))
    worth: dict[str, float] = {}
    if plan.kind != "none":
        make = partial(worth_of, name, plan)
        worth = results.once(
            f"{plan.kind}/{name}", settings | {"recipe": asdict(plan.recipe)}, make
        )
    curves = {
        line: {int(size): las for size, las in points.items()}
        for line, points in found["curves"].items()
    }
    single = {"as it is": found["as it is"], "by hand": by_hand}
    return Outcome(name, found["pairs"], found["words"], single, curves, of_dev, worth)


def las(pairs: Sequence[Pair], trees: Iterable[Sentence]) -> tuple[float, int]:
    """Return LAS by universal relations, of paired words whose head is paired, and their number.

    Parameters
    ----------
    pairs
        Sentences with the right trees.
    trees
        The old sentences with other trees.
    """
    lessons = Lessons(pairs)
    found = list(trees)
    heads = np.concatenate([each.heads for each in found])
    names = [universal(name) for each in found for name in each.deprels]
    same = np.array(names) == np.array([universal(name) for name in lessons.relations])
    known = lessons.heads >= 0
    return 100 * float(((heads == lessons.heads) & same)[known].mean()), int(known.sum())


def curve(name: str, plan: Plan) -> dict[str, Any]:
    """Return LAS of the old annotation, of conversions, and of parsers from the same sentences.

    Trees of conversions and of parsers need not keep rules.
    """
    old = Old(plan.folder, name)
    sample = plan.draw(old.pairing("dev").pairs, max(SIZES))
    test = plan.draw(old.pairing("test").pairs, plan.tested)
    given = [each.old for each in test]
    bare = [each.replace(heads=None, deprels=None, deps=None) for each in given]
    lines: dict[str, dict[int, float]] = {"conversion": {}, "parser": {}}
    for size in SIZES:
        if size <= len(sample):
            some = sample[:size]
            harmonizer = Harmonizer.learn(some, calibrated=False, rng=plan.recipe.seed)
            lines["conversion"][size] = las(test, harmonizer.convert(given, rules="none"))[0]
            parser = LinearParser.train(taught(some), rng=plan.recipe.seed, projective=False)
            lines["parser"][size] = las(test, parser.parse(bare, rules="none"))[0]
    before, words = las(test, given)
    return {"pairs": len(test), "words": words, "as it is": before, "curves": lines}


def whole(name: str, plan: Plan) -> dict[str, float]:
    """Return figures of test sentences whose conversion all of dev has taught.

    Shares are in percent, calibration errors in points. Words a second are those of one process.
    """
    old = Old(plan.folder, name)
    pairing, harmonizer = old.pairing("test"), old.harmonizer()
    test = plan.draw(pairing.pairs, plan.tested)
    given, right = [each.old for each in test], taught(test)
    start = process_time()
    trees = list(harmonizer.convert(given))
    seconds = process_time() - start
    free = list(harmonizer.convert(given, rules="none"))
    sure = list(harmonizer.convert(given, confidence=True))
    tags = [
        tree.upos[i] == each.new.upos[j]
        for each, tree in zip(test, trees, strict=True)
        for i, j in enumerate(each.words.tolist())
        if j >= 0
    ]
    return {
        "paired": 100 * pairing.share,
        "LAS": las(test, trees)[0],
        "LAS without rules": las(test, free)[0],
        "UPOS": 100 * fmean(tags),
        "breaking": _breaking(trees),
        "breaking without rules": _breaking(free),
        "error of edges": 100 * reliability(right, sure).error,
        "error of relations": 100 * reliability(right, sure, of="relation").error,
        "words/s": sum(map(len, given)) / seconds,
    }


def _breaking(trees: Iterable[Sentence]) -> int:
    """Return how many trees break a rule of Universal Dependencies."""
    return len({broken.sentence for broken in validate(trees)})


def taught(pairs: Sequence[Pair]) -> list[Sentence]:
    """Return old words and tags with new trees; words that are not paired have no head."""
    lessons, first, found = Lessons(pairs), 0, []
    for each in pairs:
        part = slice(first, first := first + len(each.old))
        heads = lessons.heads[part]
        relations = [
            relation if head >= 0 else "_"
            for relation, head in zip(lessons.relations[part], heads.tolist(), strict=True)
        ]
        found.append(each.old.replace(heads=heads, deprels=relations, deps=None))
    return found


def converted_by_hand(name: str, plan: Plan) -> float:
    """Return LAS of test sentences that another program converted; NaN without them."""
    if plan.converters is None:
        return float("nan")
    files = [plan.converters / file.removesuffix(".gz") for file in PARTS[name].test]
    if not all(file.exists() for file in files):
        return float("nan")
    test = plan.draw(Old(plan.folder, name).pairing("test").pairs, plan.tested)
    found = pair((each for file in files for each in read(file)), [each.new for each in test])
    return las(found.pairs, [each.old for each in found.pairs])[0]


def worth_of(name: str, plan: Plan) -> dict[str, float]:
    """Return LAS of parsers on today's test, gold words without tags, by what they learn from."""
    old = Old(plan.folder, name)
    before = plan.draw(old.train(), plan.recipe.sentences)
    dev = plan.draw(old.dev, plan.recipe.sentences)
    after = list(old.harmonizer().convert(before))
    test = plan.draw(old.test, plan.tested)
    bare = [
        each.replace(upos=None, xpos=None, feats=None, lemmas=None, heads=None, deprels=None)
        for each in test
    ]
    options: dict[str, Any] = {"jackknife": False} if plan.kind == "linear" else {}
    found = {}
    for source, part in zip(FROM, (dev, before, after, after + dev), strict=True):
        skipped: list[ArborescenceError] = []
        parser = train(
            part, kind=plan.kind, skip_invalid=skipped.append, text=False, varied=False,
            epochs=plan.recipe.epochs, rng=plan.recipe.seed, **options,
        )  # fmt: skip
        found[source] = 100 * evaluate(test, parser.parse(bare)).las.f1
    return found
