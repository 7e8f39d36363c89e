"""Models that someone has tampered with are refused, or harmless.

With ``NUMBA_BOUNDSCHECK=1``, an index beyond the end of an array is an error and fails these tests.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import chain

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ModelError
from arborescence.treebank import Sentence
from hostile import arrays_like, headers_like
from modes import some, thinned
from samples import bare, treebank, unparsed
from small_parsers import KINDS, small_parser

_TRIED = some(40)  # of each kind of tampering and of model

NEW = [
    *map(unparsed, treebank()),
    bare(treebank()[0]),
    Sentence.from_words(["Grow"]),
    Sentence.from_words(["old", "?"] * 12, upos=["NOUN", "NEW"] * 12),
]


@pytest.fixture(
    scope="module",
    params=thinned(sorted({*KINDS} - {"projective", "tree", "hybrid", "second-order"}), 2),
)
def model(request):
    header, arrays = small_parser(request.param).to_file()
    return json.loads(json.dumps(header)), arrays


def save(path, header, arrays):
    text = json.dumps({"format": "arborescence model", "version": 1, **header})
    with path.open("wb") as file:
        np.savez(file, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
    return path


def use(path):
    """Load a model and do with it what can be done; return whether it was refused."""
    try:
        parser = arb.load(path)
    except ModelError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert message.startswith(f"{path}: ")
        assert len(message) < 500 + len(str(path))
        assert message.isprintable()
        return True
    for work in (
        lambda: parser.parse(NEW),
        lambda: parser.parse(NEW, root="multi", projective=True),
        lambda: parser.parse(NEW, confidence=True),
        lambda: parser.kbest(NEW, 3),
    ):
        with suppress(ModelError):  # what this kind of parser cannot do
            for parsed in work():
                if isinstance(parsed, Sentence):
                    assert arb.is_tree(parsed.tree, root="multi")
    return False


def some(tampered, generator):
    tampered = list(tampered)
    chosen = generator.permutation(len(tampered))[:_TRIED]
    return [tampered[i] for i in chosen]


def test_arrays(model, tmp_path):
    header, arrays = model
    generator = np.random.default_rng(len(arrays))
    tampered = chain.from_iterable(
        [(name, *other) for other in arrays_like(array, generator)]
        for name, array in arrays.items()
    )
    refused = 0
    for name, how, array in some(tampered, generator):
        try:
            refused += use(save(tmp_path / "some.model", header, arrays | {name: array}))
        except Exception as error:
            error.add_note(f"{name} {how}")
            raise
    assert refused > _TRIED / 4
    for name in arrays:
        rest = {other: array for other, array in arrays.items() if other != name}
        path = save(tmp_path / "some.model", header, rest)
        assert use(path) or name in ("joint", "parser/0/joint")


def test_headers(model, tmp_path):
    header, arrays = model
    refused = 0
    for how, other in some(headers_like(header), np.random.default_rng(len(arrays))):
        try:
            refused += use(save(tmp_path / "some.model", other, arrays))
        except Exception as error:
            error.add_note(how)
            raise
    assert refused > _TRIED / 4


def test_what_a_kernel_would_write_out_of_bounds(tmp_path):
    """Each of these ended the process, or wrote where nothing of ours is."""
    header, arrays = small_parser("linear").to_file()
    path = tmp_path / "some.model"
    limits = np.full_like(arrays["pruning/limits"], 2**63 - 1)
    with pytest.raises(ModelError, match="array 'pruning/limits' has values"):
        arb.load(save(path, header, arrays | {"pruning/limits": limits}))

    layout = [*header["layout"][:2], 1]
    with pytest.raises(ModelError, match=r"layout is \[128, 1024, 1\]"):
        arb.load(save(path, {**header, "layout": layout}, arrays))

    # More tags for a context than there are.
    allowed, starts = (arrays[f"tagger/3.{name}"] for name in ("allowed", "allowed_starts"))
    many = np.concatenate(
        (allowed[: starts[1]], np.tile(allowed[: starts[1]], 40), allowed[starts[2] :])
    )
    moved = starts.copy()
    moved[2:] += len(many) - len(allowed)
    with pytest.raises(ModelError, match="tagger do not fit"):
        arb.load(
            save(
                path,
                header,
                arrays | {"tagger/3.allowed": many, "tagger/3.allowed_starts": moved},
            )
        )

    # Contexts out of order are found where they are not.
    contexts = arrays["tagger/2.contexts"][::-1].copy()
    with pytest.raises(ModelError, match="'contexts' is not in ascending order"):
        arb.load(save(path, header, arrays | {"tagger/2.contexts": contexts}))


def test_parsers_within_parsers_within_parsers(tmp_path):
    header, arrays = small_parser("greedy").to_file()
    for _ in range(300):
        header = {"kind": "combined", "parsers": [header], "weights": [1.0]}
    with pytest.raises(ModelError, match="inside each other"):
        arb.load(save(tmp_path / "some.model", header, arrays))
    header, arrays = small_parser("greedy").to_file()
    for _ in range(2):
        header = {"kind": "combined", "parsers": [header] * 11, "weights": [1.0] * 11}
    with pytest.raises(ModelError, match="more than 100 parsers"):
        arb.load(save(tmp_path / "some.model", header, arrays))
