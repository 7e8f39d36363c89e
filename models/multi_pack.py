"""Make one model file of what `multi_train.py` has learned: `arborescence package` takes it.

``python models/multi_pack.py TREEBANKS ENCODER RUN OUTPUT [--bits 4/4/32]``: RUN is the file of
weights (.npz), or a checkpoint (.run). Each language gets what cuts its text and finds lemmas, and
temperatures; all together get what finds the language of a text. These are kept in the folder
``OUTPUT.parts``, since they do not depend on the network: remove it after a change of treebanks.
``--compare LANGUAGE,...`` measures LAS by bits instead, on the parts that choose. With
``--splitter MODEL``, what cuts text is that of another model, of the same language. With ``--mean
RUN``, the weights are the means of RUN and of a run that began with it.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence import load
from arborescence.parsers import model_file
from arborescence.parsers.neural.bert.blocks import Bits
from arborescence.parsers.neural.encoder import Encoder
from arborescence.parsers.neural.joint.export import parser_of
from arborescence.parsers.neural.joint.inventory import Inventory, TreebankValues
from arborescence.parsers.neural.joint.languages import Language
from arborescence.parsers.neural.vocabulary import is_given
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.given import untagged
from arborescence.parsers.shared.keeping import scheme_of
from arborescence.parsers.shared.reading import Reading
from arborescence.parsers.text.identifier import LanguageIdentifier
from arborescence.parsers.text.lemmas import Lemmatizer
from arborescence.parsers.text.model import Text
from arborescence.parsers.text.tokenizer import Tokenizer
from arborescence.parsers.text.xpos import XposTable
from arborescence.treebank import read
from arborescence.treebank.evaluation import evaluate
from arborescence.treebank.spaces import raw_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arborescence.parsers.neural.joint.parser import MultilingualParser
    from arborescence.treebank import Sentence

#: The treebank whose annotation a language gets, where it is not the one with the most words.
MAIN: Final = {
    "cs": "Czech-CAC",
    "de": "German-GSD",
    "en": "English-EWT",
    "fi": "Finnish-TDT",
    "lv": "Latvian-LVTB",
    "tr": "Turkish-BOUN",
}
#: Where the main treebank has fewer words in sentences with spaces, the others teach, too.
_FEW: Final = 20_000
#: A part teaches where words are cut if at least this share of its sentences marks it.
_MARKED: Final = 0.3
#: The trees that show whether a treebank keeps the rules of UD.
_TREES: Final = 500
#: The characters of a treebank that teach how its language looks.
_LETTERS: Final = 2_000_000
#: Trials of bits, from the smallest file to the largest; None: not rounded.
TRIALS: Final = (Bits(4, 4, 32), Bits(4, 4), Bits(4, 8), Bits(8, 4, 32), Bits(8, 8), None)
_NO_SPACE: Final = "SpaceAfter=No"
#: UPOS, FEATS and the form determine XPOS if at least this share of a table's tags is right.
_DETERMINED: Final = 0.97
#: Marks that stand at the word before them, and marks that stand at the word after them.
_CLOSES: Final = re.compile(r"[.,;:!?…)\]}»”]+")
_OPENS: Final = re.compile(r"[(\[{«“¿¡]+|\w+['’]")


class Data(NamedTuple):
    """A treebank that the network has learned from."""

    language: str
    licences: tuple[str, ...]
    train: list[Sentence]
    dev: list[Sentence]

    @property
    def words(self) -> int:
        """The words to learn from."""
        return sum(map(len, self.train))


def treebanks_of(folder: Path) -> dict[str, Data]:
    """Read what `multi_data.py` wrote."""
    listed = json.loads((folder / "treebanks.json").read_text(encoding="utf-8"))["treebanks"]
    return {
        name: Data(
            each["language"],
            tuple(each["licences"]),
            *(list(read(folder / name / f"{part}.conllu")) for part in ("train", "dev")),
        )
        for name, each in listed.items()
    }


def inventory_of(treebanks: Mapping[str, Data]) -> Inventory:
    """Return the values of treebanks, as the network numbers them."""
    return Inventory(
        {
            name: TreebankValues.of(each.language, [*each.train, *each.dev])
            for name, each in treebanks.items()
        }
    )


def weights_of(run: Path, treebanks: Mapping[str, Data]) -> tuple[Inventory, dict[str, Any]]:
    """Return what a network knows, and its weights after the best epoch."""
    header, arrays = model_file.load(run)
    if "inventory" in header:
        return Inventory.from_file(header["inventory"]), arrays
    return inventory_of(treebanks), scheme.part(arrays, "best/")


def averaged(
    runs: Sequence[Path], treebanks: Mapping[str, Data]
) -> tuple[Inventory, dict[str, Any]]:
    """Return the mean weights of several runs; each run but the first began with the one before.

    Mean weights are often better than the weights of a single run (Wortsman et al. 2022, Model
    soups).
    """
    each = [weights_of(run, treebanks) for run in runs]
    inventory, first = each[0]
    return inventory, {name: np.mean([w[name] for _, w in each], axis=0) for name in first}


def main_treebanks(treebanks: Mapping[str, Data]) -> dict[str, str]:
    """Return the treebank of each language whose annotation it gets."""
    largest: dict[str, str] = {}
    for name, each in treebanks.items():
        known = largest.get(each.language)
        if known is None or each.words > treebanks[known].words:
            largest[each.language] = name
    chosen = largest | {code: name for code, name in MAIN.items() if name in treebanks}
    return {code: chosen[code] for code in sorted(largest)}


def spaced(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the part that says where no space follows a word.

    An old part, without spaces, may stand before a part of today.

    >>> from arborescence.treebank import Sentence
    >>> old, new = (
    ...     Sentence.from_words(["Owls", "."], misc=[misc, "_"]) for misc in ("_", _NO_SPACE)
    ... )
    >>> len(spaced([old, old, new, new])), len(spaced([old]))
    (2, 0)
    """
    marked = np.array([_NO_SPACE in str(each) for each in sentences])
    if not marked.any():
        return []
    first = int(marked.argmax())
    return list(sentences[first:]) if marked[first:].mean() >= _MARKED else []


