"""CoNLL-U whose column HEAD has no tree, or no numbers: it is read, and then repaired."""

from __future__ import annotations

import io
from collections import Counter
from contextlib import suppress
from itertools import tee, zip_longest
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.budget import Budget
from arborescence.core.tree import is_projective
from arborescence.errors import NoTreeError, StoppedError, TreebankError
from arborescence.inference.constraints import Constraints
from arborescence.inference.repairing import nearness, repair
from arborescence.inference.solver import solve
from arborescence.rules.sets import constraints_of, rules_of
from arborescence.system.files import opened
from arborescence.treebank.conllu import PlainLines, inflated, read
from arborescence.treebank.encodings import UTF8, in_utf8
from arborescence.treebank.tally import CONTENT_RELATIONS, FUNCTIONAL_RELATIONS
from arborescence.treebank.validation import keeps, trees_to_keep

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.rules.kinds import Rule
    from arborescence.rules.sets import AnyRules
    from arborescence.treebank.sentence import Sentence

_HEAD: Final = 6
_DIGITS: Final = 9  # a longer number is not the number of a word
_WORK: Final = 1e7  # the budget of the search in a sentence


class _Named(io.BytesIO):
    name = ""


class Mended(NamedTuple):
    """A sentence that `mended` has repaired."""

    #: the sentence with a tree. Without a parser and rules, a changed word has the relation
    #: ``root`` if the root is its head, and ``dep`` if its relation was ``root`` or empty.
    sentence: Sentence
    #: (c,): the words whose heads have changed
    changed: NDArray[np.int64]
    #: whether no tree was found that keeps the rules
    broken: bool


def read_broken(
    source: str | os.PathLike[str] | IO[bytes], *, encoding: str = UTF8
) -> Iterator[Sentence]:
    r"""Read CoNLL-U; a head that is no number of a word, nor 0, becomes ``_``.

    Everything else must be valid, and is kept.

    Parameters
    ----------
    source, encoding
        As for `read`.

    Yields
    ------
    Sentence

    Raises
    ------
    TreebankError
        As for `read`, for any other fault.

    Examples
    --------
    >>> file = io.BytesIO(b"1\tGo\t_\t_\t_\t_\t7\troot\t_\t_\n2\ton\t_\t_\t_\t_\tx\t_\t_\t_\n\n")
    >>> [sentence.heads for sentence in read_broken(file)]
    [array([-1, -1])]
    """
    with opened(source) as (file, name):
        data = b"".join(in_utf8(inflated(file, name), name, encoding))
        rows = [row.split(b"\t") for row in PlainLines(name)(data).split(b"\n")]
    words = 0
    for row in reversed(rows):  # the last word of a sentence tells the number of words
        if len(row) <= _HEAD:
            words = 0 if len(row) == 1 and not row[0].strip() else words
        elif row[0].isdigit():
            words, head = max(words, int(row[0])), row[_HEAD]
            number = int(head) if head.isdigit() and len(head) < _DIGITS else -1
            if not 0 <= number <= words or number == int(row[0]):
                row[_HEAD] = b"_"
    named = _Named(b"\n".join(map(b"\t".join, rows)))
    named.name = name
    yield from read(named)


def mended(
    sentences: Iterable[Sentence],
    *others: Iterable[Sentence],
    votes: Sequence[int] | None = None,
    parser: Any = None,
    rules: AnyRules | None = None,
    root: Root = "single",
    projective: bool = False,
) -> Iterator[Mended]:
    """Change the fewest heads of sentences so that they are trees, exactly: see `repair`.

    Parameters
    ----------
    sentences
        As from `read_broken`.
    *others
        Other treebanks of the same sentences with other heads: all treebanks vote.
    votes
        The number of votes of each treebank, as the weights of `repair`.
    parser
        A graph-based parser, which decides between trees that keep equally many heads, and finds
        the relations of changed heads.
    rules
        As for `validate`; rules with a cost do not count. The result is the tree that keeps the
        rules with the fewest changed heads; of several such trees, the tree with the fewest changed
        relations, among the relations of Universal Dependencies and of the sentence. With a parser,
        it is the tree with the fewest changed heads and relations together.
    root, projective
        As for `decode`.

    Yields
    ------
    Mended
        The sentences of the first treebank. If several treebanks vote, the result is the tree that
        keeps the rules and is nearest to the tree with the most votes. Each edge has the relation
        with the most votes.

    Raises
    ------
    TreebankError
        If the other treebanks have other sentences.
    OptionError
        If the number of `votes` is not the number of treebanks, or another option is invalid.

    Notes
    -----
    The search for a tree that keeps rules ends after 1,000 decoded trees, for more than 100 words
    sooner: then the best tree so far may not be the nearest tree.
    """
    hard = [rule for rule in rules_of(rules or ()) if rule.cost is None]
    before, given = tee(sentences)
    if others or votes is not None:
        given = _voted((given, *others), votes, parser, root=root, projective=projective)
    if parser is not None:
        options: Any = {"root": root, "projective": projective or None}
        nearest = parser.parse(given, keep="anyway", rules=hard or None, **options)
    else:
        nearest = (_nearest(sentence, hard, root, projective) for sentence in given)
    for sentence, tree in zip(before, nearest, strict=True):
        changed = np.flatnonzero(sentence.heads != tree.heads) + 1
        yield Mended(tree, changed, bool(hard) and not keeps(tree, hard, root))


