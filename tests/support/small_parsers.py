"""A small parser of every kind, trained in a moment."""

from __future__ import annotations

from functools import cache

from arborescence.parsers import (
    CombinedParser,
    LinearParser,
    Reranker,
    SecondOrderParser,
    Tagger,
    TransitionParser,
)
from samples import treebank
from tiny_networks import random_parser

_LINEAR = {
    "linear": {"prune": True, "tagger": True},
    "joint": {"joint": True, "projective": "pseudo"},
    "projective": {"projective": True, "root": "multi"},
    "tree": {"loss": "tree"},
    "undirected": {"inference": "undirected", "features": "undirected"},
}
_TRANSITION = {
    "greedy": {"projective": "pseudo"},
    "hybrid": {"system": "arc-hybrid", "beam": 2},
    "beam": {"system": "swap", "beam": 3},
}
_NEURAL = {
    "biaffine": {"tagger": True},
    "mlp": {
        "scorer": "mlp",
        "precision": "int8",
        "columns": ("form", "lemma", "upos", "feats"),
        "vector": 3,
    },
}
KINDS = (*_LINEAR, *_TRANSITION, *_NEURAL, "second-order", "reranker", "combined")


@cache
def small_parser(kind):
    """Train a parser of this kind; its trees need not keep rules."""
    parser = _trained(kind)
    parser.rules = "none"
    return parser


def _trained(kind):
    sentences, small = treebank(), {"epochs": 1, "bits": 10}
    options = {**_LINEAR, **_TRANSITION, **_NEURAL}.get(kind, {}).copy()
    if "tagger" in options:
        options["tagger"] = Tagger.train(sentences, epochs=1)
    if kind in _LINEAR:
        return LinearParser.train(sentences, **small, **options)
    if kind in _TRANSITION:
        return TransitionParser.train(sentences, **small, **options)
    if kind in _NEURAL:
        return random_parser(sentences, **options)
    if kind == "second-order":
        return SecondOrderParser.train(sentences, **small)
    if kind == "reranker":
        return Reranker.train(sentences, k=3, folds=2, **small)
    return CombinedParser([small_parser("joint"), small_parser("greedy")])


def parsed(parser, sentences=None):
    """Return what a parser makes of some sentences, as bytes; also in another process."""
    return [bytes(sentence) for sentence in parser.parse(sentences or treebank())]
