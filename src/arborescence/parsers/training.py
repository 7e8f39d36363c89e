"""Training of linear parsers: online learning over trees, averaged, stopped early, resumable."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from arborescence.errors import ModelError, TreebankError
from arborescence.nonprojective.decode import decode
from arborescence.parsers import model_file
from arborescence.parsers.linear import LinearParser
from arborescence.parsers.edges import WIDTH, EdgeTemplates, score_edges, update_edges
from arborescence.parsers.features import COLUMNS, Batch, Sides, tags_of
from arborescence.parsers.relations import RelationTemplates, update_relations
from arborescence.tree import is_tree

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.graph import Root
    from arborescence.parsers.base import Progress
    from arborescence.treebank import Sentence

Algorithm = Literal["mira", "perceptron"]

_CHECKPOINT: Final = "checkpoint of a linear parser"


@dataclass(frozen=True)
class Settings:
    """Everything that decides, with the data, what training arrives at."""

    columns: tuple[str, ...]
    algorithm: Algorithm
    root: Root
    aggressiveness: float
    seed: int
    edge_rows: int
    relation_rows: int

    def __post_init__(self) -> None:
        unknown = set(self.columns) - set(COLUMNS)
        if unknown or not self.columns:
            raise ValueError(
                f"columns must be some of {', '.join(COLUMNS)}, not {list(self.columns)}"
            )
        if self.algorithm not in ("mira", "perceptron"):
            raise ValueError(f"algorithm must be 'mira' or 'perceptron', not {self.algorithm!r}")
        if self.aggressiveness <= 0:
            raise ValueError(f"aggressiveness must be positive, not {self.aggressiveness}")
        for name in ("edge_rows", "relation_rows"):
            rows = getattr(self, name)
            if rows < 1 or rows & (rows - 1):
                raise ValueError(f"{name} must be a power of two, not {rows}")



class Trainer:
    """A training run: its data, its settings, and how far it is.

    Parameters
    ----------
    treebank, dev
        Sentences to learn from, and (possibly none) to choose the best epoch by.
    settings
        What to do with them.
    """

    def __init__(
        self, treebank: Sequence[Sentence], dev: Sequence[Sentence], settings: Settings
    ) -> None:
        _check(treebank, settings.root)
        self.settings = settings
        relations = [sentence.deprels for sentence in treebank]
        self.labels = sorted({relation for names in relations for relation in names})
        numbers = {name: number for number, name in enumerate(self.labels)}
        self.tags = tags_of(treebank)
        self.known = len(self.tags) + 2

        sides: list[str] = []
        self.edge_templates = EdgeTemplates.of(settings.columns, sides)
        self.relation_templates = RelationTemplates.of(settings.columns, sides)
        self.batch = Batch.of(treebank, Sides.of(sides), self.tags)
        self.heads = [sentence.heads for sentence in treebank]
        self.relations = [
            np.array([-1] + [numbers[name] for name in names], dtype=np.int64)
            for names in relations
        ]
        self.allowed = np.zeros((2, len(self.labels)), dtype=np.bool_)
        for heads, numbered in zip(self.heads, self.relations, strict=True):
            self.allowed[(heads[1:] != 0).astype(np.int64), numbered[1:]] = True

        self.dev = list(dev)
        edges = settings.edge_rows * WIDTH + 2 * self.known**3
        self.edges = np.zeros(edges, dtype=np.float32)
        self.edge_sums = np.zeros_like(self.edges)
        self.relation_weights = np.zeros(
            (settings.relation_rows, len(self.labels)), dtype=np.float32
        )
        self.relation_sums = np.zeros_like(self.relation_weights)
        self.epoch = 0
        self.clock = 0

    def run_epoch(self, progress: Progress | None = None) -> None:
        """Go over the treebank once, in an order that seed and epoch decide."""
        self.epoch += 1
        order = np.random.default_rng((self.settings.seed, self.epoch)).permutation(len(self.heads))
        mira = self.settings.algorithm == "mira"
        limit = self.settings.aggressiveness if mira else 0.0
        longest = int(np.diff(self.batch.starts).max())
        sums = np.empty((2, longest, WIDTH), dtype=np.float32)
        between = np.empty(self.known, dtype=np.float32)
        buffer = np.empty(2 * longest * self.edge_templates.most, dtype=np.int64)
        places = np.zeros(1, dtype=np.int64)
        starts = self.batch.starts
        for done, b in enumerate(order.tolist()):
            gold = self.heads[b]
            nodes = len(gold)
            scores = np.zeros((nodes, nodes), dtype=np.float32)
            alone = self.batch._replace(starts=starts[b : b + 2])
            score_edges(
                alone, self.edge_templates, self.edges, self.settings.edge_rows, self.known,
                sums, between, scores.reshape(-1), places,
            )  # fmt: skip
            words = np.arange(1, nodes)
            if mira:
                scores += 1
                scores[gold[1:], words] -= 1
            guess = decode(scores, root=self.settings.root)
            self.clock += 1
            if (guess != gold).any():
                guessed = float(scores[guess[1:], words].sum(dtype=np.float64))
                loss = guessed - float(scores[gold[1:], words].sum(dtype=np.float64))
                update_edges(
                    alone, 0, self.edge_templates, self.edges, self.edge_sums,
                    self.settings.edge_rows, self.known, gold, guess, loss, limit, self.clock, buffer,
                )  # fmt: skip
            update_relations(
                alone, 0, self.relation_templates, self.relation_weights, self.relation_sums,
                self.allowed, gold, self.relations[b], limit, self.clock,
            )  # fmt: skip
            if progress and (done + 1) % 100 == 0:
                progress(f"epoch {self.epoch}", done + 1, len(order))

    def parser(self) -> LinearParser:
        """Return a parser with the average of all weights so far."""
        return LinearParser(
            columns=self.settings.columns,
            labels=self.labels,
            allowed=self.allowed,
            tags=self.tags,
            edges=self.edges - self.edge_sums / np.float32(self.clock),
            relations=self.relation_weights - self.relation_sums / np.float32(self.clock),
        )


def attachment(parser: LinearParser, sentences: Sequence[Sentence], root: Root) -> dict[str, float]:
    """Return UAS and LAS (relations without subtypes) in percent."""
    words = attached = labelled = 0
    for gold, parsed in zip(sentences, parser.parse(sentences, root=root), strict=True):
        right = gold.heads[1:] == parsed.heads[1:]
        words += len(gold)
        attached += int(right.sum())
        labelled += sum(
            ours.partition(":")[0] == theirs.partition(":")[0]
            for ours, theirs, same in zip(gold.deprels, parsed.deprels, right.tolist(), strict=True)
            if same
        )
    return {"uas": 100 * attached / words, "las": 100 * labelled / words}


def _check(treebank: Sequence[Sentence], root: Root) -> None:
    if not treebank:
        raise TreebankError("the treebank is empty: give at least one sentence to train on")
    for sentence in treebank:
        if not is_tree(sentence.heads, root):
            where = f"{sentence.source or 'sentence'}:{sentence.line}"
            if root == "single" and is_tree(sentence.heads, "multi"):
                raise TreebankError(
                    f"{where}: more than one word has the root as its head; "
                    "train with root='multi', or leave the sentence out"
                )
            raise TreebankError(f"{where}: the heads are not a tree; correct or leave out")
