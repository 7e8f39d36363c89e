"""Train a small network on treebanks and on free text that the multilingual parser has parsed.

``python models/student.py LANGUAGE SHARED TREEBANKS TEXTS OUTPUT NAME...``: SHARED has `ud` and
`ud-more`; TREEBANKS is what `multi_data.py` wrote; TEXTS has ``*.txt``, a paragraph on each line.
The network learns from the training parts of NAME..., so often that they have about the share
``--share`` of all words, and from the parsed text; the development parts choose the epoch.
OUTPUT gets ``parsed.conllu``, ``LANGUAGE.npz``, and its package, measured on the test part of the
first NAME. An interrupted run goes on.
"""

from __future__ import annotations

import argparse
import io
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multi_data import Shared

import arborescence as arb
from arborescence.parsers import train
from arborescence.parsers.packaging import package
from arborescence.parsers.ranking import edge_probs
from arborescence.treebank import read, write
from arborescence.treebank.copies import Held, letters_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.treebank import Sentence

#: Shorter and longer sentences of the text are left out.
LENGTHS = range(4, 61)
#: A linear tagger is left out: it takes as long as a pass over the text.
SETTINGS: dict[str, Any] = {"columns": ["form", "upos", "feats"], "batch": 800, "tagger": False}


def parsed(language: str, texts: Iterable[Path], kept_out: Held) -> Iterator[Sentence]:
    """Yield the sentences of texts, each once, with trees and the probabilities of edges."""
    teacher = arb.load("multi", language=language)
    seen: set[str] = set()
    for path in texts:
        lines = path.read_text(encoding="utf-8").splitlines()
        source = io.BytesIO("\n\n".join(lines).encode())
        new = []
        for sentence in teacher.read_text(source):
            letters = letters_of(sentence)
            if len(sentence) in LENGTHS and letters not in seen and sentence not in kept_out:
                seen.add(letters)
                new.append(sentence)
        for number, sentence in enumerate(teacher.parse(new, confidence=True)):
            yield sentence.replace(comments=[f"# sent_id = {path.stem}-{number}"])


def surest(sentences: Iterable[Sentence], share: float) -> list[Sentence]:
    """Leave out the sentences with the least probable edges, and all probabilities.

    A new line after a sentence becomes a blank: else it would show where each sentence ends.
    """
    every = list(sentences)
    means = [sum(edge_probs(each)) / len(each) for each in every]
    least = sorted(means)[int(share * len(means))] if means else 0.0
    dropped = ("EdgeProb", "RelationProb", "UposProb", "SpacesAfter")

    def plain(misc: str) -> str:
        kept = [each for each in misc.split("|") if not each.startswith(dropped)]
        return "|".join(kept) or "_"

    return [
        each.replace(misc=[plain(misc) for misc in each.misc])
        for each, mean in zip(every, means, strict=True)
        if mean >= least
    ]


def part(treebanks: Path, names: Iterable[str], name: str) -> list[Sentence]:
    """Read a part of treebanks."""
    return [each for folder in names for each in read(treebanks / folder / f"{name}.conllu")]


def report(phase: str, done: int, total: int) -> None:
    """Print an epoch's line, or the end of a step."""
    if ":" in phase or done == total:
        print(phase, done, total, flush=True)  # noqa: T201


def main() -> None:
    """Parse the text, train the network, and write its package."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("language")
    for name in ("shared", "treebanks", "texts", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--drop", type=float, default=0.15, help="share of unsure sentences")
    parser.add_argument("--share", type=float, default=0.3, help="of the treebanks in all words")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--note", default="", help="the sources of the text, for the card")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    shared = Shared(given.shared)
    gold, dev = (part(given.treebanks, given.names, each) for each in ("train", "dev"))
    text = given.output / "parsed.conllu"
    if not text.exists():
        kept_out = Held(chain(shared.tests(), dev))
        write(parsed(given.language, sorted(given.texts.glob("*.txt")), kept_out), text)
    silver = surest(read(text), given.drop)
    words, of_text = (sum(map(len, each)) for each in (gold, silver))
    times = max(1, round(given.share / (1 - given.share) * of_text / words))
    print(f"{words:,} words of treebanks, {times} times; {of_text:,} words of text", flush=True)  # noqa: T201
    model = given.output / f"{given.language}.npz"
    if not model.exists():
        options = SETTINGS | {"mixed": True, "epochs": given.epochs}
        options["resume"] = model.with_suffix(".npz.checkpoint").exists()
        train(gold * times + silver, dev, "neural", output=model, progress=report, **options)
    terms = {each for name in given.names for each in shared.licences(name)}
    options = {"licence": " AND ".join(sorted(terms)), "note": given.note}
    options |= {"name": given.language, "output": given.output / "package"}
    package([model], given.treebanks / given.names[0], **options)


if __name__ == "__main__":
    main()
