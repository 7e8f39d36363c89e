"""Trainable parsers, behind one interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence._lazy import lazily

if TYPE_CHECKING:
    from arborescence.parsers.base import Parser as Parser
    from arborescence.parsers.bilexical import BilexicalModel as BilexicalModel
    from arborescence.parsers.combined import CombinedParser as CombinedParser
    from arborescence.parsers.jackknifing import retagged as retagged
    from arborescence.parsers.linear import LinearParser as LinearParser
    from arborescence.parsers.loading import load as load
    from arborescence.parsers.reranker import Reranker as Reranker
    from arborescence.parsers.tagger import Tagger as Tagger
    from arborescence.parsers.transition import TransitionParser as TransitionParser

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "arborescence.parsers.base": ("Parser",),
        "arborescence.parsers.bilexical": ("BilexicalModel",),
        "arborescence.parsers.combined": ("CombinedParser",),
        "arborescence.parsers.jackknifing": ("retagged",),
        "arborescence.parsers.linear": ("LinearParser",),
        "arborescence.parsers.loading": ("load",),
        "arborescence.parsers.reranker": ("Reranker",),
        "arborescence.parsers.tagger": ("Tagger",),
        "arborescence.parsers.transition": ("TransitionParser",),
    },
)
