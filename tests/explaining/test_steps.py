"""Each intermediate state is consistent; texts, JSON, names and errors."""

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import OptionError, ScoresError
from arborescence.explaining import as_json
from brute_force import all_trees
from graphs import figure_2, random_graphs

ALGORITHMS = [
    "chu-liu-edmonds", "root-constraint", "kbest", "eisner", "cky", "sums", "undirected",
    "kkt", "transitions",
]  # fmt: skip
TIES = ["small-integers", "absent-integers", "nested"]


def kinds(steps):
    return [step.kind for step in steps]


def leaves(step):
    return {word: node.id for node in step.nodes for word in node.words}


def check_graph(step, scores):
    """The nodes are a partition, and each edge stands for a present one, at its exact weight."""
    n = len(scores) - 1
    node_of = leaves(step)
    assert sorted(word for node in step.nodes for word in node.words) == list(range(n + 1))
    for edge in step.edges:
        h, d = edge.stands_for
        assert scores[h, d] > -np.inf
        assert (edge.head, edge.dependent) == (node_of[h], node_of[d])
        assert edge.head != edge.dependent
    assert len({edge.stands_for for edge in step.edges}) == len(step.edges)
    assert set(step.chosen) <= set(step.edges)
    assert len({edge.dependent for edge in step.chosen}) == len(step.chosen)


def check_common(step, scores):
    """What holds for all algorithms."""
    n = len(scores) - 1
    assert step.text.endswith(".")
    for h, d in (*step.looks_at, *step.required, *step.forbidden):
        assert 0 <= h <= n
        assert 0 <= d <= n
    if step.heads:
        assert len(step.heads) == n + 1
        assert step.heads[0] == -1
        assert all(h is None or 0 <= h <= n for h in step.heads[1:])
    if step.kind in ("tree", "trees", "first-tree", "next-tree"):
        assert arb.is_tree(list(step.heads), "multi")
        edges = [(h, d) for d, h in enumerate(step.heads) if d]
        exact = sum((Fraction(float(scores[edge])) for edge in edges), Fraction(0))
        assert step.weight == float(exact)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", TIES)
def test_every_state(kind, algorithm):
    for scores in random_graphs(kind, 20, seed=1):
        steps = arb.explain(scores, algorithm)
        for step in steps:
            check_common(step, scores)
            if algorithm in ("chu-liu-edmonds", "root-constraint"):
                check_graph(step, scores)
        assert json.loads(json.dumps(as_json(steps), allow_nan=False))["steps"]
        assert all(str(step).startswith(f"[{step.kind}]") for step in steps)


@pytest.mark.parametrize("kind", TIES)
def test_a_contraction_takes_from_each_edge_what_it_kicks_out(kind):
    for scores in random_graphs(kind, 40, seed=2):
        steps = arb.explain(scores, "chu-liu-edmonds")
        for before, step in pairwise(steps):
            if step.kind != "contract":
                continue
            assert before.kind == "cycle"
            old = {edge.stands_for: edge for edge in before.edges}
            chosen = {edge.dependent: edge for edge in before.chosen}
            cycle = [edge.dependent for edge in step.detail.cycle]
            assert [chosen[x] for x in cycle] == list(step.detail.cycle)
            assert [edge.head for edge in step.detail.cycle] == [*cycle[1:], cycle[0]]
            for edge in step.edges:
                was = old[edge.stands_for]
                if was.dependent in cycle:
                    kicked = chosen[was.dependent]
                    assert edge.kicks_out == (*was.kicks_out, kicked.stands_for)
                    assert edge.weight == pytest.approx(was.weight - kicked.weight)
                else:
                    assert (edge.weight, edge.kicks_out) == (was.weight, was.kicks_out)
            gone = set(old) - {edge.stands_for for edge in step.edges}
            assert all(old[e].head in cycle and old[e].dependent in cycle for e in gone)


