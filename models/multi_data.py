"""Collect the treebanks with free licences, from which one parser for all languages learns.

``python models/multi_data.py SHARED CONVERTED OUTPUT [NAME...] [--whole-dev]``: SHARED has the
folders `ud` and `ud-more`; CONVERTED is what `treebanks.py` wrote. For each treebank, a folder of
OUTPUT gets ``train.conllu``, ``dev.conllu`` (which chooses) and ``test.conllu``; `treebanks.json`
lists all. A sentence of any test part, or seven words in a row of it, is never learned from. A
tenth of a development part chooses, and the rest is learned from, unless ``--whole-dev`` is given.
``--text FILE...``, which another parser has parsed, becomes one more training part.
"""

from __future__ import annotations

import argparse
import json
import re
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.parsers.folders import Treebank, spdx
from arborescence.treebank import read, write
from arborescence.treebank.copies import Held

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.errors import TreebankError
    from arborescence.treebank import Sentence

    Block = list[Sentence]

#: The name of the treebank that parsed text becomes; it has the language of the first NAME.
TEXT: Final = "Text"
#: The share of a development part that chooses; the rest is learned from.
CHOOSING: Final = 0.1
#: The words of a development part, or of a training part without one, that the share is taken of.
MOST_WORDS: Final = 20_000
#: The words that are kept apart where a language has no test part.
APART: Final = 5_000
#: The sentences of a block, where the documents of a part are not marked.
BLOCK: Final = 20
#: A part with fewer documents is cut into blocks.
FEWEST: Final = 10


class Source(NamedTuple):
    """A treebank: what is learned from it beside its training and development parts."""

    #: The language, as ISO 639 has it; `zh-Hans` for simplified characters.
    language: str
    #: Training parts in other files of its folder in `ud-more`.
    files: tuple[str, ...] = ()
    #: Whether its training part is one that `treebanks.py` converted.
    converted: bool = False
    #: Whether documents are kept apart to test on.
    apart: bool = False
    #: Whether its own test part is learned from.
    whole: bool = False
    #: The licences of its texts and of the old annotation, beside that of its README.
    also: tuple[str, ...] = ()
    #: The folder that it is in, if the folder has another name.
    folder: str = ""


_GUM: Final = tuple(
    f"{genre}.conllu.gz" for genre in ("academic", "bio", "court", "interview", "news", "voyage")
)
#: Left out, since their licences forbid commerce or bind what is made of them: Ancient_Greek,
#: Basque, Bulgarian, Estonian, Gothic, Greek-GDT, Hebrew, Italian-ISDT, Latin,
#: Old_Church_Slavonic, Old_French, Polish-LFG, Turkish-IMST, Ukrainian-IU, Urdu. Too small to
#: learn from: Buryat, Kazakh, Kurmanji, Lithuanian-HSE. Test parts only: Finnish-OOD, French-FQB,
#: Upper_Sorbian. Also Danish-CDT's Italian and English, in a scheme of their own, and the genres
#: of English-GUM whose licence names no texts.
SOURCES: Final = {
    "Afrikaans-AfriBooms": Source("af"),
    "Armenian-ArmTDP": Source("hy"),
    "Belarusian-HSE": Source("be"),
    "Catalan-AnCora": Source("ca"),
    "Chinese-GSD": Source("zh", converted=True),
    "Chinese-GSDSimp": Source("zh-Hans"),
    "Classical_Chinese-Kyoto": Source("lzh"),
    "Croatian-SET": Source("hr"),
    "Czech-CAC": Source("cs"),
    "Czech-CLTT": Source("cs"),
    "Danish-DDT": Source("da", converted=True, also=("MIT",)),
    "Dutch-Alpino": Source("nl"),
    "Dutch-LassySmall": Source("nl", converted=True),
    "English-EWT": Source("en"),
    "English-GUM-clean": Source("en", _GUM, also=("CC-BY-2.5", "CC-BY-4.0", "CC-BY-SA-3.0")),
    "Finnish-FTB": Source("fi"),
    "Finnish-FTB-2015": Source(
        "fi", ("dev-2015.conllu.gz", "test-2015.conllu.gz"), folder="Finnish-FTB"
    ),
    "Finnish-TDT": Source("fi"),
    "French-GSD": Source("fr"),
    "French-ParisStories": Source("fr"),
    "French-Rhapsodie": Source("fr"),
    "French-Sequoia": Source("fr"),
    "Galician-TreeGal": Source("gl"),
    "German-GSD": Source("de"),
    "German-PUD": Source("de", whole=True),
    "Greek-GUD": Source("el", apart=True),
    "Icelandic-Modern": Source("is", apart=True),
    "Indonesian-CSUI": Source("id"),
    "Indonesian-GSD": Source("id", converted=True),
    "Irish-IDT": Source("ga"),
    "Italian-MarkIT": Source("it"),
    "Japanese-GSD": Source("ja"),
    "Korean-GSD": Source("ko", converted=True),
    "Korean-Kaist": Source("ko"),
    "Latvian-LVTB": Source("lv", apart=True),
    "Latvian-LVTB-2017": Source("lv", ("train-2017.conllu.gz",), folder="Latvian-LVTB"),
    "Lithuanian-ALKSNIS": Source("lt", apart=True),
    "Maltese-MUDT": Source("mt"),
    "Marathi-UFAL": Source("mr"),
    "Norwegian-Bokmaal": Source("nb", converted=True, also=("CC0-1.0",)),
    "Norwegian-Nynorsk": Source("nn", converted=True, also=("CC0-1.0",)),
    "Norwegian-NynorskLIA": Source("nn"),
    "Persian-Seraji": Source("fa"),
    "Polish-PUD": Source("pl", whole=True),
    "Portuguese-Bosque": Source("pt"),
    "Portuguese-Porttinari": Source("pt"),
    "Romanian-RRT": Source("ro", converted=True),
    "Romanian-SiMoNERo": Source("ro"),
    "Russian-GSD": Source("ru"),
    "Russian-Taiga": Source("ru"),
    "Scottish_Gaelic-ARCOSG": Source("gd"),
    "Serbian-SET": Source("sr"),
    "Slovak-SNK": Source("sk"),
    "Slovenian-SSJ": Source("sl"),
    "Spanish-AnCora": Source("es"),
    "Spanish-GSD": Source("es"),
    "Swedish-Talbanken": Source("sv", converted=True),
    "Telugu-MTG": Source("te"),
    "Thai-TUD": Source("th", apart=True),
    "Turkish-BOUN": Source("tr"),
    "Turkish-FrameNet": Source("tr"),
    "Turkish-PUD": Source("tr", whole=True),
    "Turkish-Tourism": Source("tr"),
    "Ukrainian-ParlaMint": Source("uk"),
    "Uyghur-UDT": Source("ug"),
}
_PARTS: Final = ("train", "dev", "test")


