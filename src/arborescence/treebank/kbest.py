"""Files with the k best analyses of each sentence: CoNLL-U, a block for each.

Its comments end with ``# kbest_rank = 1`` and ``# kbest_weight = -3.25``. Rank 1 starts a new
sentence, so lists may differ in length.
"""

from __future__ import annotations

from itertools import chain
from typing import IO, TYPE_CHECKING

from arborescence.errors import TreebankError
from arborescence.treebank.conllu import read, write
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

#: The analyses of one sentence with their weights, best first.
Analyses = list[tuple[Sentence, float]]

_RANK, _WEIGHT = "kbest_rank", "kbest_weight"


class Ranked(Analyses):
    """The analyses of one sentence, as from `Parser.kbest`; in a notebook, a picture of them."""

    def _repr_svg_(self) -> str:
        from arborescence.drawing.svg import draw_svg

        titles = [f"{rank}. weight {weight:.6g}" for rank, (_, weight) in enumerate(self, 1)]
        return draw_svg(*(tree for tree, _ in self), titles=titles)


def write_kbest(sentences: Iterable[Analyses], target: str | os.PathLike[str] | IO[bytes]) -> None:
    r"""Write the k best analyses of each sentence to a CoNLL-U file, a block for each analysis.

    Parameters
    ----------
    sentences
        For each sentence its analyses with their weights, best first, as from `Parser.kbest`. The
        comments ``# kbest_rank = 1`` (counted from 1) and ``# kbest_weight = -3.25`` are written
        after the other comments of each; earlier ones with these names are replaced.
    target
        As in `write`.

    Examples
    --------
    >>> import io
    >>> from arborescence.treebank import Sentence
    >>> words = Sentence.from_words(["Trees", "grow"])
    >>> analyses = [(words.replace(heads=[-1, 2, 0]), 7.5), (words.replace(heads=[-1, 0, 1]), 3.0)]
    >>> file = io.BytesIO()
    >>> write_kbest([analyses], file)
    >>> print(file.getvalue().decode().replace("\t", " ").rstrip())
    # kbest_rank = 1
    # kbest_weight = 7.5
    1 Trees _ _ _ _ 2 _ _ _
    2 grow _ _ _ _ 0 _ _ _
    <BLANKLINE>
    # kbest_rank = 2
    # kbest_weight = 3.0
    1 Trees _ _ _ _ 0 _ _ _
    2 grow _ _ _ _ 1 _ _ _
    """
    write(chain.from_iterable(map(ranked, sentences)), target)


def ranked(analyses: Analyses) -> list[Sentence]:
    """Return the analyses of a sentence with rank and weight in their comments."""
    sentences = []
    for rank, (sentence, weight) in enumerate(analyses, 1):
        kept = [comment for comment in sentence.comments if _name(comment) not in (_RANK, _WEIGHT)]
        said = [f"# {_RANK} = {rank}", f"# {_WEIGHT} = {float(weight)!r}"]
        sentences.append(sentence.replace(comments=kept + said))
    return sentences


def read_kbest(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[Ranked]:
    r"""Read the k best analyses of each sentence from a file of `write_kbest`, in constant memory.

    Parameters
    ----------
    source
        As in `read`.

    Yields
    ------
    Ranked: a list of (Sentence, float)
        The analyses of one sentence with their weights, in the order of their ranks.

    Raises
    ------
    TreebankError
        If a sentence is invalid or has no rank or weight, or if its rank or its words do not fit
        the previous analysis. The message names file and line.
    OSError
        If the file cannot be opened or read.

    Examples
    --------
    >>> import io
    >>> from arborescence.treebank import Sentence
    >>> words = Sentence.from_words(["Trees", "grow"])
    >>> file = io.BytesIO()
    >>> write_kbest([[(words.replace(heads=[-1, 2, 0]), 7.5)]], file)
    >>> _ = file.seek(0)
    >>> [[(sentence, weight)]] = read_kbest(file)
    >>> sentence.heads, weight
    (array([-1,  2,  0]), 7.5)
    """
    analyses = Ranked()
    for sentence in read(source):
        rank, weight = _number(sentence, _RANK, int), weight_of(sentence)
        if rank == 1 and analyses:
            yield analyses
            analyses = Ranked()
        if rank != len(analyses) + 1:
            before = f"after {len(analyses)}" if analyses else "at the start"
            raise _error(sentence, f"{_RANK} is {rank} {before}; is a part of the file missing?")
        if analyses and sentence.forms != analyses[0][0].forms:
            raise _error(
                sentence,
                f"{_RANK} is {rank}, but the words are not those of the analysis before; "
                "is a part of the file missing?",
            )
        analyses.append((sentence, weight))
    if analyses:
        yield analyses


def weight_of(sentence: Sentence) -> float:
    """Read the weight of an analysis from its comments."""
    return _number(sentence, _WEIGHT, float)


def _name(comment: str) -> str:
    return comment[1:].partition("=")[0].strip()


def _number(sentence: Sentence, name: str, kind: type[int] | type[float]) -> float:
    value = sentence.comment(name)
    if value is None:
        raise _error(
            sentence,
            f"no comment '# {name} = ...': not a list of the k best analyses "
            "(`write_kbest` writes them)",
        )
    try:
        return kind(value)
    except ValueError:
        raise _error(sentence, f"{name} is {value!r}, which is not a number") from None


def _error(sentence: Sentence, fault: str) -> TreebankError:
    return TreebankError(f"{sentence.source}:{sentence.line}: {fault}")
