"""The page in a real browser: every control, changes, exercises, paper, phones, accessibility."""

import re

import numpy as np
import pytest

import arborescence as arb
from arborescence.core.choices import Algorithm
from arborescence.explaining.page import exercise_sheet, explain_html
from graphs import figure_2

pytest.importorskip("playwright", reason="needs playwright: pip install --group browser")

WORDS = ["we", "wash", "our", "cats"]
PHONE = {"viewport": {"width": 360, "height": 700}, "has_touch": True, "is_mobile": True}


def the_page(algorithm="root-constraint", **options):
    return explain_html(figure_2(), algorithm, words=WORDS, **options)


def texts(algorithm="root-constraint", scores=None, **options):
    scores = figure_2() if scores is None else scores
    return [step.text for step in arb.explain(scores, algorithm, words=WORDS, **options)]


def listed(page):
    return page.locator("#list > li > a").all_text_contents()


def count(page):
    return page.locator("#count").text_content()


def cell(page, h, d):
    return page.locator(f'#matrix [data-edge="{h},{d}"]')


def check(page, rule):
    page.locator(f'input[name=rule][value="{rule}"]').check()


@pytest.mark.parametrize("algorithm", Algorithm.__args__)
def test_each_algorithm(opened, algorithm):
    page = opened(the_page())
    page.select_option("#algorithm", algorithm)
    steps = arb.explain(figure_2(), algorithm, words=WORDS)
    expected = [step.text for step in steps]
    assert listed(page) == expected
    for number, text in enumerate(expected, 1):
        if number > 1:
            page.click("#forward")
        assert count(page) == f"Step {number} of {len(expected)}"
        assert page.locator("#sentence").text_content() == text
        assert page.locator("#figure svg .form").all_text_contents() == ["root", *WORDS]
        if algorithm in ("undirected", "kkt", "cky") and steps[number - 1].table():
            rows = page.locator("#detail table").first.locator("tr").all()
            shown = [row.locator("th, td").all_text_contents() for row in rows]
            assert shown == steps[number - 1].table()
    assert page.locator("#forward").get_attribute("aria-disabled") == "true"


def test_controls(opened):
    page = opened(the_page())
    last = len(texts())
    page.click("#last")
    assert count(page) == f"Step {last} of {last}"
    page.click("#back")
    assert count(page) == f"Step {last - 1} of {last}"
    page.click("#first")
    assert count(page) == f"Step 1 of {last}"
    page.locator("#jump").fill("4")
    assert count(page) == f"Step 4 of {last}"
    page.locator("#list a").nth(6).click()
    page.get_by_text(f"Step 7 of {last}").wait_for()
    assert page.locator("#list [aria-current=step]").text_content() == texts()[6]


def test_it_plays(opened):
    page = opened(the_page(), "#8")
    page.select_option("#speed", "0.8")
    page.click("#play")
    assert page.locator("#play").text_content() == "Pause"
    page.get_by_text("Step 11 of 11").wait_for()
    assert page.locator("#play").text_content() == "Play"


def test_keys(opened):
    page = opened(the_page())
    for key, number in [("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", 11)]:
        page.keyboard.press(key)
        assert count(page) == f"Step {number} of 11"
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    assert page.locator("#play").text_content() == "Pause"
    page.keyboard.press("Space")
    assert page.locator("#play").text_content() == "Play"


