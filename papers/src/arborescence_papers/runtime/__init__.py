"""Decoding times: Table 1 of *kbest*, and the complexity claims of *root*.

Zmigrod, Vieira and Cotterell (2021), *On Finding the K-best Non-projective Dependency Trees*,
compare the time of their algorithm with that of Camerini, Fratta and Maffioli (1980). Zmigrod,
Vieira and Cotterell (2020), *Please Mind the Root*, find the best tree with one root edge in O(n²);
n runs of an unconstrained decoder take n times as long.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from arborescence.errors import OptionError
from arborescence_papers.common.experiment import Experiment
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.runtime import measure, plots
from arborescence_papers.runtime.report import parts

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Unpack

    from arborescence_papers.common.experiment import Options
    from arborescence_papers.common.treebanks import LeftOut

_RECIPE: Final = Recipe()
_SIZES: Final = (10, 20, 50, 100, 200, 500)
_KS: Final = (5, 10, 20, 50)


def reproduce(
    treebanks: str | os.PathLike[str] | None,
    output: str | os.PathLike[str],
    *,
    recipe: Recipe = _RECIPE,
    sizes: Sequence[int] = _SIZES,
    ks: Sequence[int] = _KS,
    sentences: int = 300,
    **options: Unpack[Options],
) -> list[LeftOut]:
    """Time decoders against the baselines of the papers, and write a report.

    Times are measured in one thread, after all parsers are trained. Each is saved in `output` at
    once, and reused by the next call on the same machine.

    The errors are those of `Experiment`; and OptionError if the parsers of the recipe have no edge
    scores, or a size is less than 2.

    Parameters
    ----------
    treebanks, output, options
        As for `Experiment`. The output is ``report.md``, its tables as CSV, plots, and single times
        in ``times``. ``quick``: also 50 sentences and the four smallest sizes.
    recipe
        The training recipe of the parsers, which must be graph-based.
    sizes
        The numbers of words of random graphs, increasing.
    ks
        The list lengths k.
    sentences
        The number of sentences sampled from each test set.

    Returns
    -------
    list of LeftOut
        The treebanks that were left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> reproduce(None, folder, sizes=(3, 5), ks=(2,))
    []
    >>> (folder / "one-projective-tree.csv").read_text()[:13]
    ',n = 3,n = 5,'
    """
    if recipe.parser == "transition":
        raise OptionError("a transition-based parser gives edges no scores: take a linear one")
    if min(sizes) < 2:
        raise OptionError(f"sizes must be at least 2, not {min(sizes)}: one word has one tree")
    if options.get("quick"):
        sizes, sentences = sizes[:4], min(sentences, 50)
    experiment = Experiment(treebanks, output, **options)
    times = measure.measure(experiment, recipe, sizes, ks, sentences)
    return experiment.report(times, plots.draw, partial(parts, recipe=recipe))
