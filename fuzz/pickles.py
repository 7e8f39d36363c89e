"""Parsers of every kind, on the way to other processes: they parse there as here."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from arborescence.treebank import Sentence
from cases import Case, WrongError, examine
from samples import treebank
from small_parsers import KINDS, parsed, small_parser
from ways import WAYS

POOLS = ("fork", "spawn")


def attack(rng):
    for _ in range(3):
        options = {
            "kind": str(rng.choice(KINDS)),
            "way": str(rng.choice([*WAYS, *POOLS])),
            "seed": int(rng.integers(2**31)),
        }
        yield from examine(sent, Case((), options))


def sent(case):
    """Compare what a parser makes of sentences here, and after it was sent."""
    parser, way = small_parser(case.options["kind"]), case.options["way"]
    rng = np.random.default_rng(case.options["seed"])
    forms = [form for sentence in treebank() for form in sentence.forms]
    tags = [tag for sentence in treebank() for tag in sentence.upos]
    sentences = [
        Sentence.from_words(rng.choice(forms, n).tolist(), upos=rng.choice(tags, n).tolist())
        for n in (1, 2, 5, 14)
    ]
    if way in POOLS:
        with ProcessPoolExecutor(1, multiprocessing.get_context(way)) as pool:
            found = pool.submit(parsed, parser, sentences).result()
    else:
        found = parsed(WAYS[way](parser), sentences)
    if found != parsed(parser, sentences):
        raise WrongError("a parser that was sent finds other trees", way)