def steps_to_two_trees(kind, seed):
    """Random graphs that have a tree, each with the steps to its two best trees."""
    for scores in random_graphs(kind, 40, seed=seed):
        steps = arb.explain(scores, "kbest", root="multi", k=2)
        if steps[-1].kind != "no-tree":
            yield scores, steps


def first_swaps(steps):
    return next(step for step in steps if step.kind == "swaps")


@pytest.mark.parametrize("kind", TIES)
def test_next_goes_level_by_level(kind):
    """The base case first, then a level for each cycle that was contracted, the last one first."""
    for _, steps in steps_to_two_trees(kind, seed=9):
        swaps = first_swaps(steps).detail
        levels = steps[1 : steps.index(first_swaps(steps))]
        cycles = {swap.cycle for swap in swaps.swaps} - {None}
        assert [step.kind for step in levels] == ["level"] * (len(cycles) + 1 if cycles else 0)
        if levels:
            found = [swap for step in levels for swap in step.detail.swaps]
            assert sorted(found, key=repr) == sorted(swaps.swaps, key=repr)
            inside = [step.detail.swaps[0].cycle for step in levels[1:]]
            assert inside == sorted(cycles, reverse=True)
            last = levels[-1].detail.cheapest
            assert (last and last.cost) == (swaps.cheapest and swaps.cheapest.cost)


@pytest.mark.parametrize("kind", TIES)
def test_blue_edges_replace_an_edge_and_red_ones_close_a_cycle(kind):
    """Definition 2 of *kbest*, for the nodes that are words."""
    for scores, steps in steps_to_two_trees(kind, seed=10):
        for swap in first_swaps(steps).detail.swaps:
            if swap.node.members:
                continue
            for edges, replaces in ((swap.blue, True), (swap.red, False)):
                for h, d in edges:
                    assert d == swap.edge[1]
                    tree = list(steps[0].heads)
                    tree[d] = h
                    assert arb.is_tree(tree, "multi") == replaces
                    assert scores[h, d] <= scores[swap.edge]
            assert swap.replacement == (swap.blue[0] if swap.blue else None)


@pytest.mark.parametrize("kind", TIES)
def test_the_cheapest_swap_is_the_second_best_tree(kind):
    for scores, steps in steps_to_two_trees(kind, seed=3):
        weights = arb.kbest(scores, 2, root="multi")[1].tolist()
        swaps = first_swaps(steps).detail
        if len(weights) == 1:
            assert swaps.cheapest is None
        else:
            assert swaps.cheapest.cost == pytest.approx(weights[0] - weights[1])
            costs = [swap.cost for swap in swaps.swaps if swap.cost is not None]
            assert swaps.cheapest.cost == min(costs)


def test_trees_keep_the_conditions_of_their_parts():
    scores = np.random.default_rng(5).integers(0, 9, (6, 6))
    for step in arb.explain(scores, "kbest", k=12):
        edges = {(h, d) for d, h in enumerate(step.heads) if d and h is not None}
        if step.kind in ("first-tree", "next-tree", "level", "swaps", "other-root"):
            assert set(step.required) <= edges
            assert not edges & set(step.forbidden)


def test_the_example_of_root():
    """Figure 2: 170 and 120, then 190 and 210; and w((G/C)*) = w(G*), Theorem 1."""
    scores = figure_2()
    best = arb.explain(scores, "chu-liu-edmonds")[-1].weight
    assert best == 260
    steps = arb.explain(scores, words=["we", "wash", "our", "cats"])
    assert kinds(steps) == [
        "greedy", "cycle", "contract", "best-edge", "acyclic", "root-edges", "other-heads",
        "optimization", "root-edges", "expand", "tree",
    ]  # fmt: skip
    contract, acyclic = steps[2], steps[4]
    cast = contract.detail
    assert [(e.stands_for, e.weight) for e in cast.entering] == [((0, 2), 170), ((1, 3), 120)]
    assert (cast.exit, cast.external) == (((4, 1),), ((0, 1),))
    assert sorted(cast.dead) == [(2, 3), (2, 4), (3, 2), (4, 3)]
    assert "{wash our cats}" in contract.text
    assert sum(edge.weight for edge in acyclic.chosen) == best
    assert "It weighs 260" in acyclic.text
    children = steps[6].detail.children
    assert [(c.root_edge.weight, c.without) for c in children] == [(90, 190), (170, 210)]
    assert steps[7].forbidden == ((0, 2),)
    assert "weighs most, 210" in steps[7].text
    assert (steps[-1].heads, steps[-1].weight) == ((-1, 0, 3, 1, 2), 210.0)


