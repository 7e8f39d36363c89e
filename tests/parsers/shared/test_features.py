"""The hashed features against a recomputation from strings, without kernels or arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arborescence.parsers.linear import edges
from arborescence.parsers.shared import features, relations
from arborescence.treebank import Sentence
from edge_features import list_weights
from samples import treebank
from slow_features import (
    slow_field,
    slow_hash,
    slow_mix,
    slow_relatives,
    slow_rotate,
    slow_side,
)

ALL = tuple(features.COLUMNS)


def slow_half(sentence, node, side, role):
    value = slow_side(sentence, node, side)
    return value if role == "h" else slow_rotate(value, 32)


def slow_pair(sentence, h, d, template):
    sides = features.split_template(template)
    return slow_half(sentence, h, sides["h"], "h") ^ slow_half(sentence, d, sides["d"], "d")


def slow_weights(sentence, h, d, columns, tags, layout):
    """The numbers of all weights of an edge, straight from the description in edges.py."""
    direction = 0 if h > d else 1
    bounds = [1, 2, 3, 4, 7, 12]
    column = 2 + 7 * direction + sum(abs(h - d) > bound for bound in bounds)

    def tag(node):
        if node == 0:
            return 0
        hashed = slow_field(sentence, node, "p")
        return tags.index(hashed) + 1 if hashed in tags else len(tags) + 1

    between = {tag(j) for j in range(min(h, d) + 1, max(h, d))}
    words_at = 16 * layout.wide
    tags_at = words_at + 2 * layout.narrow
    found = [
        tags_at + ((direction * layout.tags + tag(d)) * layout.tags + t) * layout.tags + tag(h)
        for t in between
    ]
    wide = []
    for side in edges.ALONE:
        if features.usable([f"h:{side}"], columns):
            wide += [slow_half(sentence, h, side, "h"), slow_half(sentence, d, side, "d")]
    wide += [slow_pair(sentence, h, d, t) for t in features.usable(edges.PAIRS, columns)]
    tag_set = slow_mix(0xA4093822299F31D0, sum(1 << t for t in between))
    wide += [
        slow_pair(sentence, h, d, t) ^ tag_set for t in features.usable(edges.BETWEEN, columns)
    ]
    for feature in wide:
        row = feature % layout.wide
        found += [16 * row + direction, 16 * row + column]
    for template in features.usable(edges.WORDS, columns):
        row = slow_pair(sentence, h, d, template) % layout.narrow
        found.append(words_at + 2 * row + direction)
    return sorted(found)


def prepare(sentences, columns, known):
    sides = []
    edge_templates = edges.EdgeTemplates.of(columns, sides)
    relation_templates = relations.RelationTemplates.of(columns, sides)
    batch = features.Batch.of(sentences, features.Sides.of(sides), features.tags_of(known))
    layout = edges.WeightLayout(1 << 8, 1 << 10, len(features.tags_of(known)) + 2)
    return batch, edge_templates, relation_templates, layout


COLUMN_SETS = [ALL, ("form", "upos"), ("upos",), ("form",), ("form", "lemma", "xpos")]


@pytest.mark.parametrize("columns", COLUMN_SETS, ids="+".join)
def test_weights_of_an_edge_are_those_of_its_strings(columns):
    sentences = treebank()[:4]
    known = sentences[:2]  # so that some tags are unknown
    batch, templates, _, layout = prepare(sentences, columns, known)
    tags = features.tags_of(known).tolist()
    out = edges.room_for(templates, 1)
    for b, sentence in enumerate(sentences):
        for d in range(1, len(sentence) + 1):
            for h in range(len(sentence) + 1):
                if h != d:
                    count = list_weights(batch, b, templates, layout, h, d, out)
                    expected = slow_weights(sentence, h, d, columns, tags, layout)
                    assert sorted(out[:count].tolist()) == expected


@pytest.mark.parametrize("columns", COLUMN_SETS, ids="+".join)
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_a_score_is_the_sum_of_its_weights(columns, dtype):
    sentences = treebank()
    batch, templates, _, layout = prepare(sentences, columns, sentences)
    rng = np.random.default_rng(1)
    weights = rng.integers(-100, 100, layout.size).astype(dtype)
    nodes = np.diff(batch.starts)
    places = np.concatenate(([0], np.cumsum(nodes**2)))
    out = np.full(places[-1], np.nan, dtype=np.float32)
    sums = np.float32 if dtype is np.float32 else np.int32
    scratch = np.empty((2, nodes.max(), 16), dtype=sums)
    model = edges.EdgeModel(templates, layout, weights)
    edges.score_edges(batch, model, scratch, out, places)
    numbers = edges.room_for(templates, 1)
    for b, n in enumerate(nodes):
        scores = out[places[b] : places[b + 1]].reshape(n, n)
        for d in range(1, n):
            for h in range(n):
                if h != d:
                    count = list_weights(batch, b, templates, layout, h, d, numbers)
                    assert scores[h, d] == weights[numbers[:count]].astype(np.int64).sum()


@pytest.mark.parametrize("columns", COLUMN_SETS, ids="+".join)
def test_relation_features_are_those_of_their_strings(columns):
    sentences = treebank()
    batch, _, templates, _ = prepare(sentences, columns, sentences)
    directions = [0x452821E638D01377, 0xBE5466CF34E90C6C, 0xC0AC29B7C97C50DD]
    rows = np.empty(len(templates.roles), dtype=np.int64)
    for b, sentence in enumerate(sentences):
        heads = sentence.tree
        relatives = np.empty((len(heads), 7), dtype=np.int64)
        relations.find_relatives(heads, relatives)
        for d in range(1, len(heads)):
            mask = np.uint64(1023)
            relations.list_rows(batch.sides, batch.starts[b], relatives[d], templates, mask, rows)
            around = slow_relatives(heads.tolist(), d)
            expected = []
            for template in features.usable(relations.TEMPLATES, columns):
                value = directions[2 if heads[d] == 0 else 1 if heads[d] < d else 0]
                for role, side in features.split_template(template).items():
                    turn = 1 + 9 * "dhglrpn".index(role)
                    value ^= slow_rotate(slow_side(sentence, around[role], side), turn)
                expected.append(value % 1024)
            assert rows.tolist() == expected


@given(st.lists(st.sampled_from(["a", "Bé", "-", "7", "x" * 70]), min_size=1, max_size=6))
def test_a_batch_hashes_each_sentence_as_if_alone(forms):
    sentences = [Sentence.from_words(forms), *treebank()[:2], Sentence.from_words(forms[:1])]
    together, *_ = prepare(sentences, ALL, sentences)
    for b, sentence in enumerate(sentences):
        alone, *_ = prepare([sentence], ALL, sentences)
        start, stop = together.starts[b : b + 2]
        assert (together.sides[start:stop] == alone.sides[:-1]).all()
        assert (together.tags[start:stop] == alone.tags).all()


def test_missing_values():
    words = Sentence.from_words(["Trees", "grow"], upos=["NOUN", "_"])
    batch, *_ = prepare([words], ALL, treebank())
    lowered = Sentence.from_words(["Trees", "grow"], lemmas=["trees", "grow"], upos=["NOUN", "_"])
    assert (prepare([lowered], ALL, treebank())[0].sides == batch.sides).all()


def test_only_so_many_tags_have_numbers_of_their_own():
    forms = [str(i) for i in range(100)]
    many = Sentence.from_words(forms, upos=[f"T{i}" for i in range(100)])
    often = Sentence.from_words(["a"] * 99, upos=["T99"] * 99)
    known = features.tags_of([many, often])
    assert len(known) == features.MAX_TAGS
    assert slow_hash(b"T99") in known.tolist()
    assert (np.diff(known.astype(object)) > 0).all()


def fields_of(*columns):
    """The fields of a word, of its ten columns."""
    raw = "\t".join(columns).encode() + b"\n"
    spans = np.cumsum([0, *(len(column.encode()) + 1 for column in columns)])
    found = np.empty((3, 7), dtype=np.uint64)  # of the root, of the word, and of no word
    places = np.array([0, len(raw)]), spans[np.newaxis].astype(np.int32), np.array([0, 2])
    features.hash_words(np.frombuffer(raw, np.uint8), *places, found)
    return found[1].tolist()


def test_fields_of_a_word():
    found = fields_of("1", "Dogs", "dog", "NOUN", "_", "Number=Plur", "0", "root", "_", "_")
    texts = (b"dogs", b"dog", b"NOUN")
    assert found[:3] == [slow_hash(text) for text in texts]
    assert found[3:5] == [features.MISSING, slow_hash(b"Number=Plur")]
    assert found[5] == slow_hash(b"ogs")


def test_an_underscore_is_a_form():
    found = fields_of("1", "_", "_", "_", "_", "_", "0", "root", "_", "_")
    assert found[:2] == [slow_hash(b"_")] * 2
    assert found[2:5] == [features.MISSING] * 3
