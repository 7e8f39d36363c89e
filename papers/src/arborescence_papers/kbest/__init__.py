"""Figure 1 and Appendix A of *kbest*: malformed trees among the k best trees; and oracle accuracy.

Zmigrod, Vieira and Cotterell (2021), *On Finding the K-best Non-projective Dependency Trees*,
count how many of the k best arborescences have more than one edge from the root.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from arborescence.errors import OptionError
from arborescence_papers.common.experiment import Experiment, Results
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.kbest import measure
from arborescence_papers.kbest.plots import draw
from arborescence_papers.kbest.report import parts

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Unpack

    from arborescence_papers.common.experiment import Options
    from arborescence_papers.common.treebanks import LeftOut

_RECIPE: Final = Recipe()


def reproduce(
    treebanks: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    recipe: Recipe = _RECIPE,
    seeds: int = 3,
    ks: Sequence[int] = (1, 5, 10, 20, 50),
    **options: Unpack[Options],
) -> list[LeftOut]:
    """Count malformed trees among the k best of each test sentence, and write a report.

    The errors are those of `Experiment`; and OptionError if `recipe` is for parsers without edge
    scores, or `seeds` or `ks` are invalid.

    Parameters
    ----------
    treebanks, output, options
        As for `Experiment`. The output is ``report.md``, its tables as CSV, ``sizes.svg``,
        ``rates.svg`` and ``oracle.svg``; intermediate results are score files in ``scores`` and
        counts in ``lists``. ``quick`` also means one parser per treebank.
    recipe
        The recipe of the first parser of each treebank, which must be graph-based.
    seeds
        The number of parsers per treebank. The others have the next seeds.
    ks
        The list lengths k: increasing, starting with 1.

    Returns
    -------
    list of LeftOut
        The treebanks that were left out.

    Notes
    -----
    Zmigrod, Vieira and Cotterell (2021), Figure 1 and Appendix A. The lists take about 0.3 ms per
    sentence; nearly all of the time is training.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from arborescence_papers.common.treebanks import write_birdish
    >>> ud = write_birdish(pathlib.Path(tempfile.mkdtemp()) / "ud")
    >>> output = ud.parent / "out"
    >>> reproduce(ud, output, recipe=Recipe(epochs=1, bits=10), seeds=1)
    []
    >>> print((output / "treebanks.csv").read_text().splitlines()[1][:22])
    Birdish,1,1,0.00,33.33
    """
    if recipe.parser == "transition":
        raise OptionError(
            "parser must be linear or biaffine, not 'transition': only graph-based parsers give "
            "edges scores, of which there are k best trees"
        )
    if seeds < 1:
        raise OptionError(f"seeds must be at least 1, not {seeds}")
    if not ks or ks[0] != 1 or any(k >= larger for k, larger in pairwise(ks)):
        raise OptionError(f"ks must increase from 1 on, not {', '.join(map(str, ks))}")
    experiment = Experiment(treebanks, output, **options)
    recipes = recipe.seeds(1 if options.get("quick") else seeds)
    outcomes = measure.measure(experiment, recipes, ks, Results(experiment.output / "lists"))
    return experiment.report(outcomes, partial(draw, ks=ks), partial(parts, ks=ks, recipes=recipes))
