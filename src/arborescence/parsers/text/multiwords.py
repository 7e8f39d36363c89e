"""Find and split multiword tokens (*du* into *de le*) by `rewriting` with neighbours as context."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared.features import mix
from arborescence.parsers.text.rewriting import CONTEXTS, Rewriter
from arborescence.parsers.text.rules import AS_IS, STEM
from arborescence.parsers.text.sentences import FORM, GAP, OUTLINE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_EPOCHS: Final = 6
_OUTSIDE: Final = np.uint64(7)


class Splitter(Rewriter):
    """Splits multiword tokens: rewrites a lower-cased token as several words."""

    @classmethod
    def train(
        cls,
        tokens: Sequence[str],
        words: Sequence[Sequence[str] | None],
        letters: NDArray[np.uint64],
        *,
        generator: np.random.Generator,
        progress: Callable[[int, int], None],
    ) -> Self | None:
        """Train on t tokens, and their words or None each."""
        # None if there are no multiword tokens
        targets = [
            " ".join(parts).lower() if parts and not {STEM, " "} & set("".join(parts)) else None
            for parts in words
        ]
        if not any(targets):
            return None
        return cls.trained(
            [token.lower() for token in tokens],
            targets,
            _neighbours(letters),
            cases=(AS_IS,),
            epochs=_EPOCHS,
            generator=generator,
            progress=progress,
        )

    def split(self, tokens: Sequence[str], letters: NDArray[np.uint64]) -> dict[int, list[str]]:
        """Return the words of each multiword token, keyed by the number of the token."""
        found = self.rewritten([token.lower() for token in tokens], _neighbours(letters))
        return {number: _cased(tokens[number], words) for number, words in found.items()}


def _cased(token: str, words: str) -> list[str]:
    """Apply the capitalization of the token to its words: *DON'T* becomes *DO N'T*."""
    parts = words.split(" ")
    if "".join(parts) == token.lower() and len(token) == len(token.lower()):
        cut = []
        for part in parts:
            cut.append(token[: len(part)])
            token = token[len(part) :]
        return cut
    if token.isupper() and len(token) > 1:
        return [part.upper() for part in parts]
    if token[:1].isupper():
        return [parts[0][:1].upper() + parts[0][1:], *parts[1:]]
    return parts


def _neighbours(letters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash the neighbours of each token: (t, CONTEXTS) uint64. O(t)."""
    contexts = np.empty((len(letters), CONTEXTS), dtype=np.uint64)
    hash_neighbours(letters, contexts)
    return contexts


@kernel
@takes("uint64[:, ::1], out uint64[:, ::1]")
def hash_neighbours(letters: np.ndarray, contexts: np.ndarray) -> None:
    """Do the work of `_neighbours`: fill `contexts`."""
    for t in range(letters.shape[0]):
        before = letters[t - 1, FORM] if t > 0 else _OUTSIDE
        after = letters[t + 1, FORM] if t + 1 < letters.shape[0] else _OUTSIDE
        contexts[t, 0] = before
        contexts[t, 1] = after
        contexts[t, 2] = mix(before, after)
        looks = mix(letters[t, OUTLINE], letters[t, GAP])
        contexts[t, 3] = mix(looks, letters[t + 1, OUTLINE] if after != _OUTSIDE else _OUTSIDE)
