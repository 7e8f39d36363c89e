"""Kinds of parsers of other distributions: trained, saved, loaded, and no harm if broken."""

import re

import pytest

import arborescence as arb
from arborescence.parsers import registry, train
from arborescence.parsers.shared.options import present_kinds
from arborescence.treebank import Sentence

MODULE = '''
from arborescence.parsers.linear.parser import LinearParser
from arborescence.parsers.linear.settings import Settings as OfLinear


class Settings(OfLinear):
    """Options of a parser that attaches words as birds would."""


class BirdParser(LinearParser):
    kind = "birds"
    settings_class = Settings


class Nameless:
    pass
'''
POINTS = """[arborescence.parsers]
birds = birds_parser:BirdParser
linear = birds_parser:Nameless
odd = {odd}
"""
BIRDS = Sentence.from_words(
    ["Birds", "sing"], upos=["NOUN", "VERB"], heads=[2, 0], deprels=["nsubj", "root"]
)


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Install a distribution with kinds of parsers; say where the kind `odd` is."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "birds_parser.py").write_text(MODULE, encoding="utf-8")
    info = tmp_path / "birds_parser-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: birds-parser\nVersion: 1.0\n", encoding="utf-8")

    def add(odd):
        (info / "entry_points.txt").write_text(POINTS.format(odd=odd), encoding="utf-8")

    add("birds_parser:BirdParser")
    return add


def test_a_package_adds_a_kind(added, tmp_path):
    path = tmp_path / "birds.model"
    parser = train([BIRDS] * 5, kind="birds", epochs=2, bits=10, text=False, output=path)
    assert type(parser).__name__ == "BirdParser"
    loaded = arb.load(path)
    assert loaded.kind == "birds"
    [parsed] = loaded.parse([["Birds", "sing"]])
    assert parsed.heads.tolist() == [2, 0]
    further = train([BIRDS] * 5, start=path, epochs=1)
    assert further.kind == "birds"
    with pytest.raises(
        arb.OptionError, match=r"kind must be 'linear', .*'birds' or 'odd', not 'x'"
    ):
        train([BIRDS], kind="x")


def test_the_kinds_of_this_package_come_first(added):
    assert "linear" not in registry.added_kinds()
    assert registry.parser_class("linear").__module__.startswith("arborescence.")
    assert "birds" not in present_kinds()  # whose options are those that all kinds have


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("nobodys_parser:Parser", "No module named 'nobodys_parser'"),
        ("birds_parser:Absent", "AttributeError"),
        ("birds_parser:Nameless", "is no parser of this kind"),
        ("birds_parser:BirdParser", "is no parser of this kind"),
        ("birds_parser:__doc__", "None is no parser of this kind"),
    ],
)
def test_a_broken_one_is_named(added, place, why):
    added(place)
    message = rf"odd: birds-parser is broken: .*{re.escape(why)}"
    for use in (
        lambda: registry.from_file({"kind": "odd"}, {}),
        lambda: train([BIRDS], kind="odd"),
    ):
        with pytest.raises(arb.ModelError, match=message):
            use()
    assert registry.parser_class("birds").kind == "birds"