class Shared:
    """The folders `ud` and `ud-more`."""

    def __init__(self, folder: Path) -> None:
        self._folders = [folder / name for name in ("ud-more", "ud")]
        rows = (folder / "ud" / "README.md").read_text(encoding="utf-8").splitlines()
        cells = [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows]
        self._licences = {row[0]: row[4] for row in cells if len(row) > 4}

    def part(self, name: str, part: str) -> list[Sentence]:
        """Read today's part of a treebank; a part that is in both folders is read once."""
        for folder in self._folders:
            files = [each for each in sorted((folder / name).glob("*")) if _is(part, each.name)]
            if files:
                return [sentence for file in files for sentence in read(file)]
        return []

    def file(self, name: str, file: str) -> list[Sentence]:
        """Read another file; a sentence that is no tree is left out."""
        broken: list[TreebankError] = []
        return list(read(self._folders[0] / name / file, skip_invalid=broken.append))

    def tests(self) -> Iterator[Sentence]:
        """Read all test parts, also of treebanks that nothing is learned from."""
        names = {
            each.name for folder in self._folders for each in folder.iterdir() if each.is_dir()
        }
        learned = {source.folder or name for name, source in SOURCES.items() if source.whole}
        for name in sorted(names - learned):
            yield from self.part(name, "test")

    def scored_by_others(self, name: str) -> set[str]:
        """Return the documents of a treebank's own dev and test, by its list."""
        listed = (self._folders[0] / name / "splits.md").read_text(encoding="utf-8")
        return set(re.findall(r"GUM_\w+", listed.partition("## dev")[2].partition("## train")[0]))

    def licences(self, name: str) -> list[str]:
        """Return the SPDX identifiers of what is learned from."""
        source = SOURCES[name]
        if source.files == _GUM:
            return sorted(source.also)
        name = source.folder or name
        named = self._named(name)
        return sorted({spdx(named[0].licence if named else self._licences[name]), *source.also})

    def describe(self, name: str, place: Path) -> None:
        """Write the README and the licences of a treebank, as `arborescence package` reads them."""
        source = SOURCES[name]
        named = [] if source.files == _GUM else self._named(source.folder or name)
        lines = {"License": " AND ".join(self.licences(name))}
        lines |= {"Contributors": named[0].contributors, "Genre": named[0].genre} if named else {}
        text = "".join(f"{field}: {value}\n" for field, value in lines.items())
        (place / "README.md").write_text(text, encoding="utf-8")
        if terms := next((each.terms for each in named if each.terms), None):
            (place / "LICENSE").write_bytes(terms.read_bytes())

    def _named(self, folder: str) -> list[Treebank]:
        """Return what the READMEs of a treebank say."""
        return [
            Treebank.of(each / folder)
            for each in self._folders
            if any((each / folder).glob("README*"))
        ]


def _is(part: str, file: str) -> bool:
    """Return whether a file is a part of today: train-2017, dev-old and others are not."""
    return re.fullmatch(rf"(.*-)?{part}\.conllu(\.gz)?", file) is not None


