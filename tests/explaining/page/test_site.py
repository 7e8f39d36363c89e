"""The site that `make docs` builds, on a phone and on a large screen, in the light and the dark.

Wide parts of a page move sideways, the page never does; pictures say what they show; nothing is
asked for from elsewhere; the search knows each command and each public name.
"""

import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[3]
SITE = HERE / "site"
LARGEST = 300_000  # bytes of a page

pytestmark = pytest.mark.skipif(not SITE.exists(), reason="needs the site: make docs")

#: What sticks out of the page, or has no description, or cannot be shown.
FAULTS = """() => {
  const width = document.documentElement.clientWidth;
  const inside = element => {
    for (let above = element.parentElement; above; above = above.parentElement)
      if (getComputedStyle(above).overflowX !== "visible") return true;
    return false;
  };
  const wide = [...document.querySelectorAll("body *")].filter(
    element => element.getBoundingClientRect().right > width + 1
      && element.checkVisibility() && !inside(element));
  const pictures = [...document.querySelectorAll(".md-content img")];
  return [
    ...document.documentElement.scrollWidth > width ? ["the page"] : [],
    ...wide.map(element => element.outerHTML.slice(0, 80)),
    ...pictures.filter(picture => !picture.alt || picture.complete && !picture.naturalWidth)
      .map(picture => picture.src),
  ];
}"""


def files():
    """Return the pages without those of single names, which are all made in the same way."""
    everything = sorted(SITE.rglob("*.html"))
    return [file for file in everything if SITE / "reference" not in file.parents[1:]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_nothing_sticks_out(browser, width, scheme):
    context = browser.new_context(
        offline=True, viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    context.set_default_timeout(0)
    page, faults = context.new_page(), []
    page.on("request", lambda asked: asked.url.startswith("http") and faults.append(asked.url))
    for file in files():
        page.goto(file.as_uri())
        faults += [(file.relative_to(SITE), fault) for fault in page.evaluate(FAULTS)]
    context.close()
    assert not faults


def test_no_page_is_heavy():
    assert not [file for file in SITE.rglob("*.html") if file.stat().st_size > LARGEST]


def test_the_search_knows_each_name_and_each_command():
    import typer.main

    from arborescence.cli.app import app

    found = json.loads((SITE / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    titles = {re.sub("<.*?>", "", each["title"]) for each in found}
    text = " ".join(each["text"] for each in found)
    pages = [page.read_text(encoding="utf-8") for page in HERE.glob("docs/reference/*.md")]
    names = re.findall(r"^- \[`arborescence\.(?:\S+\.)?(\w+)`\]", "".join(pages), re.MULTILINE)
    assert names
    assert set(names) <= titles
    commands = typer.main.get_command(app).list_commands(None)
    assert all(f"arborescence {command}" in text for command in commands)
