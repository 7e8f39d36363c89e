"""A sentence that is no tree is found before anything is trained, by every kind of parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from arborescence.errors import TreebankError
from arborescence.parsers import (
    BiaffineParser,
    LinearParser,
    Reranker,
    SecondOrderParser,
    Tagger,
    TransitionParser,
)
from arborescence.treebank import read, write
from samples import treebank

if TYPE_CHECKING:
    from pathlib import Path


def never(*_: object, **__: object) -> Any:
    raise AssertionError("something is trained")


@pytest.mark.parametrize("where", ["the treebank", "dev"])
@pytest.mark.parametrize(
    "kind", [LinearParser, SecondOrderParser, TransitionParser, Reranker, BiaffineParser]
)
def test_it_is_found_first(kind: Any, where: str, tmp_path: Path) -> None:
    if kind is BiaffineParser:
        pytest.importorskip("torch", reason="needs the extra 'torch'")
    options: dict[str, Any] = {"make_parser": never} if kind is Reranker else {}
    if kind is BiaffineParser:
        options["tagger"] = Tagger.train(treebank(), columns=["upos", "xpos", "feats"], epochs=1)
    path = tmp_path / "trees.conllu"
    first, second, *_ = treebank()
    cycle = second.replace(heads=[-1, 2, 1, *second.tree[3:]])
    write([first, cycle], path)
    good, bad = treebank(), list(read(path))
    learned_from, dev = (good, bad) if where == "dev" else (bad + good, good)
    line = 1 + str(first).count("\n")
    message = rf"trees\.conllu:{line}: the heads are not a tree"
    with pytest.raises(TreebankError, match=message):
        kind.train(learned_from, dev=dev, progress=never, **options)
