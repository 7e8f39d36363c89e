"""CoNLL-U whose HEAD column is no tree, or no numbers: read as it is, and repaired."""

from __future__ import annotations

import io
from itertools import tee
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.inference.repairing import repair
from arborescence.system.files import opened
from arborescence.treebank.conllu import inflated, read

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.treebank.sentence import Sentence

_HEAD: Final = 6
_DIGITS: Final = 9  # longer numbers are none of words


class _Named(io.BytesIO):
    name = ""


class Mended(NamedTuple):
    """A sentence that `mended` has repaired."""

    # with a tree. Without a parser, a changed word that hangs from the root has the relation
    # ``root``; another one that had this or none has ``dep``.
    sentence: Sentence
    changed: NDArray[np.int64]  # (c,): the words whose heads are others than before


def read_broken(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[Sentence]:
    r"""Read CoNLL-U; a head that is no number of a word, nor 0, becomes ``_``.

    Everything else must be valid, and is kept.

    Parameters
    ----------
    source
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
        rows = [row.split(b"\t") for row in b"".join(inflated(file, name)).split(b"\n")]
    words = 0
    for row in reversed(rows):  # the last word of a sentence says how many there are
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
    *,
    parser: Any = None,
    root: Root = "single",
    projective: bool = False,
) -> Iterator[Mended]:
    """Change the fewest heads of sentences so that they are trees, exactly: see `repair`.

    Parameters
    ----------
    sentences
        As from `read_broken`.
    parser
        A graph-based parser, which decides between trees that keep equally many heads, and finds
        the relations of heads that are changed.
    root, projective
        As for `decode`.

    Yields
    ------
    Mended
    """
    if parser is not None:
        before, given = tee(sentences)
        parsed = parser.parse(given, keep="anyway", root=root, projective=projective or None)
        for sentence, tree in zip(before, parsed, strict=True):
            yield Mended(tree, np.flatnonzero(sentence.heads != tree.heads) + 1)
        return
    for sentence in sentences:
        tree, changed = repair(sentence.tree, root=root, projective=projective)
        deprels = list(sentence.deprels)
        for word in changed.tolist():
            if tree[word] == 0:
                deprels[word - 1] = "root"
            elif deprels[word - 1] in ("root", "_"):
                deprels[word - 1] = "dep"
        yield Mended(sentence.replace(heads=tree, deprels=deprels), changed)
