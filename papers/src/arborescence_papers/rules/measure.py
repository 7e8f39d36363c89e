"""A parser without rules and with them: what breaks, LAS, the effort of the search, and time."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from arborescence.errors import ArborescenceError
from arborescence.parsers import Keeper, LinearParser, SecondOrderParser
from arborescence.treebank import evaluate, validate
from arborescence.version import __version__
from arborescence_papers.common.experiment import Results
from arborescence_papers.common.treebanks import LeftOut, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from arborescence.parsers.shared.graph_parser import GraphParser
    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence
    from arborescence_papers.common.experiment import Experiment
    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.common.treebanks import Treebank

#: The kinds of parsers, in the order of the tables.
Kind = Literal["linear", "joint", "second-order"]

_TRAIN: Final[dict[str, Callable[..., GraphParser]]] = {
    "linear": LinearParser.train,
    "joint": partial(LinearParser.train, joint=True),
    "second-order": SecondOrderParser.train,
}
#: The ways to get trees: the parser's own, the best that keep the rules, and two repairs.
OWN: Final = "own trees"
KEPT: Final = "best that keep the rules"
TREES: Final = "first of 10 trees"
LABELED: Final = "first of 10 labelled trees"
_K: Final = 10
_ROUNDS: Final = 3  # of which the fastest counts


class Trees(NamedTuple):
    """How good the trees of one way are: LAS in percent, and how many sentences break a rule."""

    las: float
    broken: int


@dataclass(frozen=True)
class Outcome:
    """What a parser does on the test part of a treebank.

    Attributes
    ----------
    treebank, split, kind : str
        The treebank, the part that the parser has learned from, and the kind of parser.
    size, sentences, words : int
        The sentences learned from, and the sentences and words tested on.
    gold : int
        The sentences whose gold trees break a rule.
    ways : dict of str to Trees
        The trees of each way; a second-order parser has no k best ones.
    rules : Counter
        How many words break each rule in the parser's own trees.
    certified, decodes : int
        The broken sentences whose new trees are certified as the best; the trees decoded.
    seconds : tuple of float
        Seconds of processor time to parse without and with rules.
    """

    treebank: str
    split: str
    kind: str
    size: int
    sentences: int
    words: int
    gold: int
    ways: dict[str, Trees]
    rules: Counter[str]
    certified: int
    decodes: int
    seconds: tuple[float, float]

    @property
    def share(self) -> float:
        """The percentage of sentences whose own trees break a rule."""
        return 100 * self.ways[OWN].broken / self.sentences

    def gain(self, way: str = KEPT) -> float:
        """Return what a way adds to the LAS of the parser's own trees, in points."""
        return self.ways[way].las - self.ways[OWN].las


def measure(
    experiment: Experiment, recipe: Recipe, kinds: Sequence[Kind], tested: int
) -> list[Outcome]:
    """Train parsers of each kind on each treebank, and parse without and with rules.

    What is measured is kept, and not measured again with the same settings.

    Parameters
    ----------
    experiment
        The treebanks; those that fail are added to its `left_out`.
    recipe
        How many sentences to learn from, epochs, seed, and bits.
    kinds
        The kinds of parsers.
    tested
        The largest number of test sentences.
    """
    results = Results(experiment.output / "measured")
    tasks = [(treebank, kind) for treebank in experiment.treebanks for kind in kinds]
    progress = experiment.progress or (lambda _what, _done, _total: None)
    outcomes = []
    for done, (treebank, kind) in enumerate(tasks):
        progress(f"parsers: {treebank.name}, {kind}", done, len(tasks))
        try:
            settings = {
                "library": __version__,
                "treebank": digest(*treebank.training_files, *treebank.test_files),
                "recipe": asdict(recipe),
                "tested": tested,
            }
            make = partial(_measure, treebank, kind, recipe, tested, progress)
            found: dict[str, Any] = results.once(f"{kind}/{treebank.name}", settings, make)
        except (ArborescenceError, OSError) as error:
            experiment.left_out.append(LeftOut.because(treebank.name, error))
            continue
        found["ways"] = {way: Trees(*trees) for way, trees in found["ways"].items()}
        found["rules"] = Counter(found["rules"])
        outcomes.append(Outcome(treebank.name, treebank.split, kind, **found))
    progress("parsers: all done", len(tasks), len(tasks))
    return outcomes


def _measure(
    treebank: Treebank, kind: Kind, recipe: Recipe, tested: int, progress: Progress
) -> dict[str, Any]:
    """Return what an `Outcome` holds of a parser, as JSON."""
    training, test = treebank.read()
    training, gold = recipe.draw(training), replace(recipe, sentences=tested).draw(test)
    how = {"epochs": recipe.epochs, "rng": recipe.seed, "bits": recipe.bits}
    parser = _TRAIN[kind](
        training, **how, progress=lambda what, *step: progress(f"this one: {what}", *step)
    )
    own = list(parser.parse(gold, rules="none"))
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(_ROUNDS):
        keeper = Keeper("ud")
        both: tuple[Any, Any] = ("none", keeper)
        for rules, times in zip(both, seconds, strict=True):
            start = time.process_time()
            kept = list(parser.parse(gold, rules=rules))
            times.append(time.process_time() - start)
    ways = {OWN: own, KEPT: kept}
    if kind != "second-order":
        ways[TREES] = first_that_keeps(keeper, own, gold, parser.kbest)
        ways[LABELED] = first_that_keeps(keeper, own, gold, parser.kbest_labeled)
    counts = keeper.counts
    return {
        "size": len(training),
        "sentences": len(gold),
        "words": sum(map(len, gold)),
        "gold": len(keeper.look(gold).broken),
        "ways": {
            way: (100 * evaluate(gold, trees).las.f1, len(keeper.look(trees).broken))
            for way, trees in ways.items()
        },
        "rules": Counter(broken.rule for broken in validate(own)),
        "certified": counts.changed - counts.uncertified,
        "decodes": counts.decodes,
        "seconds": [min(times) for times in seconds],
    }


def first_that_keeps(
    keeper: Keeper,
    own: Sequence[Sentence],
    gold: Sequence[Sentence],
    kbest: Callable[..., Iterable[Sequence[tuple[Sentence, float]]]],
) -> list[Sentence]:
    """Replace each tree that breaks a rule by the first of its 10 best ones that does not.

    Where all of them break one, the parser's own tree stays.
    """
    found, broken = list(own), keeper.look(own).broken.tolist()
    for number, trees in zip(broken, kbest([gold[b] for b in broken], _K), strict=True):
        sentences = [tree for tree, _ in trees]
        bad = set(keeper.look(sentences).broken.tolist())
        found[number] = next(
            (tree for b, tree in enumerate(sentences) if b not in bad), own[number]
        )
    return found