def blocks(sentences: Iterable[Sentence]) -> list[Block]:
    """Return documents; where too few are marked, blocks of consecutive sentences.

    >>> from arborescence.treebank import Sentence
    >>> owls = Sentence.from_words(["Owls", "hoot"])
    >>> [len(each) for each in blocks([owls] * 45)]
    [20, 20, 5]
    """
    every = list(sentences)
    starts = [
        i
        for i, sentence in enumerate(every)
        if any(re.match(r"#\s*newdoc\b", line) for line in sentence.comments)
    ]
    if len(starts) < FEWEST:
        starts = list(range(0, len(every), BLOCK))
    bounds = sorted({0, *starts, len(every)})
    return [every[start:stop] for start, stop in pairwise(bounds)]


def shared_out(sentences: Iterable[Sentence], words: float) -> tuple[Block, Block]:
    """Take whole blocks with about this number of words, evenly, out of a part; return the rest.

    >>> from arborescence.treebank import Sentence
    >>> owls = Sentence.from_words(["Owls", "hoot"])
    >>> [len(each) for each in shared_out([owls] * 200, 40)]
    [20, 180]
    """
    every = blocks(sentences)
    total = sum(len(sentence) for block in every for sentence in block)
    taken: Block = []
    rest: Block = []
    seen = found = 0.0
    for block in every:
        size = sum(map(len, block))
        seen += size
        if total and found + size / 2 < words * seen / total:
            taken += block
            found += size
        else:
            rest += block
    return taken, rest


class Parts(NamedTuple):
    """The parts of a treebank, as the parser for all languages uses them."""

    train: Block
    dev: Block
    test: Block


def parts(shared: Shared, converted: Path, name: str, whole_dev: bool = False) -> Parts:
    """Return what can be learned from, what chooses, and what is scored at the end.

    With `whole_dev`, nothing of a development part is learned from.
    """
    source = SOURCES[name]
    folder = source.folder or name
    train, dev, test = (shared.part(folder, each) if not source.files else [] for each in _PARTS)
    if source.files:
        train = list(chain.from_iterable(shared.file(folder, each) for each in source.files))
    if source.files == _GUM:
        scored = shared.scored_by_others(name)
        train = [
            each for block in blocks(train) if _document(block) not in scored for each in block
        ]
    if source.converted:
        train = list(read(converted / name / "train.conllu"))
    if source.whole:
        train, test = test, []
    if source.apart:
        test, rest = shared_out(dev or train, APART)
        train, dev = (train, rest) if dev else (rest, [])
    if dev and whole_dev:
        return Parts(train, dev, test)
    size = sum(map(len, dev or train))
    chosen, rest = shared_out(dev or train, CHOOSING * min(size, MOST_WORDS))
    return Parts([*train, *rest] if dev else rest, chosen, test)


def _document(block: Block) -> str:
    found = re.search(r"newdoc id = (\S+)", "\n".join(block[0].comments))
    return found[1] if found else ""


def collected(
    shared: Shared, converted: Path, names: Iterable[str], whole_dev: bool = False
) -> dict[str, Parts]:
    """Return the parts of treebanks; nothing is learned from that chooses or is scored."""
    found = {name: parts(shared, converted, name, whole_dev) for name in names}
    apart = (sentence for each in found.values() for sentence in (*each.dev, *each.test))
    held = Held(chain(shared.tests(), apart))
    return {
        name: each._replace(train=[sentence for sentence in each.train if sentence not in held])
        for name, each in found.items()
    }


def main() -> None:
    """Write the parts of each treebank, and what they are."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("shared", "converted", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("names", nargs="*", default=list(SOURCES), metavar="NAME")
    parser.add_argument("--whole-dev", action="store_true", help="learn nothing of a dev part")
    parser.add_argument("--text", nargs="+", type=Path, default=[], help="parsed text (CoNLL-U)")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - SOURCES.keys():
        parser.error(f"no such treebank: {min(unknown)}; there are {', '.join(SOURCES)}")
    folders = Shared(chosen.shared)
    listed: dict[str, dict[str, Any]] = {}
    every = collected(folders, chosen.converted, chosen.names, chosen.whole_dev)
    if chosen.text:
        # A table found the XPOS of parsed text: the network would learn the table's errors.
        parsed = (each.replace(xpos=None) for path in chosen.text for each in read(path))
        every[TEXT] = Parts(list(parsed), [], [])
    for name, of_name in every.items():
        place = chosen.output / name
        place.mkdir(parents=True, exist_ok=True)
        source = SOURCES[chosen.names[0] if name == TEXT else name]
        listed[name] = {"language": source.language, "licences": []}
        if name != TEXT:
            folders.describe(name, place)
            listed[name]["licences"] = folders.licences(name)
        for part, sentences in zip(_PARTS, of_name, strict=True):
            write(sentences, place / f"{part}.conllu")
            listed[name][part] = [len(sentences), sum(map(len, sentences))]
        sizes = (f"{part} {listed[name][part][1]:,}" for part in _PARTS)
        print(name, *sizes, flush=True)  # noqa: T201
    licences = sorted({each for of_name in listed.values() for each in of_name["licences"]})
    whole = {"licence": " AND ".join(licences), "treebanks": listed}
    text = json.dumps(whole, ensure_ascii=False, indent=1)
    (chosen.output / "treebanks.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