def typographic(sentence: Sentence) -> Sentence:
    """Return a sentence without spaces where its punctuation needs none.

    >>> from arborescence.treebank import Sentence
    >>> typographic(Sentence.from_words(["(", "l'", "ora", ")", "."])).misc
    ['SpaceAfter=No', 'SpaceAfter=No', 'SpaceAfter=No', 'SpaceAfter=No', '_']
    """
    forms, misc = sentence.forms, list(sentence.misc)
    inside = {number for first, last, _ in sentence.multiwords for number in range(first, last + 1)}
    for number, (form, after) in enumerate(zip(forms, [*forms[1:], ""], strict=True)):
        if number + 1 in inside or number + 2 in inside or misc[number] != "_":
            continue
        if _OPENS.fullmatch(form) or _CLOSES.fullmatch(after):
            misc[number] = _NO_SPACE
    return sentence.replace(misc=misc)


def xpos_of(main: Data) -> XposTable | None:
    """Return what finds XPOS, if UPOS and FEATS almost determine it in the part that chooses."""
    table = XposTable.train(main.train)
    words = [(each, table.xpos(each)) for each in main.dev if is_given(each.xpos)]
    right = sum(a == b for each, found in words for a, b in zip(each.xpos, found, strict=True))
    return table if words and right >= _DETERMINED * sum(map(len, main.dev)) else None


def text_of(main: Data, every: Iterable[Data], with_xpos: bool) -> Text:
    """Train what cuts the text of a language, and what finds lemmas."""
    cut = spaced(main.train)
    if sum(map(len, cut)) < _FEW:
        cut = [sentence for each in every for sentence in spaced(each.train)]
    if not cut:
        cut = [*main.train, *map(typographic, main.train)]
    tokenizer = Tokenizer.train(cut, rng=1)
    with_lemmas = [each for each in main.train if set(each.lemmas) != {"_"}]
    if not with_xpos:  # the lemmatizer learns from the tags that it will see
        with_lemmas = [each.replace(xpos=None) for each in with_lemmas]
    lemmatizer = None
    if with_lemmas:
        taught = Reading.of(main.train).sentences(with_lemmas)
        lemmatizer = Lemmatizer.train(taught, rng=1)
    return Text(tokenizer, lemmatizer)


def kept_text(path: Path, main: Data, every: Iterable[Data], with_xpos: bool) -> Text:
    """Return what an earlier run has kept, or train it and keep it."""
    if path.exists():
        header, arrays = model_file.load(path)
        return Text.from_file(header["text"], arrays)
    begun = process_time()
    text = text_of(main, every, with_xpos)
    header, arrays = text.to_file()
    model_file.save(path, {"kind": "text", "text": header}, arrays)
    _say(f"{path.stem}: text in {process_time() - begun:.0f} s, {path.stat().st_size:,} bytes")
    return text


