"""What all tests share."""

import shutil
import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

from modes import some
from real import treebanks  # noqa: F401 - a fixture

# How long something takes says nothing of whether it is right: the first call compiles, and
# machines do other things as well. Examples are as many as random graphs. A failing one is shrunk,
# but not varied after that to explain it: of tests that train, that took gigabytes.
settings.register_profile(
    "untimed",
    deadline=None,
    max_examples=some(100),
    phases=[phase for phase in Phase if phase is not Phase.explain],
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("untimed")


#: Debian's Chromium as root, and without looking for updates.
BROWSER = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
#: Seconds after which a test that waits for what never comes has failed. No other time is limited:
#: beside sixteen busy processes, what takes a minute has taken more than ten.
PATIENCE = 3600


@pytest.fixture(autouse=True)
def limited():
    """Let no test wait for ever."""
    if not hasattr(signal, "alarm"):
        yield
        return

    def give_up(_number, _frame):
        raise TimeoutError(f"it still waits after {PATIENCE} s")

    old = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)


@pytest.fixture(scope="session")
def browser():
    """A browser without a window."""
    playwright_of = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install --group browser"
    ).sync_playwright
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("needs a browser: apt-get install chromium")
    with playwright_of() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=BROWSER, timeout=0)
