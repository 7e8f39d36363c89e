"""Raw text to sentences, words and lemmas, learned from a treebank."""

from arborescence.parsers.text.lemmas import Lemmatizer
from arborescence.parsers.text.model import Text
from arborescence.parsers.text.tokenizer import Tokenizer

__all__ = ["Lemmatizer", "Text", "Tokenizer"]
