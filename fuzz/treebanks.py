"""Damaged treebanks and texts, through the commands that read them."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np

import small_treebanks
from arborescence import treebank
from arborescence.cli.sentences import Format
from cases import Case, WrongError, examine
from command import refused_or_done
from damage import damaged

MORE = """\
# sent_id = 1
# text = Vom Baum singen's viele.
1-2\tVom\t_\t_\t_\t_\t_\t_\t_\t_
1\tvon\tvon\tADP\tAPPR\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\tART\tCase=Dat|Gender=Masc\t3\tdet\t_\t_
3\tBaum\tBaum\tNOUN\tNN\tCase=Dat\t4\tobl\t_\t_
4\tsingen\tsingen\tVERB\tVVFIN\tMood=Ind\t0\troot\t0:root\tSpaceAfter=No
4.1\tes\tes\tPRON\t_\t_\t_\t_\t4:obj\t_
5\t's\tes\tPRON\tPPER\t_\t4\tobj\t_\t_
6\tviele\tviel\tPRON\tPIS\t_\t4\tnsubj\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t$.\t_\t4\tpunct\t_\t_

"""

# Raw text needs a model that has learned to cut it.
FORMATS = [form for form in get_args(Format) if form != "text"]


@cache
def model():
    """A small model, that stays for the whole run."""
    from arborescence.parsers import LinearParser, Tagger

    lessons = small_treebanks.sentences()
    path = Path("../small.model").resolve()
    tagger = Tagger.train(lessons, dev=lessons, columns=["upos"])
    LinearParser.train(
        lessons, dev=lessons, columns=["form", "upos"], epochs=1, bits=10, tagger=tagger
    ).save(path)
    return path


@cache
def whole():
    """A treebank with all that CoNLL-U has."""
    treebank.write(small_treebanks.sentences(), "whole.conllu")
    return Path("whole.conllu").read_bytes() + MORE.encode()


def attack(rng):
    for _ in range(30):
        yield from examine(read, Case((), {"seed": int(rng.integers(2**31))}))


def read(case):
    rng = np.random.default_rng(case.options["seed"])
    data = damaged(rng, whole())
    name = "damaged.conllu"
    if rng.random() < 0.2:
        packed = gzip.compress(data if rng.random() < 0.5 else whole(), 1)
        data, name = damaged(rng, packed) if rng.random() < 0.7 else packed, name + ".gz"
    Path(name).write_bytes(data)
    Path("gold.conllu").write_bytes(whole())
    commands = [
        ["draw", name],
        ["draw", name, "-o", "trees.svg"],
        ["draw", "--skip-invalid", name],
        ["evaluate", "gold.conllu", name],
        ["evaluate", name, "gold.conllu"],
        ["evaluate", "--oracle", "gold.conllu", name],
        ["parse", "-m", model(), name, "-o", "out.conllu"],
        ["parse", "-m", model(), name, "--kbest", "2", "--json"],
        ["parse", "-m", model(), "--format", str(rng.choice(FORMATS)), name, "-o", "out.conllu"],
        ["parse", "-m", model(), "--skip-invalid", "--confidence", name, "-o", "out.conllu"],
        ["trace", "--treebank", name, "--which", "all"],
    ]
    chosen = commands[int(rng.integers(len(commands)))]
    out = Path("out.conllu")
    out.unlink(missing_ok=True)
    try:
        status, _ = refused_or_done(*chosen)
        if status and out.exists():
            raise WrongError("an output that is not whole")
        if not status and out.exists() and "--kbest" not in chosen:
            list(treebank.read(out))
    except WrongError as error:
        raise WrongError(*error.args, chosen, data) from error
