"""The whole experiment: from a folder of treebanks to tables and plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arborescence.core.errors import MissingExtraError
from arborescence.experiments.common import treebanks as corpora
from arborescence.experiments.common.results import Results
from arborescence.experiments.common.treebanks import LeftOut
from arborescence.experiments.undirected import plots, tables
from arborescence.experiments.undirected.models import Settings, outcomes

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from arborescence.parsers.shared.base import Progress


class Reproduced(NamedTuple):
    """What an experiment tells when it is done.

    Attributes
    ----------
    plotted : bool
        Whether there are plots: they need the extra ``experiments``.
    left_out : list of LeftOut
        The treebanks that it went without.
    """

    plotted: bool
    left_out: list[LeftOut]


def reproduce(
    treebanks: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    only: Iterable[str] = (),
    epochs: int = 10,
    seed: int = 1,
    bits: int = 20,
    progress: Progress | None = None,
) -> Reproduced:
    """Train and test the four models of *undirected* on treebanks, and write what comes out.

    The trees of each model are kept in `output` as soon as they are found. If the experiment is
    interrupted, the next call takes them from there, and trains only what is missing. A treebank
    that is broken or empty, or whose trees cannot be written, is named in the report, and the rest
    goes on.

    Parameters
    ----------
    treebanks
        A folder with a folder for each treebank, which holds files such as ``train.conllu``,
        ``en_ewt-ud-dev.conllu.gz`` and ``test.conllu.gz``. Where there is no train part, parsers
        learn from the dev part; where there is no test part either, the treebank is left out.
    output
        A folder for ``report.md``, ``models.csv``, ``pairs.csv``, ``uas.svg``, ``wins.svg`` and, in
        ``trees``, the head vectors. It is made if it is missing.
    only
        The names of some treebanks; none for all.
    epochs, seed, bits
        How every parser is trained: see `LinearParser.train`.
    progress
        Called as ``progress(what, done, total)``.

    Returns
    -------
    Reproduced
        Whether there are plots, and which treebanks were left out.

    Raises
    ------
    TreebankError
        If there is no treebank that can be used, or one of `only` is missing.
    OSError
        If `treebanks` cannot be read or `output` cannot be written.

    Notes
    -----
    The models are those of Levi, Reichart and Rappoport (2016). All are trained in the same way,
    without a development set, with gold tags. Three trainings make four models.

    Examples
    --------
    >>> import tempfile
    >>> from arborescence.treebank import Sentence, write
    >>> home = Path(tempfile.mkdtemp())
    >>> (home / "ud" / "Birdish").mkdir(parents=True)
    >>> sentence = Sentence.from_words(["Birds", "sing"], heads=[-1, 2, 0], deprels=["dep", "root"])
    >>> for part in ("train", "test"):
    ...     write([sentence], home / "ud" / "Birdish" / f"{part}.conllu")
    >>> _ = reproduce(home / "ud", home / "out", epochs=1, bits=10)
    >>> print((home / "out" / "models.csv").read_text().splitlines()[1])
    Birdish,D-MST,train,1,1,2,100.00,100.00,100.00
    """
    output = Path(output)
    settings = Settings(epochs, seed, bits)
    chosen, left_out = corpora.find(Path(treebanks), only)
    found = []
    for one in outcomes(chosen, Results(output / "trees"), settings, progress):
        if isinstance(one, LeftOut):
            left_out.append(one)
        else:
            found.append(one)
    if not found:
        raise corpora.none_left(treebanks, left_out)
    try:
        figures = plots.draw(found, output)
    except MissingExtraError:
        figures = []
    tables.write(found, left_out, settings, figures, output)
    return Reproduced(bool(figures), left_out)
