"""``arborescence decode``: reads scores from NumPy files, and writes the best trees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arborescence.cli.options import JsonOption, KBestOption, RootOption, ThreadsOption
from arborescence.cli.outputs import check_kind, ends, into
from arborescence.cli.progress import say
from arborescence.core.choices import Encoding
from arborescence.errors import NoTreeError, ScoresError
from arborescence.parsers.shared.options import Inference
from arborescence.system.files import replacing, writing

#: Edges, once or more often.
EdgesOption = Annotated[list[str] | None, typer.Option(metavar="HEAD:WORD")]

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from arborescence import Constraints
    from arborescence.inference.kbest import KBest
    from arborescence.rules import Edges

    #: The trees of a sentence, best first: the heads of its words, and the weight of the tree.
    Trees = list[tuple[list[int], float]]


def decode(
    scores: Annotated[Path, typer.Argument(metavar="SCORES.npy|npz")],
    output: Annotated[Path | None, into("npy", "npz", "json")] = None,
    kbest: KBestOption = None,
    root: RootOption = "single",
    projective: bool = False,
    require: EdgesOption = None,
    forbid: EdgesOption = None,
    inference: Inference = "exact",
    rounds: Annotated[int, typer.Option(min=0)] = 5,
    encoding: Encoding = "mean",
    threads: ThreadsOption = 1,
    as_json: JsonOption = False,
) -> None:
    r"""Find the best trees for scores of other programs.

    Prints the heads of each sentence on a line. scores\[h, d] is the weight of the edge h -> d.
    With --kbest, a line for each tree: sentence (from 0), rank (from 1), weight and heads, with
    tabs between.

    Parameters
    ----------
    scores
        Scores (N, N) or (B, N, N): an .npy file, or an .npz file with 'scores' and, if sentences
        differ in length, 'lengths'.
    output
        Write the head vectors: .npy, with --kbest .npz, or .json.
    projective
        Find trees without crossing edges.
    require
        The word has this head, or one of several: 2:5, or 2,3:5. For one sentence; may be repeated.
    forbid
        No tree has this edge, or these: 2:5, or 2:5,6. As for require.
    inference
        Find the best tree, or a tree by way of an undirected tree.
    rounds
        Rounds of local enhancement, if inference is undirected.
    encoding
        The score of an undirected edge, from the scores of its two directions.
    as_json
        Print heads and weight of each tree as JSON.

    Examples
    --------
    arborescence decode scores.npy
    arborescence decode batch.npz -o heads.npy --threads 2
    arborescence decode batch.npz --kbest 50 -o trees.npz
    arborescence decode scores.npy --require 2:5 --forbid 0:1,3
    arborescence decode batch.npz --inference undirected --rounds 5
    """
    if inference == "undirected" and (kbest or projective):
        raise typer.BadParameter("--inference undirected does not go with --kbest or --projective")
    if output:
        check_kind(output, ("npz" if kbest else "npy", "json"))
    values, lengths = load_scores(scores)
    which: dict[str, Any] = {"root": root, "projective": projective}
    wanted = demanded(require, forbid, **which)
    if wanted is not None and values.ndim != 2:
        raise typer.BadParameter("--require and --forbid are for the scores (N, N) of one sentence")
    if inference == "undirected":
        how: dict[str, Any] = {"root": root, "rounds": rounds, "encoding": encoding}
        trees = undirected_trees(values, lengths, wanted, threads=threads, **how)
    elif wanted is not None:
        trees = demanded_trees(values, wanted, kbest or 1)
    else:
        trees = best_trees(values, lengths, kbest, threads=threads, **which)
    write(trees, output, ranked=bool(kbest), as_json=as_json)


def demanded(
    require: list[str] | None, forbid: list[str] | None, **which: Any
) -> Constraints | None:
    """Return the constraints of the options for a sentence; None if there are none."""
    from arborescence import Constraints

    if not (require or forbid):
        return None
    edges: Any = [list(map(edges_of, texts or ())) for texts in (require, forbid)]
    return Constraints(require=edges[0], forbid=edges[1], **which)


def demanded_trees(scores: NDArray[Any], wanted: Constraints, k: int) -> KBest[NDArray[Any]]:
    """Return the k best trees of a sentence that keep constraints."""
    import numpy as np

    import arborescence as arb
    from arborescence.inference.kbest import KBest

    trees = arb.solve(scores, wanted, k)
    heads, weights = np.array([tree.heads for tree in trees]), [tree.weight for tree in trees]
    return KBest(heads, np.array(weights), np.array(len(trees)))


def best_trees(
    scores: NDArray[Any], lengths: Any, k: int | None, *, threads: int, **which: Any
) -> KBest[NDArray[Any]]:
    """Return the best tree of each sentence, or the k best."""
    import arborescence as arb

    if k:
        return arb.kbest(scores, k, lengths, threads=threads, **which)
    return only(scores, arb.decode(scores, lengths, threads=threads, **which))


def undirected_trees(
    scores: NDArray[Any], lengths: Any, wanted: Constraints | None, **how: Any
) -> KBest[NDArray[Any]]:
    """Return a tree of each sentence by way of undirected trees."""
    import arborescence as arb

    left = scores if wanted is None else wanted.masked(scores)
    try:
        return only(scores, arb.undirected.decode(left, lengths, **how))
    except NoTreeError:
        if wanted is not None:
            arb.solve(scores, wanted)  # raises an error that names the edges
        raise


def only(scores: NDArray[Any], heads: NDArray[np.int64]) -> KBest[NDArray[Any]]:
    """Return the trees of sentences, (..., N), as lists of one tree each."""
    import numpy as np

    import arborescence as arb
    from arborescence.inference.kbest import KBest

    weights = np.array(arb.tree_weight(scores, heads))
    return KBest(heads[..., None, :], weights[..., None], np.ones_like(weights, np.int64))


def edges_of(text: str) -> Edges:
    """Return the edges that a text such as 2:5 or 0:1,3 names."""
    from arborescence.rules import Edges

    try:
        heads, words = (list(map(int, numbers.split(","))) for numbers in text.split(":"))
    except ValueError:
        raise typer.BadParameter(
            f"edges are written as HEAD:WORD, like 2:5, not {text!r}"
        ) from None
    return Edges(heads, words)


def load_scores(path: Path) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read scores, and lengths if there are any, from a ``.npy`` or ``.npz`` file."""
    from arborescence.system.arrays import Archive, opened

    with opened(path, ScoresError, "a .npy or .npz file of numbers") as content:
        if not isinstance(content, Archive):
            return content, None
        if "scores" in content.names:
            lengths = content.read("lengths") if "lengths" in content.names else None
            return content.read("scores"), lengths
        names = ", ".join(content.names) or "none"
        raise ScoresError(f"{path}: no array named 'scores' (found: {names})")


