"""Every sentence that pages, help, `demo`, notebooks and the service show is parsed right.

Sentences are found where they stand; each must have a gold tree in ``examples.conllu``, and the
model that shows it must find this tree (universal relations; where a sentence has two readings, a
word with Open=Yes may have another one).
"""

from __future__ import annotations

import json
import re
import runpy
from functools import cache
from pathlib import Path

import pytest

import arborescence as arb
from arborescence.treebank import read

ROOT = Path(__file__).parents[2]
TREES = list(read(Path(__file__).with_name("examples.conllu")))
GOLD = {tuple(one.forms): one for one in TREES if not one.comment("style")}
#: Trees as a work draws them, which live pages show, too.
DRAWN = {tuple(one.forms): one for one in TREES if one.comment("style")}
SOURCES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "models").glob("*/README.md")),
    *sorted((ROOT / "src" / "arborescence" / "cli").glob("*.py")),
    *sorted((ROOT / "src" / "arborescence" / "integrations").rglob("*.py")),
    ROOT / "src" / "arborescence" / "parsers" / "shared" / "base.py",
]
PAGE = ROOT / "src" / "arborescence" / "integrations" / "service" / "page.html"
MODELS = {
    "english": ROOT / "models/en/src/arborescence_en/english.npz",
    "english-fast": ROOT / "models/en/src/arborescence_en/english-fast.npz",
    "english-large": ROOT / "models/en-large/src/arborescence_en_large/english-large.npz",
    "fr": ROOT / "models/fr/src/arborescence_fr/fr.npz",
}
#: Of commands: the text, how it is given, and the model.
COMMAND = re.compile(
    r"""echo\ (?P<quote>["'])(?P<text>[^\n]+?)(?P=quote)\s*\|\s*arborescence\ (?:parse|tag)"""
    r"""(?P<options>[^\n`]*)"""
)
SENTENCE = re.compile(
    r"""arborescence\ (?:explain|trace|parse)\ (?:-m\ (?P<model>\S+)\ )?"""
    r"""--sentence\ (?P<quote>["'])(?P<text>[^\n]+?)(?P=quote)"""
)
REQUEST = re.compile(r"""(?:\{"text": "|-F data=')(?P<text>[^"']+)""")
TABLE = re.compile(r""""text": \["(?P<text>[^"]+)"\]""")
#: Of Python: a model is loaded, and what is called `parser` or `english` is that model.
LOADED = re.compile(r"""(?P<name>\w+) = arb(?:orescence)?\.load\((?:"(?P<model>[\w-]+)")?\)""")
CALL = re.compile(r"""(?P<name>\w+|load\(\))\("(?P<text>[^"\\]+ [^"\\]+)"\)""")
WORDS = re.compile(r""""(?P<text>[^"\n]+ [^"\n]+)"\.split\(\)""")
LISTS = re.compile(r"""(?P<name>\w+)\.parse\(\[(?P<text>\["[^\]]+\])\]""")


def commands(text):
    for found in COMMAND.finditer(text):
        model = re.search(r"-m (\S+)", found["options"])
        words = found["text"].split() if "tokens" in found["options"] else found["text"]
        yield (model[1] if model else "english"), words
    for found in SENTENCE.finditer(text):
        if found["model"] == "my.model":
            continue
        yield found["model"] or "english", found["text"]
    for found in [*REQUEST.finditer(text), *TABLE.finditer(text)]:
        yield "english", found["text"]


def calls(text):
    """What Python parses, in the order of the page, so that the last model loaded counts."""
    models = {"load()": "english", "pipeline": "english", "parser": "english"}
    places = [*LOADED.finditer(text), *CALL.finditer(text), *LISTS.finditer(text)]
    places += WORDS.finditer(text) if LOADED.search(text) else []
    last = None
    for found in sorted(places, key=lambda one: one.start()):
        if found.re is LOADED:
            last = models[found["name"]] = found["model"] or "english"
        elif found.re is WORDS:
            if last or LOADED.search(text, found.start()):
                following = LOADED.search(text, found.start())
                yield last or following["model"] or "english", found["text"].split()
        elif models.get(found["name"]) in MODELS:
            words = found["text"]
            yield models[found["name"]], json.loads(words) if found.re is LISTS else words


