"""What Python writes: the page's size, its list of steps, and sheets of exercises."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import arborescence as arb
from arborescence.core.choices import Algorithm
from arborescence.errors import OptionError, ScoresError
from arborescence.explaining.page import exercise_sheet, explain_html
from arborescence.explaining.page.exercises import exercise
from modes import thinned


@pytest.mark.parametrize("algorithm", thinned(Algorithm.__args__, 3))
def test_the_longest_page_is_small(algorithm):
    scores = np.random.default_rng(0).normal(size=(31, 31))
    page = explain_html(scores, algorithm, words=[f"Wörter-{d}" for d in range(1, 31)])
    assert len(page.encode()) < (2_500_000 if algorithm == "cky" else 600_000)


def test_nothing_comes_from_elsewhere():
    page = explain_html([[0, 1], [0, 0]])
    assert not re.search(r"\b(src|@import|url\()", page)
    links = re.findall(r'href="([^"$]*)', page)
    assert [link for link in links if "://" in link] == []


def test_short_lists_have_tables():
    scores = np.random.default_rng(0).normal(size=(31, 31))
    short = explain_html(scores[:4, :4])
    steps = arb.explain(scores[:4, :4])
    assert short.count("<table>") == len(steps)
    assert all(step.text in short for step in steps)
    assert "<table>" not in explain_html(scores)


def test_data():
    page = explain_html([[0, 2.5], [0, 0]], "kbest", words=["</script>"], root="multi", k=2)
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    found = json.loads(data)
    traces = found.pop("traces")
    assert found == {
        "names": ["root", "</script>"],
        "edges": [],
        "scores": [[None, 2.5], [None, None]],
        "algorithm": "kbest",
        "single": False,
        "algorithms": list(Algorithm.__args__),
        "totals": {"single": 2.5, "multi": 2.5},
    }
    assert list(traces) == ["kbest", "cky", "sums", "undirected", "kkt"]
    steps = arb.explain([[0, 2.5], [0, 0]], "kbest", words=["</script>"], root="multi", k=2)
    assert [step["text"] for step in traces["kbest"]["multi"]] == [step.text for step in steps]
    assert [step["table"] for step in traces["kbest"]["multi"]] == [step.table() for step in steps]


def test_what_a_page_can_show():
    def choices(scores, *algorithm):
        return re.findall("<option>(.*?)</option>", explain_html(scores, *algorithm))

    live = ["chu-liu-edmonds", "root-constraint", "eisner", "transitions"]
    assert choices(np.zeros((10, 10))) == live
    assert choices(np.zeros((10, 10)), "sums") == [*live[:3], "sums", live[3]]
    # Sums are explained for scores that lie near one another.
    without = [name for name in Algorithm.__args__ if name != "sums"]
    assert choices([[0, 0, 0], [0, 0, -500], [0, 0, 0]]) == without


def test_errors():
    with pytest.raises(ScoresError, match="at most 30"):
        explain_html(np.zeros((32, 32)))
    with pytest.raises(OptionError, match="k is for"):
        explain_html(np.zeros((3, 3)), k=2)


def graph_of(made):
    size = len(made.step.words)
    scores = np.full((size, size), -np.inf)
    for edge in made.step.edges:
        scores[edge.stands_for] = edge.weight
    return scores


@pytest.mark.parametrize("seed", range(3, 120, 6))
def test_a_span_weighs_what_eisner_says(seed):
    made = exercise(seed)
    [(head, end)] = made.step.looks_at
    for step in arb.explain(graph_of(made), "eisner")[:-1]:
        for span in step.detail.spans if step.kind == "fill" else ():
            if (span.kind, span.head, span.end) == ("incomplete", head, end):
                assert made.answer.startswith(f"{span.weight:g}: ")
                assert span not in made.step.detail.spans
    assert len(set(made.options)) == 4


@pytest.mark.parametrize("seed", range(4, 120, 6))
def test_the_next_action_is_the_oracles(seed):
    made = exercise(seed)
    tree = np.full(len(made.step.words), -1)
    for edge in made.step.edges:
        tree[edge.dependent] = edge.head
    derivation = arb.transitions.get_system("arc-standard").derivation(tree)
    done = made.step.detail.actions
    names = [str(action) for action in derivation]
    assert tuple(names[: len(done)]) == done
    assert made.answer.startswith(f"{names[len(done)]}: ")
    assert list(made.options) == ["SHIFT", "LEFT-ARC", "RIGHT-ARC"]


@pytest.mark.parametrize("seed", range(5, 120, 6))
def test_the_edge_that_goes_is_that_of_the_second_tree(seed):
    made = exercise(seed)
    trees, weights, _ = arb.kbest(graph_of(made), 3, root="multi")
    [word] = np.flatnonzero(trees[0] != trees[1])
    names = made.step.words
    assert made.answer.startswith(
        f"{names[trees[0, word]]} → {names[word]}: {names[trees[1, word]]} → {names[word]} takes"
    )
    assert f"weighs {weights[0]:g}. Which" in made.question
    assert f"the tree weighs {weights[1]:g}." in made.answer
    assert [edge.stands_for for edge in made.step.chosen] == [
        (h, d) for d, h in enumerate(trees[0].tolist()) if d
    ]


@pytest.mark.parametrize("seed", [seed for seed in range(120) if seed % 6 < 3])
def test_answers_are_those_of_the_steps(seed):
    made = exercise(seed)
    if made.options:
        assert len(set(made.options)) == 4
        assert float(made.answer.split(":")[0]) in made.options
        assert made.answer.endswith(f"= {made.answer.split(':')[0]}.")
        return
    best = made.answer.split(":")[0]
    chosen = {(edge.stands_for) for edge in made.step.edges}
    names = {f"{made.step.words[h]} → {made.step.words[d]}" for h, d in chosen}
    assert best in names


def test_a_sheet_and_its_solutions():
    sheet, solutions = exercise_sheet(6, rng=10)
    assert sheet.count('<th scope="col">actions</th>') == sheet.count(">chart</th>") == 1
    for seed in range(10, 16):
        made = exercise(seed)
        assert f"<h2>Exercise {seed}</h2>" in sheet
        assert made.question in sheet
        assert made.answer not in sheet
        assert made.answer in solutions
    assert exercise_sheet(6, rng=10) == (sheet, solutions)
    assert "Exercises 3<" in exercise_sheet(1, rng=3)[0]
    drawn = [exercise_sheet(2, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(("count", "rng"), [(0, 0), (101, 0), (1, -1), (2, 2**32 - 1), (1, 1.5)])
def test_bad_sheets(count, rng):
    with pytest.raises(OptionError, match=r"a sheet has|rng must"):
        exercise_sheet(count, rng)


#: What the slides print when all is contracted, and at the end; where they are right.
BEST_IN_EDGE = {"V1": "g", "V2": "d", "V3": "f", "V4": "h", "V5": "a"}
EXPANDED = {**BEST_IN_EDGE, "V1": "a, not g", "V4": "a, not h"}
KICKS_OUT = {"a": "g, h", "b": "d, h", "c": "f", "h": "g", "i": "d"}
#: Edges inside the second cycle, which the printed `adjust` changes, too. The slides print e: f.
FAULTY = {"e": "faulty adjust: f", "i": "d; faulty adjust: h"}


def tables(rows):
    """bestInEdge and kicksOut of a step's table, without empty cells; and the edges as printed."""
    assert rows[0] == ["node", "bestInEdge", "edge", "weight", "kicksOut"]
    best = {node: edge for node, edge, *_ in rows[1:] if edge}
    kicks = {edge.split(",")[0]: kicked for *_, edge, _, kicked in rows[1:] if kicked}
    return best, kicks, [(edge, float(weight)) for _, _, edge, weight, _ in rows[1:]]


