"""Give a model what another one has learned of raw text and lemmas; its network stays as it is.

``python models/with_text.py MODEL OTHER TREEBANK``: the file MODEL is written anew. What it reads
of forms follows from the training part of the treebank that its network has learned from.
"""

import sys

import arborescence as arb
from arborescence.parsers.recipe import parts_of
from arborescence.parsers.shared.reading import Reading
from arborescence.treebank import read

model, other, treebank = sys.argv[1:]
parser = arb.load(model)
parser.text = arb.load(other).text
parser.reading = Reading.of(
    sentence for path in parts_of(treebank)["train"] for sentence in read(path)
)
parser.save(model)