def shown():
    for path in SOURCES:
        text = path.read_text("utf-8")
        for model, given in [*commands(text), *calls(text)]:
            yield str(path.relative_to(ROOT)), model, given
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        for model, given in calls("\n".join("".join(cell["source"]) for cell in cells)):
            yield path.name, model, given
    for line in (
        (ROOT / "src" / "arborescence" / "cli" / "demo.txt").read_text("utf-8").splitlines()
    ):
        yield "demo.txt", "english", line.split()
    [text] = re.findall(r"get\('text'\) \?\? '([^']+)'", PAGE.read_text("utf-8"))
    for model in ("english", "english-fast", "english-large"):
        yield "page.html", model, text


#: What is shown with a tree of its own, or parsed by a parser that was trained there.
OTHERS = {
    ("docs/training.md", "Old birds sing"),
    ("docs/treebanks.md", "They wash our cats who stink"),
    ("docs/rules.md", "det nsubj nsubj acl:relcl nsubj cop root punct"),
    ("rules.ipynb", "det nsubj nsubj acl:relcl nsubj cop root punct"),
    ("docs/rules.md", "The song she taught us was old ."),
    ("docs/rules.md", "DET NOUN PRON VERB PRON AUX ADJ PUNCT"),
    ("docs/rules.md", "The song she taught us was old"),
    ("rules.ipynb", "DET NOUN PRON VERB PRON AUX ADJ PUNCT"),
}
FOUND = [
    (where, model, given)
    for where, model, given in shown()
    if (where, given if isinstance(given, str) else " ".join(given)) not in OTHERS
]


@cache
def parser(model):
    if not MODELS[model].exists():
        pytest.skip("the source archive leaves models out")
    if model == "english-large":
        pytest.importorskip("tokenizers", reason="english-large needs tokenizers")
        pytest.importorskip("tokenizers", reason="english-large needs tokenizers")
    return arb.load(MODELS[model])


def test_examples_are_found_where_they_stand():
    assert len(FOUND) > 25
    places = {where for where, _, _ in FOUND}
    for name in ("README.md", "docs/corpora.md", "docs/live.md", "demo.txt", "page.html"):
        assert name in places
    assert {model for _, model, _ in FOUND} == set(MODELS)


def test_trees_of_live_pages_are_those_that_the_work_draws():
    shown = runpy.run_path(str(ROOT / "docs" / "live" / "pages.py"))
    gold = DRAWN[tuple(shown["SENTENCE"])]
    scores = shown["tree_scores"](shown["HEADS"])
    assert shown["HEADS"] == gold.heads.tolist()
    assert arb.decode(scores)[1:].tolist() == gold.heads.tolist()
    pages = shown["pages"]()
    with_words = [name for name, page in pages.items() if json.dumps(gold.forms[1]) in page]
    assert with_words == ["eisner", "cky", "transitions"]


@pytest.mark.parametrize(
    ("where", "model", "given"), FOUND, ids=[f"{where}-{model}" for where, model, _ in FOUND]
)
def test_example(where, model, given):
    parsed = parser(model)(given if isinstance(given, str) else [given])
    assert parsed
    for sentence in parsed:
        gold = GOLD.get(tuple(sentence.forms))
        assert gold is not None, f"{where}: no tree in examples.conllu for {sentence.forms}"
        wrong = [
            f"{form}: {heads[0]} {names[0]}, not {heads[1]} {names[1]}"
            for form, misc, heads, names in zip(
                gold.forms,
                gold.misc,
                zip(sentence.heads, gold.heads, strict=True),
                zip(sentence.deprels, gold.deprels, strict=True),
                strict=True,
            )
            if "Open=Yes" not in misc
            and (heads[0], names[0].partition(":")[0]) != (heads[1], names[1].partition(":")[0])
        ]
        assert not wrong, f"{where}, {model}: {' '.join(gold.forms)}: {'; '.join(wrong)}"
