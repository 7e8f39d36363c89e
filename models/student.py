"""Train a small network on treebanks and on free text that the multilingual parser has parsed.

``python models/student.py LANGUAGE SHARED TREEBANKS TEXTS OUTPUT NAME...``: SHARED has `ud` and
`ud-more`; TREEBANKS is what `multi_data.py` wrote; TEXTS has ``*.txt``, a paragraph on each line.
The network learns from the training parts of NAME..., so often that they have about the share
``--share`` of all words, and from the parsed text; the development parts choose the epoch.
``sources.tsv`` of TEXTS has a line for each file: its name, its text and licence, its address.
OUTPUT gets ``parsed.conllu``, ``LANGUAGE.npz``, and its package, measured on the test part of the
first NAME beside its teacher. An interrupted run goes on. ``--start`` is the network of an earlier
run, with less text: the new network goes on from it, and needs fewer epochs. ``--words`` keeps the
model small: the rarest words become unknown words after training.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shlex
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

from multi_data import Shared

import arborescence as arb
from arborescence.parsers import train
from arborescence.parsers.neural.vocabulary import ROOT, UNKNOWN
from arborescence.parsers.packaging import package
from arborescence.parsers.ranking import edge_probs
from arborescence.treebank import evaluate, raw_text, read, write
from arborescence.treebank.copies import Held, letters_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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


def smaller(parser: Any, sentences: Iterable[Sentence], most: int) -> Any:
    """Return a parser that knows only the `most` most frequent words of sentences."""
    counts = Counter(form.lower() for each in sentences for form in each.forms)
    words = parser.vocabulary.words
    kept = sorted(sorted(words, key=lambda word: -counts[word])[:most], key=words.__getitem__)
    rows = [UNKNOWN, ROOT, *(words[word] for word in kept)]
    weights = {
        name: array[rows] if name.startswith("words.weight") and len(array) > 1 else array
        for name, array in parser.weights.items()
    }
    numbers = {word: number for number, word in enumerate(kept, ROOT + 1)}
    return replace(parser, vocabulary=parser.vocabulary._replace(words=numbers), weights=weights)


class Source(NamedTuple):
    """A line of ``sources.tsv``: where a file of free text comes from."""

    #: The file's name.
    file: str
    #: The kind of text, and its licence.
    text: str
    #: Where others find the text.
    address: str


def sources(texts: Path) -> list[Source]:
    """Read where the text comes from."""
    with (texts / "sources.tsv").open(encoding="utf-8", newline="") as lines:
        return [Source(*row) for row in csv.reader(lines, delimiter="\t")]


def learned(sources: Iterable[Source], language: str, words: int, others: Mapping[str, str]) -> str:
    """Return the card's sentences about everything that the network learns from but its treebank.

    `others` has a few words about each further treebank.
    """
    of_treebanks = "".join(f"the training part of UD_{each} ({others[each]}), " for each in others)
    kinds = ", ".join(dict.fromkeys(each.text for each in sources))
    return (
        f"Also learned from: {of_treebanks}{words:,} words of free text with the trees that "
        f"`multi:{language}` of arborescence-multi found: {kinds}. No sentence has seven words in "
        "a row of a development or test part."
    )


def recipe(given: argparse.Namespace, sources: Iterable[Source], teacher: str) -> str:
    """Return the card's section about the making of the network."""
    command = ["python", "models/student.py", given.language, "../shared", "treebanks", "texts"]
    command += ["output", *given.names, "--share", str(given.share), "--epochs", str(given.epochs)]
    if given.start is not None:
        command += ["--start", "/".join(given.start.parts[-2:]), "--rate", str(given.rate)]
    if given.words is not None:
        command += ["--words", str(given.words)]
    addresses = ", ".join(dict.fromkeys(f"<{each.address}>" for each in sources))
    return f"""\
```console
$ {shlex.join(command)}
```

`models/student.py` of the library's repository describes its arguments. {teacher}

The texts: {addresses}.
"""