def kept_identifier(path: Path, treebanks: Mapping[str, Data]) -> LanguageIdentifier:
    """Return what finds the language of a text: kept by an earlier run, or trained and kept."""
    if path.exists():
        header, arrays = model_file.load(path)
        return LanguageIdentifier.from_file(header["identifier"], arrays)
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for each in treebanks.values():
        texts[each.language].append(raw_text(each.train)[:_LETTERS])
    identifier = LanguageIdentifier.train(dict(sorted(texts.items())), rng=1)
    header, arrays = identifier.to_file()
    model_file.save(path, {"kind": "identifier", "identifier": header}, arrays)
    return identifier


def languages_of(
    treebanks: Mapping[str, Data], inventory: Inventory, parts: Path
) -> dict[str, Language]:
    """Return what each language has besides the network; temperatures are fitted later."""
    parts.mkdir(exist_ok=True)
    found = {}
    for code, name in main_treebanks(treebanks).items():
        main = treebanks[name]
        every = [each for each in treebanks.values() if each.language == code]
        learned = bool(inventory.treebanks[name].xpos)
        xpos = None if learned else xpos_of(main)
        with_xpos = learned or xpos is not None
        names = [other for other, each in treebanks.items() if each.language == code]
        labels = {name for each in main.train for name in each.deprels}
        found[code] = Language(
            name,
            rules=scheme_of(labels, main.train[:_TREES]),
            reading=Reading.of(main.train),
            text=kept_text(parts / f"{code}.npz", main, every, with_xpos),
            xpos=xpos,
            info={"treebanks": names},
        )
    return found


def packed(
    folder: Path,
    encoder: Encoder,
    runs: Sequence[Path],
    parts: Path,
    bits: Bits,
    splitter: str | None = None,
) -> MultilingualParser:
    """Return the parser of all languages, with fitted temperatures."""
    treebanks = treebanks_of(folder)
    inventory, weights = averaged(runs, treebanks)
    languages = languages_of(treebanks, inventory, parts)
    if splitter:
        cuts = load(splitter).text.tokenizer
        languages = {
            code: each._replace(text=Text(cuts, each.text.lemmatizer))
            for code, each in languages.items()
        }
    identifier = None
    if len(languages) > 1:
        identifier = kept_identifier(parts / "identifier.npz", treebanks)
    parser = parser_of(encoder, inventory, weights, languages, identifier=identifier, bits=bits)
    for code, language in languages.items():
        parser = parser.in_language(code)
        parser.fit(treebanks[language.treebank].dev, "single")
        _say(f"{code}: {language.treebank}, temperature {parser.temperature:.2f}")
    return parser


def compared(folder: Path, encoder: Encoder, runs: Sequence[Path], codes: Sequence[str]) -> None:
    """Print LAS of the parts that choose, by bits."""
    treebanks = treebanks_of(folder)
    inventory, weights = averaged(runs, treebanks)
    mains = main_treebanks(treebanks)
    languages = {code: Language(mains[code]) for code in codes}
    for bits in TRIALS:
        parser = parser_of(encoder, inventory, weights, languages, bits=bits)
        size = sum(each.nbytes for each in parser.encoder.arrays.values()) / 1e6
        found = {}
        begun, words = process_time(), 0
        for code in codes:
            gold = treebanks[mains[code]].dev
            parsed = list(parser.in_language(code).parse(map(untagged, gold), rules="none"))
            found[code] = 100 * evaluate(gold, parsed).las.f1
            words += sum(map(len, gold))
        row = " ".join(f"{code} {las:.2f}" for code, las in found.items())
        speed = words / (process_time() - begun)
        mean = np.mean([*found.values()])
        _say(f"{bits}: mean LAS {mean:.2f}, {size:.1f} MB, {speed:,.0f} words/s: {row}")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def main() -> None:
    """Write the model file, or compare bits."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("treebanks", "encoder", "run", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--bits", default="4/4/32", help="of tables, of matrices; of a block")
    parser.add_argument("--splitter", metavar="MODEL")
    parser.add_argument("--mean", action="append", default=[], type=Path, metavar="RUN")
    parser.add_argument("--compare", metavar="LANGUAGE,...", type=lambda text: text.split(","))
    chosen = parser.parse_args()
    encoder = Encoder.load(chosen.encoder, layers=1, fine_tune=True)
    encoder.name = chosen.encoder.name
    runs = [chosen.run, *chosen.mean]
    if chosen.compare:
        compared(chosen.treebanks, encoder, runs, chosen.compare)
        return
    bits = Bits(*map(int, chosen.bits.split("/")))
    parts = chosen.output.with_suffix(".parts")
    made = packed(chosen.treebanks, encoder, runs, parts, bits, chosen.splitter)
    made.save(chosen.output)
    _say(f"{chosen.output}: {chosen.output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
