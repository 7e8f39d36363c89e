"""The whole experiment: from treebanks and random graphs to tables and plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.errors import OptionError
from arborescence.experiments.common import report as reports
from arborescence.experiments.common import style as look
from arborescence.experiments.common import treebanks as corpora
from arborescence.experiments.common.recipes import Recipe
from arborescence.experiments.common.results import Results
from arborescence.experiments.common.scoring import Exam, take
from arborescence.experiments.common.treebanks import LeftOut
from arborescence.experiments.runtime import plots, tables
from arborescence.experiments.runtime.graphs import KINDS
from arborescence.experiments.runtime.growth import batch_of
from arborescence.experiments.runtime.stopwatch import Stopwatch

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.shared.base import Progress

_RECIPE: Final = Recipe()
_SIZES: Final = (10, 20, 50, 100, 200, 500)
_KS: Final = (10, 20, 50)
# The k best trees as n and k grow: of what graphs, and how many; and for k, with how many words,
# for how many times the largest of `ks`.
_LISTED: Final = ("model-like", "uniform")
_SENTENCES: Final = 20
_WORDS: Final = 25
_TIMES: Final = (2, 4, 10)


class _Sample(NamedTuple):
    """Scores of some sentences of a test set, and where they come from."""

    treebank: str
    graphs: list[NDArray[np.float32]]
    settings: dict[str, Any]


def reproduce(
    treebanks: str | os.PathLike[str] | None,
    output: str | os.PathLike[str],
    *,
    only: Iterable[str] = (),
    recipe: Recipe = _RECIPE,
    models: str | os.PathLike[str] | None = None,
    scores: str | os.PathLike[str] | None = None,
    sizes: Sequence[int] = _SIZES,
    ks: Sequence[int] = _KS,
    sentences: int = 300,
    jobs: int = 1,
    quick: bool = False,
    progress: Progress | None = None,
) -> list[LeftOut]:
    """Time decoders beside those that the papers compare with, and write what comes out.

    Times are taken in one thread, once all parsers are trained. They are kept in `output`, each as
    soon as it is there; the next call on the same machine takes them from there.

    Parameters
    ----------
    treebanks
        A folder with a folder for each treebank: see `corpora.find`. None for random graphs alone.
    output
        A folder for ``report.md``, ``lists.csv``, ``decoders.csv``, plots, and single times in
        ``times``. It is made if it is missing.
    only
        The names of some treebanks; none for all.
    recipe
        How the parsers are trained; it has to be linear ones.
    models
        A folder with parsers, ``<treebank>.npz``: where there is one, none is trained.
    scores
        Where score files are kept, and taken from if they are there; None for ``scores`` in
        `output`. Experiments may share them.
    sizes
        The words of random graphs, in rising order.
    ks
        How many best trees are asked for.
    sentences
        How many of each test set are looked at, drawn at random.
    jobs
        How many parsers are trained at the same time.
    quick
        Whether three small treebanks, 50 sentences and the four smallest sizes will do.
    progress
        Called as ``progress(what, done, total)``.

    Returns
    -------
    left_out : list of LeftOut
        The treebanks that the report goes without.

    Raises
    ------
    MissingExtraError
        If Matplotlib or SciPy is missing.
    TreebankError
        If there is no treebank that can be used, or one of `only` is missing.
    OSError
        If `treebanks` cannot be read or `output` cannot be written.
    OptionError
        If the parsers of the recipe give edges no scores, or a size is less than 2.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> reproduce(None, folder, sizes=(3, 5), ks=(2,))
    []
    >>> sorted(file.name for file in folder.glob("*.csv"))
    ['decoders.csv', 'lists.csv']
    """
    look.require()
    if recipe.parser != "linear":
        raise OptionError(f"a {recipe.parser} parser gives edges no scores: take a linear one")
    if min(sizes) < 2:
        raise OptionError(f"sizes must be at least 2, not {min(sizes)}: one word has one tree")
    output = Path(output)
    results = Results(output / "times")
    if quick:
        sizes, sentences = sizes[:4], min(sentences, 50)
    samples: list[_Sample] = []
    left_out: list[LeftOut] = []
    if treebanks is not None:
        chosen, left_out = corpora.find(Path(treebanks), only)
        if quick:
            chosen = corpora.smallest(chosen, 3)
        exams = [Exam(corpus, recipe) for corpus in chosen]
        folder = None if models is None else Path(models)
        # All of them before the first time is taken: nothing else is to be at work then.
        kept = Path(scores or output / "scores")
        for _, taken in take(exams, kept, models=folder, jobs=jobs, progress=progress):
            if isinstance(taken, LeftOut):
                left_out.append(taken)
            elif taken.scores is None:  # a model that was given
                reason = "its parser gives edges no scores"
                left_out.append(LeftOut(taken.treebank, reason, failed=True))
            else:
                graphs = _draw(taken.scores, sentences, recipe.seed)
                settings = {"scores": taken.settings, "seed": recipe.seed}
                samples.append(_Sample(taken.treebank, graphs, settings))

    steps = len(samples) + len(KINDS) * len(sizes) + len(_LISTED) * (len(sizes) + 1)
    stopwatch = Stopwatch(results, steps, progress)
    of_treebanks = []
    for name, graphs, settings in samples:
        try:
            of_treebanks += stopwatch.lists(f"treebanks/{name}", name, graphs, ks, settings)
        except OSError as error:
            reason = f"its times cannot be kept: {error.strerror or error}"
            left_out.append(LeftOut(name, reason, failed=True))
    decoders = [stopwatch.decoders(kind, n) for kind in KINDS for n in sizes]
    most = max(ks)
    more = (*ks, *(times * most for times in _TIMES))
    with_words, with_trees = [], []
    for kind in _LISTED:
        for n in sizes:
            graphs = [*batch_of(kind, n, _SENTENCES)]
            with_words += stopwatch.lists(f"lists/{kind}, {n}", kind, graphs, [most], {})
        graphs = [*batch_of(kind, _WORDS, _SENTENCES)]
        with_trees += stopwatch.lists(f"lists/{kind}, all k", kind, graphs, more, {})
    stopwatch.stop()

    figures = plots.draw(of_treebanks, decoders, with_words, with_trees, output)
    texts = tables.texts(of_treebanks, decoders, with_words, with_trees, figures, recipe)
    texts["report.md"] += f"\n{reports.left_out(left_out)}"
    reports.write(output, texts)
    return left_out


def _draw(
    scores: list[NDArray[np.float32]], sentences: int, seed: int
) -> list[NDArray[np.float32]]:
    """Draw some sentences at random, in their order."""
    order = np.random.default_rng(seed).permutation(len(scores))
    return [scores[i].copy() for i in sorted(order[:sentences].tolist())]
