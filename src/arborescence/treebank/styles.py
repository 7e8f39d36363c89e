"""Dependency trees in other styles of annotation: content or function heads, four coordinations.

Smith (2017) shows the choices. Universal Dependencies has content heads, and the first conjunct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from arborescence.core.choices import Conjuncts, Heads, check_choice
from arborescence.treebank.sentence import check_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.treebank.sentence import Sentence

    #: The heads of a sentence, the relations of all its nodes, and the heads of the conjuncts of
    #: coordinations within a chain; all are changed in place.
    Change = Callable[[NDArray[np.int64], list[str], dict[int, int]], None]

#: The relations of function words; the first stands nearest to its content word.
FUNCTIONS: Final = ("case", "cop", "aux", "mark")
#: The relation of a content word to its function word, before a colon and the function.
COMPLEMENT: Final = "comp"
#: The relation of a conjunct to a conjunction.
CONJUNCT: Final = "coord"
#: The entry of MISC, in a chain, of a conjunct whose head is the first of its coordination and a
#: conjunct of another coordination: its value is this head. The entry is void if a parser has
#: changed the head since.
NESTED: Final = "NestedConj"


def restyle(
    sentences: Iterable[Sentence],
    *,
    heads: Heads = "content",
    coordination: Conjuncts = "first",
    back: bool = False,
) -> Iterator[Sentence]:
    """Convert trees of Universal Dependencies to another style, or back.

    Parameters
    ----------
    sentences : iterable of Sentence
        Trees in the style of Universal Dependencies; with `back`, in the other style.
    heads : {"content", "function"}
        Whether content words are the heads, or their function words (case, cop, aux, mark). In the
        second style a content word hangs from its function word as ``comp:case`` and so on.
    coordination : {"first", "conjunction", "second", "chain"}
        The head of a coordination: the first conjunct; the last conjunction, from which all
        conjuncts hang as ``coord``; the second conjunct; or each conjunct is the head of the next.
    back : bool
        Whether to restore Universal Dependencies.

    Returns
    -------
    sentences : iterator of Sentence
        Sentences with other heads and relations; all other columns are kept, also enhanced
        dependencies. In a chain, a coordination within another is marked in MISC,
        ``NestedConj=5``; `back` removes the mark.

    Raises
    ------
    OptionError
        If a style is unknown.
    TreebankError
        While they are read, if the heads of a sentence are not a tree.

    Notes
    -----
    The choices are those of Smith (2017), *Content Heads vs. Function Heads* and *Coordination
    Structures*; the lecture has no algorithm for the conversion. O(n²) a sentence.

    Edges that could not be restored stay the same: of the function words of a function word, of
    coordinations without a conjunction, or with a conjunct on the left of the first; for the second
    conjunct as the head, also of coordinations whose second conjunct is the first of another
    coordination. So the conversion back gives the same trees.

    Examples
    --------
    >>> from arborescence.treebank import Sentence, restyle
    >>> cats = Sentence.from_words(
    ...     ["with", "cats", "and", "dogs"],
    ...     heads=[2, 0, 4, 2],
    ...     deprels=["case", "root", "cc", "conj"],
    ... )
    >>> [other] = restyle([cats], heads="function", coordination="conjunction")
    >>> other.heads, other.deprels
    (array([3, 1, 0, 3]), ['coord', 'comp:case', 'root', 'coord'])
    >>> [again] = restyle([other], heads="function", coordination="conjunction", back=True)
    >>> again == cats
    True
    """
    check_choice("heads", heads, get_args(Heads))
    check_choice("coordination", coordination, get_args(Conjuncts))
    changes = [_COORDINATIONS[coordination][back]]
    if heads == "function":
        changes.append((_lift, _lower)[back])
    return _changed(sentences, changes[::-1] if back else changes)


def _changed(sentences: Iterable[Sentence], changes: list[Change]) -> Iterator[Sentence]:
    """Make the changes one after the other in each sentence."""
    for sentence in sentences:
        check_tree(sentence, "multi")
        heads, relations = sentence.tree, ["", *sentence.deprels]
        before, misc = _unmarked(sentence)
        nested = dict(before)
        for change in changes:
            change(heads, relations, nested)
        if nested or before:
            for word, head in nested.items():
                misc[word - 1] = "|".join(filter(None, (misc[word - 1], f"{NESTED}={head}")))
            sentence = sentence.replace(misc=[entries or "_" for entries in misc])
        yield sentence.replace(heads=heads, deprels=relations[1:])


def _unmarked(sentence: Sentence) -> tuple[dict[int, int], list[str]]:
    """Return the heads of marked conjuncts, and MISC without the marks ("" if empty)."""
    nested, misc = {}, []
    for word, entries in enumerate(sentence.misc, 1):
        kept = [] if entries == "_" else entries.split("|")
        for entry in [entry for entry in kept if entry.startswith(f"{NESTED}=")]:
            kept.remove(entry)
            head = entry.partition("=")[2]
            nested[word] = int(head) if head.isdecimal() else 0
        misc.append("|".join(kept))
    return nested, misc


def _kind(relation: str) -> str:
    return relation.partition(":")[0]


def _depth(heads: NDArray[np.int64], word: int) -> int:
    depth = 0
    while word > 0:
        word = int(heads[word])
        depth += 1
    return depth


def _dependents(
    heads: NDArray[np.int64], relations: list[str], kinds: tuple[str, ...]
) -> dict[int, list[int]]:
    """Return the dependents of each word by relations of these kinds; heads before dependents."""
    of: dict[int, list[int]] = {}
    for word in range(1, len(heads)):
        if _kind(relations[word]) in kinds:
            of.setdefault(int(heads[word]), []).append(word)
    return {head: of[head] for head in sorted(of, key=lambda word: _depth(heads, word))}


def _put_above(
    heads: NDArray[np.int64], relations: list[str], above: int, below: int, relation: str
) -> None:
    """Let `above` take the place of `below`, which then hangs from `above`."""
    heads[above], relations[above] = heads[below], relations[below]
    heads[below], relations[below] = above, relation


def _lift(heads: NDArray[np.int64], relations: list[str], _nested: dict[int, int]) -> None:
    """Put function words above their content words."""
    before = list(relations)
    for word, functions in _dependents(heads, relations, FUNCTIONS).items():
        if _kind(before[word]) in FUNCTIONS:
            continue  # function words of a function word stay: lifted, they would be ambiguous

        def place(function: int, word: int = word) -> tuple[int, int, int]:
            return FUNCTIONS.index(_kind(before[function])), abs(function - word), function

        below = word
        for function in sorted(functions, key=place):
            _put_above(heads, relations, function, below, f"{COMPLEMENT}:{before[function]}")
            below = function


def _lower(heads: NDArray[np.int64], relations: list[str], _nested: dict[int, int]) -> None:
    """Put function words back below their content words."""
    lifted = _dependents(heads, relations, (COMPLEMENT,))
    climbed: dict[int, int] = {}  # for a function word, the content word that took its place
    for function, [below, *_] in reversed(lifted.items()):
        content = climbed[function] = climbed.get(below, below)
        _, _, relation = relations[content].partition(":")
        _put_above(heads, relations, content, function, relation)


def _to_conjunction(
    heads: NDArray[np.int64], relations: list[str], _nested: dict[int, int]
) -> None:
    """Put the last conjunction above the conjuncts."""
    old, before = heads.copy(), list(relations)
    units = _dependents(heads, relations, ("conj",))
    for first, others in units.items():
        conjunctions = [
            word
            for word in range(1, len(heads))
            if before[word] == "cc"
            and word not in units
            and old[word] == min((other for other in others if other > word), default=0)
        ]
        if conjunctions and first < min(others):
            top = conjunctions[-1]
            _put_above(heads, relations, top, first, CONJUNCT)
            for other in others:
                heads[other], relations[other] = top, CONJUNCT + before[other][len("conj") :]


def _from_conjunction(
    heads: NDArray[np.int64], relations: list[str], _nested: dict[int, int]
) -> None:
    """Put the first conjunct above the other conjuncts, each conjunction below the next."""
    for top in reversed(_dependents(heads, relations, (CONJUNCT,))):
        members = [
            word
            for word in range(1, len(heads))
            if heads[word] == top and _kind(relations[word]) == CONJUNCT
        ]
        first, *others = members
        _put_above(heads, relations, first, top, "cc")
        heads[top] = min((other for other in others if other > top), default=first)
        for other in others:
            heads[other], relations[other] = first, "conj" + relations[other][len(CONJUNCT) :]


def _to_second(heads: NDArray[np.int64], relations: list[str], _nested: dict[int, int]) -> None:
    """Put the second conjunct above the other conjuncts."""
    units = _dependents(heads, relations, ("conj",))
    for first, [second, *others] in units.items():
        if first < second and second not in units:
            _put_above(heads, relations, second, first, relations[second])
            heads[others] = second


def _from_second(heads: NDArray[np.int64], relations: list[str], _nested: dict[int, int]) -> None:
    """Put the first conjunct, left of its head, above the other conjuncts again."""
    for second, [first, *others] in _dependents(heads, relations, ("conj",)).items():
        if first < second:
            _put_above(heads, relations, first, second, relations[first])
            heads[others] = first


def _to_chain(heads: NDArray[np.int64], relations: list[str], nested: dict[int, int]) -> None:
    """Hang each conjunct from the one before it."""
    nested.clear()
    for first, others in _dependents(heads, relations, ("conj",)).items():
        if first < min(others):
            heads[others] = [first, *others[:-1]]
            others = others[:1]
        # Without the mark, these conjuncts would be read as the next conjuncts of the chain.
        if _kind(relations[first]) == "conj":
            nested.update(dict.fromkeys(others, first))


def _from_chain(heads: NDArray[np.int64], relations: list[str], nested: dict[int, int]) -> None:
    """Hang each conjunct from the first conjunct of its chain."""
    own = {word for word, head in nested.items() if word < len(heads) and heads[word] == head}
    nested.clear()
    for head, others in _dependents(heads, relations, ("conj",)).items():
        if _kind(relations[head]) == "conj":
            heads[[other for other in others if other not in own]] = heads[head]


def _nothing(heads: NDArray[np.int64], relations: list[str], _nested: dict[int, int]) -> None:
    """Keep the coordinations of Universal Dependencies."""


# The conversion to each style, and back.
_COORDINATIONS: Final[dict[Conjuncts, tuple[Change, Change]]] = {
    "first": (_nothing, _nothing),
    "conjunction": (_to_conjunction, _from_conjunction),
    "second": (_to_second, _from_second),
    "chain": (_to_chain, _from_chain),
}