def test_the_lectures_weights_in_its_own_view():
    contract = arb.explain(figure_2(), "chu-liu-edmonds")[2]
    assert [(e.stands_for, e.weight, e.kicks_out) for e in contract.detail.entering] == [
        ((0, 2), -10.0, ((3, 2),)),
        ((1, 3), -60.0, ((4, 3),)),
    ]


def test_the_tables_of_the_lecture():
    """*Contraction Example*: bestInEdge and kicksOut when all is contracted; e stays empty."""
    scores = np.array([[0, 5, 1, 1], [0, 0, 11, 5], [0, 10, 0, 4], [0, 9, 8, 0]], float)
    scores[[0, 1, 2, 3], [0, 1, 2, 3]] = scores[:, 0] = -np.inf
    ends = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (1, 3), (2, 1), (3, 1), (3, 2)]
    name = dict(zip(ends, "abcdefghi", strict=True))
    best, kicks_out = {}, dict.fromkeys("abcdefghi", "")
    for step in arb.explain(scores, "chu-liu-edmonds"):
        if step.kind in ("greedy", "contract", "best-edge"):
            best |= {edge.dependent: name[edge.stands_for] for edge in step.chosen}
            for edge in step.edges:
                kicks_out[name[edge.stands_for]] = "".join(name[e] for e in edge.kicks_out)
    assert best == {1: "g", 2: "d", 3: "f", 4: "h", 5: "a"}
    assert {edge: kicked for edge, kicked in kicks_out.items() if kicked} == {
        "a": "gh", "b": "dh", "c": "f", "h": "g", "i": "d",
    }  # fmt: skip


def best_in_span(scores, h, d, child=None):
    """The best projective tree of the words from h to d below h; and h has a child."""
    words = list(range(h, d + 1) if h < d else range(h, d - 1, -1))
    weights = [
        sum(scores[words[head], words[k]] for k, head in enumerate(heads) if k)
        for heads in all_trees(len(words) - 1, single=False, projective=True).tolist()
        if child is None or words[heads[words.index(child)]] == h
    ]
    return max(weights)


def test_triangles_and_trapezoids_are_what_the_lecture_says():
    """All words of both are below x_h. Of a trapezoid, x_c is a child of x_h, and is the other end.

    Dependents of x_c beyond x_c are none of its words: all ways to fill it end there.
    """
    rng = np.random.default_rng(4)
    cells = 0
    for n in (1, 2, 3, 4, 5):
        scores = rng.integers(-9, 9, (n + 1, n + 1)).astype(float)
        for step in arb.explain(scores, "eisner", root="multi"):
            for span in step.detail.spans if step.kind in ("start", "fill") else ():
                child = span.end if span.kind == "incomplete" else None
                assert span.weight == best_in_span(scores, span.head, span.end, child)
                cells += 1
    assert cells > 100


@pytest.mark.parametrize("kind", TIES)
def test_theorem_1(kind):
    """w((G/C)*) = w(G*): contraction keeps the weight of the best arborescence."""
    for scores in random_graphs(kind, 40, seed=4):
        for step in arb.explain(scores):
            if step.kind == "acyclic":
                weight = arb.explain(scores, "chu-liu-edmonds")[-1].weight
                assert sum(edge.weight for edge in step.chosen) == pytest.approx(weight)


