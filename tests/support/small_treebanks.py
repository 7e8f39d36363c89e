"""Two small treebanks, written for these tests."""

from __future__ import annotations

from arborescence.treebank import write
from lessons import BIRDS, SONGS, sentences_of

# (words, tags, heads, relations); the edges of the fourth cross
_SENTENCES = [
    BIRDS,
    ("Old trees grow slowly", "ADJ NOUN VERB ADV", [2, 3, 0, 3], "amod nsubj root advmod"),
    (
        "Cats see old birds !",
        "NOUN VERB ADJ NOUN PUNCT",
        [2, 0, 4, 2, 2],
        "nsubj root amod obj punct",
    ),
    SONGS,
    (
        "Trees hear songs of cats",
        "NOUN VERB NOUN ADP NOUN",
        [2, 0, 2, 5, 3],
        "nsubj root obj case nmod",
    ),
    ("Sing", "VERB", [0], "root"),
]


def sentences():
    return sentences_of(_SENTENCES)


def write_treebanks(folder):
    """Write two treebanks that can be used, and three that cannot."""
    birds = sentences()
    for name, parts in {
        "Birdish": {
            "train.conllu": birds[:4],
            "bi-ud-dev.conllu": birds[:1],
            "bi-ud-test.conllu": birds[2:],
        },
        "Arboric": {"ar-ud-dev.conllu.gz": birds[1:], "ar-ud-test.conllu.gz": birds[:3]},
        "Untested": {"train.conllu": birds},
        "Untaught": {"test.conllu": birds},
        "Empty": {},
    }.items():
        place = folder / name
        place.mkdir(parents=True)
        for file, part in parts.items():
            write(part, place / file)
    (folder / "README.md").write_text("no treebank")
    return folder
