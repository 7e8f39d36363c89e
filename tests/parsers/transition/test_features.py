"""Features of states against templates read as they are spelled: `naive_transitions`."""

import re

import numpy as np
import pytest

import naive_transitions as naive
from arborescence.parsers.shared.features import COLUMNS, Batch, Sides
from arborescence.parsers.transition.features import (
    WORDS,
    StateTemplates,
    list_features,
    rows_for,
    templates_of,
)
from arborescence.transitions import SYSTEMS, Transition, get_system, systems
from arborescence.transitions.state import FIELDS
from modes import NATIVE
from samples import treebank

LABELS = [f"r{i}" for i in range(70)]  # more than a set has bits


needs_parts = pytest.mark.skipif(NATIVE, reason="calls kernels that are only parts of others")


@pytest.mark.parametrize(
    "columns", [tuple(COLUMNS), ("form", "upos"), ("lemma",), ("xpos", "feats")]
)
@needs_parts
@pytest.mark.parametrize("name", SYSTEMS)
def test_features_are_what_templates_say(name, columns):
    model = naive.Naive(name, columns, LABELS, None, np.empty((rows_for(12), 4)), np.empty((8, 70)))
    sides = []
    templates = StateTemplates.of(name, columns, sides)
    words, rows = np.empty(len(WORDS), dtype=np.int64), np.empty(len(templates.parts), np.int64)
    atoms = np.zeros(len(templates.odd) + 1, dtype=np.uint64)
    actions = get_system(name).actions
    generator = np.random.default_rng(0)
    sentences = treebank()
    batch = Batch.of(sentences, Sides.of(sides), np.empty(0, dtype=np.uint64))
    for sentence, start in zip(sentences, batch.starts.tolist(), strict=False):
        of_words, state = naive.Words(sentence), model.start(sentence)
        array = np.empty((FIELDS, len(sentence) + 4), dtype=np.int32)
        systems.begin(get_system(name).number, array)
        while not state.finished:
            list_features(batch.sides, start, array, templates, 12, words, atoms, rows)
            assert sorted(rows.tolist()) == sorted(model.rows(of_words, state))
            action, label = str(generator.choice(state.legal)), int(generator.integers(70))
            adds = "ARC" in action
            state = state.apply(Transition(action, LABELS[label] if adds else None))
            systems.advance(
                get_system(name).number, array, actions.index(action), label if adds else -1
            )


@pytest.mark.parametrize("name", SYSTEMS)
def test_templates_are_each_there_once_and_name_what_there_is(name):
    templates = templates_of(name)
    assert len({" ".join(sorted(template.split())) for template in templates}) == len(templates)
    named = {word for template in templates for word in re.findall(r"(\w+):", template)}
    assert named <= set(WORDS)
    assert {"s0", "n0", "s1"} <= named


@needs_parts
def test_features_that_take_few_values_lie_in_the_first_rows():
    templates = StateTemplates.of("arc-eager", tuple(COLUMNS), [])
    rows = np.empty(len(templates.parts), dtype=np.int64)
    atoms = np.zeros(len(templates.odd) + 1, dtype=np.uint64)
    sides = np.random.default_rng(0).integers(2**64, size=(4, 99), dtype=np.uint64)
    array = np.empty((FIELDS, 2 + 4), dtype=np.int32)
    systems.begin(get_system("arc-eager").number, array)
    for bits in (10, 20, 26):
        list_features(sides, 0, array, templates, bits, np.empty(18, np.int64), atoms, rows)
        assert 0 < templates.small < len(rows)
        assert rows.min() >= 0
        assert rows[: templates.small].max() < rows_for(bits) - 2**bits
        assert rows[templates.small :].min() >= rows_for(bits) - 2**bits
        assert rows.max() < rows_for(bits)