@pytest.mark.parametrize("kind", TIES)
def test_each_edge_is_cast_as_one_of_four(kind):
    for scores in random_graphs(kind, 40, seed=5):
        for before, step in pairwise(arb.explain(scores)):
            if step.kind == "contract":
                cast = step.detail
                enter = [edge.stands_for for edge in cast.entering]
                inside = {w for node in step.nodes if node.id == cast.node for w in node.words}
                assert sorted([*enter, *cast.exit, *cast.external, *cast.dead]) == sorted(
                    edge.stands_for for edge in before.edges
                )
                for edges, kind_of in (
                    (enter, (False, True)),
                    (cast.exit, (True, False)),
                    (cast.external, (False, False)),
                    (cast.dead, (True, True)),
                ):
                    assert {(h in inside, d in inside) for h, d in edges} <= {kind_of}


def test_the_example_of_kbest():
    steps = arb.explain(figure_2(), "kbest", root="multi", k=7)
    costs = {swap.edge: swap.cost for swap in first_swaps(steps).detail.swaps}
    assert costs == {(0, 1): 70.0, (0, 2): 50.0, (4, 3): 40.0, (2, 4): None}
    assert steps[-1].detail.weights == (260, 220, 210, 200, 190, 150, 130)
    assert steps[-1].text == "These are the 7 best trees."
    more = arb.explain(figure_2(), "kbest", root="multi", k=8)
    assert more[-1].text == "These are all trees that exist: 7, not 8."


def test_a_reduction():
    # The other heads of 1 and of 2 are below themselves.
    scores = np.full((4, 4), -np.inf)
    for h, d, weight in [(0, 1, 9), (1, 2, 8), (2, 1, 5), (0, 3, 9), (1, 3, 1), (2, 3, 2)]:
        scores[h, d] = weight
    steps = arb.explain(scores)
    assert "reduction" in kinds(steps)
    assert steps[-1].heads == tuple(arb.decode(scores).tolist())


@pytest.mark.parametrize(
    ("algorithm", "text"),
    [
        ("chu-liu-edmonds", "No edge enters 2"),
        ("root-constraint", "No edge enters 2"),
        ("kbest", "There is no first tree. No edge enters 2"),
        ("eisner", "no projective tree"),
        ("cky", "no projective tree"),
        ("sums", "The determinant is 0"),
        ("undirected", "The pairs do not connect"),
        ("kkt", "The pairs do not connect"),
        ("transitions", "no projective tree"),
    ],
)
def test_the_last_step_says_why_there_is_no_tree(algorithm, text):
    scores = [[0, 1, -np.inf], [0, 0, -np.inf], [0, -np.inf, 0]]
    step = arb.explain(scores, algorithm)[-1]
    assert step.kind == "no-tree"
    assert text in step.text


def test_no_tree_with_a_single_root():
    scores = [[0, 1, 1], [0, 0, -np.inf], [0, -np.inf, 0]]
    step = arb.explain(scores)[-1]
    assert step.kind == "no-tree"
    assert "no tree with a single root edge" in step.text


def test_names_of_words():
    steps = arb.explain([[0, 2, 1], [0, 0, 1], [0, 1, 0]], words=["no", "no"])
    assert steps[0].words == ("root", "no(1)", "no(2)")
    assert arb.explain([[0, 2], [0, 0]], words=["\x1b"])[0].words[1] == "\\x1b"


def test_nodes_and_edges_have_names():
    graph = [[0, 1, 1], [0, 0, 5], [0, 6, 0]]
    steps = arb.explain(graph, "chu-liu-edmonds", words=["V1", "V2"], edges={(0, 1): "a"})
    assert "The cycle becomes the node V3." in steps[2].text
    assert "The best edge into V3 is root → V2" in steps[3].text
    assert steps[2].table()[1] == ["V1", "V2 → V1", "a, root → V1", "-5", "V2 → V1"]
    assert as_json(steps)["edges"] == [[0, 1, "a"]]
    for words in (["1", "2"], ["V1", "V3"]):
        assert "node {" in arb.explain(graph, "chu-liu-edmonds", words=words)[2].text


