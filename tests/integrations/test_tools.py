"""The real packages, with their own classes; `with_parsers.sh` installs them."""

import logging
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

import random_models
from arborescence import NoTreeError, ScoresError, integrations, is_tree, tree_weight
from arborescence.integrations import patching
from arborescence.integrations.patching import holders, module_of, replacements
from arborescence.integrations.tools import one_root
from random_rules import allowed_trees

pytestmark = pytest.mark.filterwarnings("ignore")  # whatever other packages warn of

LENGTHS = [1, 2, 3, 8, 12, 5, 20, 9, 31]


@pytest.fixture(params=integrations.TOOLS)
def tool(request):
    if not find_spec(request.param):
        pytest.skip(f"{request.param} is not installed")
    try:
        replacements(request.param)
    except ImportError as error:
        pytest.skip(f"{request.param} cannot be imported beside the other packages: {error}")
    yield request.param
    integrations.unpatch(request.param)


def need(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def test_the_check_finds_nothing_wrong(tool):
    found = patching.check(tool)
    assert found.wrong == found.broken == 0
    assert found.same > 0.9 * sum(found)


@pytest.mark.parametrize("masked", [-1e9, np.finfo(np.float32).min])
def test_masked_edges_and_positive_scores(tool, masked):
    """Where theirs is a tree with one root edge, ours weighs as much or more; ours always is."""
    rng = np.random.default_rng(3)
    decode = module_of(tool).decode
    for n in [2, 3, 4, 5] * 15:
        scores = rng.normal(size=(1, n + 1, n + 1)).astype(np.float32)
        scores[rng.random(scores.shape) < 0.3] = masked
        scores[:, 0, 0] = 0
        lengths = np.array([n])
        try:
            theirs = patching.weight_of(scores[0], n, decode(scores.copy(), lengths)[0])
        except Exception:
            theirs = None
        with integrations.patch(tool):
            ours = patching.weight_of(scores[0], n, decode(scores.copy(), lengths)[0])
        assert ours is not None
        assert theirs is None or ours >= theirs


def test_all_is_put_back(tool):
    def held():
        return [
            (str(place), vars(place.owner)[place.name], len(holders(vars(place.owner)[place.name])))
            for place in replacements(tool)
        ]

    before = held()
    names = patching.places(tool)
    integrations.patch(tool)
    for (_, old, count), (_, new, now) in zip(before, held(), strict=True):
        assert new is not old
        assert now == count
        assert not holders(old)
    integrations.unpatch(tool)
    assert held() == before
    assert patching.places(tool) == names


def test_a_graph_without_a_tree_and_a_score_that_is_none(tool):
    scores = np.full((1, 4, 4), -np.inf, np.float32)
    with integrations.patch(tool):
        with pytest.raises(NoTreeError, match="no tree exists"):
            module_of(tool).decode(scores, np.array([3]))
        scores[:] = 1
        scores[0, 2, 1] = np.nan
        with pytest.raises(ScoresError, match="1 -> 2"):
            module_of(tool).decode(scores, np.array([3]))


@pytest.mark.parametrize("resolve", [False, True], ids=["plain", "constraints"])
def test_stanza_parses(resolve):
    need("stanza")
    logging.getLogger("stanza").setLevel(logging.ERROR)
    text = random_models.treebank(LENGTHS)
    processor = random_models.stanza_processor(text, resolve_head_constraints=resolve)

    def parse():
        document = processor.process(random_models.stanza_document(text))
        return [[(word.head, word.deprel) for word in each.words] for each in document.sentences]

    theirs = parse()
    with integrations.patch("stanza"):
        ours = parse()
    assert [len(words) for words in ours] == LENGTHS
    if not resolve:
        assert ours == theirs
    assert type(ours[0][0][0]) is type(theirs[0][0][0])
    for words in ours:
        assert is_tree([-1, *(head for head, _ in words)])


def test_stanza_gives_the_same_lists():
    need("stanza")
    model = import_module("stanza.models.depparse.model")
    scores, lengths = patching.random_graphs(np.random.default_rng(4))
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 5, scores.shape)
    sizes = (lengths + 1).tolist()

    class Vocabulary:
        def unmap(self, numbers):
            return [f"label {int(number)}" for number in numbers]

    arguments = (Vocabulary(), len(sizes), [scores, labels], sizes)
    theirs = model.GraphParser.decode_graph_predictions(*arguments)
    with integrations.patch("stanza"):
        assert model.GraphParser.decode_graph_predictions(*arguments) == theirs


