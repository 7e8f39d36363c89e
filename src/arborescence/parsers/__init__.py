"""Trainable dependency parsers with a common interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.system.lazy import lazily

if TYPE_CHECKING:
    from arborescence.parsers.combined import CombinedParser as CombinedParser
    from arborescence.parsers.harmonizer.harmonizer import Harmonizer as Harmonizer
    from arborescence.parsers.harmonizer.pairing import Pair as Pair
    from arborescence.parsers.harmonizer.pairing import Pairing as Pairing
    from arborescence.parsers.harmonizer.pairing import pair as pair
    from arborescence.parsers.linear.parser import LinearParser as LinearParser
    from arborescence.parsers.neural.parser import BiaffineParser as BiaffineParser
    from arborescence.parsers.recipe import train as train
    from arborescence.parsers.reranker.parser import Reranker as Reranker
    from arborescence.parsers.second_order.parser import SecondOrderParser as SecondOrderParser
    from arborescence.parsers.shared.base import Parser as Parser
    from arborescence.parsers.shared.base import load as load
    from arborescence.parsers.shared.graph_parser import GraphParser as GraphParser
    from arborescence.parsers.shared.keeping import Keeper as Keeper
    from arborescence.parsers.shared.repeats import Repeats as Repeats
    from arborescence.parsers.tagger.tagger import Tagger as Tagger
    from arborescence.parsers.tagger.tagging import jackknife as jackknife
    from arborescence.parsers.transition.parser import TransitionParser as TransitionParser

__all__, __getattr__, __dir__ = lazily(__name__)