def test_picture_sentence_and_stack_show_the_state_after_the_action():
    for scores in random_graphs("small-integers", 20, seed=6):
        n = len(scores) - 1
        *steps, last = arb.explain(scores, "transitions")
        if last.kind == "no-tree":
            continue
        first = steps[0].detail
        assert (first.stack, first.buffer, first.actions) == ((0,), tuple(range(1, n + 1)), ())
        for before, step in pairwise(steps):
            action = step.text.split(":")[0]
            was, now = before.detail, step.detail
            assert now.actions == (*was.actions, action)
            if action == "SHIFT":
                assert (*was.stack, was.buffer[0]) == now.stack
                assert (was.buffer[1:], before.heads) == (now.buffer, step.heads)
                continue
            head, word = was.stack[-2:] if action == "RIGHT-ARC" else was.stack[:-3:-1]
            assert now.stack == tuple(node for node in was.stack if node != word)
            assert (step.heads[word], before.heads[word]) == (head, None)
            assert step.looks_at == ((head, word),)
        assert (last.detail.stack, len(last.detail.actions)) == ((0,), 2 * n)


def test_the_lectures_actions():
    heads = [-1, 3, 3, 0, 5, 3, 5, 6]
    scores = np.zeros((8, 8))
    scores[heads[1:], range(1, 8)] = 5
    table = arb.explain(scores, "transitions", words=[*"abcdefg"])[9].table()
    assert table == [
        ["stack", "buffer", "actions"],
        ["root c e f", "g", "SHIFT SHIFT SHIFT LEFT-ARC LEFT-ARC SHIFT"],
        ["", "", "SHIFT LEFT-ARC SHIFT"],
    ]


@pytest.mark.parametrize("algorithm", ["eisner", "cky", "transitions"])
def test_no_sentence_is_repeated(algorithm):
    heads = [3, 3, 0, 5, 3, 5, 6]
    scores = np.zeros((8, 8))
    scores[heads, range(1, 8)] = 5
    texts = [step.text for step in arb.explain(scores, algorithm)]
    assert len(set(texts)) == len(texts) > 15


def test_spans_have_the_names_of_the_slides():
    """Each is made of two: triangle + triangle → trapezoid, trapezoid + triangle → triangle."""
    for scores in random_graphs("small-integers", 20, seed=8):
        for step in arb.explain(scores, "eisner"):
            if step.kind not in ("fill", "back"):
                continue
            for row, span in zip(step.table()[1:], step.detail.spans, strict=True):
                attached, left = span.kind == "incomplete", span.end < span.head
                assert (
                    row[0]
                    == f"{'attach' if attached else 'complete'} {'left' if left else 'right'}"
                )
                kinds_of = [part[0] for part in span.parts]
                if attached:
                    assert kinds_of in (["complete"] * 2, [])
                else:
                    assert sorted(kinds_of) in (["complete", "incomplete"], [])
    steps = arb.explain(np.arange(16.0).reshape(4, 4), "eisner")
    assert steps[2].text == "From 1 to 2. Attach: 1 → 2 6, 2 → 1 9. Complete: head 1 6, head 2 9."
    assert "From root to 3, the goal. Attach: root → 3" in steps[6].text
    assert ": complete a right child, of I[root, 3] and C[3, 3]." in steps[7].text
    assert ": attach a right dependent by root → 3, of C[root, root] and C[3, 1]." in steps[8].text


@pytest.mark.parametrize("kind", TIES)
def test_a_boruvka_step_leaves_the_best_edge_between_two_nodes(kind):
    """Self edges and repetitive edges go, line by line."""
    for scores in random_graphs(kind, 40, seed=11):
        for step in arb.explain(scores, "undirected", root="multi"):
            if step.kind != "contract":
                continue
            node_of = leaves(step)
            best, stays = {}, set()
            for link, fate in zip(step.detail.links, step.detail.fates, strict=True):
                ends = frozenset((node_of[link.one], node_of[link.other]))
                chosen = (link.one, link.other) in step.detail.chosen
                assert (fate == "is in the tree") == chosen
                assert (fate == "self edge: goes") == (len(ends) == 1 and not chosen)
                if len(ends) == 2:
                    best[ends] = max(best.get(ends, -np.inf), link.weight)
                if fate == "stays":
                    stays.add((ends, link.weight))
            assert stays == set(best.items())


