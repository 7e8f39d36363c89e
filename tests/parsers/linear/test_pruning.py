import json
import math
from collections import defaultdict

import numpy as np
import pytest

import arborescence as arb
from arborescence.core.tree import is_tree
from arborescence.errors import ModelError
from arborescence.parsers import LinearParser
from arborescence.parsers.linear import graphs
from arborescence.parsers.linear.pruning import (
    SIDES,
    EdgeFilter,
    keep_edges,
    learn,
    length_limits,
    margins_kernel,
    sides_for,
)
from arborescence.parsers.shared.features import COLUMNS, Batch, Sides, tags_of
from arborescence.treebank import Sentence, read
from samples import treebank, unparsed

BITS = 13  # little, so that tests are quick
TAGS = ["NOUN", "VERB", "DET", "PUNCT"]
BOTH = np.stack([np.arange(len(SIDES))] * 2, axis=1)  # of heads and of dependents


def random_sentences(rng, count, most=12):
    """Sentences of some tags, whose heads are random trees."""
    sentences = []
    for _ in range(count):
        n = int(rng.integers(1, most + 1))
        sentences.append(
            Sentence.from_words(
                [f"w{i}" for i in rng.integers(6, size=n)],
                upos=[TAGS[i] for i in rng.integers(len(TAGS), size=n)],
                heads=arb.decode(rng.random((n + 1, n + 1))),
            )
        )
    return sentences


def numbered(sentences, tags):
    heads = np.concatenate([sentence.tree for sentence in sentences])
    return Batch.of(sentences, Sides.of(SIDES), tags), heads


def random_filter(rng, tags, threshold):
    limits = rng.integers(0, 8, size=(2, tags, tags))
    limits[:, :, 0] = 1 << 30
    return EdgeFilter(
        BOTH,
        limits,
        rng.integers(-127, 128, size=(64, 16)).astype(np.int8),
        rng.integers(-127, 128, size=(16, tags, tags)).astype(np.int8),
        threshold,
    )


def slow_scores(batch, b, model):
    """The filter's scores as they are defined, edge by edge; -inf where one is too long."""
    start, stop = batch.starts[b : b + 2].tolist()
    scores = np.full((stop - start, stop - start), -np.inf)
    for h in range(stop - start):
        for d in range(1, stop - start):
            length, right_to_left = abs(h - d), int(h < d)
            tag_h, tag_d = batch.tags[start + h], batch.tags[start + d]
            if h == d or length > model.limits[right_to_left, tag_d, tag_h]:
                continue
            bounds = [2, 3, 4, 5, 7, 10, 15]
            column = 8 * right_to_left + sum(length >= bound for bound in bounds)
            score = int(model.tags[column, tag_d, tag_h])
            for side, _ in model.sides:
                of_head = int(batch.sides[start + h, side])
                of_dep = int(batch.sides[start + d, side])
                of_dep = (of_dep << 32 | of_dep >> 32) % 2**64
                score += int(model.words[of_head % len(model.words), column])
                score += int(model.words[of_dep % len(model.words), column])
            scores[h, d] = score
    return scores


def slow_kept(scores, threshold, fan):
    """The edges that should be kept of one sentence, as a matrix."""
    best = scores[:, 1:].max(axis=0)
    keep = np.zeros(scores.shape, dtype=bool)
    keep[:, 1:] = best - scores[:, 1:] <= threshold
    root = 1 + int((best - scores[0, 1:]).argmin())
    if not fan and keep[0, root]:
        reached = {root}
        for _ in scores:
            reached |= {d for d in range(1, len(scores)) if any(keep[h, d] for h in reached)}
        fan = len(reached) < len(scores) - 1
    else:
        fan = True
    if fan:
        for d in range(1, len(scores)):
            keep[0 if d == root else d - 1 if d > root else d + 1, d] = True
    return keep


def matrix(batch, b, starts, heads):
    start, stop = batch.starts[b : b + 2]
    keep = np.zeros((stop - start, stop - start), dtype=bool)
    for d in range(stop - start):
        mine = heads[starts[start + d] : starts[start + d + 1]]
        assert (np.diff(mine) > 0).all()
        keep[mine, d] = True
    return keep


@pytest.mark.parametrize("threshold", [0, 60, 400, 10**6])
def test_kept_edges_are_those_near_the_best_and_hold_a_tree(threshold):
    rng = np.random.default_rng(threshold)
    sentences = random_sentences(rng, 60)
    tags = tags_of(sentences)
    batch, _ = numbered(sentences, tags)
    model = random_filter(rng, len(tags) + 2, threshold)
    for fan in (False, True):
        starts, heads = keep_edges(batch, model, fan)
        for b in range(len(sentences)):
            keep = matrix(batch, b, starts, heads)
            assert (keep == slow_kept(slow_scores(batch, b, model), threshold, fan)).all()
            masked = np.where(keep, rng.random(keep.shape), -np.inf)
            assert is_tree(arb.decode(masked))


