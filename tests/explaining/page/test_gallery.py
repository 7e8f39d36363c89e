"""Pages of many drawings in a browser: 50 at a time, by kind, by keys, and what is downloaded."""

import json

import pytest

from arborescence.drawing.gallery import GalleryEntry, Picture, gallery
from arborescence.drawing.svg import Marks
from arborescence.errors import TreebankError
from arborescence.parsers.auditing import audit, audit_html
from arborescence.treebank import Sentence, decided, read, write

pytest.importorskip("playwright", reason="needs playwright: pip install --group browser")

LONG = Sentence.from_words(["Birds"] * 40, heads=[2, 0, *[2] * 38], deprels=["nsubj"] * 40)
SIZES = [{"width": 390, "height": 844}, {"width": 1440, "height": 900}]


def entry(number, decide=True):
    keys = ["obj", "nsubj"] if number % 2 else ["obj"]
    change = {"number": number} if decide else None
    picture = Picture(LONG, Marks([1], [1]), "gold", "right")
    return GalleryEntry(f"entry {number}", [picture], keys, change, [1])


def page_of(count, **options):
    return "".join(gallery("Trees", ["Some."], [entry(each, **options) for each in range(count)]))


def shown(page):
    return page.locator("section > p:first-child").all_text_contents()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", SIZES, ids=["phone", "screen"])
def test_fifty_at_a_time(opened, viewport, scheme):
    page = opened(page_of(120, decide=False), viewport=viewport, color_scheme=scheme)
    assert shown(page) == [f"entry {number}" for number in range(50)]
    assert page.locator("#where").text_content() == "1–50 of 120"
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    page.click("#after")
    page.click("#after")
    assert shown(page) == [f"entry {number}" for number in range(100, 120)]
    assert page.locator("#after").is_disabled()
    page.select_option("#kind", "nsubj")
    assert shown(page) == [f"entry {number}" for number in range(1, 100, 2)]
    assert page.locator("#where").text_content() == "1–50 of 60"
    assert not page.locator("#save").is_visible()
    assert page.locator("section svg").count() == 50


@pytest.mark.parametrize("viewport", SIZES, ids=["phone", "screen"])
def test_trees_open_on_demand(opened, viewport):
    page = opened(page_of(60), viewport=viewport)
    trees = page.locator("section details[open]")
    assert trees.count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") < 50 * 300
    assert page.locator("section mark").all_text_contents() == ["Birds"] * 50
    for key in "jjk":  # entries 0, 1 and 0: the last one alone is open
        page.keyboard.press(key)
    assert trees.count() == 1
    assert page.locator("section").nth(0).locator("svg").is_visible()
    page.locator("section").nth(3).locator("summary").click()
    page.keyboard.press("j")
    page.keyboard.press("j")  # what was clicked stays open
    assert page.locator("section").nth(3).locator("svg").is_visible()
    page.check("#all")
    assert trees.count() == 50
    page.keyboard.press("j")
    assert trees.count() == 50
    page.uncheck("#all")
    assert trees.count() == 0


def test_few_trees_are_open_at_first(opened):
    page = opened(page_of(3))
    assert page.locator("section details[open]").count() == 3
    assert page.locator("#all").is_checked()


def test_from_the_audit_to_the_corrected_treebank(opened, tmp_path):
    birds = Sentence.from_words(
        ["Birds", "sing"], upos=["NOUN", "VERB"], heads=[2, 0], deprels=["nsubj", "root"]
    )
    wrong = birds.replace(deprels=["obj", "root"])
    file = tmp_path / "birds.conllu"
    write([*[birds] * 19, wrong], file)
    page = opened(audit_html(audit(read(file), budget=1)))
    assert page.locator("section mark").all_text_contents() == ["Birds"]
    text = page.locator("section").text_content()
    assert "obj of sing (2) 0.0" in text
    assert page.locator("section svg").first.locator(".label.marked").text_content() == "obj"
    assert page.locator("section svg").last.locator(".label.marked").text_content() == "nsubj"
    page.keyboard.press("j")
    page.keyboard.press("a")
    with page.expect_download() as download:
        page.click("#save")
    decisions = download.value.path()
    assert [each.deprels for each in decided(read(file), decisions)] == [["nsubj", "root"]] * 20
    write([birds] * 20, file)
    with pytest.raises(TreebankError, match=r"birds\.conllu:58: word 1 is not as it was"):
        list(decided(read(file), decisions))
    write([birds], file)
    with pytest.raises(TreebankError, match=r"no sentence begins at birds\.conllu:58"):
        list(decided(read(file), decisions))


def test_marks_have_their_colour(opened):
    page = opened(page_of(1), color_scheme="light")
    marked = page.locator(".arc.marked").first
    assert marked.evaluate("each => getComputedStyle(each).stroke") == "rgb(21, 128, 61)"
    assert page.locator(".form.marked").evaluate("each => getComputedStyle(each).fill") == (
        "rgb(21, 128, 61)"
    )


def test_keys_decide(opened):
    page = opened(page_of(60))
    for key in ("j", "a", "r", "j", "k", "a", "a"):  # entries 0 and 1; then 2, 3, 2 and 3
        page.keyboard.press(key)
    assert page.locator("#decided").text_content() == "3 accepted, 1 rejected"
    for key in ("k", "a"):  # entry 3 again
        page.keyboard.press(key)
    assert page.locator("#decided").text_content() == "2 accepted, 1 rejected"
    with page.expect_download() as download:
        page.click("#save")
    lines = [json.loads(line) for line in download.value.path().read_text("utf-8").splitlines()]
    assert lines == [
        {"decision": "accept", "number": 0},
        {"decision": "reject", "number": 1},
        {"decision": "accept", "number": 2},
    ]
    assert download.value.suggested_filename == "decisions.jsonl"


def test_keys_go_from_page_to_page_and_decisions_are_kept(opened):
    page = opened(page_of(60))
    for _ in range(51):
        page.keyboard.press("j")
    assert page.locator("#where").text_content() == "51–60 of 60"
    page.keyboard.press("k")
    assert page.locator("#where").text_content() == "1–50 of 60"
    page.locator("section").nth(4).locator("[data-answer=reject]").click()
    assert page.locator("section.reject").count() == 1
    page.reload()
    assert page.locator("#decided").text_content() == "0 accepted, 1 rejected"
    assert "reject" in page.locator("section").nth(4).get_attribute("class")