def _voted(
    treebanks: Sequence[Iterable[Sentence]],
    votes: Sequence[int] | None,
    parser: Any,
    **options: Any,
) -> Iterator[Sentence]:
    """Yield the sentences of the first treebank with the trees that have the most votes."""
    counts = [1] * len(treebanks) if votes is None else votes
    for several in zip_longest(*treebanks):
        _check_alike(several)
        scores = None if parser is None else parser.scores(several[0])
        tree, _ = repair([each.tree for each in several], weights=counts, scores=scores, **options)
        pairs = list(zip(several, counts, strict=True))
        default = ("_", "_") if parser else ("root", "dep")
        deprels = [
            _relation(pairs, word, head, default[head > 0])
            for word, head in enumerate(tree[1:].tolist(), 1)
        ]
        yield several[0].replace(heads=tree, deprels=deprels)


def _check_alike(several: Sequence[Sentence | None]) -> None:
    """Raise TreebankError if a treebank has another sentence than the others, or no sentence."""
    forms = [None if sentence is None else sentence.forms for sentence in several]
    if any(each != forms[0] for each in forms):
        there = next(sentence for sentence in several if sentence is not None)
        raise TreebankError(f"{there.source}:{there.line}: the files have other sentences here")


def _relation(voters: Sequence[tuple[Sentence, int]], word: int, head: int, default: str) -> str:
    """Return the relation with the most votes, among sentences where a word has this head."""
    votes = Counter({default: 0})
    for sentence, count in voters:
        if sentence.tree[word] == head:
            votes[sentence.deprels[word - 1]] += count
    return votes.most_common(1)[0][0]


def _nearest(sentence: Sentence, rules: list[Rule], root: Root, projective: bool) -> Sentence:
    """Return a sentence with the nearest tree, if possible a tree that keeps the rules."""
    if rules and len(sentence):
        if keeps(sentence, rules, root) and (not projective or is_projective(sentence.tree)):
            return sentence
        with suppress(NoTreeError, StoppedError):
            return _searched(sentence, rules, root=root, projective=projective)
    tree, changed = repair(sentence.tree, root=root, projective=projective)
    deprels = list(sentence.deprels)
    for word in changed.tolist():
        if tree[word] == 0:
            deprels[word - 1] = "root"
        elif deprels[word - 1] in ("root", "_"):
            deprels[word - 1] = "dep"
    return sentence.replace(heads=tree, deprels=deprels)


def _searched(sentence: Sentence, rules: list[Rule], **options: Any) -> Sentence:
    """Return a sentence with the nearest tree that keeps rules; NoTreeError without such a tree."""
    names = _relations(sentence)
    # Scores decide between trees that keep equally much: near heads, then the first labels.
    nodes, many = len(sentence) + 1, len(names)
    scores = 4 * many * nearness(nodes)[..., None] - nodes * np.arange(many)
    scores[0, :, names.index("root")] += 2 * many * nodes
    numbers = [-1, *(-1 if name == "_" else names.index(name) for name in sentence.deprels)]
    trees = trees_to_keep([sentence], rules)._replace(label_names=names)
    wanted = constraints_of(rules, trees, wanted=Constraints(**options))
    # A head counts more than all relations.
    wanted &= Constraints.fixed(sentence.tree, numbers, levels=(2, 1), **options)
    [tree] = solve(scores, wanted, budget=Budget(_WORK))
    return sentence.replace(heads=tree.heads, deprels=[names[label] for label in tree.labels[1:]])


def _relations(sentence: Sentence) -> tuple[str, ...]:
    """Return the relations of Universal Dependencies, and others that a sentence has, in order."""
    # Never in the order of a set, since this order differs from run to run.
    known = "dep", *sorted(CONTENT_RELATIONS | FUNCTIONAL_RELATIONS), "punct"
    return tuple(name for name in dict.fromkeys((*known, *sentence.deprels)) if name != "_")