def test_margins_are_what_gold_lacks_to_the_best():
    rng = np.random.default_rng(5)
    sentences = random_sentences(rng, 30)
    tags = tags_of(sentences)
    batch, heads = numbered(sentences, tags)
    model = random_filter(rng, len(tags) + 2, 0)
    found = np.empty(len(heads), dtype=np.int64)
    margins_kernel(batch, model, heads, found)
    for b in range(len(sentences)):
        scores = slow_scores(batch, b, model)
        first = batch.starts[b]
        for d in range(1, len(scores)):
            margin = scores[:, d].max() - scores[heads[first + d], d]
            assert found[first + d] == margin or (margin == math.inf and found[first + d] > 1 << 28)


def test_length_limits_leave_room_beyond_what_was_seen():
    rng = np.random.default_rng(7)
    sentences = random_sentences(rng, 100)
    tags = tags_of(sentences)
    batch, heads = numbered(sentences, tags)
    limits = length_limits(batch, heads, len(tags) + 2)
    longest = defaultdict(int)
    for b in range(len(sentences)):
        first = batch.starts[b]
        for d in range(1, len(sentences[b]) + 1):
            h = heads[first + d]
            kind = (int(h < d), batch.tags[first + d], batch.tags[first + h])
            longest[kind] = max(longest[kind], abs(h - d))
    for kind in np.ndindex(limits.shape):
        seen = longest[kind]  # fewer than 1,000 edges of a kind: 99.9 % of them are all
        assert limits[kind] == (1 << 30 if kind[2] == 0 else seen + seen // 2 + 3)


def test_the_filter_learns_and_its_threshold_keeps_the_share():
    rng = np.random.default_rng(11)
    sentences = []
    for _ in range(300):  # each word's head is the next verb, and the last one hangs from the root
        n = int(rng.integers(2, 15))
        upos = [TAGS[i] for i in rng.integers(3, size=n - 1)] + ["VERB"]
        verbs = [i + 1 for i in range(n) if upos[i] == "VERB"]
        heads = [min((v for v in verbs if v > d), default=0) for d in range(1, n + 1)]
        sentences.append(Sentence.from_words(["x"] * n, upos=upos, heads=[-1, *heads]))
    tags = tags_of(sentences)
    lessons, exams = numbered(sentences[:200], tags), numbered(sentences[200:], tags)
    batch, gold = exams
    words = len(gold) - 100
    size = {}
    for share in (0.9, 0.99, 1.0):
        model = learn(lessons, exams, BOTH, len(tags) + 2, seed=1, keep=share)
        starts, heads = keep_edges(batch, model, False)
        right = heads == np.repeat(gold, np.diff(starts))
        assert right.sum() >= share * words
        size[share] = len(heads)
    assert size[0.9] <= size[0.99] <= size[1.0]
    assert size[0.99] < 0.35 * (np.diff(batch.starts) - 1) @ (np.diff(batch.starts) - 1)
    again, other = (
        learn(lessons, exams, BOTH, len(tags) + 2, seed=seed, keep=1.0) for seed in (1, 2)
    )
    assert all((one == two).all() for one, two in zip(model[:4], again[:4], strict=True))
    assert (model.words != other.words).any()


def test_sides_are_found_among_those_of_the_parser():
    assert len(sides_for(tuple(COLUMNS))) == len(SIDES)
    assert len(sides_for(("form", "upos"))) == len(SIDES) - 2
    assert len(sides_for(("form",))) == 0


@pytest.fixture(scope="module")
def parsers():
    """A parser that prunes, and the same one without."""
    options = {"projective": False, "prune": True}
    pruned = LinearParser.train(treebank(), epochs=4, bits=BITS, **options)
    header, arrays = pruned.to_file()
    del header["pruning"]
    return pruned, LinearParser.from_file(as_read(header), arrays)


def as_read(header):
    return json.loads(json.dumps(header))


def long_sentences():
    rng = np.random.default_rng(3)
    return treebank() + random_sentences(rng, 20, most=30)


def test_kept_edges_score_as_ever(parsers):
    pruned, dense = parsers
    some = False
    for sentence in long_sentences():
        scores, full = pruned.scores(sentence), dense.scores(sentence)
        there = np.isfinite(scores)
        assert (scores[there] == full[there]).all()
        assert not scores[:, 0].any()
        assert not scores.diagonal().any()
        some = some or not there.all()
    assert some


@pytest.mark.parametrize("long", [1, 8, 800])
def test_parse_finds_the_best_tree_of_what_is_kept(parsers, monkeypatch, long):
    monkeypatch.setattr(graphs, "LONG", long)
    pruned, _ = parsers
    sentences = long_sentences()
    for root in ("single", "multi"):
        found = pruned.parse(sentences, root=root, rules="none")
        for sentence, parsed in zip(sentences, found, strict=True):
            scores = pruned.scores(sentence)
            best = arb.decode(scores, root=root)
            assert is_tree(parsed.tree, root)
            assert arb.tree_weight(scores, parsed.tree) == arb.tree_weight(scores, best)


def test_projective_trees_k_best_and_confidence_go_with_it(parsers):
    pruned, _ = parsers
    sentences = long_sentences()
    for parsed in pruned.parse(sentences, projective=True):
        assert arb.is_projective(parsed.tree)
    plain = list(pruned.parse(sentences, rules="none"))
    sure_of = pruned.parse(sentences, confidence=True, rules="none")
    for one, sure in zip(plain, sure_of, strict=True):
        assert (one.tree == sure.tree).all()
    for one, best in zip(plain, pruned.kbest(sentences, 3), strict=True):
        weights = [weight for _, weight in best]
        assert weights == sorted(weights, reverse=True)
        assert np.isfinite(weights).all()
        assert (best[0][0].tree == one.tree).all()


def test_joint_and_projective_parsers_prune():
    for options in ({"joint": True}, {"projective": "pseudo"}):
        parser = LinearParser.train(treebank(), epochs=2, bits=BITS, prune=True, **options)
        projective = bool(parser.projective)
        for sentence in treebank():
            [parsed] = parser.parse([sentence], projective=projective)
            best = arb.decode(parser.scores(sentence), projective=projective)
            assert (parsed.tree == best).all()


def test_a_saved_model_prunes_alike(parsers, tmp_path):
    pruned, _ = parsers
    pruned.save(tmp_path / "model")
    loaded = arb.load(tmp_path / "model")
    for sentence in long_sentences():
        assert (loaded.scores(sentence) == pruned.scores(sentence)).all()
    again = LinearParser.train(treebank(), epochs=4, bits=BITS, prune=True, projective=False)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_models_whose_filter_does_not_fit_are_refused(parsers):
    pruned, _ = parsers
    header, arrays = pruned.to_file()
    header = as_read(header)
    wrongs = {
        "pruning/limits": arrays["pruning/limits"][:, :-1],
        "pruning/tags": arrays["pruning/tags"].astype(np.float32),
        "pruning/words": arrays["pruning/words"][:-1],
    }
    for name, wrong in wrongs.items():
        with pytest.raises(ModelError, match=name):
            LinearParser.from_file(header, arrays | {name: wrong})
        with pytest.raises(ModelError, match=name):
            LinearParser.from_file(header, {n: a for n, a in arrays.items() if n != name})
    for threshold in (-1, 0.5, "many", 1 << 40, True):
        with pytest.raises(ModelError, match="pruning is"):
            LinearParser.from_file(header | {"pruning": threshold}, arrays)


@pytest.mark.parametrize("features", ["directed", "undirected"])
@pytest.mark.parametrize("rounds", [0, 5])
def test_undirected_parsers_prune(features, rounds, monkeypatch):
    options = {"inference": "undirected", "features": features, "rounds": rounds}
    pruned = LinearParser.train(treebank(), epochs=2, bits=BITS, prune=True, **options)
    header, arrays = pruned.to_file()
    dense = LinearParser.from_file(as_read(header) | {"pruning": None}, arrays)
    sentences = [unparsed(sentence) for sentence in long_sentences()]
    fewer = 0
    for sentence in sentences:
        scores, full = pruned.scores(sentence), dense.scores(sentence)
        present = scores[:, 1:] > -np.inf
        assert (scores[:, 1:][present] == full[:, 1:][present]).all()
        assert (present[1:] == present[1:].T).all()  # both directions of each pair of words
        fewer += int((~present).sum())
    assert fewer > 0
    by_matrices = list(pruned.parse(sentences))
    assert all(is_tree(parsed.tree) for parsed in by_matrices)
    monkeypatch.setattr(graphs, "LONG", 0)  # all sentences by their lists of edges
    for one, other in zip(by_matrices, pruned.parse(sentences), strict=True):
        assert one.tree.tolist() == other.tree.tolist()


def test_sentences_unlike_any_lesson_are_parsed(parsers):
    pruned, _ = parsers
    strange = Sentence.from_words(["?"] * 40, upos=["X"] * 39 + ["NEW"])
    [parsed] = pruned.parse([strange])
    assert is_tree(parsed.tree)
    assert [len(parsed) for parsed in pruned.parse(map(unparsed, treebank()))] == [
        len(sentence) for sentence in treebank()
    ]


def test_real_edges_of_english_are_kept_and_removed(treebanks):
    folder = treebanks / "English-EWT"
    train, dev = (
        [s for s in read(folder / f"en_ewt-ud-{part}.conllu.gz") if is_tree(s.tree)]
        for part in ("train", "dev")
    )
    tags = tags_of(train)
    lessons, exams = numbered(train, tags), numbered(dev, tags)
    model = learn(lessons, exams, BOTH, len(tags) + 2, seed=1)
    batch, gold = exams
    starts, heads = keep_edges(batch, model, False)
    words = np.diff(batch.starts) - 1
    assert (heads == np.repeat(gold, np.diff(starts))).sum() > 0.98 * words.sum()
    assert len(heads) < 0.14 * (words**2).sum()
