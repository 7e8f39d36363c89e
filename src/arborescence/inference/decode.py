"""The best tree of all, crossing edges allowed: `decode` and `decode_labeled`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from arborescence.core.errors import OptionError, ScoresError
from arborescence.core.faults import FINE, NO_TREE, no_answer
from arborescence.core.graph import (
    Graph,
    Root,
    as_array,
    as_floats,
    as_graph,
    check_flag,
    check_root,
    in_float64,
    stacked,
)
from arborescence.core.threads import in_threads
from arborescence.nonprojective.decode import decode_kernel
from arborescence.projective.decode import eisner_kernel
from arborescence.undirected.decode import undirected_kernel
from arborescence.undirected.encode import Encoding, no_encoding, number_of
from arborescence.undirected.enhance import as_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Method = Literal["exact", "undirected"]


def decode(
    scores: Any,
    lengths: Any = None,
    *,
    root: Root = "single",
    projective: bool = False,
    method: Method = "exact",
    rounds: int | None = 5,
    encoding: Encoding = "mean",
    threads: int = 1,
) -> Any:
    """Return the tree of highest weight, exactly unless another method is asked for.

    Algorithm 1 of Zmigrod, Vieira and Cotterell (2020): O(n²) a sentence, with or without the
    root constraint. If the greedy graph is a tree already, that is one pass over the scores.
    Projective trees are found by the algorithm of Eisner (1996): O(n³) a sentence.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        ``scores[..., h, d]`` is the weight of the edge h -> d; node 0 is the root, and N is the
        number of words + 1. Floats or whole numbers, any strides (a parser that keeps
        ``[dependent, head]`` passes ``scores.mT``). ``-inf`` means that the edge is absent, and so
        does the mask of a masked array. Column 0 and the diagonal are ignored. Or a list of (N, N)
        matrices, one a sentence, which is padded if they differ in N.
    lengths : (...) whole numbers, optional
        Words in each sentence of a padded batch, the root not counted. Or a mask, (..., N) or
        (..., N - 1) without the root: true for words, false for padding.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.
    projective : bool
        Whether edges may not cross.
    method : {"exact", "undirected"}
        ``"undirected"`` is an approximation: the best undirected tree, directed away from its
        root, and enhanced (Levi, Reichart and Rappoport 2016).
    rounds : int or None
        Of the undirected method: how many rounds of `arborescence.undirected.enhance`.
    encoding : {"mean", "product", "max", "min"}
        Of the undirected method: see `arborescence.undirected.encode`.
    threads : int
        Over how many threads a batch is spread.

    Returns
    -------
    heads : (..., N) int64
        ``heads[..., d]`` is the head of word d; -1 for the root and for padding. A torch
        tensor, on the same device, if `scores` is one.

    Raises
    ------
    ScoresError
        If the scores hold NaN or +inf, or shape, type or lengths cannot be used.
    NoTreeError
        If the edges that are present form no such tree.
    OptionError
        If an option is none of those above, or ``method="undirected"`` is asked for projective
        trees.

    Notes
    -----
    The exact tree is the best one in real arithmetic over the given floats: rounding never decides.
    Of trees with equal weight, which one is returned depends on nothing but the scores of that
    sentence: a word prefers its lowest head, of several heads for a contracted cycle the lowest
    wins, and of several root edges that cost the same the one of the lowest word is given up. Of
    projective trees, the one with the lowest root wins, and then the one whose spans are split
    furthest left.

    The undirected method: with ``root="multi"``, the maximum spanning tree of all nodes is directed
    away from the root. With ``root="single"``, of which the paper is silent, it is the maximum
    spanning tree of the words, and the root edge is the one with which this tree, directed away
    from it, weighs most: O(n), for moving the root over an edge turns no other edge round. If the
    scores are the same in both directions, that is the best undirected tree with one root edge:
    such a tree is a root edge and a spanning tree of the words, and each is the best of its kind. A
    sentence whose tree has an absent edge in the end is decoded exactly instead. O(n²) for the
    scores, each of which is read, and O(n) a round.

    Examples
    --------
    The graph of Zmigrod et al. (2020), Fig. 2. Its best arborescence has two root edges and
    weighs 260; its best dependency tree weighs 210.

    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.full((5, 5), -np.inf)
    >>> for h, d, weight in [(0, 1, 90), (0, 2, 40), (1, 3, 10), (2, 3, 30), (2, 4, 60),
    ...                      (3, 2, 50), (4, 3, 70), (4, 1, 20)]:
    ...     scores[h, d] = weight
    >>> heads = arb.decode(scores, root="multi")
    >>> heads, arb.tree_weight(scores, heads)
    (array([-1,  0,  0,  4,  2]), 260.0)
    >>> heads = arb.decode(scores)
    >>> heads, arb.tree_weight(scores, heads)
    (array([-1,  0,  3,  1,  2]), 210.0)
    """
    single = check_root(root)
    if projective is not False:
        projective = check_flag(projective)
    graph = as_graph(scores, lengths)
    batch, size, _ = graph.scores.shape
    heads = np.empty((batch, size), np.int64)
    decode_share = _decode_projective if projective else _decode_nonprojective
    if method == "undirected":
        if projective:
            raise OptionError("method='undirected' does not find projective trees")
        decode_share = partial(_decode_undirected, number_of(encoding), as_limit(rounds))
    elif method != "exact":
        raise OptionError(f"method must be 'exact' or 'undirected', not {method!r}")
    if threads == 1:
        decode_share(graph, single, heads, 0, batch)
    else:
        in_threads(lambda *share: decode_share(graph, single, heads, *share), batch, threads)
    heads = heads.reshape(*graph.shape, size) if graph.shape else heads[0]
    return graph.give_back(heads) if graph.give_back else heads


def decode_labeled(
    scores: Any,
    lengths: Any = None,
    *,
    root: Root = "single",
    projective: bool = False,
    threads: int = 1,
) -> tuple[Any, Any]:
    """Return the best labeled tree: one edge a label, between the same two nodes.

    The best label of each edge is chosen first, then the best tree: O(L n²), and what `decode`
    costs.

    Parameters
    ----------
    scores : (..., N, N, L) array or torch tensor
        ``scores[..., h, d, l]`` is the weight of the edge h -> d with the label l. Otherwise as
        in `decode`, like the other parameters.

    Returns
    -------
    heads : (..., N) int64
        As `decode` returns them.
    labels : (..., N) int64
        ``labels[..., d]`` is the label of the edge into d (of equal ones the lowest); -1 for
        the root and for padding.

    Raises
    ------
    ScoresError, NoTreeError, OptionError
        As `decode` does.

    Examples
    --------
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.zeros((3, 3, 2))
    >>> scores[0, 2, 1] = scores[2, 1, 0] = 4.0
    >>> arb.decode_labeled(scores)
    (array([-1,  2,  0]), array([-1,  0,  1]))
    """
    array, lengths, give_back = as_labeled(scores, lengths)
    # A NaN of any label stays in the maximum, where decode finds it.
    heads = decode(array.max(axis=-1), lengths, root=root, projective=projective, threads=threads)
    # Rows of the root and of padding are read as if their head were 0, and then blanked.
    of_edges = np.take_along_axis(array, np.maximum(heads, 0)[..., None, :, None], axis=-3).squeeze(
        -3
    )
    labels = np.where(heads >= 0, of_edges.argmax(axis=-1), -1)
    return (give_back(heads), give_back(labels)) if give_back else (heads, labels)


def as_labeled(
    scores: Any, lengths: Any = None
) -> tuple[NDArray[Any], Any, Callable[[NDArray[Any]], Any] | None]:
    """Return labeled scores as an array of floats; lengths; and the way back to what came in."""
    if isinstance(scores, (list, tuple)):
        array, lengths, give_back = stacked(scores, lengths)
    else:
        array, give_back = as_array(scores, absent=-np.inf)
    if array.dtype not in (np.float32, np.float64):
        array = as_floats(array)
    if array.ndim < 3 or array.shape[-1] == 0:
        raise ScoresError(
            f"labeled scores must have shape (..., N, N, L) with L > 0, not {array.shape}"
        )
    return array, lengths, give_back


def _decode_nonprojective(
    graph: Graph, single: bool, heads: NDArray[np.int64], start: int, stop: int
) -> None:
    """Decode the sentences from `start` to `stop` of the flattened batch, in this thread."""
    whole = stop - start == graph.scores.shape[0]
    sentence, fault = decode_kernel(
        graph.scores if whole else graph.scores[start:stop],
        graph.dependents_first,
        graph.lengths if whole or not graph.lengths.size else graph.lengths[start:stop],
        single,
        heads if whole else heads[start:stop],
    )
    if fault != FINE:
        raise no_answer(graph, start + sentence, fault, single)


def _decode_projective(
    graph: Graph, single: bool, heads: NDArray[np.int64], start: int, stop: int
) -> None:
    """Decode likewise, but find the best projective trees."""
    for part, scores, lengths in in_float64(graph, start, stop):
        sentence, fault = eisner_kernel(scores, lengths, single, heads[part])
        if fault != FINE:
            raise no_answer(graph, part.start + sentence, fault, single)


def _decode_undirected(
    how: int,
    rounds: int,
    graph: Graph,
    single: bool,
    heads: NDArray[np.int64],
    start: int,
    stop: int,
) -> None:
    """Decode likewise, but through undirected trees."""
    for part, scores, lengths in in_float64(graph, start, stop):
        done = 0
        while done < len(scores):
            done, fault = undirected_kernel(scores, lengths, single, how, rounds, heads[part], done)
            if fault == NO_TREE:
                sentence = part.start + done
                _decode_nonprojective(graph, single, heads, sentence, sentence + 1)
                done += 1
            elif fault != FINE:
                raise no_encoding(graph, part.start + done, fault)
