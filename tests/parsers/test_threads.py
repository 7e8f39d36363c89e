"""Threads that share a parser get the trees that one thread gets."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import arborescence as arb
from modes import UNCOMPILED

TEXT = "Old trees don't grow. Birds sing in the old trees. Where did you put the scissors?"


@pytest.mark.parametrize("name", ["english", "english-fast"])
@pytest.mark.skipif(UNCOMPILED, reason="takes minutes without compiled kernels")
def test_a_parser_that_threads_share(name):
    parser = arb.load(name)

    def parsed(_):
        return [*map(bytes, parser.parse_text(TEXT))]

    right = parsed(0)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(parsed, range(16)):
            assert found == right
