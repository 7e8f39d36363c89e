"""The service, by real requests over a socket."""

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from urllib.parse import urlencode

import pytest

import arborescence as arb
from arborescence.parsers import Tagger
from arborescence.parsers.linear.parser import LinearParser
from arborescence.parsers.text import Text
from samples import treebank
from small_parsers import small_parser

pytest.importorskip("uvicorn", reason="needs the extra 'serve'")
pytest.importorskip("starlette", reason="needs the extra 'serve'")

from serving import Serving


@cache
def parser():
    sentences = treebank()
    tagger, text = Tagger.train(sentences, epochs=1), Text.train(sentences)
    return LinearParser.train(sentences, tagger=tagger, text=text, bits=10, epochs=2)


class Server(Serving):
    """A server of two parsers."""

    def __init__(self, **limits):
        super().__init__({"small": parser(), "bare": small_parser("greedy")}, **limits)

    def parse(self, **asked):
        return self.ask("/parse", json.dumps(asked))

    def process(self, **asked):
        return self.ask("/process", urlencode(asked), "application/x-www-form-urlencoded")


@pytest.fixture(scope="module")
def server():
    with Server() as server:
        yield server


def test_udpipe_s_interface(server):
    assert server.ask("/models") == (
        200,
        {"models": {"small": ["tokenizer", "tagger", "parser"], "bare": ["parser"]},
         "default_model": "small"},
    )  # fmt: skip
    status, answer = server.process(data="The old trees grow .", tokenizer="", tagger="", parser="")
    assert (status, answer["model"]) == (200, "small")
    assert answer["result"] == "".join(map(str, parser().parse("The old trees grow .")))
    _, answer = server.process(data="Birds sing\nTrees grow", input="horizontal", tagger="")
    words = [["Birds", "sing"], ["Trees", "grow"]]
    assert answer["result"] == "".join(map(str, parser().tag(words)))
    _, answer = server.process(data="The birds sing .", tokenizer="", output="vertical")
    assert answer["result"] == "The\nbirds\nsing\n.\n\n"
    conllu = "".join(map(str, treebank()[:2]))
    _, answer = server.process(data=conllu, model="bare")
    assert answer["result"] == conllu
    assert server.ask("/process?data=Birds+sing&input=horizontal&parser")[0] == 200


def test_a_form_as_curl_sends_it(server):
    parts = {"data": "Birds sing .", "tokenizer": "", "output": "horizontal"}
    body = "".join(
        f'--xx\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in parts.items()
    )
    status, answer = server.ask("/process", f"{body}--xx--\r\n", "multipart/form-data; boundary=xx")
    assert (status, answer["result"]) == (200, "Birds sing .\n")


def test_trees_as_json(server):
    status, answer = server.parse(text="The old trees grow .", confidence=True, svg=True)
    [found] = answer["sentences"]
    [parsed] = parser().parse("The old trees grow .", confidence=True)
    assert status == 200
    assert found["words"] == parsed.forms
    assert found["heads"] == parsed.heads.tolist()
    assert len(found["edge_probs"]) == 5
    assert answer["svg"].startswith("<svg")
    _, answer = server.parse(words=[["Birds", "sing"]], kbest=2, model="small")
    assert [len(each["analyses"]) for each in answer["sentences"]] == [2]
    half = str(treebank()[1].replace(heads=[-1, -1, -1, 0, -1, -1, -1], deprels=None))
    _, answer = server.parse(conllu=half, keep=True)
    assert answer["sentences"][0]["heads"][2] == 0
    assert server.parse(text="")[1]["sentences"] == []


def test_conllu_and_drawings_on_request(server):
    text = "The old trees grow ."
    _, answer = server.parse(text=text, as_conllu=True)
    assert answer["conllu"] == "".join(map(str, parser().parse(text)))
    assert "svg" not in answer
    _, answer = server.parse(text=text, kbest=2, as_conllu=True, svg=True, confidence=True)
    assert [line for line in answer["conllu"].splitlines() if "kbest_rank" in line] == [
        "# kbest_rank = 1", "# kbest_rank = 2",
    ]  # fmt: skip
    titles = re.findall(r'class="title"[^>]*>(\d)\. weight', answer["svg"])
    assert titles == ["1", "2"]
    [found] = answer["sentences"]
    labels = re.findall(r'class="label( marked)?"[^>]*>\S+ ([\d.]+)<', answer["svg"])
    shares = [share for tree in found["analyses"] for share in tree["edge_probs"]]
    assert sorted(float(share) for _, share in labels) == sorted(round(s, 2) for s in shares)
    assert sum(bool(mark) for mark, _ in labels) == sum(share < 0.5 for share in shares)
    assert "svg" not in server.parse(text="", svg=True)[1]


