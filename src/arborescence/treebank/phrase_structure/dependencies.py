"""Dependencies from phrase structure: each word hangs from the head of its phrase (Collins 1999).

The relation is made of the labels of both: ``VP|NP`` for a noun phrase in a verb phrase.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import IO, TYPE_CHECKING

from arborescence.system.files import opened
from arborescence.treebank.phrase_structure.head_rules import HeadRules
from arborescence.treebank.phrase_structure.lexicalized import lexicalize
from arborescence.treebank.phrase_structure.reading import Label, read_trees
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from arborescence.errors import TreebankError
    from arborescence.treebank.phrase_structure.lexicalized import Lexicalized, Tally


def convert(
    source: str | os.PathLike[str] | IO[bytes],
    rules: HeadRules | str | os.PathLike[str] = "collins",
    *,
    traces: bool = False,
    tally: Tally | None = None,
    skip_invalid: Callable[[TreebankError], object] | None = None,
) -> Iterator[Sentence]:
    r"""Turn the bracketed trees of a file into dependency trees, one by one.

    Parameters
    ----------
    source, skip_invalid
        As in `read_trees`.
    rules
        Head rules, or what `HeadRules.load` takes.
    traces, tally
        As in `lexicalize`. Without `traces` all trees are projective.

    Yields
    ------
    Sentence
        With forms, tags (XPOS), heads and relations; each tree has one root edge. The comment
        ``sent_id`` has the name of the file and the number of the tree.

    Raises
    ------
    TreebankError, OSError
        As for `read_trees`, also for a file of head rules.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO(b"(S (NP-SBJ (PRP We)) (VP (VBP wash) (NP (PRP$ our) (NNS cats))))")
    >>> [sentence] = convert(file)
    >>> print(str(sentence).replace("\t", " "), end="")
    # sent_id = stream-1
    1 We _ _ PRP _ 2 S|NP-SBJ _ _
    2 wash _ _ VBP _ 0 root _ _
    3 our _ _ PRP$ _ 4 NP|PRP$ _ _
    4 cats _ _ NNS _ 2 VP|NP _ _
    <BLANKLINE>
    """
    table = rules if isinstance(rules, HeadRules) else HeadRules.load(rules)
    with opened(source) as (file, name):
        trees = read_trees(file, skip_invalid=skip_invalid)
        for number, tree in enumerate(trees, 1):
            root = lexicalize(tree, table, traces=traces, tally=tally)
            yield to_dependencies(root, source=name, number=number)


def to_dependencies(root: Lexicalized, *, source: str = "", number: int | None = None) -> Sentence:
    """Make the dependency tree of a lexicalized tree. O(n) for n nodes.

    The head word of each child hangs from the head word of its phrase, unless they are the same.
    Its relation is the category of the phrase and the label of the child, without numbers:
    ``S|NP-SBJ``, ``NP|DT``. That of the only word that hangs from the root is ``root``. A phrase
    without a label counts as ``TOP``.

    Parameters
    ----------
    root
        A whole tree.
    source
        The name of its file.
    number
        The number of the tree in its file, for the comment ``sent_id``.

    Returns
    -------
    Sentence
    """
    words = sorted((node for node in root.nodes() if not node.children), key=_number)
    heads = [-1, *[0] * len(words)]
    relations = ["root"] * len(words)
    for phrase in root.nodes():
        for child in phrase.children:
            if child is not phrase.head:
                heads[child.number] = phrase.number
                category = Label.of(phrase.label).category or "TOP"
                relations[child.number - 1] = f"{category}|{Label.of(child.label)}"
    comments = [] if number is None else [f"# sent_id = {_stem(source)}-{number}"]
    sentence = Sentence.from_words(
        [word.form for word in words],
        xpos=[word.label for word in words],
        heads=heads,
        deprels=relations,
        comments=comments,
    )
    return Sentence(sentence.raw, sentence.spans, source, root.line)


def _number(node: Lexicalized) -> int:
    return node.number


def _stem(name: str) -> str:
    """Return the name of a file without its folder and endings."""
    return PurePath(name.strip("<>")).name.partition(".")[0] or "tree"
