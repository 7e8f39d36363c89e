"""spaCy: a pipeline component that parses, and conversions between its documents and sentences.

The component needs no import: spaCy finds it by its name.

>>> import spacy
>>> nlp = spacy.blank("en")
>>> pipe = nlp.add_pipe("arborescence")
>>> [(token.text, token.dep_) for token in nlp("Nobody read them.")]
[('Nobody', 'nsubj'), ('read', 'ROOT'), ('them', 'obj'), ('.', 'punct')]
"""

from typing import TYPE_CHECKING

from arborescence.errors import MissingExtraError
from arborescence.system.lazy import lazily

try:
    import spacy  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        "spaCy is missing, the extra 'spacy': pip install 'arborescence[spacy]'"
    ) from error

if TYPE_CHECKING:
    from arborescence.integrations.spacy.component import ParserPipe as ParserPipe
    from arborescence.integrations.spacy.docs import doc_of as doc_of
    from arborescence.integrations.spacy.docs import sentences_of as sentences_of

__all__, __getattr__, __dir__ = lazily(__name__)
