"""Pages opened in a browser, without a network; what a page may not do fails the test."""

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def live():
    """The module that makes the live pages of the documentation."""
    path = Path(__file__).parents[3] / "docs" / "live" / "pages.py"
    spec = importlib.util.spec_from_file_location("live_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page's text in a new window; when the test ends, check that it did nothing wrong."""
    contexts, complaints = [], []

    def request(asked):
        if not asked.url.startswith("file:"):
            complaints.append(f"asks for {asked.url}")

    def open_page(text, link="", **options):
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        context.set_default_timeout(0)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", request)
        page.goto(f"{file.as_uri()}{link}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints
