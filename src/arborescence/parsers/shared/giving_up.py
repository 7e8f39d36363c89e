"""The fewest fixed heads and relations to give up, if no tree can have all of them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.core.faults import listed
from arborescence.errors import NoTreeError, TreebankError
from arborescence.inference.constraints import Constraints
from arborescence.parsers.shared.contradictions import contradiction, fixed_error
from arborescence.parsers.shared.keeping import Keeper, plain
from arborescence.parsers.shared.partial_trees import Fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.graphs import Searchable
    from arborescence.rules.kinds import Rule
    from arborescence.treebank import Sentence

    #: Returns the trees of each sentence, and their weights; NoTreeError if a sentence has no tree.
    Find = Callable[[Searchable, list[Sentence], Options], list[list[tuple[Sentence, float]]]]

_GAVE_UP: Final = "# gave_up ="


def completed(
    parser: Searchable,
    sentence: Sentence,
    options: Options,
    find: Find,
) -> list[tuple[Sentence, float]]:
    """Return the trees of a sentence with all fixed heads and relations, or with the most."""
    # A tree may need edges that the parser leaves out, or edges that cross.
    wide, gone = parser._unfiltered() or parser, set[int]()
    while True:
        options.budget.check()
        crossing = options._replace(projective=False)
        for each, how in ((parser, options), (wide, crossing)):
            with suppress(NoTreeError):
                return find(each, [sentence], how)[0]
        left, error = _least(wide, sentence, crossing, find)
        if error is None:
            options = options._replace(rules=options.rules and options.rules.yielding())
            continue
        if options.keep != "anyway" or not left.any():
            raise error
        gone |= {*np.flatnonzero(left.any(axis=0)).tolist()}
        sentence = _released(sentence, left, gone)


def _least(
    parser: Searchable, sentence: Sentence, options: Options, find: Find
) -> tuple[NDArray[np.bool_], TreebankError | None]:
    """Return the fewest heads and relations to give up, (2, N); and the reason, if proved."""
    graphs = parser._graphs([sentence], options._replace(keep=False))
    fixed, keeper = Fixed.of([sentence], graphs.labels), options.rules
    scores = fixed.wide(graphs.lazy(graphs.groups[0], 0).table())
    wanted = Constraints.fixed(fixed.heads, fixed.labels, levels=(1, 1), root=options.root)

    def given_up(keeper: Keeper) -> NDArray[np.bool_]:
        """Return what the best tree that keeps rules gives up; nothing without a certificate."""
        words = keeper.trees(graphs.completed())._replace(label_names=plain(fixed.names))
        solutions = keeper.best(words, scores, wanted, budget=options.budget)
        options.budget.check()
        if not (solutions and solutions[0].certified):
            return np.zeros((2, len(fixed.heads)), np.bool_)
        return fixed.given_up(solutions[0].heads, solutions[0].labels)

    by_themselves, error = given_up(Keeper(())), contradiction(sentence, options.root == "single")
    if keeper is None or not keeper.strict:
        return by_themselves, error
    least = given_up(keeper)
    if by_themselves.any():
        return least if least.any() else by_themselves, error
    if not least.any():
        return least, None
    with suppress(NoTreeError):
        [[(tree, _), *_]] = find(parser, [sentence], options._replace(rules=None))
        broken = keeper.broken(tree)
        alone = {rule: words for rule, words in broken.items() if given_up(Keeper([rule])).any()}
        error = _breaking(sentence, alone or broken, least)
    return least, error


def _released(sentence: Sentence, gone: NDArray[np.bool_], before: Iterable[int]) -> Sentence:
    """Remove heads and relations, `gone` (2, N), from a sentence; a comment names the words."""
    heads = np.where(gone[0], -1, sentence.tree)
    pairs = zip(sentence.deprels, gone[1, 1:].tolist(), strict=True)
    words = sorted({*before, *np.flatnonzero(gone.any(axis=0)).tolist()})
    comments = [line for line in sentence.comments if not line.startswith(_GAVE_UP)]
    return sentence.replace(
        heads=heads,
        deprels=["_" if yes else label for label, yes in pairs],
        comments=[*comments, f"{_GAVE_UP} {', '.join(map(str, words))}"],
    )


def _breaking(
    sentence: Sentence, broken: Mapping[Rule, NDArray[np.int64]], gone: NDArray[np.bool_]
) -> TreebankError:
    """Return the error that names the rules that no tree with all that is fixed keeps."""
    rules = ", ".join(f"{rule.name} ({listed(words)})" for rule, words in broken.items())
    few = listed(np.flatnonzero(gone.any(axis=0)))
    said = f"no tree has all that is fixed and keeps the rules: {rules}; to mend {few} is enough"
    return fixed_error(sentence, said)
