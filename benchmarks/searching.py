"""How fast is a treebank of a million words searched: the whole command, from CoNLL-U?

Real treebanks, one after the other, in one file. ``python benchmarks/searching.py``
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from arborescence.treebank import write
from evaluating import whole_sentences
from inputs import TREEBANKS
from recording import Results, options

#: Names of searches, and their arguments.
SEARCHES = {
    "subjects": ["V [upos=VERB]; S [upos=PRON]; V -[nsubj]-> S; V << S"],
    "counts of objects": ["V [upos=VERB]; V -[obj]-> O", "--count", "O.lemma"],
    "collocations": [
        "V [upos=VERB]; V -[obj]-> O", "--count", "V.lemma", "--count", "O.lemma", "--association",
    ],
    "a regular expression": ['V [lemma=re".*e"]; V -[obj]-> O'],
    "a part that is not there": ["V [upos=VERB]; V -[obj]-> O; without { V -[nsubj]-> S }"],
    "a path": ["V [upos=VERB]; V ->> N; N [upos=NOUN]; N -[amod]-> A"],
}  # fmt: skip


def spent(arguments):
    """Return the processor time of a command, the system's part included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "arborescence", "search", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    quick = options(__doc__).quick
    if not TREEBANKS.is_dir():
        print("(no ../shared/ud: nothing to search)\n")
        return
    most = 100_000 if quick else 1_000_000
    results = Results("searching", "a search in trees, the whole command", quick)
    with tempfile.TemporaryDirectory() as folder:
        file, sentences, words = Path(folder) / "trees.conllu", [], 0
        for sentence in whole_sentences():
            sentences.append(sentence)
            words += len(sentence)
            if words >= most:
                break
        write(sentences, file)
        rows = [
            [name, words, min(spent([*given, str(file)]) for _ in range(3))]
            for name, given in SEARCHES.items()
        ]
    results.table(
        "search", ["search", "words", "seconds"], rows,
        unit="as the columns say", condition="processor time of the whole command; least of "
        "three runs",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
