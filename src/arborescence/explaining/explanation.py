"""`explain`: the steps of an algorithm, as data."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

from arborescence.core.checks import check_count, check_root
from arborescence.core.choices import Algorithm, check_choice
from arborescence.errors import OptionError
from arborescence.explaining.problem import problem_of
from arborescence.explaining.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arborescence.core.choices import Root
    from arborescence.explaining.steps import Pair

#: The default number of trees, and the largest number that is explained.
K, MOST_TREES = 3, 20
#: The algorithms that have only one setting of `root`, and the algorithm for the other setting.
FIXED: dict[str, tuple[Root, Algorithm]] = {
    "chu-liu-edmonds": ("multi", "root-constraint"),
    "root-constraint": ("single", "chu-liu-edmonds"),
    "cky": ("single", "eisner"),
}


def explain(
    scores: Any,
    algorithm: Algorithm = "root-constraint",
    *,
    root: Root | None = None,
    k: int | None = None,
    words: Sequence[str] | None = None,
    edges: Mapping[Pair, str] | None = None,
) -> Steps:
    """Return the steps by which an algorithm finds its result, each explained in a sentence.

    The algorithms are those of the works (``papers/ALGORITHMS.md`` says where steps differ): slow,
    in exact arithmetic, and for short sentences.

    Parameters
    ----------
    scores : (N, N) array or torch tensor
        As in `decode`; one sentence of at most 30 words.
    algorithm : str
        - ``"chu-liu-edmonds"``: greedy graph, cycles, contraction, expansion; any number of root
          edges (Smith 2017, with the weights of this lecture).
        - ``"root-constraint"``: the same, then reduction and optimization until one root edge is
          left (Zmigrod, Vieira and Cotterell 2020, Algorithm 1, with the weights of this paper).
          As `decode`.
        - ``"kbest"``: the first tree, the cheapest swap, and the remaining parts of the trees
          (Zmigrod, Vieira and Cotterell 2021). As `kbest`.
        - ``"eisner"``: the chart of spans, and the way back by its pointers. As `decode` with
          ``projective=True``.
        - ``"cky"``: the chart of constituents of the bilexical grammar (Smith 2017), in O(n⁵), and
          the derivation. The tree has the same weight as the tree of ``"eisner"``.
        - ``"sums"``: the Laplacian, its determinant, and marginals (Koo et al. 2007). As
          `TreeDistribution`. Scores of edges into a word may differ by 300 at most.
        - ``"undirected"``: one score for each pair, Borůvka's spanning tree, directed and
          enhanced. As `undirected.decode` with ``changes="best"``.
        - ``"kkt"``: the same, with the spanning tree by Karger, Klein and Tarjan (1995): Borůvka's
          steps, a sample, its forest F, and the F-heavy edges, which are removed.
        - ``"transitions"``: the best projective tree, made by arc-standard transitions.
    root : {"single", "multi"}, optional
        As in `decode`. The default is "single", except for ``"chu-liu-edmonds"``, which has no root
        constraint.
    k : int, optional
        For ``"kbest"``: the number of trees, 3 by default and 20 at most.
    words : list of str, optional
        The words, without the root, for names in texts. The default is the words' numbers. If the
        words are V1, V2, ..., contracted nodes have the next numbers, as in the lecture.
    edges : mapping of (head, dependent) to str, optional
        Names for edges in texts, such as ``{(0, 1): "a"}``. The default is "head → dependent".

    Returns
    -------
    Steps: a list of Step that draws itself in a notebook
        The states, at least one. The last state has the result. If there is no tree, the last state
        has the kind ``"no-tree"`` and says why: this is no error.

    Raises
    ------
    ScoresError
        If a score is NaN or +inf, the shape or type is invalid, or a limit above is exceeded.
    OptionError
        If an option is invalid, or does not fit the algorithm.

    Notes
    -----
    All choices are made by comparing exact fractions, so steps never contradict the fast functions.
    Of trees with equal weight, the result is the tree that `decode` returns. The order of equal
    trees in a k-best list may differ.

    Examples
    --------
    >>> import arborescence as arb
    >>> steps = arb.explain([[0, 9, 8], [0, 0, 2], [0, 4, 0]], words=["Birds", "sing"])
    >>> [step.kind for step in steps]
    ['greedy', 'root-edges', 'other-heads', 'optimization', 'root-edges', 'tree']
    >>> print(steps[3])
    [optimization] Optimization: Without root → Birds the greedy graph weighs most, 12, and has no \
cycle. So Birds takes sing → Birds, and its root edges are deleted.
      node   best edge     weight  kicks out
      Birds  sing → Birds  4
      sing   root → sing   8
    >>> steps[-1].heads
    (-1, 2, 0)
    """
    options = _options(algorithm, root, k)
    problem = problem_of(scores, words, edges)
    # Only this algorithm's module is imported, so that other algorithms work without it.
    module = import_module(f"arborescence.explaining.{algorithm.replace('-', '_')}")
    return Steps(module.steps(problem, **options))


def _options(algorithm: Algorithm, root: Root | None, k: int | None) -> dict[str, Any]:
    """Return the arguments of an algorithm's steps, besides the graph."""
    check_choice("algorithm", algorithm, get_args(Algorithm))
    fixed, other = FIXED.get(algorithm, (None, ""))
    single = check_root((fixed or "single") if root is None else root)
    if fixed and single != (fixed == "single"):
        trees = "finds trees with one root edge" if fixed == "single" else "has no root constraint"
        raise OptionError(
            f"algorithm={algorithm!r} {trees}: leave root={root!r} out, or take algorithm={other!r}"
        )
    options: dict[str, Any] = {}
    if not fixed:
        options["single"] = single
    if algorithm == "kbest":
        options["k"] = check_count(K if k is None else k)
        if options["k"] > MOST_TREES:
            raise OptionError(
                f"k is {k}, and explain takes at most {MOST_TREES}: nobody reads longer lists of "
                "steps; kbest takes any number"
            )
    elif k is not None:
        raise OptionError(f"k is for algorithm='kbest', not for {algorithm!r}")
    return options
