"""Collect free English text, from which a small parser learns by a larger one's trees.

``python models/english_text.py REPOSITORIES HELD OUTPUT [--words 1000000]``: REPOSITORIES is a
folder of git repositories, OWNER+NAME each: those of `SOURCES` and of `BOOKS`. HELD is a folder of
treebanks, of which no sentence of a development or test part may be learned from. OUTPUT gets the
chosen sentences as CoNLL-U: from each kind of text, half by chance, and half those of which the
small parser is least sure. Half of the sentences that mark quotations keep typographic marks.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
import subprocess
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zipfile import ZipFile

import numpy as np

import arborescence as arb
from arborescence.parsers.shared.confidence import edge_probs
from arborescence.treebank import Sentence, read, write
from arborescence.treebank.copies import Held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Texts = Iterator[str | list[str]]

#: Novels, plays and stories of Standard Ebooks (CC0), by the names of their repositories.
BOOKS: Final = "standardebooks+"
#: The longest sentence that is learned from, in words, and the shortest.
LONGEST: Final = 60
SHORTEST: Final = 3
#: The words of the largest kind of text, as a share of all words.
LARGEST: Final = 0.3
#: The share of a text's sentences with the least sure edges that is left out: lists, verses, code.
STRANGE: Final = 0.04
_ASCII: Final = str.maketrans("“”‘’–", "\"\"''-")


class Repository:
    """The files of the newest commit of a git repository."""

    def __init__(self, path: Path) -> None:
        self.path = path / ".git" if (path / ".git").exists() else path

    def _git(self, *arguments: str) -> bytes:
        return subprocess.run(  # noqa: S603
            ["git", "-C", str(self.path), *arguments],  # noqa: S607
            check=True,
            capture_output=True,
        ).stdout

    def names(self, pattern: str) -> list[str]:
        """Return the paths that match a pattern."""
        listed = self._git("ls-tree", "-r", "--name-only", "HEAD").decode().splitlines()
        return [name for name in listed if re.search(pattern, name)]

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return self._git("show", f"HEAD:{name}")


def books(repository: Repository) -> Texts:
    """Yield the paragraphs of a book of Standard Ebooks."""
    for name in repository.names(r"src/epub/text/(chapter|act|book|part|\w+).*\.xhtml$"):
        if re.search(r"imprint|colophon|uncopyright|titlepage|endnotes|loi|halftitle", name):
            continue
        page = repository.read(name).decode()
        for paragraph in re.findall(r"<p\b[^>]*>(.*?)</p>", page, re.DOTALL):
            text = html.unescape(re.sub(r"<a [^>]*noteref[^>]*>.*?</a>|<[^>]+>", "", paragraph))
            yield re.sub(r"[\u2060\ufeff]", "", re.sub(r"\s+", " ", text)).strip()


def pages(pattern: str) -> Callable[[Repository], Texts]:
    """Return a reader of the paragraphs of Markdown files."""

    def read_pages(repository: Repository) -> Texts:
        for name in repository.names(pattern):
            text = repository.read(name).decode(errors="ignore")
            text = re.sub(
                r"\A---.*?\n---\n|```.*?```|<[^>]+>|\{[%{].*?[%}]\}", "", text, flags=re.S
            )
            text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", text)
            text = re.sub(r"\[([^]]*)\]\s?\([^)]*\)", r"\1", text)
            for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[*+-]|\d+\.)\s)", text):
                plain = re.sub(r"[*_`#]+|^\s*(?:[-+>]|\d+\.)\s", "", paragraph, flags=re.MULTILINE)
                if "|" not in plain and "://" not in plain:
                    yield re.sub(r"\s+", " ", html.unescape(plain)).strip()

    return read_pages


def archive(
    name: str, lines: Callable[[str], Texts], every: int = 1
) -> Callable[[Repository], Texts]:
    """Return a reader of a corpus of NLTK's data: of the first of each `every` files."""

    def read_archive(repository: Repository) -> Texts:
        with ZipFile(BytesIO(repository.read(f"packages/corpora/{name}.zip"))) as files:
            for path in sorted(files.namelist())[::every]:
                if path.endswith(".txt") and not path.endswith(("README.txt", "categories.txt")):
                    yield from lines(files.read(path).decode(errors="ignore"))

    return read_archive


def _tagged(text: str) -> Texts:
    for line in text.splitlines():
        yield [word.rpartition("_")[0] for word in line.split()]


def _reviewed(text: str) -> Texts:
    for line in text.splitlines():
        yield line.partition("##")[2].strip()


def _tokenized(text: str) -> Texts:
    for line in text.splitlines():
        yield line.split()


def _questions(repository: Repository) -> Texts:
    for name in repository.names(r"^main/.*\.json$"):
        for each in json.loads(repository.read(name)):
            text = each["qText"].strip()
            yield text[0].upper() + text[1:] + ("" if text.endswith("?") else "?")


