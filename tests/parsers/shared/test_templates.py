"""Templates of the classifiers of text and tags, beside products of hashes as they are written."""

import numpy as np
import pytest

from arborescence.parsers.shared.classifier import compiled, fill, values_of
from arborescence.parsers.shared.features import mix
from arborescence.parsers.tagger import kernels
from arborescence.parsers.text import rewriting, sentences, words

EXAMPLES = ["b", "a * b", "a, b * a, a", "a * b * c, b, a * (b * c), (a * b) * (a * b), c * c"]


class Hash(int):
    """A number whose product with another one is their mix."""

    def __mul__(self, other):
        return Hash(mix(np.uint64(self), np.uint64(other)))


@pytest.mark.parametrize("text", EXAMPLES)
@pytest.mark.parametrize("first", [0, 3])
def test_features_are_products_of_hashes(text, first):
    numbers = np.random.default_rng(5).integers(0, 2**63, 3).astype(np.uint64)
    made = eval(f"[{text}]", {}, dict(zip("abc", map(Hash, numbers.tolist()), strict=True)))
    templates = compiled("a b c", text)
    room = values_of(templates, 3)
    room.values[:3] = numbers
    places = np.zeros(first + len(made), dtype=np.uint64)
    for count in (len(made), len(made) // 2):
        fill(templates, room, 1 << 20, places[: first + count], first)
        assert places[:first].tolist() == [0] * first
        assert places[first : first + count].tolist() == [
            int(mix(np.uint64(one), np.uint64(first + i))) % 2**20
            for i, one in enumerate(made[:count])
        ]


def test_what_several_templates_share_is_mixed_once():
    assert len(compiled("a b c", "a * b, a * b * c, c * (a * b), a * b").left) == 3


def test_unknown_atoms_are_named():
    with pytest.raises(KeyError, match="d"):
        compiled("a b c", "a, a * d")


def test_there_are_as_many_atoms_as_names():
    """Features beyond the last atom would be results of other templates."""
    for templates, atoms in (
        (words._TEMPLATES, words._ATOMS), (sentences._TEMPLATES, sentences._ATOMS),
    ):  # fmt: skip
        assert templates.features.max() < len(atoms.split()) + len(templates.left)
    assert [len(t._TEMPLATES.features) for t in (words, sentences, rewriting)] == [50, 54, 39]
    assert kernels.WORD_FEATURES + len(kernels._TAGS.features) == kernels.OWN == 65
