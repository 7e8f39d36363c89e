"""The rules of Universal Dependencies that are the same in all languages.

They are the rules of the official validator, level 3, class SYNTAX (its errors, not its warnings),
with the validator's names and exceptions.
"""

from __future__ import annotations

from typing import Final

from arborescence.rules.kinds import (
    AtMostOne,
    Contiguous,
    Dependents,
    Direction,
    LabelTags,
    Nominal,
    NotOfTags,
    Projective,
    RootLabel,
    Rule,
    Spaced,
    TagLabels,
)

_OF_MARKERS: Final = ("goeswith", "fixed", "reparandum", "conj", "cc", "punct")
_OF_DETERMINERS: Final = (
    "det", "case", "advmod", "obl", "clf", "flat", "compound", "discourse", "parataxis",
)  # fmt: skip
_NOMINALS: Final = ("nsubj", "obj", "iobj", "obl", "vocative", "dislocated", "expl", "nmod")

#: The rules, in the validator's order.
RULES: Final[tuple[Rule, ...]] = (
    RootLabel("0-is-not-root", "root", of_root=True),
    RootLabel("root-is-not-0", "root", of_root=False),
    LabelTags("rel-upos-det", ("det",), ("DET", "PRON")),
    LabelTags("rel-upos-nummod", ("nummod",), ("NUM", "NOUN", "SYM")),
    LabelTags(
        "rel-upos-advmod",
        ("advmod",),
        ("ADV", "ADJ", "CCONJ", "DET", "PART", "SYM"),
        but_heads=("goeswith",),
    ),
    LabelTags("rel-upos-expl", ("expl",), ("PRON", "DET", "PART")),
    LabelTags("rel-upos-aux", ("aux",), ("AUX",)),
    LabelTags("rel-upos-cop", ("cop",), ("AUX", "PRON", "DET", "SYM")),
    LabelTags(
        "rel-upos-case", ("case",), ("PROPN", "ADJ", "PRON", "DET", "NUM", "AUX"), refused=True
    ),
    LabelTags(
        "rel-upos-mark",
        ("mark",),
        ("NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "AUX", "INTJ"),
        refused=True,
    ),
    LabelTags(
        "rel-upos-cc",
        ("cc",),
        ("NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "VERB", "AUX", "INTJ"),
        refused=True,
    ),
    LabelTags("rel-upos-punct", ("punct",), ("PUNCT",)),
    TagLabels("upos-rel-punct", ("PUNCT",), ("punct", "root")),
    NotOfTags("rel-upos-fixed", ("fixed",), ("PROPN",)),
    *(
        Direction(f"right-to-left-{label}", (label,))
        for label in ("conj", "fixed", "flat", "goeswith", "appos")
    ),
    AtMostOne(
        "too-many-subjects",
        ("nsubj", "csubj"),
        but=("nsubj:outer", "csubj:outer"),
        but_misc="Subject=Outer",
    ),
    AtMostOne("too-many-objects", ("obj",)),
    Nominal(
        "obl-should-be-nmod",
        ("obl",),
        tags=("NOUN", "PROPN", "PRON"),
        nominals=_NOMINALS,
        clause=("cop", "nsubj", "csubj"),
    ),
    Dependents("leaf-mark-case", ("mark", "case"), ("advmod", "obl", *_OF_MARKERS), negation=True),
    Dependents("leaf-aux-cop", ("aux", "cop"), _OF_MARKERS, negation=True),
    Dependents(
        "leaf-det",
        ("det",),
        (*_OF_DETERMINERS, *_OF_MARKERS),
        also=(("Poss=Yes", ("appos", "acl", "nmod")),),
        negation=True,
    ),
    Dependents("leaf-clf", ("clf",), ("advmod", "obl", *_OF_MARKERS), negation=True),
    Dependents(
        "leaf-cc", ("cc",), ("goeswith", "fixed", "reparandum", "conj", "punct"), negation=True
    ),
    Dependents(
        "leaf-fixed", ("fixed",), ("goeswith", "reparandum", "conj", "punct"), negation=True
    ),
    # A goeswith that is not attached projectively breaks another rule, goeswith-gap.
    Dependents("leaf-goeswith", ("goeswith",), negation=True, if_crossed=("punct",)),
    Dependents("leaf-punct", ("punct",), ("punct",)),
    Contiguous("goeswith-gap", ("goeswith",)),
    Spaced("goeswith-nospace", ("goeswith",), tag="X"),
    Projective("punct-causes-nonproj", ("punct",), causes=True),
    Projective("punct-is-nonproj", ("punct",), causes=False),
)
