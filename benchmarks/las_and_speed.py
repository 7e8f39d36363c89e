"""LAS against words a second, from raw text to CoNLL-U: our models, UDPipe 1 and spaCy.

``python benchmarks/las_and_speed.py [--quick] [--udpipe FOLDER]`` reads the whole test part of two
treebanks of ``../shared/ud``. A parser is measured where it is there: spaCy where its model is
installed, UDPipe 1 by the models that ``udpipe_models.py`` has put into FOLDER. The LAS is that of
`evaluate`, as the script of 2018 computes it. The speed is words of the treebank in a second of
processor time, after a first run on some sentences, with the model read; spaCy writes no CoNLL-U.
The remark of UDPipe 1: epochs of the tokenizer, iterations of the tagger and of the parser.
"""

from __future__ import annotations

import importlib
import io
from itertools import chain
from time import process_time

from arborescence import load
from arborescence.parsers.folders import Treebank
from arborescence.treebank import evaluate, raw_text, read, write
from inputs import TREEBANKS, file_of
from recording import Results, options

OF = {"en": "English-EWT", "fr": "French-Sequoia"}
OURS = {
    "en": ("english-fast", "english", "english-large", "english-xl", "multi"),
    "fr": ("fr", "multi"),
}
SPACY = {"fr": "fr_core_news_md"}
#: How often text is parsed, and the seconds of processor time after which it is not again.
RUNS, ENOUGH = 5, 5.0


def ours(name, language):
    """Return a function from raw text to CoNLL-U, and one from this to sentences."""
    parser = load(file_of(name), **({"language": language} if name == "multi" else {}))

    def parsed(text):
        file = io.BytesIO()
        write(parser.parse(text), file)
        return file.getvalue()

    return parsed, lambda given: read(io.BytesIO(given))


def udpipe(file):
    """Return the same as `ours` for a model of UDPipe 1."""
    from ufal.udpipe import Model, Pipeline

    model = Model.load(str(file))
    pipeline = Pipeline(model, "tokenize", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    pipeline.kept = model  # a pipeline holds no reference to it
    return pipeline.process, lambda given: read(io.BytesIO(given.encode()))


def spacy(name):
    """Return the same as `ours` for a model of spaCy, which reads paragraphs, as UD's has lines."""
    from arborescence.integrations.spacy import sentences_of

    pipeline = importlib.import_module(name).load()

    def parsed(text):
        return list(pipeline.pipe(" ".join(each.split()) for each in text.split("\n\n")))

    return parsed, lambda docs: chain.from_iterable(map(sentences_of, docs))


def parsers(language, folder):
    """Yield the name of each parser of a language, its two functions, and a remark."""
    for name in OURS[language]:
        yield (f"multi:{language}" if name == "multi" else name), ours(name, language), ""
    if folder:
        lines = (folder / f"{language}.txt").read_text("utf-8").splitlines()
        named = [dict(each.split("=") for each in line.split(";")) for line in lines]
        rounds = (named[0]["epochs"], *(each["iterations"] for each in named[1:]))
        remark = "/".join(rounds)
        yield "UDPipe 1", udpipe(folder / f"{language}.udpipe"), remark
    if name := SPACY.get(language):
        try:
            yield f"spaCy {name}", spacy(name), "without multiword tokens"
        except ImportError:
            print(f"({name} is not installed)")


def main():
    chosen = options(__doc__, udpipe="models of UDPipe 1")
    results = Results("las_and_speed", "LAS and words a second, from raw text", chosen.quick)
    rows = []
    for language, treebank in OF.items():
        gold = Treebank.of(TREEBANKS / treebank).tested()[: 100 if chosen.quick else None]
        text, words = raw_text(gold), sum(map(len, gold))
        for name, (parse, sentences), remark in parsers(language, chosen.udpipe):
            parse(raw_text(gold[:20]))  # kernels are compiled before
            seconds = []
            while len(seconds) < RUNS and sum(seconds) < ENOUGH:
                start = process_time()
                found = parse(text)
                seconds.append(process_time() - start)
            las = evaluate(gold, list(sentences(found))).las.f1
            rows.append([treebank, name, f"{100 * las:.2f}", words / min(seconds), remark])
            print(*rows[-1], sep="\t", flush=True)
    results.table(
        "raw text", ["treebank", "parser", "LAS", "words/s", "remark"], rows, unit="percent",
        condition="the whole test part; one core, processor time, the best of some runs",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
