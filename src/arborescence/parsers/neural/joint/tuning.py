"""Training of a network for many treebanks that goes on with one treebank, also of a new language.

All parameters begin as they are in the model file, or as `growing` makes them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from arborescence.errors import OptionError
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.bert.training import in_pytorch
from arborescence.parsers.neural.devices import own_threads
from arborescence.parsers.neural.joint.forward import above_encoder
from arborescence.parsers.neural.joint.growing import grown
from arborescence.parsers.neural.joint.inventory import Inventory, TreebankValues
from arborescence.parsers.neural.joint.languages import Language
from arborescence.parsers.neural.joint.settings import Settings
from arborescence.parsers.neural.joint.training import JointTrainer
from arborescence.parsers.shared.keeping import scheme_of
from arborescence.parsers.shared.reading import Reading
from arborescence.parsers.shared.training_trees import checked

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence

    Weights = dict[str, NDArray[np.float32]]
    # The module of this class imports this module, so the class has no type here.
    MultilingualParser: TypeAlias = Any

#: About the steps of a training on a small treebank; the pieces of a batch; limits of epochs.
_STEPS: Final = 100
_PIECES: Final = 300
_MOST_EPOCHS: Final = 30
_LEAST_EPOCHS: Final = 6
#: Options of `arborescence train neural` that go with this training, and their names here.
_NAMES: Final = {
    **{
        each: each
        for each in ("epochs", "rate", "encoder_rate", "dropout", "rng", "device", "mixed")
    },
    "batch": "pieces",
}
#: Those of them that the card of a model tells.
_TOLD: Final = _NAMES.keys() - {"rng", "device"}
#: The share of the trees that shows whether a treebank keeps the rules of UD.
_TREES: Final = 500


def pace(words: int) -> dict[str, Any]:
    """Return the settings for a number of words.

    >>> [pace(words)["epochs"] for words in (400, 2_000, 8_000, 80_000)]
    [30, 15, 6, 6]
    """
    epochs = _STEPS * _PIECES // max(words, 1)
    return {
        "words": max(words, 1),
        "epochs": min(max(epochs, _LEAST_EPOCHS), _MOST_EPOCHS),
        "pieces": _PIECES,
        "rate": 5e-4,
        "encoder_rate": 1e-4,
        "warm_up": 1,
        "fall": 0.7,
    }


def tuned(
    start: MultilingualParser,
    treebank: Iterable[Sentence],
    dev: Iterable[Sentence],
    text: Text | None,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress | None,
    settings: Mapping[str, Any],
) -> MultilingualParser:
    """Train the network of a parser on a treebank: see `MultilingualParser.train`."""
    start = start.beginning()
    code = start.language
    reading = start.reading if start.text else Reading.of(treebank := list(treebank))
    sentences, held_out = (
        list(reading.sentences(part)) for part in checked(treebank, dev, "single", in_part=True)
    )
    own = _settings(sum(map(len, sentences)), settings)
    own = replace(own, arc=start.arc, label=start.label)
    with own_threads(1):
        encoder = in_pytorch(start.encoder)
        inventory = _grown(start, [*sentences, *held_out], with_xpos=text is not None)
        weights = start.encoder.weights() | _above(start, inventory)
        run = JointTrainer(encoder, inventory, {code: sentences}, {code: held_out}, own, weights)
        run.run(own.epochs, checkpoint=checkpoint, progress=progress)
        after = run.best
    labels = {name for each in sentences for name in each.deprels}
    whole = [each for each in sentences if (each.heads >= 0).all()]
    language = Language(
        code,
        rules=scheme_of(labels, whole[:_TREES]),
        reading=reading,
        text=text or start.text,
        info=run.info()
        | {"settings": own.stored(), "base": _learned(start)}
        | {name: settings[name] for name in settings.keys() & _TOLD},
    )
    parser = replace(
        start,
        languages={code: language.stored()},
        inventory=inventory,
        weights=stored.to_arrays(above_encoder(after), "int8"),
        encoder=start.encoder.written(after),
        identifier=None,
    )
    if held_out:
        parser.fit(held_out, "single")
    return parser


def _learned(start: MultilingualParser) -> list[str]:
    """Return the treebanks that a network has learned from before."""
    return start.info.get("base", []) or sorted(start.inventory.treebanks.keys() - {start.language})


def _settings(words: int, given: Mapping[str, Any]) -> Settings:
    """Return the settings for a number of words; OptionError for one that does not fit."""
    if others := given.keys() - _NAMES.keys():
        raise OptionError(
            f"{min(others)} does not go with a model of several languages; these options do: "
            f"{', '.join(_NAMES)}"
        )
    return Settings(**pace(words) | {_NAMES[name]: value for name, value in given.items()})


def _grown(start: MultilingualParser, sentences: Iterable[Sentence], with_xpos: bool) -> Inventory:
    """Return an inventory of one treebank: its values, and those that the parser has already."""
    new = TreebankValues.of(start.language, sentences)
    old = start.inventory.treebanks[start.treebank]
    if start.text and not with_xpos:  # its lemmatizer has not learned from the new tags
        new = new._replace(xpos=())
    both = (sorted({*one, *other}) for one, other in zip(new[1:], old[1:], strict=True))
    return Inventory({start.language: TreebankValues(start.language, *map(tuple, both))})


def _above(start: MultilingualParser, inventory: Inventory) -> Weights:
    """Return the parameters above the encoder, for the values of a new inventory."""
    before = start.inventory
    weights = stored.from_arrays(start.weights, start.shapes)
    number = list(before.treebanks).index(start.treebank)
    weights["treebanks.weight"] = weights["treebanks.weight"][[number]]
    return grown(weights, before, inventory)
