"""`tag` in Python: given tags are kept, unless they are to be replaced."""

import pytest

import arborescence as arb


def test_given_tags_are_kept_unless_they_are_to_be_replaced():
    pytest.importorskip("arborescence_en", reason="needs arborescence-en")
    parser = arb.load("english-fast")
    [given] = parser.tag([["Birds", "sing"]])
    given = given.replace(upos=["ADJ", "ADJ"])
    assert next(parser.tag([given])).upos == ["ADJ", "ADJ"]
    assert next(parser.tag([given], overwrite=True)).upos == ["NOUN", "VERB"]
