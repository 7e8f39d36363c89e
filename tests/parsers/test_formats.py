"""Model files that were written before: formats are read for as long as docs/reliability.md says.

``PYTHONPATH=tests/support python tests/parsers/test_formats.py`` writes those of a new format, but
never again what is there. What the parsers find is in ``parses.json``.
"""

import json
from pathlib import Path

import pytest

import arborescence as arb
from arborescence.parsers.model_file import VERSION
from arborescence.treebank import Sentence
from small_parsers import KINDS, small_parser

FORMATS = Path(__file__).with_name("formats")
WORDS = [["Birds", "sing", "songs", "."], ["The", "cat", "that", "slept", "sings", "loudly", "!"]]


def parses(path):
    """The heads and relations that a parser finds in the sentences."""
    sentences = [
        Sentence.from_words(words, upos=["NOUN"] * len(words), lemmas=words) for words in WORDS
    ]
    return [[tree.tree.tolist(), tree.deprels] for tree in arb.load(path).parse(sentences)]


def test_each_format_has_its_files():
    for version in range(1, VERSION + 1):
        for kind in KINDS:
            assert (FORMATS / f"{version}-{kind}.model").is_file()


@pytest.mark.parametrize("path", sorted(FORMATS.glob("*.model")), ids=lambda path: path.stem)
def test_a_file_of_before(path):
    known = json.loads((FORMATS / "parses.json").read_text(encoding="utf-8"))
    assert parses(path) == known[path.stem]


if __name__ == "__main__":
    file = FORMATS / "parses.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for kind in KINDS:
        path = FORMATS / f"{VERSION}-{kind}.model"
        if not path.is_file():
            small_parser(kind).save(path)
            known[path.stem] = parses(path)
    file.write_text(json.dumps(known, ensure_ascii=False) + "\n", encoding="utf-8")
