"""From raw text to sentences, words and lemmas, with log-linear models trained on a treebank."""

from arborescence.parsers.text.lemmas import Lemmatizer
from arborescence.parsers.text.model import Text
from arborescence.parsers.text.tokenizer import Tokenizer

__all__ = ["Lemmatizer", "Text", "Tokenizer"]
