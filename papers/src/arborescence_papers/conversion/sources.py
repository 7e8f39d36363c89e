"""Nine treebanks with an old training part, and today's dev and test parts."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from arborescence.parsers import Harmonizer, pair
from arborescence.treebank import read
from arborescence.treebank.copies import Held

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from arborescence.errors import TreebankError
    from arborescence.parsers.harmonizer.pairing import Pairing
    from arborescence.treebank import Sentence


class Part(NamedTuple):
    """Files of an old part, by their paths in a folder of treebanks.

    Attributes
    ----------
    train : tuple of str
        The old part that is converted.
    dev, test : tuple of str
        The old files that have the sentences of today's dev and test.
    today : str
        The folder of today's dev and test.
    parser : bool
        Whether the scores of a parser help.
    """

    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...]
    today: str
    parser: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """All files."""
        ours = dict.fromkeys((*self.train, *self.dev, *self.test))
        return (*ours, *(f"{self.today}/{part}.conllu.gz" for part in ("dev", "test")))


def _alone(file: str, today: str, *, parser: bool = False) -> Part:
    return Part((file,), (file,), (file,), today, parser)


def _beside(train: str, today: str) -> Part:
    def named(part: str) -> tuple[str, ...]:
        return (f"{today}/{part}.conllu.gz",)

    return Part(named(train), named("dev-old"), named("test-old"), today)


_ROMANIAN: Final = ("Romanian-RRT/dev-2016.conllu.gz", "Romanian-RRT/test-2016.conllu.gz")
PARTS: Final = {
    "Norwegian-Bokmaal": _alone("Norwegian-NDT/nob-ndt-all.conll.gz", "Norwegian-Bokmaal"),
    "Norwegian-Nynorsk": _alone("Norwegian-NDT/nno-ndt-all.conll.gz", "Norwegian-Nynorsk"),
    "Danish-DDT": _alone("Danish-CDT/da-cdt.conll.gz", "Danish-DDT", parser=True),
    "Dutch-LassySmall": _alone(
        "Dutch-LassySmall/train-2017.conllu.gz", "Dutch-LassySmall", parser=True
    ),
    "Chinese-GSD": _beside("train-ud1", "Chinese-GSD"),
    "Swedish-Talbanken": _beside("train-ud1", "Swedish-Talbanken"),
    "Korean-GSD": _beside("train", "Korean-GSD"),
    "Indonesian-GSD": _beside("train-2017", "Indonesian-GSD"),
    "Romanian-RRT": Part(_ROMANIAN, _ROMANIAN, _ROMANIAN, "Romanian-RRT"),
}


class Old:
    """A treebank in both annotations.

    Attributes
    ----------
    dev, test : list of Sentence
        Today's parts.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._part = folder, PARTS[name]
        place = folder / self._part.today
        self.dev, self.test = (list(read(place / f"{each}.conllu.gz")) for each in ("dev", "test"))

    def _read(self, files: Iterable[str]) -> list[Sentence]:
        broken: list[TreebankError] = []  # a few words of old Dutch are their own heads
        return list(
            chain.from_iterable(
                read(self._folder / file, skip_invalid=broken.append) for file in files
            )
        )

    def pairing(self, part: str) -> Pairing:
        """Return the sentences of today's dev or test, with their old annotation."""
        return pair(self._read(getattr(self._part, part)), getattr(self, part))

    def train(self) -> list[Sentence]:
        """Return the old part without copies of sentences of dev and test, in either annotation."""
        held = Held(chain(self.dev, self.test, *self._others()))
        return [each for each in self._read(self._part.train) if each not in held]

    def _others(self) -> list[list[Sentence]]:
        # their characters may be those of the old part only
        files = {*self._part.dev, *self._part.test} - {*self._part.train}
        return [self._read([file]) for file in sorted(files)]

    def harmonizer(self) -> Harmonizer:
        """Learn a conversion from dev."""
        return Harmonizer.learn(self.pairing("dev").pairs, parser=self._part.parser)


def converted(folder: Path, name: str) -> list[Sentence]:
    """Convert an old part, and leave out the sentences of today's dev and test."""
    old = Old(folder, name)
    return list(old.harmonizer().convert(old.train()))
