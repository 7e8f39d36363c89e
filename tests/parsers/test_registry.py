"""Each kind of parser is found by the name that it has in model files."""

from typing import get_args

import pytest

from arborescence.errors import ModelError
from arborescence.parsers.registry import KINDS, from_file, parser_class
from arborescence.parsers.shared.base import Parser
from arborescence.parsers.shared.options import System
from arborescence.transitions import SYSTEMS


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_has_the_kind_that_it_is_found_by(kind):
    found = parser_class(kind)
    assert issubclass(found, Parser)
    assert found.kind == kind


@pytest.mark.parametrize("kind", [None, 3, ["linear"], {}, "neural"])
def test_a_kind_that_is_none(kind):
    with pytest.raises(ModelError, match="holds no parser that this version knows but"):
        from_file({"kind": kind}, {})


def test_types_name_what_there_is():
    assert get_args(System) == SYSTEMS