def test_drawings_of_a_width(server):
    words = [["Birds"] * 60]
    for width in (320, 1000):
        _, answer = server.parse(words=words, svg=True, width=width)
        assert float(re.search(r'width="([\d.]+)"', answer["svg"])[1]) <= width


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"text": "a", "width": 10}, 400, "width must be 200 to 10,000, but is 10"),
        ({"text": 3}, 400, "text must be of the type str"),
        ({"txt": "a"}, 400, "no option 'txt'"),
        ({}, 400, "give one of text"),
        ({"text": "a", "kbest": 1000}, 400, "kbest must be 1 to 100"),
        ({"text": "a", "rules": "/etc/passwd"}, 400, "rules must be"),
        ({"text": "a", "model": "none"}, 404, "no model 'none'"),
        ({"text": "a", "model": "bare"}, 400, "cut raw text"),
        ({"conllu": "1\tbroken"}, 400, "2 columns"),
        ({"text": "\ud800"}, 400, "half a character"),
        (
            {"words": ["a b"]},
            400,
            "words must be a list of lists of words: sentence 0 is not such a list",
        ),
        ({"words": [["a"], [3]]}, 400, "sentence 1 is not such a list"),
        ({"words": [[]]}, 400, "at least one word"),
        ({"words": [["a"] * 1001]}, 413, "more than 1,000 words"),
        ({"words": [["a"] * 200] * 51, "kbest": 10}, 413, "more than 100,000 words"),
        ({"words": [["a"] * 301], "kbest": 2}, 413, "kbest: sentences of at most 300 words"),
        ({"words": [["a"] * 500] * 11, "svg": True}, 413, "at most 5,000 words are drawn"),
        ({"text": "a" * 3_000_000}, 413, "more than 2,000,000 bytes"),
    ],
)
def test_what_is_refused(server, asked, status, said):
    found, answer = server.parse(**asked)
    assert found == status
    assert said in answer["error"]


@pytest.mark.parametrize(
    "body", ["[" * 900_000, '{"a":' * 200_000, "\x80", '{"kbest": 9' + "9" * 5000]
)
def test_json_that_is_none(server, body):
    status, answer = server.ask("/parse", body.encode("latin-1"))
    assert status == 400
    assert answer["error"]


def test_sentences_are_described_as_in_python(server):
    text = "Birds sing. They sing."
    _, answer = server.parse(text=text, confidence=True)
    assert answer["sentences"] == [t.to_dict() for t in parser().parse(text, confidence=True)]
    conllu = "1\tGo\t_\t_\t_\t_\t_\t_\t_\t_\n\n" * 2
    _, answer = server.parse(conllu=conllu)
    assert [each["start"] for each in answer["sentences"]] == [[0], [3]]


def test_what_is_long_is_done_as_what_is_short(server):
    sentences = [sentence.forms for sentence in treebank()] * 60
    trees = server.parse(words=sentences)[1]["sentences"]
    short = [
        server.parse(words=[words])[1]["sentences"][0] for words in sentences[: len(treebank())]
    ]
    assert trees == short * 60
    status, answer = server.process(data="The old trees grow . " * 300, tokenizer="", parser="")
    assert status == 200
    assert answer["result"] == "".join(map(str, parser().parse("The old trees grow . " * 300)))


@pytest.mark.races
def test_none_of_many_requests_is_lost_or_mixed_up(server):
    sentences = [sentence.forms for sentence in treebank()]
    expected = [tree.deprels for tree in parser().parse(sentences)]

    def ask(number):
        which = number % len(sentences)
        if number % 10 == 9:  # broken ones between them
            return server.parse(words=[["a", ""]])[0] == 400
        status, answer = server.parse(words=[sentences[which]])
        return status == 200 and answer["sentences"][0]["deprels"] == expected[which]

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(300)))
    counts = server.metrics()
    assert counts["arborescence_batches"] < counts["arborescence_requests"]


class Held:
    """A parser that waits until it is let go."""

    def __init__(self):
        self.begun, self.free = threading.Event(), threading.Event()
        self.text = self.tagger = None

    def split(self, given):
        return parser().split(given)

    def parse(self, sentences, **_):
        self.begun.set()
        self.free.wait()
        return parser().parse(sentences)


def held_in(server):
    """Let the server's parser wait; return it."""
    held = Held()
    server.service.parsers["small"] = held
    return held


@pytest.mark.races
def test_a_request_that_is_late():
    with Server(timeout=0.1) as server:
        held = held_in(server)
        status, answer = server.parse(words=[["a"]])
        held.free.set()
    assert (status, answer["error"][:20]) == (503, "it took more than 0.")
    assert not server.thread.is_alive()