def test_heavy_edges_are_in_no_best_tree():
    """A sample, its forest, and the edges that are worse than a path in it."""
    count = 0
    for seed in range(40):
        scores = np.random.default_rng(seed).integers(0, 9, (21, 21))
        for d in range(1, 21, 4):  # two steps of Borůvka leave these five nodes
            scores[[d, d + 2], [d + 1, d + 3]] = 90
            scores[d + 1, d + 2] = 70
        steps = arb.explain(scores, "kkt", root="multi")
        spanning = {
            pair
            for step in arb.explain(scores, "undirected", root="multi")
            if step.kind == "boruvka"
            for pair in step.looks_at
        }
        for forest, step in pairwise(steps):
            if step.kind != "heavy":
                continue
            assert forest.kind == "forest"
            assert set(forest.looks_at) <= {(link.one, link.other) for link in step.detail.links}
            weights = {(link.one, link.other): link.weight for link in step.detail.links}
            for pair, fate, worst in zip(
                weights, step.detail.fates, step.detail.worst, strict=True
            ):
                assert (fate == "F-heavy: removed") == (pair in step.forbidden)
                if pair in step.forbidden:
                    assert (-weights[pair], pair) > (-weights[worst], worst)
                if pair in forest.looks_at:
                    assert worst == pair
            if "In the sample" not in step.text:
                assert not set(step.forbidden) & spanning
            count += len(step.forbidden)
    assert count > 5


def test_json():
    made = as_json(arb.explain(figure_2(), words=list("abcd")))
    assert made["words"] == ["root", *"abcd"]
    step = made["steps"][2]
    assert step["detail"]["type"] == "Cast"
    assert step["detail"]["entering"][0]["stands_for"] == [0, 2]
    assert [node["id"] for node in step["nodes"]] == [0, 1, 5]
    assert [node["id"] for node in step["nodes"][2]["members"]] == [2, 3, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "prim"}, "algorithm must be 'chu-liu-edmonds', "),
        ({"algorithm": "chu-liu-edmonds", "root": "single"}, "has no root constraint"),
        ({"root": "multi"}, "finds trees with one root edge"),
        ({"root": "multi", "algorithm": "cky"}, "take algorithm='eisner'"),
        ({"root": "both"}, "root must be"),
        ({"k": 2}, "k is for algorithm='kbest'"),
        ({"algorithm": "kbest", "k": 21}, "at most 20: nobody"),
        ({"algorithm": "kbest", "k": 0}, "k must be at least 1"),
        ({"words": ["one"]}, "there are 1 words"),
        ({"words": "ab"}, "words must be a list"),
        ({"edges": {(1, 1): "a"}}, r"a name for \(1, 1\), which is no edge"),
        ({"edges": {(0, 1): 7}}, "must be a name, not 7"),
        ({"edges": {(0, 1): "a", (0, 2): "a"}}, "the same name for two edges"),
    ],
)
def test_options(options, message):
    with pytest.raises(OptionError, match=message):
        arb.explain(np.zeros((3, 3)), **options)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.full((3, 3), np.nan), r"scores\[0, 1\], the edge 0 -> 1, is nan"),
        (np.full((3, 3), np.inf), "is inf"),
        (np.zeros((2, 3)), "shape"),
        (np.zeros((1, 3, 3)), "are a batch"),
        (np.zeros((32, 32)), "at most 30"),
    ],
)
def test_scores(scores, message):
    with pytest.raises(ScoresError, match=message):
        arb.explain(scores)
