"""The words of a treebank, or of a parser's trees, that break rules of its annotation scheme."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.inference.conflicts import against, way_of
from arborescence.rules.kinds import LabelTags, TagLabels
from arborescence.rules.sets import rules_of
from arborescence.rules.trees import Trees
from arborescence.treebank.columns import Columns, Numbering, columns_of
from arborescence.treebank.sentence import DEPREL, FEATS, FORM, MISC, UPOS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence.core.choices import Root
    from arborescence.rules.kinds import Rule
    from arborescence.rules.sets import AnyRules
    from arborescence.treebank.columns import Integers
    from arborescence.treebank.sentence import Sentence

#: The name of the rule that heads are a tree with one root edge; other rules need such a tree.
NO_TREE: Final = "non-tree"
_EXTERNAL: Final = "ExtPos="
_WAIVED: Final = b"RulesWaived"
_WAIVER: Final = re.compile(
    rb"^# *RulesWaived *=(?P<comment>.*)$|[\t|]RulesWaived=(?P<misc>[^|\t\n]*)", re.MULTILINE
)


class Broken(NamedTuple):
    """A rule that a word of a treebank breaks.

    Attributes
    ----------
    rule : str
        The name of the rule.
    source, line : str and int
        The file, and the line of the word.
    sentence : str
        The sentence's ``sent_id``, or its number in the treebank.
    word : int
        The number of the word, or 0 if the heads are not a tree.
    edges : tuple of (int, str, int, str, str)
        The edges that together break the rule: head, its form, dependent, its form, relation.
    cost : float or None
        The cost of the rule, if it has a cost: then this is only a warning.
    """

    rule: str
    source: str
    line: int
    sentence: str
    word: int
    edges: tuple[tuple[int, str, int, str, str], ...]
    cost: float | None = None

    def __str__(self) -> str:
        edges = ", ".join(
            f"{label} {head}:{form} → {word}:{of_word}"
            for head, form, word, of_word, label in self.edges
        )
        where = f"{self.source}:{self.line}: " if self.source else ""
        where += "" if self.cost is None else "warning: "
        if self.rule == NO_TREE:
            fault = ": the heads are no tree with one root edge"
        else:
            fault = f", word {self.word}: {edges}"
        return f"{where}{self.rule}: sentence {self.sentence}{fault}"


def validate(
    treebank: str | os.PathLike[str] | Iterable[Sentence], rules: AnyRules = "ud"
) -> Iterator[Broken]:
    r"""Yield each rule that a word breaks, in the order of the words.

    Parameters
    ----------
    treebank
        A CoNLL-U file, plain or gzip, or sentences.
    rules
        ``"ud"``: the rules of Universal Dependencies that are the same in all languages, under the
        names of its official validator (level 3, class SYNTAX, errors); a file of rules; or a
        sequence of rules: see `arborescence.rules`.

    Raises
    ------
    TreebankError
        If a sentence is not valid CoNLL-U; the message names the file, the line and the fault.
    OptionError
        If the rules are invalid.

    Notes
    -----
    A sentence whose heads are not a tree with one edge from the root breaks the rule ``non-tree``,
    and no other rule is checked. A comment ``# RulesWaived = too-many-subjects, leaf-det`` excuses
    its sentence from these rules; ``RulesWaived=leaf-det`` in MISC excuses its word from this rule.
    O(n) for each rule.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> sentence = Sentence.from_words(
    ...     ["She", "saw", "him", "them"],
    ...     upos=["PRON", "VERB", "PRON", "PRON"],
    ...     heads=[2, 0, 2, 2],
    ...     deprels=["nsubj", "root", "obj", "obj"],
    ... )
    >>> for broken in validate([sentence]):
    ...     print(broken)
    too-many-objects: sentence 1, word 2: obj 2:saw → 3:him, obj 2:saw → 4:them
    """
    checked = rules_of(rules)
    for columns in columns_of(treebank):
        trees, good = trees_of(columns, checked)
        faults = [(int(word), rule) for rule in checked for word in rule.found(trees)]
        starts = _starts(columns)
        bad = set(starts[~good].tolist())
        faults = [(word, rule) for word, rule in faults if int(trees.roots[word]) not in bad]
        for word, rule in sorted(
            [*faults, *((root, None) for root in bad)], key=lambda fault: fault[0]
        ):
            yield _described(columns, trees, word, rule)


def keeps(sentence: Sentence, rules: Sequence[Rule], root: Root = "single") -> bool:
    """Return whether a sentence has a tree, maybe one with several roots, that keeps rules."""
    trees, good = trees_of(Columns.of_sentences([sentence]), rules, root)
    return bool(good.all()) and not any(len(rule.found(trees)) for rule in rules)


def trees_of(columns: Columns, rules: Sequence[Rule], root: Root = "single") -> tuple[Trees, Any]:
    """Return the trees of sentences for rules, and a mask of the sentences that have a tree."""
    # in a sentence without a tree, the root is the head of all words
    wanted = set(chain.from_iterable(rule.features for rule in rules))
    upos, labels = Numbering(UPOS, str), Numbering(DEPREL, str)
    feats = Numbering(FEATS, lambda value: _those_of(value, wanted))
    starts = _starts(columns)
    roots = np.repeat(starts, np.diff(columns.offsets) + 1)
    heads, good = _heads(columns.head_vectors(), roots, starts, root)
    words = np.delete(np.arange(len(roots)), starts)

    def of_nodes(numbering: Numbering) -> Integers:
        numbers = np.full(len(roots), -1)
        numbers[words] = numbering(columns)
        return numbers

    tags, features = of_nodes(upos), of_nodes(feats)
    external = [_external(value, upos.names) for value in feats.names]
    by_feature = np.array([*external, -1])[features]
    trees = Trees(
        heads=heads,
        roots=roots,
        labels=of_nodes(labels),
        tags=np.where(by_feature >= 0, by_feature, tags),
        upos=tags,
        feats=features,
        label_names=tuple(labels.names),
        tag_names=tuple(upos.names),
        feat_names=tuple(feats.names),
        misc=lru_cache(None)(partial(_with_misc, columns, words)),
        waived=_waived(columns, starts, words),
    )
    return trees, good


def trees_to_keep(sentences: Sequence[Sentence], rules: Sequence[Rule]) -> Trees:
    """Return sentences as rules read them; words without a tag are excused from rules on tags."""
    columns = Columns.of_sentences(list(sentences))
    trees, _ = trees_of(columns, rules)
    waived, untagged = dict(trees.waived), trees.tagged(("_",))
    for rule in rules if untagged.any() else ():
        if isinstance(rule, LabelTags | TagLabels):
            waived[rule.name] = untagged | waived.get(rule.name, False)
    # Heads of trees with several roots, too, which `trees_of` leaves out.
    heads = np.maximum(columns.head_vectors(), 0) + trees.roots
    return trees._replace(heads=heads, waived=waived)


def _waived(columns: Columns, starts: Integers, words: Integers) -> dict[str, Any]:
    """Return, by rule, masks of the nodes that a comment or their MISC excuses from the rule."""
    raw = columns.data.tobytes()
    waived: dict[str, Any] = {}
    ends = [*starts[1:].tolist(), len(columns.spans) + len(starts)]
    for match in _WAIVER.finditer(raw) if _WAIVED in raw else ():
        sentence = int(np.searchsorted(columns.begins, match.start(), side="right")) - 1
        nodes = slice(int(starts[sentence]), ends[sentence])
        if match["misc"] is not None:
            word = int(np.searchsorted(columns.spans[:, MISC], match.end(), side="right")) - 1
            if word < 0 or match.end() >= columns.spans[word, MISC + 1]:
                continue  # of a token of several words, or an empty node
            nodes = slice(int(words[word]), int(words[word]) + 1)
        for name in re.split(r"[\s,]+", (match["misc"] or match["comment"]).decode().strip()):
            waived.setdefault(name, np.zeros(ends[-1], np.bool_))[nodes] = True
    return waived


def _with_misc(columns: Columns, words: Integers, value: str) -> Any:
    """Return a mask of the nodes that have a value in MISC, such as SpaceAfter=No."""
    mask = np.zeros(len(words) + len(columns), np.bool_)
    found = re.finditer(re.escape(value.encode()), columns.data.tobytes())
    begins = np.array([match.start() for match in found], np.int64)
    rows = np.searchsorted(columns.spans[:, MISC], begins, side="right") - 1
    firsts, stops = columns.spans[rows, MISC], columns.spans[rows, MISC + 1] - 1
    ends = begins + len(value.encode())
    inside = (rows >= 0) & (ends <= stops)
    # A value is between bars, or at an end of the column.
    first = (begins == firsts) | (columns.data[begins - 1] == ord("|"))
    last = (ends == stops) | (columns.data[np.minimum(ends, stops)] == ord("|"))
    mask[words[rows[inside & first & last]]] = True
    return mask


def _starts(columns: Columns) -> Integers:
    """Return the root of each sentence, as an index among all nodes."""
    return columns.offsets[:-1] + np.arange(len(columns))


def _heads(
    vectors: Integers, roots: Integers, starts: Integers, root: Root
) -> tuple[Integers, Any]:
    """Return heads as indices among all nodes, and a mask of the sentences that have a tree."""
    heads = np.where(vectors < 0, roots, vectors + roots)
    above = heads
    for _ in range(int(np.diff([*starts, len(roots)]).max(initial=1)).bit_length()):
        above = above[above]
    good = np.logical_and.reduceat(above == roots, starts)
    good &= np.add.reduceat(vectors < 0, starts, dtype=np.int64) == 1  # only the root has no head
    if root == "single":
        good &= np.add.reduceat(vectors == 0, starts, dtype=np.int64) == 1
    return np.where(np.repeat(good, np.diff([*starts, len(roots)])), heads, roots), good


def _those_of(value: str, wanted: set[str]) -> str:
    """Return those features that rules read."""
    return "|".join(f for f in value.split("|") if f in wanted or f.startswith(_EXTERNAL))


def _external(value: str, tags: dict[str, int]) -> int:
    """Return the number of the tag that ExtPos puts in the place of UPOS, or -1."""
    for feature in value.split("|"):
        if feature.startswith(_EXTERNAL):
            return tags.setdefault(feature.removeprefix(_EXTERNAL), len(tags))
    return -1


def _described(columns: Columns, trees: Trees, node: int, rule: Rule | None) -> Broken:
    """Return the fault of a word, or (no rule) of the heads of a sentence."""
    root, end = trees.sentence(node)
    sentence = int(np.searchsorted(_starts(columns), root))
    first = int(columns.offsets[sentence])
    begin = columns.begins[sentence]
    at = columns.spans[first + max(0, node - root - 1), 0]
    raw = columns.data[begin : columns.begins[sentence + 1]].tobytes()
    edges = _edges(trees.of_sentence(root, end), rule, node - root) if rule else []
    named = re.search(rb"^#\s*sent_id\s*=\s*(.*?)\s*$", raw, re.MULTILINE)
    forms = ["", *(columns.text(word, FORM) for word in range(first, first + end - root - 1))]
    return Broken(
        rule=rule.name if rule else NO_TREE,
        source=columns.sources[sentence],
        line=columns.lines[sentence] + raw[: at - begin].count(b"\n"),
        sentence=named[1].decode() if named else str(columns.before + sentence + 1),
        word=node - root,
        edges=tuple(
            (h, forms[h], d, forms[d], columns.text(first + d - 1, DEPREL)) for h, d in edges
        ),
        cost=rule.cost if rule else None,
    )


def _edges(trees: Trees, rule: Rule, word: int) -> list[tuple[int, int]]:
    """Return the edges that together break a rule: the alternatives forbid these edges."""
    edges = set()
    shape = len(trees.heads), len(trees.heads), len(trees.label_names)
    for way in rule.conflict(trees, word):
        for banned in way_of(way.forbid, (), shape):
            words = 1 + np.flatnonzero(against(banned, trees.heads, trees.labels))
            edges |= {(int(trees.heads[d]), d) for d in words.tolist()}
    return sorted(edges or {(int(trees.heads[word]), word)}, key=lambda edge: edge[1])