def test_keys_in_the_matrix(opened):
    page = opened(the_page())
    cell(page, 0, 1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("f")
    assert "forbidden by you" in cell(page, 0, 2).get_attribute("aria-label")
    assert page.evaluate("document.activeElement.dataset.edge") == "0,2"
    page.keyboard.press("f")
    assert "forbidden" not in cell(page, 0, 2).get_attribute("aria-label")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")  # over the diagonal
    assert page.evaluate("document.activeElement.dataset.edge") == "3,2"
    page.keyboard.press("Enter")
    page.keyboard.press("Control+A")
    page.keyboard.type("51")
    assert cell(page, 3, 2).text_content() == "51"
    assert count(page) == "Step 1 of 11"


def test_links(opened):
    page = opened(the_page(), "#7")
    assert count(page) == "Step 7 of 11"
    page.click("#forward")
    assert page.url.endswith("#8")
    page.evaluate("location.hash = '#eisner-2'")
    page.get_by_text("Step 2 of 12").wait_for()
    assert page.locator("#algorithm").input_value() == "eisner"
    page.evaluate("location.hash = '#99'")
    page.get_by_text("Step 11 of 11").wait_for()


def test_what_a_step_shows(opened):
    page = opened(the_page(), "#3")
    assert page.locator("#figure .node").count() == 1
    label = cell(page, 0, 2).get_attribute("aria-label")
    assert label == "root → wash: 40, now 170, looked at"
    assert "chosen" in cell(page, 0, 1).get_attribute("aria-label")
    assert "inside a node" in cell(page, 2, 4).get_attribute("aria-label")
    described = page.locator("#figure svg").get_attribute("aria-label")
    assert described == f"Step 3. {texts()[2]}"


def test_edges_have_names(opened):
    scores = [[0, 5, 1, 1], [0, 0, 11, 5], [0, 10, 0, 4], [0, 9, 8, 0]]
    edges = {(0, 1): "a", (2, 3): "e", (1, 3): "f"}
    words = ["V1", "V2", "V3"]
    page = opened(explain_html(scores, "chu-liu-edmonds", words=words, edges=edges), "#6")
    assert page.locator("#detail td", has_text="faulty adjust: f").count() == 1
    assert "The slides print e: f." in page.locator("#detail").inner_text()
    assert cell(page, 2, 3).get_attribute("aria-label").startswith("e, V2 → V3: 4")
    assert "a -4" in page.locator("#figure .label").all_text_contents()
    page.select_option("#algorithm", "root-constraint")
    assert "faulty" not in page.locator("#detail").inner_text()


def test_the_stack_stands_as_on_the_slides(opened):
    scores = np.zeros((8, 8))
    scores[[3, 3, 0, 5, 3, 5, 6], range(1, 8)] = 5
    words = ["we", "vigorously", "wash", "our", "cats", "who", "stink"]
    page = opened(explain_html(scores, "transitions", words=words), "#9")
    assert "cats → our" in page.locator("#sentence").text_content()
    assert "chosen" in cell(page, 5, 4).get_attribute("aria-label")
    stack, buffer, actions = (
        each.split("\n") for each in page.locator(".machine > div").all_inner_texts()
    )
    assert [line for line in stack if line] == ["Stack", "cats", "wash", "root"]
    assert [line for line in buffer if line] == ["Buffer", "who", "stink"]
    made = ["SHIFT"] * 3 + ["LEFT-ARC"] * 2 + ["SHIFT"] * 2 + ["LEFT-ARC"]
    assert [line for line in actions if line] == ["Actions so far", *made]
    page.click("#first")
    assert page.locator(".machine > div").nth(2).inner_text().endswith("empty")


def test_a_span_stands_below_its_two_parts(opened):
    page = opened(the_page("eisner"), "#6")
    spans = arb.explain(figure_2(), "eisner")[5].detail.spans
    made = [span for span in spans if span.parts]
    titles = page.locator("#figure .title").all_text_contents()
    sides = {"incomplete": "attach a {} dependent", "complete": "complete a {} child"}
    assert titles == [
        sides[span.kind].format("left" if span.end < span.head else "right") for span in made
    ]
    drawn = page.locator("#figure .span").evaluate_all(
        "spans => spans.map(s => s.className.baseVal)"
    )
    kinds = [[part[0] for part in span.parts] + [span.kind] for span in made]
    assert drawn == [f"span {kind}" for three in kinds for kind in three]


@pytest.mark.parametrize("algorithm", ["eisner", "cky"])
def test_the_chart_scrolls_to_the_current_cell(opened, algorithm):
    n = 14
    page = opened(explain_html(np.random.default_rng(0).normal(size=(n + 1, n + 1)), algorithm))
    inside = """() => {
      const chart = document.querySelector("#chart").getBoundingClientRect();
      const cell = document.querySelector("#chart .now").getBoundingClientRect();
      return cell.left >= chart.left && cell.right <= chart.right
        && cell.top >= chart.top && cell.bottom <= chart.bottom;
    }"""
    moved = set()
    for step in (3, n, 4 * n, 5 * n + 9):
        page.locator("#jump").fill(str(step))
        assert page.evaluate(inside)
        moved.add(page.evaluate("document.querySelector('#chart').scrollTop"))
    assert len(moved) > 1


def test_blue_and_red_edges(opened, live):
    page = opened(explain_html(live.graph(live.FIGURE_4), "kbest", root="multi", k=2), "#2")
    for kind, edges in (("blue", ["0,4", "1,4"]), ("red", ["3,4"])):
        arcs = page.locator(f"#figure .arc.{kind}")
        found = arcs.evaluate_all("arcs => arcs.map(arc => arc.dataset.edge)")
        assert sorted(found) == edges


def test_pairs_have_their_mean(opened):
    scores = [[0, 1, 1, 1], [0, 0, 4, 1], [0, 7, 0, 2], [0, 1, 3, 0]]
    page = opened(explain_html(scores, "undirected"), "#2")
    labels = page.locator("#figure .chosen .label").all_text_contents()
    assert sorted(labels) == ["2.5", "5.5"]
    assert page.locator("#figure .node").count() == 1


def test_pictures_have_short_numbers(opened):
    page = opened(explain_html([[0, 1.23456789], [0, 0]], words=["a"]))
    assert page.locator("#figure .label").text_content() == "1.235"
    assert cell(page, 0, 1).text_content() == "1.235"
    assert cell(page, 0, 1).get_attribute("aria-label").startswith("root → a: 1.23457")
    cell(page, 0, 1).click()
    assert page.locator("#score").input_value() == "1.23456789"


def test_a_score_is_changed(opened):
    page = opened(the_page())
    scores = figure_2()
    cell(page, 0, 2).click()
    for written, score in [("12.5", 12.5), ("-7", -7), ("−8,5", -8.5), ("", -np.inf), ("1e3", 1e3)]:
        page.locator("#score").fill(written)
        scores[0, 2] = score
        assert listed(page) == texts(scores=scores)
    page.locator("#score").fill("ten")
    assert page.locator("#score").get_attribute("aria-invalid") == "true"
    assert listed(page) == texts(scores=scores)
    page.click("#undo")
    assert listed(page) == texts()
    assert page.locator("#undo").is_hidden()


def test_edges_are_forbidden_and_required(opened):
    page = opened(the_page("eisner"))
    cell(page, 1, 3).click()
    check(page, "forbidden")
    scores = figure_2()
    scores[1, 3] = -np.inf
    assert listed(page) == texts("eisner", scores)
    check(page, "required")
    scores = figure_2()
    scores[[0, 2, 4], 3] = -np.inf
    assert listed(page) == texts("eisner", scores)
    check(page, "free")
    cell(page, 0, 2).click()
    check(page, "required")
    scores = figure_2()
    scores[[0, 0, 0, 1, 3, 4], [1, 3, 4, 2, 2, 2]] = -np.inf
    assert listed(page) == texts("eisner", scores)
    page.select_option("#root", "multi")
    scores[0, 1] = 90
    assert listed(page) == texts("eisner", scores, root="multi")


def test_steps_from_python_stay_as_they_are(opened):
    page = opened(the_page())
    cell(page, 0, 1).click()
    page.locator("#score").fill("1")
    page.select_option("#algorithm", "sums")
    assert "--algorithm sums -o" in page.locator("#fixed").inner_text()
    assert page.locator("#editor").is_hidden()
    assert cell(page, 0, 1).text_content() == "90"
    page.click("#last")
    assert cell(page, 0, 1).get_attribute("aria-label").startswith("root → we: 90, now 1")
    cell(page, 0, 1).focus()
    page.keyboard.press("f")
    page.select_option("#algorithm", "root-constraint")
    assert page.locator("#fixed").is_hidden()
    assert cell(page, 0, 1).get_attribute("aria-label").startswith("root → we: 1, ")
    assert "forbidden by you" not in page.locator("#matrix").inner_html()


def test_both_numbers_of_root_edges(opened):
    page = opened(the_page("kbest"))
    page.select_option("#root", "multi")
    assert listed(page) == texts("kbest", root="multi")


def test_an_edge_of_the_picture_is_clicked(opened):
    page = opened(the_page())
    page.locator('#figure .arc[data-edge="4,3"] .hit').dispatch_event("click")
    assert page.locator("#edge-name").text_content() == "cats → our"
    assert page.locator("#score").input_value() == "70"


def test_many_changes_at_random(opened):
    page = opened(explain_html(np.zeros((5, 5)), words=WORDS))
    rng = np.random.default_rng(1)
    scores = np.zeros((5, 5))
    for _ in range(12):
        h, d = rng.choice([(h, d) for h in range(5) for d in range(1, 5) if h != d]).tolist()
        cell(page, h, d).click()
        score = rng.choice(["", "1", "-2", "0.5"])
        page.locator("#score").fill(score)
        scores[h, d] = float(score) if score else -np.inf
        assert listed(page) == texts(scores=scores)


def test_the_best_trees_side_by_side(opened):
    page = opened(the_page("kbest", k=7))
    lists = page.locator(".trees")
    for place, root in enumerate(["single", "multi"]):
        weights = arb.explain(figure_2(), "kbest", k=7, root=root)[-1].detail.weights
        cards = lists.nth(place).locator("> li")
        assert cards.count() == len(weights)
        for rank, weight in enumerate(weights):
            said = cards.nth(rank).inner_text()
            assert said.startswith(f"Tree {rank + 1}: weight {weight:g}, probability")
    assert "root → wash becomes" in lists.nth(1).inner_text()


def test_probabilities_of_trees(opened):
    scores = np.array([[0.0, 1, 0], [0, 0, 1], [0, 0.5, 0]])
    page = opened(explain_html(scores, "kbest", words=["a", "b"]))
    total = arb.explain(scores, "sums")[-1].weight
    for rank, weight in enumerate(arb.explain(scores, "kbest", k=2)[-1].detail.weights):
        text = page.locator(".trees").nth(0).locator("> li").nth(rank).inner_text()
        shown = float(re.search(r"probability ([0-9.]+)", text)[1])
        assert shown == pytest.approx(np.exp(weight - total), rel=0.01)


def test_exercises_are_answered_by_clicking(opened):
    page = opened(the_page(), "#exercise-2")
    assert page.locator("#question").text_content() == (
        "3 edges leave the root. Which of them goes first?"
    )
    assert "without it" not in page.content().split("<script")[0]
    assert listed(page) == []
    assert page.locator("#detail").is_hidden()
    cell(page, 0, 3).click()
    assert page.locator("#verdict").text_content() == (
        "No. root → songs: without it, songs takes birds → songs, and the chosen "
        "edges weigh 129. Without another root edge they weigh more."
    )
    cell(page, 1, 2).click()
    assert "is not an edge that leaves the root" in page.locator("#verdict").text_content()
    cell(page, 0, 2).click()
    assert page.locator("#verdict").text_content().startswith("Right. root → sing: without it")
    page.click("#new")
    assert page.url.endswith("#exercise-3")
    assert page.locator("#verdict").text_content() == ""
    page.click("#show")
    assert "72: of all splits, C[we, wash]" in page.locator("#verdict").text_content()
    page.click("#stop")
    assert listed(page) == texts()
    page.click("#start")
    assert page.locator("#question").is_visible()


def test_numbers_are_chosen(opened):
    page = opened(the_page(), "#exercise-1")
    options = page.locator("#options button")
    said = []
    for place in range(options.count()):
        options.nth(place).click()
        said.append(page.locator("#verdict").text_content())
    assert sorted(text.split(".")[0] for text in said) == ["No", "No", "No", "Right"]


@pytest.mark.parametrize(("seed", "shows"), [(3, "#chart"), (4, ".machine"), (9, "#chart")])
def test_exercises_on_charts_and_stacks(opened, seed, shows):
    page = opened(the_page(), f"#exercise-{seed}")
    assert page.locator(shows).is_visible()
    options = page.locator("#options button")
    said = []
    for place in range(options.count()):
        options.nth(place).click()
        said.append(page.locator("#verdict").text_content())
    assert sum(text.startswith("Right. ") for text in said) == 1
    assert "undefined" not in str(said)
    assert len(set(said)) == len(said)
    page.click("#stop")
    assert page.locator("#detail").is_visible()


def test_an_exercise_on_the_second_best_tree(opened):
    page = opened(the_page(), "#exercise-5")
    said = []
    for button in page.locator("#matrix button").all():
        button.click()
        said.append(page.locator("#verdict").text_content())
    assert sum(text.startswith("Right. ") for text in said) == 1
    for text in ("is not an edge of the best tree", "another edge costs less"):
        assert any(text in reason for reason in said)
    assert page.locator("#detail").is_hidden()


def test_each_wrong_edge_has_a_reason(opened):
    page = opened(the_page(), "#exercise-0")
    said = set()
    for button in page.locator("#matrix button").all():
        button.click()
        said.add(page.locator("#verdict").text_content())
    for text in ("Right.", "There is no edge", "is in the cycle itself", "is not in the cycle",
                 "another edge weighs more"):  # fmt: skip
        assert any(text in reason for reason in said)


def test_a_phone(opened):
    page = opened(the_page(), **PHONE)
    page.select_option("#algorithm", "eisner")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.tap("#forward")
    assert count(page).startswith("Step 2 of")
    cell(page, 0, 2).tap()
    page.locator("input[value=forbidden]").tap()
    assert "forbidden by you" in cell(page, 0, 2).get_attribute("aria-label")


def test_paper(opened):
    page = opened(the_page())
    assert page.pdf()[:5] == b"%PDF-"
    assert page.locator(".paper").count() == 0
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#list > li .paper svg").count() == len(texts())
    page.emulate_media(media="print")
    assert page.locator("#list .paper svg").first.is_visible()
    for control in ("#player", "#settings", "#editor", "#sentence"):
        assert page.locator(control).is_hidden()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".paper").count() == 0


