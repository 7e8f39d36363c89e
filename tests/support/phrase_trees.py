"""Bracketed trees for tests: constructions of English that we made up, and random trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from arborescence.treebank.phrase_structure import PhraseTree

if TYPE_CHECKING:
    import numpy as np

PHRASES = ["S", "NP", "VP", "PP", "SBAR", "ADJP", "UCP", "X", "NP-SBJ", "ADVP|PRT", "PRN"]
TAGS = ["NN", "NNS", "VBD", "VB", "IN", "DT", "CC", ",", ".", "JJ", "-LRB-", "PRP$", "TO", "POS"]
EMPTY = ["*", "0", "*U*", "*-1", "*T*-1", "*T*-2", "*ICH*-1", "*ICH*-3", "*RNR*-2"]


class Construction(NamedTuple):
    """A sentence, and the heads of its words.

    Attributes
    ----------
    brackets : str
    collins, yamada_matsumoto : list of int
        Heads by the two tables.
    traced : list of int
        Heads by the first table if phrases go back to their traces.
    """

    brackets: str
    collins: list[int]
    yamada_matsumoto: list[int]
    traced: list[int]


CONSTRUCTIONS = {
    "transitive": Construction(
        """
            ( (S (NP-SBJ (PRP We)) (ADVP (RB vigorously)) (VP (VBP wash) (NP (PRP$ our) (NNS cats)))
              (. .)) )
        """,
        [3, 3, 0, 5, 3, 3],
        [3, 3, 0, 5, 3, 3],
        [3, 3, 0, 5, 3, 3],
    ),
    "relative clause": Construction(
        """
            ((S (NP-SBJ (PRP We)) (VP (VBP wash) (NP (NP (DT the) (NNS cats)) (SBAR (WHNP-1
              (WP who)) (S (NP-SBJ (-NONE- *T*-1)) (VP (VBP stink))))))))
        """,
        [2, 0, 4, 2, 4, 5],
        [2, 0, 4, 2, 4, 5],
        [2, 0, 4, 2, 6, 4],
    ),
    "question": Construction(
        """
            (SBARQ (WHNP-1 (WP What)) (SQ (VBD did) (NP-SBJ (PRP she)) (VP (VB say) (SBAR (-NONE- 0)
              (S (NP-SBJ (PRP we)) (VP (VBD saw) (NP (-NONE- *T*-1))))))) (. ?))
        """,
        [2, 0, 2, 2, 6, 4, 2],
        [2, 0, 2, 2, 6, 4, 2],
        [6, 0, 2, 2, 6, 4, 2],
    ),
    "coordination of nouns": Construction(
        """
            (NP (DT the) (NNS lions) (, ,) (NNS tigers) (CC and) (NNS bears))
        """,
        [4, 4, 4, 0, 4, 4],
        [6, 6, 6, 6, 6, 0],
        [4, 4, 4, 0, 4, 4],
    ),
    "coordination of clauses": Construction(
        """
            (S (S (NP-SBJ (NNS Birds)) (VP (VBP sing))) (CC and) (S (NP-SBJ (NNS frogs)) (VP
              (VBP croak))))
        """,
        [2, 0, 2, 5, 2],
        [2, 5, 5, 5, 0],
        [2, 0, 2, 5, 2],
    ),
    "a coordinator in front": Construction(
        """
            (S (CC But) (NP-SBJ (PRP she)) (VP (VBD sang)))
        """,
        [3, 3, 0],
        [3, 3, 0],
        [3, 3, 0],
    ),
    "gapping": Construction(
        """
            (S (S (NP-SBJ=1 (NNP Mary)) (VP (VBD drank) (NP=2 (NN tea)))) (CC and) (S (NP-SBJ=1
              (NNP John)) (NP=2 (NN milk))) (. .))
        """,
        [2, 0, 2, 2, 2, 5, 2],
        [2, 6, 2, 6, 6, 0, 6],
        [2, 0, 2, 2, 2, 5, 2],
    ),
    "currency": Construction(
        """
            (NP (QP (RB about) ($ $) (CD 3) (CD million)) (-NONE- *U*))
        """,
        [2, 0, 2, 2],
        [2, 0, 2, 2],
        [2, 0, 2, 2],
    ),
    "quotes and a moved clause": Construction(
        """
            (S (`` ``) (S-TPC-1 (NP-SBJ (PRP It)) (VP (VBZ rains))) (, ,) ('' '') (NP-SBJ (PRP he))
              (VP (VBD said) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))) (. .))
        """,
        [7, 3, 7, 7, 7, 7, 0, 7],
        [7, 3, 7, 7, 7, 7, 0, 7],
        [7, 3, 7, 7, 7, 7, 0, 7],
    ),
    "extraposition": Construction(
        """
            (S (NP-SBJ (NP (DT A) (NN bird)) (SBAR (-NONE- *ICH*-2))) (VP (VBD came) (SBAR-2 (WHNP-1
              (WDT that)) (S (NP-SBJ (-NONE- *T*-1)) (VP (VBD sang))))) (. .))
        """,
        [2, 3, 0, 3, 4, 3],
        [2, 3, 0, 3, 4, 3],
        [2, 3, 0, 5, 2, 3],
    ),
    "a trace inside its own phrase": Construction(
        """
            (S-1 (NP-SBJ (NNS Trees)) (PRN (, ,) (S (NP-SBJ (PRP he)) (VP (VBD said) (SBAR
              (-NONE- 0) (S (-NONE- *T*-1))))) (, ,)) (VP (VBP grow)))
        """,
        [6, 4, 4, 6, 4, 0],
        [6, 4, 4, 6, 4, 0],
        [6, 4, 4, 6, 4, 0],
    ),
    "possessive": Construction(
        """
            (NP (NP (DT the) (NN frog) (POS 's)) (JJ green) (NN pond))
        """,
        [3, 3, 5, 5, 0],
        [3, 3, 5, 5, 0],
        [3, 3, 5, 5, 0],
    ),
    "brackets": Construction(
        """
            (S (NP-SBJ (NNS Frogs)) (PRN (-LRB- -LRB-) (NP (NNS toads)) (-RRB- -RRB-)) (VP
              (VBP croak)))
        """,
        [5, 3, 5, 3, 0],
        [5, 3, 5, 3, 0],
        [5, 3, 5, 3, 0],
    ),
    "an infinitive": Construction(
        """
            (S (NP-SBJ-1 (PRP We)) (VP (VBP want) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP
              (VB sing))))))
        """,
        [2, 0, 2, 3],
        [2, 0, 4, 2],
        [2, 0, 2, 3],
    ),
}


def random_tree(words: int, rng: np.random.Generator, *, empty: float = 0.2) -> PhraseTree:
    """Make a random tree, with unary chains, empty nodes and traces of phrases here and there."""
    nodes = [
        PhraseTree("-NONE-", word=_any(EMPTY, rng))
        if place and rng.random() < empty
        else PhraseTree(_any(TAGS, rng), word=f"w{place}")
        for place in range(words)
    ]
    while len(nodes) > 1 or rng.random() < 0.3:
        start = int(rng.integers(len(nodes)))
        stop = start + int(rng.integers(1, 4))
        index = f"-{rng.integers(1, 4)}" if rng.random() < 0.2 else ""
        nodes[start:stop] = [PhraseTree(_any(PHRASES, rng) + index, nodes[start:stop])]
    return nodes[0]


def _any(some: list[str], rng: np.random.Generator) -> str:
    return some[rng.integers(len(some))]