def test_the_lectures_tables_fill_up(live):
    words = ["V1", "V2", "V3"]
    edges = live.letters(live.LECTURE)
    scores = live.graph(live.LECTURE)
    steps = arb.explain(scores, "chu-liu-edmonds", words=words, edges=edges)
    assert [step.kind for step in steps] == [
        "greedy", "cycle", "contract", "best-edge", "cycle", "contract", "best-edge", "acyclic",
        "expand", "expand", "tree",
    ]  # fmt: skip
    filled = [tables(step.table()) for step in steps]
    assert filled[0][2] == [
        ("a, root → V1", 5), ("b, root → V2", 1), ("c, root → V3", 1), ("d, V1 → V2", 11),
        ("e, V2 → V3", 4), ("f, V1 → V3", 5), ("g, V2 → V1", 10), ("h, V3 → V1", 9),
        ("i, V3 → V2", 8),
    ]  # fmt: skip
    first = dict(list(BEST_IN_EDGE.items())[:3])
    once = {"a": "g", "b": "d", "h": "g", "i": "d"}
    assert [found[:2] for found in filled] == [
        (first, {}),
        (first, {}),
        (first, once),
        ({**first, "V4": "h"}, once),
        ({**first, "V4": "h"}, once),
        ({**first, "V4": "h"}, {**KICKS_OUT, **FAULTY}),
        (BEST_IN_EDGE, {**KICKS_OUT, **FAULTY}),
        (BEST_IN_EDGE, {**KICKS_OUT, **FAULTY}),
        ({**BEST_IN_EDGE, "V4": "a, not h"}, {**KICKS_OUT, **FAULTY}),
        (EXPANDED, {**KICKS_OUT, **FAULTY}),
        (EXPANDED, {**KICKS_OUT, **FAULTY}),
    ]
    assert "The best edge into V5 is a, with the new weight -4." in steps[6].text
    assert "faulty adjust" in live.pages()["contraction"]


