import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arborescence.parsers.shared import features
from slow_features import slow_hash, slow_mix

MASK = (1 << 64) - 1


def as_array(text):
    return np.frombuffer(text, dtype=np.uint8)


@given(st.integers(0, MASK), st.integers(0, MASK))
def test_mix_is_the_arithmetic_it_says(first, second):
    mixed = features.mix(np.uint64(first), np.uint64(second))
    assert int(mixed) == slow_mix(first, second) <= MASK


@given(st.binary(max_size=40), st.integers(0, 5), st.integers(0, 5))
def test_hash_bytes_hashes_only_what_lies_between(text, before, after):
    raw = as_array(b"x" * before + text + b"y" * after)
    assert int(features.hash_bytes(raw, before, before + len(text), False)) == slow_hash(text)


@given(st.text(max_size=20))
def test_folding_lowers_ascii_letters_only(text):
    raw = text.encode()
    lowered = raw.lower()
    assert int(features.hash_bytes(as_array(raw), 0, len(raw), True)) == slow_hash(lowered)


@given(st.text(max_size=12), st.integers(0, 14))
def test_affixes_count_characters_not_bytes(text, length):
    raw = as_array(text.encode())
    stop = features.prefix_stop(raw, 0, len(raw), length)
    start = features.suffix_start(raw, 0, len(raw), length)
    assert bytes(raw[:stop]).decode() == text[:length]
    assert bytes(raw[start:]).decode() == text[max(len(text) - length, 0) :]


@pytest.mark.parametrize(
    ("text", "bits"),
    [("", 0), ("Oslo", 5), ("NATO", 3), ("x-3", 28), (",", 32), ("été", 68), ("iPad", 6)],
)
def test_shape(text, bits):
    raw = as_array(text.encode())
    assert features.shape(raw, 0, len(raw)) == bits


def test_every_bit_of_a_hash_depends_on_every_bit():
    rng = np.random.default_rng(0)
    flips = np.zeros((128, 64))
    pairs = rng.integers(0, 1 << 64, size=(200, 2), dtype=np.uint64)
    for first, second in pairs:
        mixed = int(features.mix(first, second))
        for bit in range(128):
            one = np.uint64(1 << (bit % 64))
            other = (first ^ one, second) if bit < 64 else (first, second ^ one)
            changed = mixed ^ int(features.mix(*other))
            flips[bit] += [(changed >> k) & 1 for k in range(64)]
    assert np.abs(flips / len(pairs) - 0.5).max() < 0.3
    assert abs(flips.mean() / len(pairs) - 0.5) < 0.01
