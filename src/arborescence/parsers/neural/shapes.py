"""The parameters of the network: their names and shapes, known without PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vocabulary import Vocabulary

    Shape = tuple[int, ...]

#: The widths of the windows over the characters of a word.
WINDOWS: Final = (3, 5)
#: The slope of leaky rectifiers for negative numbers.
SLOPE: Final = 0.1


def shapes(
    settings: Settings, vocabulary: Vocabulary, *, hinted: bool, relations: int
) -> dict[str, Shape]:
    """Return the shape of each parameter of a network, by name."""
    words, lemmas, letters = vocabulary.sizes
    word, tag, both = settings.word, settings.tag, 2 * settings.hidden
    ends = settings.arc + settings.label
    found: dict[str, Shape] = {
        "words.weight": (words, word),
        "letters.weight": (letters, settings.letter),
    }
    if settings.vector:
        found["pretrained.weight"] = (len(vocabulary.vectors) + 1, settings.vector)
        found["pretrained_projection.weight"] = (word, settings.vector)
    for number, width in enumerate(WINDOWS):
        found[f"windows.{number}.weight"] = (settings.filters, settings.letter, width)
        found[f"windows.{number}.bias"] = (settings.filters,)
    for column, tagset in vocabulary.tags.items():
        if hinted:
            found[f"hints.{column}"] = (len(tagset.pieces), tag)
        found[f"tags.{column}"] = (len(tagset.pieces), tag)
        found[f"taggers.{column}.weight"] = (len(tagset.values), both)
        found[f"taggers.{column}.bias"] = (len(tagset.values),)
    read = word + len(WINDOWS) * settings.filters
    tagged = both + len(vocabulary.tags) * tag
    if hinted:
        read += len(vocabulary.tags) * tag
    if settings.encoded:
        read += settings.hidden
        found["encoder_mix"] = (settings.encoder_layers,)
        found["encoder_projection.weight"] = (settings.hidden, settings.encoded)
        found["encoder_projection.bias"] = (settings.hidden,)
    if vocabulary.lemmas:
        found["lemmas.weight"] = (lemmas, word)
        tagged += word
    for name, layers, first in (("lower", settings.lower, read), ("upper", settings.upper, tagged)):
        for layer in range(layers):
            size = both if layer else first
            found[f"{name}.{layer}.input"] = (2, size, 4 * settings.hidden)
            found[f"{name}.{layer}.recurrent"] = (2, settings.hidden, 4 * settings.hidden)
            found[f"{name}.{layer}.bias"] = (2, 1, 4 * settings.hidden)
    for name in ("as_head", "as_dependent"):
        found[f"{name}.weight"] = (ends, both)
        found[f"{name}.bias"] = (ends,)
    is_mlp = settings.scorer == "mlp"
    found["edge_weights"] = (settings.arc,) if is_mlp else (settings.arc + 1, settings.arc)
    wide = settings.label + 1
    found["relation_weights"] = (wide, relations, wide)
    return found
