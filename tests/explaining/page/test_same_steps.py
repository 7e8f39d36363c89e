"""The page's JavaScript finds the same steps as Python, in all their data, in a real browser."""

import json

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ScoresError
from arborescence.explaining import as_json
from arborescence.explaining.page.exercises import exercise
from arborescence.explaining.page.html import FOLDER, script
from graphs import ABSENT, FINITE, random_graphs

pytest.importorskip("playwright", reason="needs playwright: pip install --group browser")

COUNT = 12
ALGORITHMS = [
    ("chu-liu-edmonds", "multi"),
    ("root-constraint", "single"),
    ("cky", "single"),
    *((name, root) for name in ("kbest", "eisner", "sums", "undirected", "transitions")
      for root in ("single", "multi")),
]  # fmt: skip
RUN = """cases => JSON.stringify(JSON.parse(cases).map(([scores, names, algorithm, options]) => {
  const steps = explain(scores, names, algorithm, options);
  return [steps, steps.map(step => tableOf(step, names))];
}))"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.add_script_tag(content=script("algorithms"))
    page.add_script_tag(content=(FOLDER / "view" / "exercises.js").read_text(encoding="utf-8"))
    yield page
    page.close()


def plain(scores):
    """Scores for JavaScript: null is an absent edge."""
    rows = np.asarray(scores, np.float64).tolist()
    return [[None if score == -np.inf else score for score in row] for row in rows]


def in_python(scores, algorithm, root, k):
    fixed = algorithm in ("chu-liu-edmonds", "root-constraint", "cky")
    return arb.explain(scores, algorithm, root=None if fixed else root, k=k)


def in_browser(page, cases):
    written = [
        (plain(scores), ["root", *map(str, range(1, len(scores)))], algorithm,
         {"single": root == "single", "k": k})
        for scores, algorithm, root, k in cases
    ]  # fmt: skip
    # Whole numbers are floats in Python's steps.
    return json.loads(page.evaluate(RUN, json.dumps(written)), parse_int=float)


def same(one, other, close):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k], close) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(
            same(a, b, close) for a, b in zip(one, other, strict=True)
        )
    if close and isinstance(one, float):
        return other is not None and abs(one - other) <= 1e-11 * abs(one) + 1e-12
    return one == other


@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_all_steps(page, kind):
    cases, expected = [], []
    for algorithm, root in ALGORITHMS:
        for scores in random_graphs(kind, COUNT, seed=7):
            case = scores, algorithm, root, 4 if algorithm == "kbest" else None
            try:
                expected.append(in_python(*case))
            except ScoresError:  # sums of scores that lie too far apart
                continue
            cases.append(case)
    found = in_browser(page, cases)
    assert len(found) == len(expected) > COUNT * 9
    for case, steps, (plain_steps, tables) in zip(cases, expected, found, strict=True):
        # Of exponentials, the last bits may differ.
        close = case[1] == "sums"
        assert same(as_json(steps)["steps"], plain_steps, close), case
        if not close:
            assert [step.table() for step in steps] == tables, case


def test_longer_sentences(page):
    rng = np.random.default_rng(0)
    whole = rng.integers(-3, 4, (17, 17))
    cases = [(whole, algorithm, root, None) for algorithm, root in ALGORITHMS[:2]]
    cases += [(rng.normal(size=(17, 17)), *ALGORITHMS[1], None), (whole, "eisner", "single", None)]
    for case, (steps, _) in zip(cases, in_browser(page, cases), strict=True):
        assert as_json(in_python(*case))["steps"] == steps


@pytest.mark.parametrize(
    "number", [0, 0.1, 1.5, 100000.5, 1000005, 999999.5, 1e-5, 123456.5, 2.5e-7, 5e-324, 1.7e308]
)
def test_numbers_are_written_alike(page, number):
    from arborescence.explaining.steps import number_name

    for x in (number, -number):
        assert page.evaluate("x => numberName(x)", x) == number_name(x)


def test_sums_of_scores_that_lie_too_far_apart(page):
    scores = [[None, 0], [None, None]], ["root", "a"]
    assert page.evaluate("([scores, names]) => explain(scores, names, 'sums', {}).length", scores)
    far = [[None, 0, 0], [None, None, -301], [None, 0, None]], ["root", "a", "b"]
    message = page.evaluate(
        """([scores, names]) => {
          try { explain(scores, names, "sums", {}) } catch (error) { return error.message }
        }""",
        far,
    )
    assert "a → b has a score 301 below the best one" in message


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
        assert (made.question, made.answer, made.options) == (question, answer, options)
        weights = {edge.stands_for: edge.weight for edge in made.step.edges if not edge.kicks_out}
        assert all(scores[h][d] == weight for (h, d), weight in weights.items())