def test_stanza_keeps_head_constraints():
    """Ours is the best of all labeled trees that keep them; Stanza's is one of these at best."""
    need("stanza")
    theirs = import_module("stanza.models.depparse.head_constraints")
    vocabulary = import_module("stanza.models.common.vocab")
    names = ["nsubj", "obj", "csubj", "nsubj:outer", "obl"]

    class Vocabulary:
        def unmap(self, numbers):
            return [names[number - vocabulary.VOCAB_PREFIX_SIZE] for number in numbers]

    def broken(heads, labels):
        relations = [names[label] for label in labels[1:]]
        return theirs.find_head_constraint_violations(heads, relations)

    rng = np.random.default_rng(9)
    better = 0
    for n in [1, 2, 3, 4] * 15:
        scores = rng.normal(0, 2, (n + 1, n + 1)).astype(np.float32)
        labels = rng.normal(0, 1, (n + 1, n + 1, 5 if n < 4 else 3)).astype(np.float32)
        tree = one_root(scores)
        arguments = scores, labels, tree, Vocabulary()
        own = theirs.resolve_head_constraint_violations(*arguments)
        with integrations.patch("stanza"):
            heads, found = theirs.resolve_head_constraint_violations(*arguments)
        plain = labels[np.arange(1, n + 1), tree[1:]].argmax(-1)
        if not broken(tree, [-1, *plain]):
            assert heads.tolist() == own[0].tolist() == tree.tolist()
            assert found == own[1] == plain.tolist()
            continue
        weights = (scores[..., None].astype(np.float64) + labels).swapaxes(0, 1)
        words = np.arange(1, n + 1)
        [(_, best, best_labels), *_] = allowed_trees(weights, broken, single=True, projective=False)
        weight = weights[heads[1:], words, found].sum()
        assert weight == pytest.approx(weights[best[1:], words, best_labels[1:]].sum())
        assert not broken(heads, [-1, *found])
        if not broken(own[0], [-1, *own[1]]):
            better += weight > weights[own[0][1:], words, own[1]].sum() + 1e-6
    assert better


@pytest.mark.parametrize("proj", [False, True], ids=["non-projective", "projective"])
def test_supar_parses(tmp_path, proj):
    need("supar")
    text = random_models.treebank(LENGTHS)
    small = {"n_lstm_hidden": 20, "n_lstm_layers": 1, "n_arc_mlp": 20, "n_rel_mlp": 20}
    parser = random_models.supar_parser(tmp_path, text, **small)
    given = tmp_path / "given.conllx"
    given.write_text(random_models.as_conllx(text))

    def parse():
        found = parser.predict(str(given), tree=True, proj=proj, buckets=2, verbose=False)
        return sorted(zip(found.arcs, found.rels, strict=True), key=lambda pair: len(pair[0]))

    theirs = parse()
    with integrations.patch("supar"):
        ours = parse()
    assert ours == theirs
    assert all(is_tree([-1, *heads]) for heads, _ in ours)


@pytest.mark.parametrize("multiroot", [False, True], ids=["single", "multi"])
@pytest.mark.parametrize("name", ["MatrixTree", "DependencyCRF"])
def test_supar_distributions(name, multiroot):
    torch = need("torch")
    supar = need("supar")
    scores, lengths = patching.random_graphs(np.random.default_rng(6))
    scores = torch.tensor(np.maximum(scores, -20))
    distribution = getattr(supar, name)

    def best():
        return distribution(scores.clone(), torch.tensor(lengths), multiroot).argmax

    theirs = best()
    with integrations.patch("supar"):
        ours = best()
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
    for matrix, n, own, other in zip(scores, lengths, ours, theirs, strict=True):
        graph = matrix[: n + 1, : n + 1].numpy().T
        heads = np.array([-1, *own[1 : n + 1]])
        assert is_tree(heads, "multi" if multiroot else "single")
        assert tree_weight(graph, heads) >= tree_weight(graph, np.array([-1, *other[1 : n + 1]]))
        assert not own[n + 1 :].any()


@pytest.mark.parametrize("tool_and_module", ["diaparser.utils.alg", "hanlp.components.parsers.alg"])
def test_eisner_in_tensors(tool_and_module):
    torch = need("torch")
    name = tool_and_module.partition(".")[0]
    if not find_spec(name):
        pytest.skip(f"{name} is not installed")
    alg = import_module(tool_and_module)
    scores, lengths = patching.random_graphs(np.random.default_rng(7))
    scores = torch.tensor(np.maximum(scores, -20))
    words = torch.arange(scores.shape[-1])
    mask = (words > 0) & (words <= torch.tensor(lengths)[:, None])
    theirs = alg.eisner(scores, mask)
    with integrations.patch(name):
        assert torch.equal(alg.eisner(scores, mask), theirs)


@pytest.mark.parametrize("proj", [False, True], ids=["non-projective", "projective"])
def test_hanlp_decodes_a_batch(proj):
    torch = need("torch")
    need("hanlp")
    alg = import_module("hanlp.components.parsers.alg")
    scores, lengths = patching.random_graphs(np.random.default_rng(8))
    scores = torch.tensor(np.maximum(scores, -20))
    words = torch.arange(scores.shape[-1])
    mask = (words > 0) & (words <= torch.tensor(lengths)[:, None])
    for tree in (False, True):
        theirs = alg.decode_dep(scores.clone(), mask, tree, proj)
        with integrations.patch("hanlp"):
            ours = alg.decode_dep(scores.clone(), mask, tree, proj)
        assert torch.equal(ours[mask], theirs[mask])