def _encyclopedic(repository: Repository) -> Texts:
    for name in ("validation.tsv", "tune.tsv", "test.tsv"):
        for line in repository.read(name).decode().splitlines():
            whole = line.partition("\t")[0].replace("''", '"')
            yield re.sub(r"(?<=\w) - (?=\w)", "-", whole).split()


#: Kinds of text: a repository, and what reads it. Licences are in the notice of the model.
SOURCES: Final[dict[str, tuple[str, Callable[[Repository], Texts]]]] = {
    "masc": ("nltk+nltk_data", archive("masc_tagged", _tagged)),
    "products": ("nltk+nltk_data", archive("product_reviews_1", _reviewed)),
    "products2": ("nltk+nltk_data", archive("product_reviews_2", _reviewed)),
    "films": ("nltk+nltk_data", archive("movie_reviews", _tokenized, every=5)),
    "18f": ("18F+18f.gsa.gov", pages(r"content/posts/.*\.md$")),
    "news": ("GSA+digitalgov.gov", pages(r"content/news/.*\.md$")),
    "questions": ("brmson+dataset-factoid-webquestions", _questions),
    "encyclopedia": ("google-research-datasets+wiki-split", _encyclopedic),
}


def sentences_of(texts: Texts, parser: arb.Parser) -> Iterator[Sentence]:
    """Cut text into words; sentences of given words are taken as they are."""
    for text in texts:
        if isinstance(text, list):
            words = ["(" if w == "-LRB-" else ")" if w == "-RRB-" else w for w in text]
            if words and all(words):
                yield Sentence.from_words(words)
        elif text:
            yield from parser.split(text)


def plain(sentence: Sentence) -> bool:
    """Return whether a sentence is of a usual length and made of words."""
    letters = sum(any(map(str.isalpha, form)) for form in sentence.forms)
    return (
        SHORTEST <= len(sentence) <= LONGEST
        and letters >= 0.6 * len(sentence)
        and all(len(form) < 30 for form in sentence.forms)
    )


def sureness(parsed: Sentence) -> float:
    """Return the mean logarithm of the probabilities of a tree's edges."""
    return float(np.log(np.maximum(edge_probs(parsed), 1e-3)).mean())


def chosen(
    sentences: list[Sentence], most: float, parser: arb.Parser, rng: random.Random
) -> list[Sentence]:
    """Choose sentences: half by chance, and half with the least sure edges."""
    rng.shuffle(sentences)
    sentences = sentences[: int(3 * most)]  # at least three words each
    shares = [sureness(each) for each in parser.parse(sentences, confidence=True)]
    strange = np.quantile(shares, STRANGE)
    usual = [(share, k) for k, share in enumerate(shares) if share > strange]
    half = most / 2
    taken: dict[int, None] = {}  # a set in the order of insertion
    for ordered in (sorted(usual), usual):
        words = 0
        for _, k in ordered:
            if k not in taken and words < half:
                words += len(sentences[k])
                taken[k] = None
    return [sentences[k] for k in taken]


def main() -> None:
    """Write the chosen sentences of each kind of text into a file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("repositories", "held", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--words", type=int, default=1_000_000)
    given = parser.parse_args()
    english, rng = arb.load("english"), random.Random(1)  # noqa: S311
    held = Held(
        sentence
        for path in sorted(given.held.glob("*/*.conllu*"))
        if path.parent.name == "English-GUM-clean" or "train" not in path.name
        for sentence in read(path)
    )
    kinds = {kind: [source] for kind, source in SOURCES.items()}
    kinds["books"] = [(path.name, books) for path in sorted(given.repositories.glob(f"{BOOKS}*"))]
    found: dict[str, list[Sentence]] = {}
    seen: set[tuple[str, ...]] = set()
    for kind, sources in kinds.items():
        texts = (
            text
            for name, reader in sources
            for text in reader(Repository(given.repositories / name / "repo"))
        )
        found[kind] = []
        for sentence in sentences_of(texts, english):
            key = tuple(map(str.lower, sentence.forms))
            if plain(sentence) and key not in seen and sentence not in held:
                seen.add(key)
                if rng.random() < 0.5:  # half of the text without typographic marks
                    sentence = Sentence.from_words(
                        [form.translate(_ASCII) for form in sentence.forms]
                    )
                found[kind].append(sentence)
        words = sum(map(len, found[kind]))
        print(f"{kind}: {len(found[kind]):,} sentences, {words:,} words", flush=True)  # noqa: T201
    given.output.mkdir(parents=True, exist_ok=True)
    total = sum(min(sum(map(len, each)), LARGEST * given.words) for each in found.values())
    for kind, sentences in found.items():
        share = min(sum(map(len, sentences)), LARGEST * given.words) * min(given.words / total, 1)
        taken = chosen(sentences, share, english, rng)
        write(taken, given.output / f"{kind}.conllu")
        print(f"{kind}: {sum(map(len, taken)):,} words chosen", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
