"""The page's JavaScript finds the same steps as Python, in all their data, in a real browser."""

import json

import numpy as np
import pytest

import arborescence as arb
from arborescence.explaining import as_json
from arborescence.explaining.page.exercises import exercise
from arborescence.explaining.page.html import FOLDER, script
from graphs import ABSENT, FINITE, random_graphs

pytest.importorskip("playwright", reason="needs playwright: pip install --group browser")

COUNT = 40
ALGORITHMS = [
    ("chu-liu-edmonds", "multi"),
    ("root-constraint", "single"),
    ("eisner", "single"),
    ("eisner", "multi"),
    ("transitions", "single"),
    ("transitions", "multi"),
]
RUN = """cases => JSON.stringify(JSON.parse(cases).map(each => {
  const [scores, names, algorithm, single, edges] = each;
  names.edges = new Map(edges);
  const run = {"chu-liu-edmonds": chuLiuEdmonds, "root-constraint": rootConstraint, eisner,
    transitions};
  const steps = [...run[algorithm](new Problem(scores, names), {single})];
  return [steps, steps.map(step => tableOf(step, names))];
}))"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.add_script_tag(content=script("algorithms"))
    for name in ("exercises", "tree_exercises", "state"):
        page.add_script_tag(content=(FOLDER / "view" / f"{name}.js").read_text(encoding="utf-8"))
    yield page
    page.close()


def plain(scores):
    """Scores for JavaScript: null is an absent edge."""
    rows = np.asarray(scores, np.float64).tolist()
    return [[None if score == -np.inf else score for score in row] for row in rows]


def in_python(scores, algorithm, root):
    return arb.explain(scores, algorithm, root=root)


def in_browser(page, cases, letter="", edges=()):
    written = [
        (
            plain(scores),
            ["root", *(f"{letter}{d}" for d in range(1, len(scores)))],
            algorithm,
            root == "single",
            [(f"{h},{d}", name) for (h, d), name in edges],
        )
        for scores, algorithm, root in cases
    ]
    # Whole numbers are floats in Python's steps.
    return json.loads(page.evaluate(RUN, json.dumps(written)), parse_int=float)


@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_all_steps(page, kind):
    cases = [
        (scores, *algorithm)
        for algorithm in ALGORITHMS
        for scores in random_graphs(kind, COUNT, seed=7)
    ]
    for case, (plain_steps, tables) in zip(cases, in_browser(page, cases), strict=True):
        steps = in_python(*case)
        assert as_json(steps)["steps"] == plain_steps, case
        assert [step.table() for step in steps] == tables, case


def test_names_of_nodes_and_edges(page):
    scores = np.array([[0, 5, 1, 1], [0, 0, 11, 5], [0, 10, 0, 4], [0, 9, 8, 0]])
    edges = {(3, 2): "i", (0, 1): "a", (2, 3): "e"}
    [(made, tables)] = in_browser(page, [(scores, "chu-liu-edmonds", "multi")], "V", edges.items())
    words = ["V1", "V2", "V3"]
    steps = arb.explain(scores, "chu-liu-edmonds", words=words, edges=edges)
    assert as_json(steps)["steps"] == made
    assert [step.table() for step in steps] == tables
    assert "faulty adjust" in str(tables)


def test_longer_sentences(page):
    rng = np.random.default_rng(0)
    whole = rng.integers(-3, 4, (17, 17))
    cases = [(whole, *algorithm) for algorithm in ALGORITHMS[:3]]
    cases.append((rng.normal(size=(17, 17)), *ALGORITHMS[1]))
    for case, (steps, _) in zip(cases, in_browser(page, cases), strict=True):
        assert as_json(in_python(*case))["steps"] == steps


@pytest.mark.parametrize(
    "number", [0, 0.1, 1.5, 100000.5, 1000005, 999999.5, 1e-5, 123456.5, 2.5e-7, 5e-324, 1.7e308]
)
def test_numbers_are_written_alike(page, number):
    from arborescence.explaining.steps import number_name

    for x in (number, -number):
        assert page.evaluate("x => numberName(x)", x) == number_name(x)


def test_exercises(page):
    seeds = [*range(150), 2**32 - 1]
    found = page.evaluate(
        """seeds => seeds.map(seed => {
          const {problem, steps, at, question, answer, options} = makeExercise(seed);
          return [problem.names, steps[at].text, question, answer, options, problem.floats];
        })""",
        seeds,
    )
    for seed, (names, text, question, answer, options, scores) in zip(seeds, found, strict=True):
        made = exercise(seed)
        assert (list(made.step.words), made.step.text) == (names, text)
        assert (made.question, made.answer, [*made.options]) == (question, answer, options)
        weights = {edge.stands_for: edge.weight for edge in made.step.edges if not edge.kicks_out}
        assert all(scores[h][d] == weight for (h, d), weight in weights.items())
