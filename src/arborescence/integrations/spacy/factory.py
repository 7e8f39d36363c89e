"""The entry point of the component for spaCy; a small module, as every pipeline imports it."""

from typing import TYPE_CHECKING

from spacy.language import Language

if TYPE_CHECKING:
    from arborescence.integrations.spacy.component import ParserPipe


# spaCy checks a user's settings by the types of `make`, so these types must not be strings.
@Language.factory(
    "arborescence",
    assigns=[
        "token.dep",
        "token.head",
        "token.is_sent_start",
        "doc.sents",
        "token.pos",
        "token.tag",
        "token.morph",
        "token.lemma",
    ],
    default_config={
        "model": "english",
        "annotate": ["pos", "tag", "morph", "lemma"],
        "overwrite": False,
        "projective": None,
        "rules": None,
        "max_words": 5000,
    },
    default_score_weights={
        "dep_uas": 0.5,
        "dep_las": 0.5,
        "dep_las_per_type": None,
        "sents_p": None,
        "sents_r": None,
        "sents_f": 0.0,
    },
)
def make(
    nlp: Language,  # noqa: ARG001
    name: str,
    model: str,
    annotate: list[str],
    overwrite: bool,
    projective: bool | None,
    rules: str | None,
    max_words: int,
) -> "ParserPipe":
    """Make the component of a pipeline: see `ParserPipe` for the settings."""
    from arborescence.integrations.spacy.component import ParserPipe

    return ParserPipe(
        name,
        model=model,
        annotate=annotate,
        overwrite=overwrite,
        projective=projective,
        rules=rules,
        max_words=max_words,
    )
