"""Models of every kind that are damaged, or crafted: refused, or parsing as any other."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path

import numpy as np

import small_treebanks
from arborescence import treebank
from cases import Case, WrongError, examine
from command import refused_or_done
from damage import as_npy, crafted_header, damaged, damaged_zip, hostile, members, packed_again
from small_parsers import KINDS, small_parser


def attack(rng):
    for _ in range(40):
        yield from examine(parse, Case((), {"seed": int(rng.integers(2**31))}))


@cache
def model(kind):
    """Return the file of a small parser."""
    small_parser(kind).save("whole.model")
    return Path("whole.model").read_bytes()


def parse(case):
    rng = np.random.default_rng(case.options["seed"])
    kind = str(rng.choice(KINDS))
    note, data = crafted(rng, model(kind))
    Path("some.model").write_bytes(data)
    treebank.write(small_treebanks.sentences(), "text.conllu")
    options = [[], ["--kbest", "3"], ["--projective"], ["--confidence"], ["--root", "multi"]]
    chosen = options[int(rng.integers(len(options)))]
    out = Path("out.conllu")
    out.unlink(missing_ok=True)
    try:
        status, _ = refused_or_done("parse", "-m", "some.model", "text.conllu", "-o", out, *chosen)
        if status == 0:
            check_trees(out, kbest="--kbest" in chosen)
        elif out.exists():
            raise WrongError("an output that is not whole")
    except WrongError as error:
        raise WrongError(*error.args, kind, chosen, note) from error


def check_trees(path, kbest):
    """Check that there are trees, of the words that were given."""
    import arborescence as arb

    parsed = list(treebank.read(path))
    given = small_treebanks.sentences()
    if not kbest and [s.forms for s in parsed] != [s.forms for s in given]:
        raise WrongError("other words than those given")
    for sentence in parsed:
        if not arb.is_tree(sentence.tree, root="multi"):
            raise WrongError("what comes out is no tree", sentence.tree.tolist())


def crafted(rng, data):
    """Return a model that is damaged or crafted, and what is wrong with it."""
    turn = int(rng.integers(16))
    if turn == 0:
        return "bytes", damaged(rng, data)
    if turn == 1:
        return "directory", damaged_zip(rng, packed_again(members(data)))
    parts = members(data)
    name = str(rng.choice([x for x in parts if x != "header.npy"]))
    if turn == 2:
        other = str(rng.choice([*parts]))
        parts[name], parts[other] = parts[other], parts[name]
        return f"{name} and {other} change places", packed_again(parts, rng)
    if turn == 3:
        choices = {"gone": None, "empty": b"", "text": b"no array", "header": crafted_header(rng)}
        how = str(rng.choice([*choices]))
        parts[name] = choices[how]
        if how == "gone":
            del parts[name]
        return f"{name}: {how}", packed_again(parts, rng)
    if turn <= 11:
        array = np.load(io.BytesIO(parts[name]))
        other = hostile(rng, array)
        parts[name] = as_npy(other)
        shown = f"{array.dtype} {array.shape} -> {other.dtype} {other.shape}: {other.ravel()[:9]}"
        return f"{name}: {shown}", packed_again(parts, rng)
    text = np.load(io.BytesIO(parts["header.npy"])).tobytes()
    note, text = crafted_text(rng, text)
    parts["header.npy"] = as_npy(np.frombuffer(text, np.uint8))
    return note, packed_again(parts, rng)


def crafted_text(rng, text):
    """Return the JSON of a header, with another value in one place."""
    if rng.random() < 0.1:
        return "nested", b"[" * 100_000
    if rng.random() < 0.1:
        return "bytes of the header", damaged(rng, text)
    header = json.loads(text)
    place, path = header, []
    while True:
        keys = [*place] if isinstance(place, dict) else [*range(len(place))]
        key = keys[int(rng.integers(len(keys)))]
        path.append(key)
        inner = place[key]
        if not (isinstance(inner, (dict, list)) and inner and rng.random() < 0.7):
            break
        place = inner
    values = [
        *(None, True, -1, 0, 10**30, 2**31, 0.5, -0.0, 1e308, "", "x", "\x1b[31m\n", [], {}),
        *([inner], {"x": inner}, [None], float("nan"), float("inf")),
    ]
    value = values[int(rng.integers(len(values)))]
    if rng.random() < 0.15:
        del place[key]
        return f"header: {path} is gone", json.dumps(header).encode()
    place[key] = value
    return f"header: {path} = {value!r}"[:300], json.dumps(header).encode()
