"""How well, and how fast, models find sentences, words and lemmas in the raw text of treebanks.

``python benchmarks/raw_text.py English-EWT Turkish-IMST`` learns from the training part of each
treebank, or from its development part where there is no other, and prints a row for each. With
``--trees``, a linear parser is trained, too, by its default options, and its trees are measured.

``python benchmarks/raw_text.py --layouts English-EWT=english French-Sequoia=fr.npz`` measures
models as they are on the same text laid out otherwise: see `LAYOUTS`. ``--prose`` reads all line
ends as spaces, ``--split`` looks at sentences and words only; ``--part dev`` takes another part.
"""

from __future__ import annotations

import argparse
import io
import textwrap
import time

from arborescence.parsers import Tagger, load, train
from arborescence.parsers.text import Text
from arborescence.treebank import evaluate, raw_text, read
from cut_words import compared, cut
from inputs import TREEBANKS
from recording import table

NAMES = (
    "English-EWT", "Turkish-IMST", "French-GSD", "German-GSD", "Japanese-GSD", "Chinese-GSDSimp",
    "Hebrew-HTB",
)  # fmt: skip
HEADER = (
    "treebank", "learned from", "tokens", "sentences", "words", "lemmas", "lemmas, gold words",
    "words/s",
)  # fmt: skip
LAID_OUT = ("treebank", "text", "sentences", "words", "LAS")
TREES = ("treebank", "learned from", "words", "sentences", "lemmas", "UAS", "LAS")


def part_of(treebank, name):
    """Return the sentences of a part of a treebank, or none."""
    files = sorted((TREEBANKS / treebank).glob(f"*-ud-{name}.conllu.gz"))
    return [sentence for path in files for sentence in read(path)]


def row(treebank):
    """Learn from a treebank, and measure on its test part."""
    training = part_of(treebank, "train") or part_of(treebank, "dev")
    gold = part_of(treebank, "test")
    text, tagger = Text.train(training), Tagger.train(training)
    raw = raw_text(gold)
    times = []
    for _ in range(3):
        start = time.process_time()
        cut = list(text.tokenizer.split(raw))
        times.append(time.process_time() - start)
    found = evaluate(gold, text.lemmatizer.lemmatize(tagger.tag(cut)))
    given = tagger.tag(gold, overwrite=True)
    given = evaluate(gold, text.lemmatizer.lemmatize(given, overwrite=True))
    figures = (found.tokens, found.sentence_spans, found.words, found.lemmas, given.lemmas)
    return (
        treebank,
        f"{len(training):,}",
        *(f"{100 * figure.f1:.2f}" for figure in figures),
        f"{sum(map(len, cut)) / min(times):,.0f}",
    )


def tree_row(treebank):
    """Train a linear parser, and measure what it makes of the raw text of the test part."""
    training, gold = part_of(treebank, "train"), part_of(treebank, "test")
    parser = train(training, part_of(treebank, "dev") or None, kind="linear")
    found = evaluate(gold, parser(raw_text(gold)))
    figures = (found.words, found.sentence_spans, found.lemmas, found.uas, found.las)
    return treebank, f"{len(training):,}", *(f"{100 * figure.f1:.1f}" for figure in figures)


def a_line_each(gold):
    """Return a text with a sentence on each line, without blank lines."""
    return "".join(f"{raw_text([sentence]).strip()}\n" for sentence in gold)


def wrapped(gold, width=70):
    """Return a text with lines of at most so many characters, and blank lines as they were."""
    paragraphs = raw_text(gold).split("\n\n")
    whole = {"break_long_words": False, "break_on_hyphens": False}
    return "\n\n".join(textwrap.fill(each, width, **whole) for each in paragraphs)


def joined(gold):
    """Return a text without blank lines: one paragraph."""
    return " ".join(raw_text(gold).split())


#: Ways to lay out a text. The last one is that of sentences `without_punctuation`.
LAYOUTS = {
    "as the treebank has it": raw_text,
    "a sentence on each line": a_line_each,
    "wrapped at 70": wrapped,
    "wrapped at 70, words cut": cut,
    "joined, without paragraphs": joined,
    "without punctuation and capitals": raw_text,
}


def without_punctuation(sentence):
    """Return a sentence without words of the tag PUNCT, in lower case; None if none is left."""
    kept = [tag != "PUNCT" for tag in sentence.upos]
    if not any(kept):
        return None
    numbers = [0, *(sum(kept[:k]) for k in range(1, len(kept) + 1))]
    tree, root = sentence.tree.tolist(), 0
    multiwords = {first: (last, form) for first, last, form in sentence.multiwords}
    lines = [text for text in sentence.comments if text.startswith(("# newpar", "# newdoc"))]
    words = zip(sentence.forms, sentence.upos, sentence.deprels, sentence.misc, strict=True)
    for word, (form, tag, relation, misc) in enumerate(words, 1):
        last, token = multiwords.get(word, (0, ""))
        if last and all(kept[word - 1 : last]):
            lines.append(f"{numbers[word]}-{numbers[last]}\t{token.lower()}" + 8 * "\t_")
        if not kept[word - 1]:
            continue
        head = tree[word]
        while head and not kept[head - 1]:
            head = tree[head]
        if not head:  # what hung from punctuation may be root, too
            head, relation = (root, "dep") if root else (0, "root")
            root = root or word
        glued = "SpaceAfter=No" in misc.split("|") and kept[word : word + 1] == [True]
        columns = [numbers[word], form.lower(), "_", tag, "_", "_", numbers[head], relation, "_"]
        lines.append("\t".join(map(str, [*columns, "SpaceAfter=No" if glued else "_"])))
    [found] = read(io.BytesIO("\n".join([*lines, "", ""]).encode()))
    return found


def layout_rows(named, part, *, prose, split):
    """Yield how well a model, ``TREEBANK=MODEL``, reads each layout of a text."""
    # without rules, with which text without punctuation takes long
    treebank, _, model = named.partition("=")
    parser = load(model)
    gold = part_of(treebank, part)
    bare = [found for found in map(without_punctuation, gold) if found]
    for name, layout in LAYOUTS.items():
        right = bare if name.startswith("without") else gold
        text, places = layout(right) if layout is cut else (layout(right), None)
        given = parser.read_text(
            io.BytesIO(text.encode()), lines=False if prose else None, warn=lambda _: None
        )
        given = list(given if split else parser.parse(given, rules="none"))
        if places:
            right, joined = compared(right, given, places)
            name = f"{name}: {joined} of {len(places)} joined"
        found = evaluate(right, given)
        figures = (found.sentence_spans, found.words, *([] if split else [found.las]))
        yield treebank, name, *(f"{100 * figure.f1:.1f}" for figure in figures)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("treebanks", nargs="*", default=NAMES, metavar="TREEBANK")
    arguments.add_argument("--trees", action="store_true")
    arguments.add_argument("--layouts", action="store_true")
    arguments.add_argument("--prose", action="store_true")
    arguments.add_argument("--split", action="store_true")
    arguments.add_argument("--part", default="test")
    chosen = arguments.parse_args()
    if chosen.layouts:
        how = {"prose": chosen.prose, "split": chosen.split}
        rows = (row for each in chosen.treebanks for row in layout_rows(each, chosen.part, **how))
        table(LAID_OUT[:-1] if chosen.split else LAID_OUT, rows)
    elif chosen.trees:
        table(TREES, map(tree_row, chosen.treebanks))
    else:
        table(HEADER, map(row, chosen.treebanks))


if __name__ == "__main__":
    main()
