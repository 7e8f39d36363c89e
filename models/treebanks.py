"""Convert nine old training parts to today's annotation, without sentences of today's dev and test.

``python models/treebanks.py FOLDER OUTPUT [NAME...]``, where FOLDER is `../shared/ud-more`. Each
conversion learns from today's dev part and the same sentences in the old annotation.
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from arborescence.parsers import Harmonizer, pair
from arborescence.parsers.harmonizer.pairing import letters_of
from arborescence.treebank import read, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.errors import TreebankError
    from arborescence.treebank import Sentence

#: Shorter sentences may be in both: anyone may say these.
SHORT: Final = 5
#: A sentence with this number of consecutive words of another sentence counts as its copy.
ROW: Final = 7


class Part(NamedTuple):
    """An old part: its files, those that have the sentences of today's dev, and today's folder."""

    files: tuple[str, ...]
    sample: tuple[str, ...]
    today: str


def _alone(file: str, today: str) -> Part:
    return Part((file,), (file,), today)


def _beside(train: str, today: str) -> Part:
    return Part((f"{today}/{train}.conllu.gz",), (f"{today}/dev-old.conllu.gz",), today)


_ROMANIAN: Final = ("Romanian-RRT/dev-2016.conllu.gz", "Romanian-RRT/test-2016.conllu.gz")
PARTS: Final = {
    "Norwegian-Bokmaal": _alone("Norwegian-NDT/nob-ndt-all.conll.gz", "Norwegian-Bokmaal"),
    "Norwegian-Nynorsk": _alone("Norwegian-NDT/nno-ndt-all.conll.gz", "Norwegian-Nynorsk"),
    "Danish-DDT": _alone("Danish-CDT/da-cdt.conll.gz", "Danish-DDT"),
    "Dutch-LassySmall": _alone("Dutch-LassySmall/train-2017.conllu.gz", "Dutch-LassySmall"),
    "Chinese-GSD": _beside("train-ud1", "Chinese-GSD"),
    "Swedish-Talbanken": _beside("train-ud1", "Swedish-Talbanken"),
    "Korean-GSD": _beside("train", "Korean-GSD"),
    "Indonesian-GSD": _beside("train-2017", "Indonesian-GSD"),
    "Romanian-RRT": Part(_ROMANIAN, _ROMANIAN, "Romanian-RRT"),
}


class Held:
    """Sentences that must not be in a training part."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self._letters: set[str] = set()
        self._rows: set[tuple[str, ...]] = set()
        for sentence in sentences:
            self._letters.add(letters_of(sentence))
            self._rows.update(_rows(sentence))

    def __contains__(self, sentence: Sentence) -> bool:
        """Return whether one has these letters, or seven words in a row that are in one."""
        if len(sentence) < SHORT:
            return False
        return letters_of(sentence) in self._letters or not self._rows.isdisjoint(_rows(sentence))


def _rows(sentence: Sentence) -> Iterator[tuple[str, ...]]:
    forms = [form.casefold() for form in sentence.forms if any(map(str.isalnum, form))]
    return (tuple(forms[i : i + ROW]) for i in range(len(forms) - ROW + 1))


def converted(folder: Path, name: str) -> list[Sentence]:
    """Convert an old part, and leave out the sentences of today's dev and test."""
    part = PARTS[name]
    broken: list[TreebankError] = []

    def old(files: Iterable[str]) -> list[Sentence]:
        read_all = (read(folder / file, skip_invalid=broken.append) for file in files)
        return list(chain.from_iterable(read_all))

    today = {
        each: list(read(folder / part.today / f"{each}.conllu.gz")) for each in ("dev", "test")
    }
    harmonizer = Harmonizer.learn(pair(old(part.sample), today["dev"]).pairs)
    held = Held(chain(*today.values()))
    found = list(harmonizer.convert(each for each in old(part.files) if each not in held))
    print(f"{name}: {len(found):,} sentences, {sum(map(len, found)):,} words", flush=True)  # noqa: T201
    return found


def main(folder: str, output: str, *names: str) -> None:
    """Write a training part into a folder for each treebank."""
    for name in names or PARTS:
        place = Path(output) / name
        place.mkdir(parents=True, exist_ok=True)
        write(converted(Path(folder), name), place / "train.conllu")


if __name__ == "__main__":
    main(*sys.argv[1:])
