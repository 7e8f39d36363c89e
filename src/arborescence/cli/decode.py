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
from arborescence.errors import ScoresError
from arborescence.parsers.shared.options import Inference
from arborescence.system.files import replacing, writing

#: Edges, once or more often.
EdgesOption = Annotated[list[str] | None, typer.Option(metavar="HEAD:WORD")]

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

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
    import numpy as np

    import arborescence as arb

    if inference == "undirected" and (kbest or projective):
        raise typer.BadParameter("--inference undirected does not go with --kbest or --projective")
    if output:
        check_kind(output, ("npz" if kbest else "npy", "json"))
    values, lengths = load_scores(scores)
    if require or forbid:
        values = masked(values, require, forbid, root=root, projective=projective)
    shared: dict[str, Any] = {"root": root, "threads": threads}
    arrays: dict[str, Any]
    if kbest:
        arrays = arb.kbest(values, kbest, lengths, projective=projective, **shared)._asdict()
        trees = list(lists_of(**arrays))
    else:
        if inference == "undirected":
            options: dict[str, Any] = {"rounds": rounds, "encoding": encoding}
            heads = arb.undirected.decode(values, lengths, **options, **shared)
        else:
            heads = arb.decode(values, lengths, projective=projective, **shared)
        arrays = {"heads": heads}
        weights = np.array(arb.tree_weight(values, heads))
        lists = heads[..., None, :], weights[..., None], np.ones_like(weights, np.int64)
        trees = list(lists_of(*lists))
    if ends(output, ".json", ".jsonl"):
        with writing(str(output)) as file:
            file.writelines(f"{line}\n".encode() for line in in_json(trees, bool(kbest)))
    elif output:
        save(output, arrays)
    if as_json or not output:
        for line in (in_json if as_json else in_text)(trees, bool(kbest)):
            say(line)


def masked(
    scores: NDArray[Any], require: list[str] | None, forbid: list[str] | None, **which: Any
) -> NDArray[Any]:
    """Return the scores of a sentence without the edges that its trees may not have."""
    import arborescence as arb

    if scores.ndim != 2:
        raise typer.BadParameter("--require and --forbid are for the scores (N, N) of one sentence")
    edges: Any = [list(map(edges_of, texts or ())) for texts in (require, forbid)]
    wanted = arb.Constraints(require=edges[0], forbid=edges[1], **which)
    arb.solve(scores, wanted)  # says which of them contradict each other
    return wanted.masked(scores)


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


def lists_of(
    heads: NDArray[np.int64], weights: NDArray[np.float64], counts: Any
) -> Iterator[Trees]:
    """Yield the k best trees of each sentence, from the arrays of `kbest`."""
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
