"""Threads that share a parser get the trees that one thread gets."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from modes import UNCOMPILED
from small_parsers import KINDS, parsed, small_parser

THREADS = 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(UNCOMPILED, reason="takes minutes without compiled kernels")
def test_a_parser_that_threads_share(kind):
    parser = small_parser(kind)
    right = parsed(parser)
    with ThreadPoolExecutor(THREADS) as pool:
        for found in pool.map(parsed, [parser] * 4 * THREADS):
            assert found == right
