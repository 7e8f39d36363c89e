"""The whole experiment on times: from treebanks and random graphs to tables and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence.core.errors import OptionError
from arborescence.experiments.common import style
from arborescence.experiments.common.experiment import Experiment
from arborescence.experiments.common.recipes import Recipe
from arborescence.experiments.common.report import write
from arborescence.experiments.runtime import plots
from arborescence.experiments.runtime.measure import measure
from arborescence.experiments.runtime.report import texts

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Unpack

    from arborescence.experiments.common.experiment import Options
    from arborescence.experiments.common.treebanks import LeftOut

_RECIPE: Final = Recipe()
_SIZES: Final = (10, 20, 50, 100, 200, 500)
_KS: Final = (10, 20, 50)


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
    """Time decoders beside those that the papers compare with, and write what comes out.

    Times are taken in one thread, once all parsers are trained. They are kept in `output`, each as
    soon as it is there; the next call on the same machine takes them from there.

    Parameters
    ----------
    treebanks, output, options
        As for `Experiment`. The output is ``report.md``, ``lists.csv``, ``decoders.csv``, plots,
        and single times in ``times``. ``quick``: 50 sentences and the four smallest sizes, too.
    recipe
        How the parsers are trained; it has to be linear ones.
    sizes
        The words of random graphs, in rising order.
    ks
        How many best trees are asked for.
    sentences
        How many of each test set are looked at, drawn at random.

    Returns
    -------
    list of LeftOut
        The treebanks that the report goes without.

    Raises
    ------
    MissingExtraError
        If Matplotlib or SciPy is missing.
    TreebankError, OSError
        As for `Experiment`.
    OptionError
        If the parsers of the recipe give edges no scores, or a size is less than 2.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> reproduce(None, folder, sizes=(3, 5), ks=(2,))
    []
    >>> sorted(file.name for file in folder.glob("*.csv"))
    ['decoders.csv', 'lists.csv']
    """
    if recipe.parser != "linear":
        raise OptionError(f"a {recipe.parser} parser gives edges no scores: take a linear one")
    if min(sizes) < 2:
        raise OptionError(f"sizes must be at least 2, not {min(sizes)}: one word has one tree")
    if options.get("quick"):
        sizes, sentences = sizes[:4], min(sentences, 50)
    style.require()
    experiment = Experiment(treebanks, output, **options)
    times = measure(experiment, recipe, sizes, ks, sentences)
    figures = plots.draw(times, experiment.output)
    write(experiment.output, texts(times, figures, recipe, experiment.left_out))
    return experiment.left_out
