"""The examples of the documentation in a browser: on a phone and on screens, light and dark."""

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install --group browser")

#: What is wider than the box that it is in, so that a part of it is cut. The trees side by side
#: are a row to scroll.
CUT = """() => [...document.querySelectorAll("body *")]
  .filter(each => each.checkVisibility() && getComputedStyle(each).overflowX !== "visible"
    && each.tagName !== "INPUT" && !each.matches(".trees, .trees *")
    && each.scrollWidth > each.clientWidth + 1)
  .map(each => `${each.id} ${each.scrollWidth} > ${each.clientWidth}`)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_nothing_is_cut(opened, live, width, scheme):
    for name, text in live.pages().items():
        viewport = {"width": width, "height": 900}
        page = opened(text, viewport=viewport, color_scheme=scheme)
        for _ in range(page.locator("#list > li").count() or 1):
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            cut = page.evaluate(CUT)
            if name == "kkt" and width == 390:  # 17 words scroll on a phone
                cut = [each for each in cut if not each.startswith(("figure ", "matrix "))]
            assert cut == [], (name, page.url)
            if page.locator("#forward").count():
                page.click("#forward", force=True)
