"""Requests to the service, good ones and hostile ones: for the fuzz and for the soak."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlencode

TEXTS = (
    "The old trees grow slowly.",
    "She wrote long letters, and nobody read them.",
    "Dr. Smith doesn't like the rain in the north.",
    "When the ships came back, everybody was on the shore!",
    "Did you see the house that my uncle has built?",
    "Two of the birds sing in the morning.",
    "He gave his sister a book about the moon.",
    "It is not easy to say what the weather will be.",
)
WORDS = [
    *("the", "of", "and", "to", "in", "is", "that", "for", "it", "with", "was", "on", "as", "are"),
    *("old", "trees", "birds", "sing", "grow", "slowly", "house", "very", "never", "quickly"),
]
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
_CAS = "http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore"
_XMI = f'xmlns:xmi="http://www.omg.org/XMI" xmlns:s="{_CAS}" xmlns:cas="http:///uima/cas.ecore"'


class Request(NamedTuple):
    """A request, and how it is sent."""

    name: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = MappingProxyType({})
    #: "ask"; "slow": half of the body; "head": half of the head; "gone": without waiting
    how: str = "ask"

    @property
    def head(self):
        """The head as bytes."""
        method = "GET" if self.body is None else "POST"
        headers = {"Host": "localhost", **self.headers}
        if self.body is not None:
            headers = {"Content-Length": str(len(self.body))} | headers
        lines = [f"{method} {self.path} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode()


def asked(name, path="/parse", headers=None, **fields):
    """Make a request of JSON."""
    return Request(name, path, json.dumps(fields).encode(), headers or {})


def good(rng, longest=30):
    """Make a request as honest clients send it."""
    few = [str(text) for text in rng.choice(TEXTS, int(rng.integers(1, 4)))]
    words = [text[:-1].split() for text in few]
    turn = int(rng.integers(20))
    if turn < 8:
        return asked("text", text=" ".join(few))
    if turn < 12:
        return asked("words", words=words)
    if turn < 14:
        return asked("picture", text=few[0], confidence=True, svg=True)
    if turn < 15:
        return asked("ranked", words=words, kbest=3)
    if turn < 17:
        form = {"data": " ".join(few), "tokenizer": "ranges", "tagger": "", "parser": ""}
        return Request("form", "/process", urlencode(form).encode(), {"Content-Type": FORM})
    if turn < 18:
        form = {"data": "\n".join(few), "input": "horizontal", "parser": ""}
        return Request("query", f"/process?{urlencode(form)}")
    if turn < 19:
        return Request("models", "/models")
    return asked("document", text=" ".join(str(text) for text in rng.choice(TEXTS, longest)))


def mixed(rng, count):
    """Draw words."""
    return [str(word) for word in rng.choice(WORDS, count)]


def document(length, inside="", number="1"):
    """Write a document as INCEpTION does, of words "a"."""
    tokens = "".join(
        f'<s:Token xmi:id="{n + 10}" sofa="1" begin="{2 * n}" end="{2 * n + 1}"/>'
        for n in range(length)
    )
    sentence = f'<s:Sentence xmi:id="{number}" sofa="1" begin="0" end="{2 * length}"/>'
    sofa = f'<cas:Sofa xmi:id="1" sofaString="{"a " * length}"/>'
    return f"<xmi:XMI {_XMI}>{tokens}{sentence}{inside}{sofa}</xmi:XMI>"


def inception(name, xmi, path="/english-fast/predict", user="ann", layer="a.Dependency", **headers):
    """Make a request of INCEpTION."""
    one = {"xmi": xmi, "documentId": 1, "userId": user}
    metadata = {"layer": layer, "feature": "Type"}
    return asked(name, path, headers, metadata=metadata, document=one, documents=[one])


def conllu(words):
    """Write a sentence as CoNLL-U, without a tree."""
    return "".join(f"{i}\t{word}" + "\t_" * 8 + "\n" for i, word in enumerate(words, 1)) + "\n"


OWN = {"project_name": "arborescence", "model_id": "english-fast"}
TRAIN = {"project_name": "x", "train_samples": {}, "max_epoch": 10**6, "base_model": None}
START = "/parser/models"

#: Hostile requests by name; those of `HEAVY` cost the most.
HOSTILE = {
    "two long sentences": lambda rng: asked("", words=[mixed(rng, 1000) for _ in range(2)]),
    "two sentences of one word": lambda _: asked("", words=[["a"] * 1000] * 2),
    "a long text": lambda rng: asked("", text=" ".join(mixed(rng, 60_000))),
    "the k best of much": lambda rng: asked("", words=[mixed(rng, 300)] * 3, kbest=100),
    "marginals": lambda rng: asked("", words=[mixed(rng, 900)] * 3, confidence=True),
    "a long sample": lambda rng: asked(
        "", f"{START}/parse/start", model_info=OWN,
        to_parse_samples={"s": conllu(mixed(rng, 1000)) * 5},
    ),
    "a long document": lambda _: inception("", document(9000)),
    "too many words": lambda _: asked("", words=[["a"] * 900] * 150),
    "a sentence too long": lambda _: asked("", words=[["a"] * 1500]),
    "too many bytes": lambda _: Request("", "/parse", None, {"Content-Length": "9" * 12}),
    "nested JSON": lambda _: Request("", "/parse", b"[" * 900_000),
    "half a character": lambda _: Request("", "/parse", b'{"text": "\\ud800"}'),
    "no UTF-8": lambda rng: Request("", "/parse", b'{"text": "%b"}' % rng.bytes(20)),
    "a huge number": lambda _: Request("", "/parse", b'{"kbest": %b}' % (b"9" * 5000)),
    "words that are none": lambda _: asked("", words=["a b"]),
    "types": lambda _: asked("", text={"a": [None]}, kbest=True),
    "a word of a megabyte": lambda _: asked("", words=[["a" * 10**6]]),
    "a text without a space": lambda _: asked("", text="." * 10**6),
    "no such model": lambda _: asked("", text="a", model="\x1b[31m/etc/passwd"),
    "no such route": lambda _: Request("", "/a%0ab/c"),
    "a foreign host": lambda _: asked("", headers={"Host": "evil.example"}, text="a"),
    "a foreign origin": lambda _: asked("", headers={"Origin": "http://evil.example"}, text="a"),
    "many fields": lambda _: Request("", "/process", b"a&" * 500_000, {"Content-Type": FORM}),
    "a broken form": lambda _: Request(
        "", "/process", b"--x\r\n" * 100_000, {"Content-Type": "multipart/form-data; boundary=x"}
    ),
    "options": lambda _: Request("", "/process?data=a&tokenizer=none;such&output=epe"),
    "nested XMI": lambda _: inception("", "<a>" * 5000 + "</a>" * 5000),
    "numbers in XMI": lambda rng: inception(
        "", document(3, number=str(rng.choice(["x", "9" * 5000, "-1", ""])))
    ),
    "a layer that is none": lambda rng: inception("", document(3), layer=[3, "a b", [], ""][
        int(rng.integers(4))
    ]),
    "a long name": lambda _: inception("", document(3), user="u" * 300),
    "training from a page": lambda _: asked("", f"{START}/train/start", **TRAIN),
    "long training": lambda _: asked("", f"{START}/train/start", {"Content-Type": JSON}, **TRAIN),
    "samples that are none": lambda _: asked(
        "", f"{START}/parse/start", model_info=[], to_parse_samples={"s": 3}
    ),
    "half a body": lambda _: asked("", text="a" * 1000)._replace(how="slow"),
    "half a head": lambda _: Request("", "/parse", b"", how="head"),
    "gone at once": lambda rng: asked("", words=[mixed(rng, 900)] * 3)._replace(how="gone"),
}  # fmt: skip
HEAVY = tuple(HOSTILE)[:7]


def hostile(rng, names=tuple(HOSTILE)):
    """Make a request as attackers send it."""
    name = str(rng.choice(names))
    return HOSTILE[name](rng)._replace(name=name)
