"""Random numbers in kernels, against the generators that they come from."""

import threading

import numpy as np
import pytest

from arborescence.compiling.kernels import kernel
from arborescence.core.random import source_of, uniform


@kernel
def fill(source, numbers):
    for place in range(len(numbers)):
        numbers[place] = uniform(source)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_a_kernel_draws_what_the_generator_draws(bits):
    generator, same = np.random.Generator(bits(3)), np.random.Generator(bits(3))
    numbers = np.empty(100)
    with source_of(generator) as source:
        fill(source, numbers)
    assert (numbers == same.random(100)).all()
    assert generator.random() == same.random()


def test_half_a_draw_is_kept():
    """Draws of 32 bits take half of a number and keep the rest; draws of floats leave it alone."""
    generator, same = np.random.default_rng(3), np.random.default_rng(3)
    small = np.uint32(0), np.uint32(100)
    for one in generator, same:
        one.integers(*small, dtype=np.uint32)
    with source_of(generator) as source:
        number = uniform(source)
    assert number == same.random()
    assert generator.integers(*small, dtype=np.uint32) == same.integers(*small, dtype=np.uint32)


@pytest.mark.races
def test_nobody_else_draws_at_the_same_time():
    generator = np.random.default_rng(3)
    free = []

    def look():
        lock = generator.bit_generator.lock
        free.append(lock.acquire(blocking=False))
        if free[-1]:
            lock.release()

    def look_from_another_thread():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    with source_of(generator):
        look_from_another_thread()
    look_from_another_thread()
    assert free == [False, True]
