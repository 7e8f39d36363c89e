"""How good are the small models of other languages, beside `multi`? For models/README.md.

``python benchmarks/languages.py [--quick]`` needs the treebanks of ``../shared``. On the whole test
part of each treebank: LAS from raw text and from words, and the words that are read in a second of
processor time, from raw text. Trees keep the rules of Universal Dependencies.
"""

from __future__ import annotations

from time import process_time

from arborescence import load
from arborescence.parsers.folders import Treebank
from arborescence.parsers.shared.given import untagged
from arborescence.treebank import evaluate, raw_text
from inputs import TREEBANKS, file_of
from recording import Results, options

OF = {
    "af": "Afrikaans-AfriBooms",
    "de": "German-GSD",
    "fr": "French-Sequoia",
    "id": "Indonesian-GSD",
    "it": "Italian-MarkIT",
    "nb": "Norwegian-Bokmaal",
    "nl": "Dutch-LassySmall",
    "pt": "Portuguese-Bosque",
    "sv": "Swedish-Talbanken",
}


def tested(name):
    """Return the test part of a treebank, from the folder that has it."""
    folders = (TREEBANKS / name, TREEBANKS.parent / "ud-more" / name)
    of_folders = (Treebank.of(each) for each in folders if each.exists())
    return next(sentences for each in of_folders if (sentences := each.tested()))


def measured(parser, gold):
    """Return LAS from raw text and from words, in percent, and words/s from raw text."""
    text = raw_text(gold)
    parser("\n\n".join(raw_text([each]) for each in gold[:20]))  # kernels are compiled before
    start = process_time()
    from_text = parser(text)
    speed = sum(map(len, from_text)) / (process_time() - start)
    las = (evaluate(gold, each).las.f1 for each in (from_text, parser(map(untagged, gold))))
    return [*(f"{100 * each:.2f}" for each in las), speed]


def main():
    quick = options(__doc__).quick
    results = Results("languages", "Small models of languages other than English", quick)
    rows = []
    for name, treebank in list(OF.items())[: 1 if quick else None]:
        gold = tested(treebank)[: 50 if quick else None]
        file, multi = file_of(name), file_of("multi")
        for model, parser in ((name, load(file)), ("multi", load(multi, language=name))):
            size = (file if model == name else multi).stat().st_size / 1e6
            rows.append([name, treebank, model, f"{size:.1f} MB", *measured(parser, gold)])
    results.table(
        "las", ["language", "treebank", "model", "size", "raw text", "words", "words/s"], rows,
        unit="LAS in percent", condition="the whole test part; words/s from raw text, one core",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
