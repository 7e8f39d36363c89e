"""How good are the models of English on each genre, on constructions, and on what people try first?

``python benchmarks/kinds.py [--quick] [MODEL ...]``: a run of named models, or files, only prints.
It needs ``../shared/ud/English-EWT`` and ``../shared/ud-more/English-GUM-clean``; of the latter it
reads the documents that are in GUM's own dev and test. Parsers find the tags themselves.

- Genres: LAS on EWT's test part, and on GUM's documents.
- Constructions, in EWT's dev and test part and GUM's documents: a case is a match of a query of
  ``constructions.toml`` in the gold trees. A parser has it right if its tree has all edges that the
  query demands, with the universal relations of the gold tree.
- Sentences: those of ``thirty.conllu``, and the first thirty in ``../shared``. A tree is right if
  all words but punctuation and those with Open=Yes have the right head and universal relation.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from arborescence import load
from arborescence.parsers.shared.given import untagged
from arborescence.treebank import evaluate, raw_text, read, search
from arborescence.treebank.patterns.pattern import parse
from inputs import TREEBANKS, file_of
from recording import Results, options

HERE = Path(__file__).parent
GUM = TREEBANKS.parent / "ud-more" / "English-GUM-clean"
SENTENCES = {"first": TREEBANKS.parent / "sentences.conllu", "new": HERE / "thirty.conllu"}
MODELS = ("english", "english-large", "english-xl", "english-fast")
#: Columns, unit and condition of each table.
TABLES = {
    "genres": (
        ("treebank", "genre", "words", "LAS, words", "LAS, raw"),
        "percent",
        "EWT's test part, documents of GUM's dev and test; the model's own tags",
    ),
    "constructions": (
        ("construction", "cases", "right"),
        "cases",
        "EWT's dev and test part, documents of GUM's dev and test; from words; all edges right",
    ),
    "sentences": (
        ("sentences", "trees", "right", "wrong roots"),
        "trees",
        "from words; without punctuation and words with Open=Yes",
    ),
}


def ewt(part):
    """Return the sentences of a part of English-EWT."""
    return list(read(TREEBANKS / "English-EWT" / f"en_ewt-ud-{part}.conllu.gz"))


def gum():
    """Return the sentences of the documents that are in GUM's own dev and test."""
    _, *parts = re.split(r"^## (\w+)$", (GUM / "splits.md").read_text("utf-8"), flags=re.MULTILINE)
    documents = dict(zip(parts[::2], parts[1::2], strict=True))
    kept = set(re.findall(r"GUM_\w+", documents["dev"] + documents["test"]))
    return [
        sentence
        for file in sorted(GUM.glob("*.conllu.gz"))
        for sentence in read(file)
        if sentence.sent_id.rpartition("-")[0] in kept
    ]


def queries():
    """Return the queries of constructions by name."""
    return tomllib.loads((HERE / "constructions.toml").read_text("utf-8"))


def genres(gold, words, raw):
    """Return gold words, LAS from words and LAS from raw text, in percent, for each genre."""
    from_words, from_raw = (evaluate(gold, each, details=True).genres for each in (words, raw))
    return [
        [genre, score.gold, 100 * score.f1, 100 * from_raw[genre].f1]
        for genre, score in from_words.items()
    ]


def edges(sentence, words):
    """Return the heads and the universal relations of words."""
    return [
        (sentence.heads[word - 1], sentence.deprels[word - 1].partition(":")[0]) for word in words
    ]


def cases(gold, query):
    """Return each case of a query: the id of its sentence, and the dependents of its edges."""
    nodes = [edge.dependent for edge in parse(query).demanded.edges]
    found = search(gold, query)
    return dict.fromkeys(
        (sentence.sent_id, tuple(words[node] for node in nodes)) for sentence, words in found
    )


def constructions(gold, parsed):
    """Return the number of cases of each construction, and how many of them are right."""
    pairs = {one.sent_id: (one, other) for one, other in zip(gold, parsed, strict=True)}
    for name, query in queries().items():
        found = cases(gold, query)
        right = (edges(pairs[at][0], words) == edges(pairs[at][1], words) for at, words in found)
        yield [name, len(found), sum(right)]


def tried(gold, parsed):
    """Return how many trees are right, and how many have the wrong root."""
    right = wrong_roots = 0
    for one, other in zip(gold, parsed, strict=True):
        words = [
            word
            for word, (tag, misc) in enumerate(zip(one.upos, one.misc, strict=True), 1)
            if tag != "PUNCT" and "Open=Yes" not in misc.split("|")
        ]
        right += edges(one, words) == edges(other, words)
        wrong_roots += list(one.heads).index(0) != list(other.heads).index(0)
    return right, wrong_roots


def rows(model, test, dev, documents):
    """Return the rows of a model in each table."""
    parser = load(file_of(model))
    found = {name: [] for name in TABLES}
    gold = [*test, *dev, *documents]
    words = list(parser.parse(map(untagged, gold)))
    for treebank, part, start in (("EWT", test, 0), ("GUM", documents, len(test) + len(dev))):
        given = words[start : start + len(part)]
        measured = genres(part, given, parser(raw_text(part)))
        found["genres"] += ([model, treebank, *row] for row in measured)
    found["constructions"] += ([model, *row] for row in constructions(gold, words))
    for name, file in SENTENCES.items():
        sentences = list(read(file))
        counts = tried(sentences, parser.parse(map(untagged, sentences)))
        found["sentences"].append([model, name, len(sentences), *counts])
    return found


def main():
    chosen = options(__doc__, models=True)
    results = Results("kinds", "English by genre and construction", chosen.quick or chosen.models)
    parts = ewt("test"), ewt("dev"), gum()
    if chosen.quick:
        parts = tuple(part[:200] for part in parts)
    models = chosen.models or (MODELS[-1:] if chosen.quick else MODELS)
    tables = [rows(model, *parts) for model in models]
    for name, (columns, unit, condition) in TABLES.items():
        lines = [row for table in tables for row in table[name]]
        results.table(name, ["model", *columns], lines, unit=unit, condition=condition)
    results.save()


if __name__ == "__main__":
    main()
