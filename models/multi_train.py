"""Train one network on all treebanks that `multi_data.py` wrote, above what `multi_encoder.py` did.

``python models/multi_train.py TREEBANKS ENCODER OUTPUT [--epochs 60] [--device cuda] ...``: after
each epoch, the run is written to OUTPUT.run, and goes on from there if it is interrupted. At the
end, OUTPUT.npz gets the weights of the best epoch, as float32, and OUTPUT.json what was learned.
With ``--start RUN.npz``, training begins with the weights of an earlier run on the same treebanks;
values that are new begin with zeros. ``--only xpos. upos.`` trains the parameters with such names,
and does not choose an epoch.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import strftime
from typing import TYPE_CHECKING

from arborescence.errors import OptionError
from arborescence.parsers import model_file
from arborescence.parsers.neural.devices import own_threads
from arborescence.parsers.neural.encoder import Encoder
from arborescence.parsers.neural.joint.growing import grown
from arborescence.parsers.neural.joint.inventory import Inventory, TreebankValues
from arborescence.parsers.neural.joint.settings import Settings
from arborescence.parsers.neural.joint.training import JointTrainer
from arborescence.parsers.shared.options import options_of
from arborescence.treebank import read

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.treebank import Sentence


def first(sentences: Iterable[Sentence], words: int) -> list[Sentence]:
    """Return the first sentences, until they have so many words.

    >>> from arborescence.treebank import Sentence
    >>> len(first([Sentence.from_words(["Owls", "hoot"])] * 9, 5))
    3
    """
    taken: list[Sentence] = []
    for sentence in sentences:
        if sum(map(len, taken)) >= words:
            break
        taken.append(sentence)
    return taken


def started(path: Path, inventory: Inventory) -> dict[str, NDArray[np.float32]]:
    """Return the weights of an earlier run, for the values of an inventory."""
    header, weights = model_file.load(path)
    before = Inventory.from_file(header["inventory"])
    if list(before.treebanks) != list(inventory.treebanks):
        raise OptionError(f"{path} has learned from other treebanks")
    return grown(weights, before, inventory)


def main() -> None:
    """Train, and write the weights and what each treebank's dev part shows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--start", type=Path, help="the weights to begin with (.npz)")
    parser.add_argument("--only", nargs="+", default=[], help="how the names of parameters begin")
    parser.add_argument("--dev-words", type=int, default=300, help="of each treebank, each epoch")
    parser.add_argument("--stop", type=int, help="the epoch after which this run ends for now")
    for name, option in options_of(Settings).items():
        if option.is_flag:
            parser.add_argument(f"--{name}", action="store_true")
        else:
            parser.add_argument(
                f"--{name.replace('_', '-')}", type=option.kind, default=option.default
            )
    chosen = vars(parser.parse_args())
    folder, output, stop = chosen.pop("treebanks"), chosen.pop("output"), chosen.pop("stop")
    encoder = Encoder.load(chosen.pop("encoder"), layers=1, fine_tune=True)
    words, start, only = (chosen.pop(name) for name in ("dev_words", "start", "only"))
    settings = Settings(**chosen)
    listed = json.loads((folder / "treebanks.json").read_text(encoding="utf-8"))["treebanks"]
    train, dev = (
        {name: list(read(folder / name / f"{part}.conllu")) for name in listed}
        for part in ("train", "dev")
    )
    inventory = Inventory(
        {
            name: TreebankValues.of(each["language"], [*train[name], *dev[name]])
            for name, each in listed.items()
        }
    )
    few = {name: first(sentences, words) for name, sentences in dev.items() if not only}

    def progress(phase: str, done: int, total: int) -> None:
        line = f"{strftime('%H:%M:%S')} {phase} {done:,} of {total:,}"
        print(line, file=sys.stderr, flush=True)  # noqa: T201

    with own_threads(1):
        weights = started(start, inventory) if start else None
        run = JointTrainer(encoder, inventory, train, few, settings, weights, only)
        checkpoint = output.with_suffix(".run")
        run.run(stop or settings.epochs, checkpoint=checkpoint, progress=progress)
        run.go_back_to_best()
        found = {name: each._asdict() for name, each in run.scores(dev).items()}
    header = {"kind": "joint", "inventory": inventory.to_file(), "settings": settings.stored()}
    model_file.save(output.with_suffix(".npz"), header, run.best, compress=False)
    report = {"dev": found, "history": run.history, "encoder": encoder.digest}
    output.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
