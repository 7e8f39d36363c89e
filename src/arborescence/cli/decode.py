"""``arborescence decode``: reads scores from NumPy files, and writes the best trees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arborescence.cli.options import JsonOption, KBestOption, RootOption, ThreadsOption, ends, into
from arborescence.cli.progress import say
from arborescence.core.choices import Encoding
from arborescence.errors import ScoresError
from arborescence.parsers.shared.options import Inference
from arborescence.system.files import replacing, writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray


def decode(
    scores: Annotated[Path, typer.Argument(metavar="SCORES.npy|npz")],
    output: Annotated[Path | None, into()] = None,
    kbest: KBestOption = None,
    root: RootOption = "single",
    projective: bool = False,
    inference: Inference = "exact",
    rounds: Annotated[int, typer.Option(min=0)] = 5,
    encoding: Encoding = "mean",
    threads: ThreadsOption = 1,
    as_json: JsonOption = False,
) -> None:
    r"""Find the best trees for scores that were made elsewhere.

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
    inference
        Find the best tree, or one by way of an undirected tree.
    rounds
        Rounds of local enhancement, if inference is undirected.
    encoding
        The score of an undirected edge, of those of its two directions.
    as_json
        Print heads and weight of each tree as JSON.

    Examples
    --------
    arborescence decode scores.npy
    arborescence decode batch.npz -o heads.npy --threads 2
    arborescence decode batch.npz --kbest 50 -o trees.npz
    arborescence decode batch.npz --inference undirected --rounds 5
    """
    import arborescence as arb

    if inference == "undirected" and (kbest or projective):
        raise typer.BadParameter("--inference undirected does not go with --kbest or --projective")
    values, lengths = load_scores(scores)
    found: Best | KBest
    which: dict[str, Any] = {"root": root, "threads": threads}
    if kbest:
        found = KBest(*arb.kbest(values, kbest, lengths, projective=projective, **which))
    else:
        if inference == "undirected":
            how: dict[str, Any] = {"rounds": rounds, "encoding": encoding}
            heads = arb.undirected.decode(values, lengths, **how, **which)
        else:
            heads = arb.decode(values, lengths, projective=projective, **which)
        found = Best(heads, arb.tree_weight(values, heads))
    if ends(str(output), ".json", ".jsonl"):
        with writing(str(output)) as file:
            file.writelines(f"{line}\n".encode() for line in found.json_lines())
    elif output:
        found.save(output)
    if as_json or not output:
        for line in found.json_lines() if as_json else found.lines():
            say(line)


def load_scores(path: Path) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read scores, and lengths if there are any, from a ``.npy`` or ``.npz`` file."""
    from arborescence.system.arrays import Archive, opened

    with opened(path, ScoresError, "a .npy or .npz file of numbers") as content:
        if not isinstance(content, Archive):
            return content, None
        if "scores" in content.names:
            lengths = content.read("lengths") if "lengths" in content.names else None
            return content.read("scores"), lengths
        found = ", ".join(content.names) or "none"
        raise ScoresError(f"{path}: no array named 'scores' (found: {found})")


class Best:
    """The best tree of each sentence: heads (..., N), weights (...)."""

    def __init__(self, heads: NDArray[np.int64], weights: Any) -> None:
        import numpy as np

        self.heads = heads
        self.trees = heads.reshape(-1, heads.shape[-1])
        self.weights: list[float] = np.ravel(weights).tolist()

    def lines(self) -> Iterator[str]:
        """Write the heads of each sentence's words on a line."""
        for tree in self.trees:
            yield " ".join(map(str, words_of(tree)))

    def json_lines(self) -> Iterator[str]:
        """Write each tree as a JSON object on a line."""
        for tree, weight in zip(self.trees, self.weights, strict=True):
            yield json.dumps({"heads": words_of(tree), "weight": float(weight)})

    def save(self, path: Path) -> None:
        """Write the head vectors as a ``.npy`` file, whole or not at all."""
        import numpy as np

        with replacing(path) as file:
            np.save(file, self.heads, allow_pickle=False)


class KBest:
    """The k best trees of each sentence: heads (..., k, N), weights (..., k), counts (...)."""

    def __init__(
        self,
        heads: NDArray[np.int64],
        weights: NDArray[np.float64],
        counts: NDArray[np.int64],
    ) -> None:
        self.heads = heads
        self.weights = weights
        self.counts = counts

    def sentences(self) -> Iterator[list[tuple[float, list[int]]]]:
        """Give the trees of each sentence: their weights and the heads of their words."""
        k, nodes = self.heads.shape[-2:]
        for trees, weights, count in zip(
            self.heads.reshape(-1, k, nodes),
            self.weights.reshape(-1, k),
            self.counts.flat,
            strict=True,
        ):
            yield list(zip(weights[:count].tolist(), map(words_of, trees[:count]), strict=True))

    def lines(self) -> Iterator[str]:
        """Write each tree on a line: sentence (from 0), rank (from 1), weight, heads; with tabs."""
        for sentence, trees in enumerate(self.sentences()):
            for rank, (weight, heads) in enumerate(trees, 1):
                yield f"{sentence}\t{rank}\t{weight!r}\t{' '.join(map(str, heads))}"

    def json_lines(self) -> Iterator[str]:
        """Write the trees of each sentence as a JSON object on a line."""
        for trees in self.sentences():
            analyses = [{"weight": weight, "heads": heads} for weight, heads in trees]
            yield json.dumps({"analyses": analyses})

    def save(self, path: Path) -> None:
        """Write the three arrays as a ``.npz`` file, whole or not at all."""
        import numpy as np

        with replacing(path) as file:
            np.savez(file, heads=self.heads, weights=self.weights, counts=self.counts)


def words_of(tree: NDArray[np.int64]) -> list[int]:
    """Give the heads of the words, without root and padding."""
    heads: list[int] = tree[tree >= 0].tolist()
    return heads
