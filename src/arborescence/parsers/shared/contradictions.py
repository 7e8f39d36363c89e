"""The errors that say why no tree has all fixed heads and relations of a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.core.faults import listed
from arborescence.errors import TreebankError
from arborescence.inference.whole_numbers import cycle_of

if TYPE_CHECKING:
    from arborescence.treebank import Sentence

_GIVE_UP: Final = "let the parser give up the fewest (keep='anyway')"


def contradiction(sentence: Sentence, single: bool, advice: str = _GIVE_UP) -> TreebankError:
    """Return the error that says why no tree has the fixed heads of a sentence."""
    heads = sentence.tree
    roots = np.flatnonzero(heads == 0)
    if single and roots.size > 1:
        said = f"{listed(roots)} hang from the root, and one word may"
    else:
        cycle = cycle_of(np.maximum(heads, 0))
        said = (
            f"the heads of {listed(cycle)} form a cycle"
            if cycle.size
            else "no tree has all of its fixed heads and relations"
        )
    return fixed_error(sentence, f"{said}: mend them", advice)


def fixed_error(sentence: Sentence, said: str, advice: str = _GIVE_UP) -> TreebankError:
    """Return an error with the place of a sentence and advice."""
    where = f"{sentence.source}:{sentence.line}: " if sentence.line else ""
    return TreebankError(f"{where}{said}, or {advice}")
