"""What the tests of parsers share."""

import pytest


@pytest.fixture
def saved(parser, tmp_path):
    """The file of the parser that a module has as its fixture `parser`."""
    path = tmp_path / "some.model"
    parser.save(path)
    return path
