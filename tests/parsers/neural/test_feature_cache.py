"""Vectors kept on disk: what was put is there, also for others, and damage is noticed."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from arborescence.errors import ModelError
from arborescence.parsers.neural.feature_cache import FeatureCache

SENTENCES = [["Trees", "grow"], ["Birds", "sing", "."], ["Trees grow"]]


def features(words, seed=0):
    return np.random.default_rng((len(words), seed)).normal(size=(len(words), 2, 3)).astype("f2")


@pytest.fixture
def cache(tmp_path):
    cache = FeatureCache(tmp_path / "new" / "folder", "key", (2, 3))
    cache.put([(words, features(words)) for words in SENTENCES[:2]])
    return cache


def test_what_was_put_is_there(cache):
    for again in (cache, FeatureCache(cache.path.parent, "key", (2, 3))):
        *found, missing = again.get(SENTENCES)
        assert missing is None
        for words, rows in zip(SENTENCES, found, strict=False):
            assert rows.dtype == np.float16
            assert np.array_equal(rows, features(words))


def test_another_key_is_another_file(cache):
    assert FeatureCache(cache.path.parent, "other", (2, 3)).get(SENTENCES) == [None] * 3
    assert sorted(path.name for path in cache.path.parent.iterdir()) == [
        "key.sqlite",
        "other.sqlite",
    ]


def test_the_last_one_counts(cache):
    cache.put([(SENTENCES[0], features(SENTENCES[0], seed=1))])
    assert np.array_equal(cache.get(SENTENCES)[0], features(SENTENCES[0], seed=1))


def test_all_or_nothing(cache):
    def interrupted():
        yield SENTENCES[2], features(SENTENCES[2])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.put(interrupted())
    assert cache.get(SENTENCES)[2] is None


def test_threads(cache):
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: cache.get(SENTENCES), range(20)))
    assert all(np.array_equal(each[0], features(SENTENCES[0])) for each in found)


def test_damage(cache, tmp_path):
    with pytest.raises(ModelError, match="the cache is damaged: remove this file"):
        FeatureCache(cache.path.parent, "key", (2, 4)).get(SENTENCES)
    connection = sqlite3.connect(cache.path)
    with connection:
        connection.execute("UPDATE features SET rows = 'text'")
    connection.close()
    with pytest.raises(ModelError, match="the cache is damaged: remove this file"):
        cache.get(SENTENCES)
    cache.path.write_bytes(b"no database" * 1000)
    with pytest.raises(ModelError, match=r"key\.sqlite: the cache is damaged"):
        cache.get(SENTENCES)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ModelError, match="file"):
        FeatureCache(tmp_path / "file", "key", (2, 3))
