"""The whole experiment of *undirected*: from a folder of treebanks to tables and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.core.errors import MissingExtraError, OptionError
from arborescence.experiments.common.experiment import Experiment
from arborescence.experiments.common.recipes import Recipe
from arborescence.experiments.common.report import write
from arborescence.experiments.undirected.measure import measure
from arborescence.experiments.undirected.plots import draw
from arborescence.experiments.undirected.report import texts

if TYPE_CHECKING:
    import os
    from typing import Unpack

    from arborescence.experiments.common.experiment import Options
    from arborescence.experiments.common.treebanks import LeftOut


def reproduce(
    treebanks: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    epochs: int = 10,
    seed: int = 1,
    bits: int = 20,
    **options: Unpack[Options],
) -> list[LeftOut]:
    """Train and test the four models of *undirected* on treebanks, and write what comes out.

    Parameters
    ----------
    treebanks, output, options
        As for `Experiment`; without ``models``. The output is ``report.md``, ``models.csv``,
        ``pairs.csv``, ``uas.svg`` and ``wins.svg``; no plots where Matplotlib or SciPy is missing.
    epochs, seed, bits
        How every parser is trained: see `LinearParser.train`.

    Returns
    -------
    list of LeftOut
        The treebanks that it went without.

    Raises
    ------
    TreebankError
        If there is no treebank that can be used, or one of ``only`` is missing.
    OptionError
        If ``models`` are given: three parsers of each treebank are compared.
    OSError
        If `treebanks` cannot be read or `output` cannot be written.

    Notes
    -----
    The models are those of Levi, Reichart and Rappoport (2016). All are trained in the same way,
    without a development set, with gold tags. Three trainings make four models.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from arborescence.treebank import Sentence, write
    >>> home = pathlib.Path(tempfile.mkdtemp())
    >>> (home / "ud" / "Birdish").mkdir(parents=True)
    >>> sentence = Sentence.from_words(["Birds", "sing"], heads=[-1, 2, 0], deprels=["dep", "root"])
    >>> for part in ("train", "test"):
    ...     write([sentence], home / "ud" / "Birdish" / f"{part}.conllu")
    >>> _ = reproduce(home / "ud", home / "out", epochs=1, bits=10)
    >>> print((home / "out" / "models.csv").read_text().splitlines()[1])
    Birdish,D-MST,train,1,1,2,100.00,100.00,100.00
    """
    if options.get("models"):
        raise OptionError("models must be None: three parsers of each treebank are compared")
    recipe = Recipe(loss="mira", root="single", epochs=epochs, seed=seed, bits=bits)
    experiment = Experiment(treebanks, output, **options)
    outcomes = measure(experiment, recipe)
    if not outcomes:
        raise experiment.nothing()
    try:
        figures = draw(outcomes, experiment.output)
    except MissingExtraError:
        figures = []
    write(experiment.output, texts(outcomes, recipe, figures, experiment.left_out))
    return experiment.left_out
