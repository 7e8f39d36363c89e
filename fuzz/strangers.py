"""Files of rules, and encoders in model files, that strangers have made: refused, or of use."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

import arborescence as arb
from arborescence.rules.sets import rules_of
from cases import Case, WrongError, examine
from damage import damaged

SLOWEST = 2.0  # seconds of processor time that a file may take
_RULES = """include = "ud"
without = ["leaf-det"]
[costs]
leaf-cc = 2.5
[[rule]]
name = "one-object"
at_most_one = ["obj", "iobj"]
cost = 0.5
[[rule]]
name = "articles"
labels = ["det"]
tags = ["DET"]
"""
_LONG = ("[", "{a = ", "a.", "9", "0", '"', "\n", "[[rule]]\n", "#", "\\", "1e", ", ", "\u200b")


def attack(rng):
    for _ in range(30):
        yield from examine(rules, Case((), {"seed": int(rng.integers(2**31))}))
    try:
        import tokenizers  # noqa: F401
    except ImportError:
        return
    for _ in range(20):
        yield from examine(encoder, Case((), {"seed": int(rng.integers(2**31))}))


def rules(case):
    rng = np.random.default_rng(case.options["seed"])
    data = _RULES.encode()
    if rng.random() < 0.5:
        at = int(rng.integers(len(data)))
        much = str(rng.choice(_LONG)) * int(rng.choice([1, 90, 900, 5000, 70_000]))
        data = data[:at] + much.encode() + data[at:]
    else:
        data = damaged(rng, data)
    path = Path("some.toml")
    path.write_bytes(data)
    answered(lambda: rules_of(path), arb.OptionError)


def encoder(case):
    from arborescence.parsers.neural.bert.encoder import BertEncoder
    from hand_made_bert import BERT, E5, FIELDS, LAYERS, SIZE, SIZES, arrays_of

    rng = np.random.default_rng(case.options["seed"])
    tokenizer = json.dumps(BERT if rng.random() < 0.5 else E5).encode()
    fields = FIELDS | SIZES
    if rng.random() < 0.5:
        tokenizer = damaged(rng, tokenizer)
    else:
        fields[str(rng.choice([*SIZES]))] = int(rng.choice([0, 1, 2, 3, 5, 64, 2**13, 2**40]))
    arrays = arrays_of(tokenizer)

    def read():
        made = BertEncoder(fields, arrays, LAYERS, SIZE)
        if not np.isfinite(made.features([["abc", "x" * 2000], ["h"] * 50])).all():
            raise WrongError("no numbers")

    answered(read, arb.ModelError)


def answered(call, error):
    """Check that a call ends in time, with a result or with this error, which is one line."""
    begun = time.process_time()
    try:
        call()
    except error as fault:
        if "\n" in str(fault) or len(str(fault)) > 1000:
            raise WrongError("an error that is no line", ascii(str(fault))[:300]) from fault
    if time.process_time() - begun > SLOWEST:
        raise WrongError("too slow")