def test_live_pages(live):
    pages = live.pages()
    assert max(len(page.encode()) for page in pages.values()) <= 200_000
    text = (Path(live.__file__).parents[1] / "live.md").read_text(encoding="utf-8")
    assert "href=" not in text  # in the repository, there is nothing to link to
    page = SimpleNamespace(file=SimpleNamespace(src_uri="live.md"))
    shown = live.on_page_markdown(text, page)
    assert set(re.findall(r'(?:href|src)="([\w-]+)\.html', shown)) == set(pages)
    assert '| <a href="kbest.html">The k best trees</a> |' in shown
    assert '<iframe class="live" src="root.html"' in shown
    assert "<!--" not in shown
    # The weights that the lecture's tables have after both contractions.
    steps = arb.explain(live.graph(live.LECTURE), "chu-liu-edmonds")
    last = [step for step in steps if step.kind == "contract"][-1]
    assert {e.stands_for: e.weight for e in last.edges} == {(0, 1): -4, (0, 2): -9, (0, 3): -4}
    assert arb.explain(live.tree_scores(live.HEADS), "eisner")[-1].heads == (-1, *live.HEADS)
    swaps = arb.explain(live.graph(live.FIGURE_4), "kbest", root="multi", k=2)[1].detail
    cheapest = swaps.cheapest
    assert (cheapest.edge, cheapest.cost) == ((2, 4), 10)
    assert (cheapest.blue, cheapest.red) == (((0, 4), (1, 4)), ((3, 4),))
    four = live.graph(live.FOUR)
    steps = arb.explain(np.fmax(four, four.T), "kkt")
    [heavy] = [step for step in steps if step.kind == "heavy"]
    assert (len(heavy.detail.links), heavy.forbidden) == (6, ((1, 17), (13, 14)))
    fates = [fate for step in steps if step.kind == "contract" for fate in step.detail.fates]
    assert {"self edge: goes", "repetitive: goes", "stays", "is in the tree"} == set(fates)
    kinds = [step.kind for step in arb.explain(live.graph(live.PAIRS), "undirected")]
    assert (kinds.count("boruvka"), kinds.count("enhance")) == (2, 2)