def test_the_chart_is_on_paper_once(opened):
    page = opened(explain_html(np.arange(16.0).reshape(4, 4), "eisner"))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".paper .chart").count() == 1


def test_without_javascript(opened):
    page = opened(the_page(), java_script_enabled=False)
    assert page.locator("#live").is_hidden()
    shown = page.locator("#list > li").all_inner_texts()
    assert len(shown) == len(texts())
    assert all(item.startswith(text) for item, text in zip(shown, texts(), strict=True))
    assert "no JavaScript" in page.locator("body").inner_text()


def test_names_are_text(opened):
    names = ["<b>", "&amp;", '"', "</script>"]
    page = opened(explain_html(figure_2(), words=names))
    assert page.locator("#figure .form").all_text_contents() == ["root", *names]
    assert listed(page) == [step.text for step in arb.explain(figure_2(), words=names)]


def test_sums_that_cannot_be_explained(opened):
    page = opened(explain_html([[0, 0, 0], [0, 0, -500], [0, 0, 0]], "kbest", words=["a", "b"]))
    assert "probability" not in page.locator(".trees").nth(0).inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(opened, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs axe: pip install --group browser"
    ).Axe()
    page = opened(the_page(), color_scheme=scheme)

    def check_all(what):
        results = axe.run(page)
        assert results.violations_count == 0, f"{what}: {results.generate_report()}"

    for algorithm in Algorithm.__args__:
        page.select_option("#algorithm", algorithm)
        for step in ("#forward", "#last"):
            page.click(step, force=True)  # of one step, both do nothing
            check_all(f"{algorithm}, {step}")
    page.select_option("#algorithm", "eisner")
    cell(page, 0, 2).click()
    check(page, "forbidden")
    check_all("a forbidden edge")
    page.click("#start")
    cell(page, 0, 1).click()
    check_all("an exercise")
    page = opened(exercise_sheet(3)[0], color_scheme=scheme)
    check_all("a sheet")