@pytest.mark.races
def test_a_full_queue():
    with Server(queue=2) as server, ThreadPoolExecutor(2) as pool:
        held = held_in(server)
        first = pool.submit(server.parse, words=[["a"]])
        held.begun.wait()
        second = pool.submit(server.parse, words=[["b"]])
        while server.service.admission.inside < 2:
            time.sleep(0.001)
        status, answer = server.parse(words=[["c"]])
        held.free.set()
        assert (status, answer["error"]) == (429, "too many requests wait: try again later")
        assert [first.result()[0], second.result()[0]] == [200, 200]


def test_the_page(server):
    status, page = server.ask("/")
    assert status == 200
    assert "http" not in page.replace("http-equiv", "")  # nothing from elsewhere


def test_its_opening_sentence_is_parsed_rightly(server):
    """The trees of both English models."""
    arborescence_en = pytest.importorskip("arborescence_en", reason="needs arborescence-en")
    opening = re.search(r"\?\? '([^']+)'", server.ask("/")[1])[1]
    assert opening == "The letters that she wrote to her brother were never found."
    for name in ("english", "english-fast"):
        [tree] = arb.load(name)(opening)
        assert tree.heads.tolist() == [2, 11, 5, 5, 2, 8, 8, 5, 11, 11, 0, 11], name
        assert tree.deprels[1:3] == ["nsubj:pass", "obj"]
    assert arborescence_en


@pytest.fixture
def visit(server, browser):
    """Open the page; when the test ends, check that it did nothing wrong."""
    pages, complaints = [], []
    address = f"http://127.0.0.1:{server.port}/"

    def visit(link="", **options):
        page = browser.new_page(**options)
        pages.append(page)
        page.set_default_timeout(0)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request", lambda asked: asked.url.startswith(address) or complaints.append(asked.url)
        )
        page.goto(f"{address}{link}")
        page.wait_for_selector("#found svg")  # what stands in the line is parsed at once
        return page

    yield visit
    for page in pages:
        page.close()
    # A browser itself complains of what the service refuses.
    assert not [each for each in complaints if "400 (Bad Request)" not in each]


def test_the_page_in_a_browser(visit):
    page = visit()
    assert page.locator("#model option").all_inner_texts() == ["small", "bare"]
    page.fill("#text", "Birds sing.")
    with page.expect_response("**/parse"):
        page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#found svg').textContent.includes('Birds')")
    assert "letters" not in page.inner_text("#found")


@pytest.mark.parametrize("width", [390, 1440])
def test_drawings_fit_the_window(visit, width):
    page = visit(f"#{urlencode({'text': 'The old trees grow slowly . ' * 4})}",
                 viewport={"width": width, "height": 900})  # fmt: skip
    size = "[document.documentElement.scrollWidth, found.scrollWidth - found.clientWidth]"
    assert page.evaluate(size) == [width, 0]
    page.set_viewport_size({"width": 600, "height": 900})
    page.wait_for_function("document.querySelector('#found svg').width.baseVal.value <= 568")
    assert page.evaluate(size) == [600, 0]
    page.set_viewport_size({"width": width, "height": 900})
    # The name of a model may be the path of its file. The service knows this model by its value, as
    # the page may parse once more after a change of its size.
    long = "new Option(`/a/folder/${'of/models/'.repeat(20)}x.npz`, 'small')"
    page.evaluate(f"model.add({long}, 0); model.selectedIndex = 0")
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_what_the_page_shows_on_demand_and_its_link(visit):
    page = visit()
    page.fill("#text", "Birds sing.")
    with page.expect_response("**/parse"):
        page.select_option("#kbest", "2")
    page.wait_for_function("document.querySelectorAll('#found .title').length === 2")
    with page.expect_response("**/parse"):
        page.check("#confidence")
    page.wait_for_function("/root [01][.]/.test(document.querySelector('#found').textContent)")
    page.click("summary")
    page.wait_for_function("document.querySelector('#conllu').textContent.includes('EdgeProb=')")
    link = page.evaluate("document.querySelector('#link').hash")
    assert page.url.endswith(link)
    again = visit(link)
    again.wait_for_function("document.querySelectorAll('#found .title').length === 2")
    assert again.input_value("#text") == "Birds sing."
    assert again.is_checked("#confidence")


def test_the_page_says_what_went_wrong(visit):
    page = visit()
    with page.expect_response("**/parse"):
        page.select_option("#model", "bare")  # which cannot cut text
    page.wait_for_function("document.querySelector('#said').textContent")
    assert "text" in page.inner_text("#said")