def lists_of(best: KBest[NDArray[Any]]) -> Iterator[Trees]:
    """Yield the k best trees of each sentence."""
    heads, weights, counts = best
    k, nodes = heads.shape[-2:]
    rows = zip(heads.reshape(-1, k, nodes), weights.reshape(-1, k), counts.flat, strict=True)
    for trees, of_trees, count in rows:
        yield list(zip(map(words_of, trees[:count]), of_trees[:count].tolist(), strict=True))


def in_text(sentences: list[Trees], ranked: bool) -> Iterator[str]:
    """Write each tree on a line, with the numbers of the sentence and the rank if `ranked`."""
    for number, trees in enumerate(sentences):
        for rank, (heads, weight) in enumerate(trees, 1):
            line = " ".join(map(str, heads))
            yield f"{number}\t{rank}\t{weight!r}\t{line}" if ranked else line


def in_json(sentences: list[Trees], ranked: bool) -> Iterator[str]:
    """Write the trees of each sentence as a JSON object on a line."""
    for trees in sentences:
        if ranked:
            analyses = [{"weight": weight, "heads": heads} for heads, weight in trees]
            yield json.dumps({"analyses": analyses})
        else:
            [(heads, weight)] = trees
            yield json.dumps({"heads": heads, "weight": weight})


def write(best: KBest[NDArray[Any]], output: Path | None, *, ranked: bool, as_json: bool) -> None:
    """Write trees to a file, if there is one, and print them."""
    trees = list(lists_of(best))
    if ends(output, ".json", ".jsonl"):
        with writing(str(output)) as file:
            file.writelines(f"{line}\n".encode() for line in in_json(trees, ranked))
    elif output:
        save(output, best._asdict() if ranked else {"heads": best.heads[..., 0, :]})
    if as_json or not output:
        for line in (in_json if as_json else in_text)(trees, ranked):
            say(line)


def save(path: Path, arrays: dict[str, Any]) -> None:
    """Write one array as a ``.npy`` file, several as ``.npz``; after an error, write no file."""
    import numpy as np

    with replacing(path) as file:
        if len(arrays) == 1:
            np.save(file, arrays["heads"], allow_pickle=False)
        else:
            np.savez(file, **arrays)


def words_of(tree: NDArray[np.int64]) -> list[int]:
    """Return the heads of the words, without root and padding."""
    heads: list[int] = tree[tree >= 0].tolist()
    return heads