def measured(language: str, gold: list[Sentence]) -> str:
    """Say how good and how fast the teacher is on a test part."""
    teacher = arb.load("multi", language=language)
    text = raw_text(gold)
    list(teacher.parse(text[:2_000]))
    start = process_time()
    found = list(teacher.parse(text))
    speed = sum(map(len, found)) / (process_time() - start)
    las = 100 * evaluate(gold, found).las.f1
    return (
        f"`multi:{language}` has LAS {las:.2f} from raw text of the same test part, at "
        f"{speed:,.0f} words/s, and 39 MB."
    )


def part(treebanks: Path, names: Iterable[str], name: str) -> list[Sentence]:
    """Read a part of treebanks."""
    return [each for folder in names for each in read(treebanks / folder / f"{name}.conllu")]


def report(phase: str, done: int, total: int) -> None:
    """Print an epoch's line, or the end of a step."""
    if ":" in phase or done == total:
        print(phase, done, total, flush=True)  # noqa: T201


def packed(given: argparse.Namespace, model: Path, words: int) -> None:
    """Write the package of a network that has learned from words of free text."""
    first, *further = given.names
    file = given.treebanks / "treebanks.json"
    every = json.loads(file.read_text(encoding="utf-8"))["treebanks"]
    listed = {name: every[name] for name in given.names}
    others = {
        each: f"{listed[each]['train'][1]:,} words, {' AND '.join(listed[each]['licences'])}: "
        f"see `LICENSE-{each}`"
        for each in further
    }
    used = sources(given.texts)
    made = package(
        [model],
        given.treebanks / first,
        name=given.language,
        output=given.output / "package",
        licence=" AND ".join(sorted({x for each in listed.values() for x in each["licences"]})),
        note=learned(used, given.language, words, others),
    )
    for each in further:
        terms = (given.treebanks / each / "LICENSE").read_bytes()
        (made.folder / f"LICENSE-{each}").write_bytes(terms)
    card = made.folder / "README.md"
    before, title, after = card.read_text(encoding="utf-8").partition("## How it was made\n\n")
    teacher = measured(given.language, part(given.treebanks, [first], "test"))
    cited = after[after.index("\nTo cite it,") :]
    card.write_text(before + title + recipe(given, used, teacher) + cited, encoding="utf-8")


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
    parser.add_argument("--start", type=Path, help="the network of an earlier run")
    parser.add_argument("--rate", type=float, default=2e-3, help="the highest learning rate")
    parser.add_argument("--words", type=int, help="the most known words: each has 100 bytes")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    gold, dev = (part(given.treebanks, given.names, each) for each in ("train", "dev"))
    text = given.output / "parsed.conllu"
    if not text.exists():
        kept_out = Held(chain(Shared(given.shared).tests(), dev))
        write(parsed(given.language, sorted(given.texts.glob("*.txt")), kept_out), text)
    silver = surest(read(text), given.drop)
    words, of_text = (sum(map(len, each)) for each in (gold, silver))
    times = max(1, round(given.share / (1 - given.share) * of_text / words))
    print(f"{words:,} words of treebanks, {times} times; {of_text:,} words of text", flush=True)  # noqa: T201
    model = given.output / f"{given.language}.npz"
    if not model.exists():
        options = SETTINGS | {"mixed": True, "epochs": given.epochs, "rate": given.rate}
        if given.start is not None:
            options |= {"start": given.start, "anew": True}
        options["resume"] = model.with_suffix(".npz.checkpoint").exists()
        train(gold * times + silver, dev, "neural", output=model, progress=report, **options)
    if given.words is not None:  # also in a run that goes on; a second time, nothing changes
        smaller(arb.load(model), gold + silver, given.words).save(model)
    packed(given, model, of_text)


if __name__ == "__main__":
    main()
