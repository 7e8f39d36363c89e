"""The network of a neural parser, run by PyTorch on a device: see also `forward`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from arborescence.parsers.neural.forward import Found
from arborescence.parsers.neural.network import Network, Tensors, load_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.neural.inputs import Inputs, Numbers
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vocabulary import Vocabulary


class OnDevice:
    """The network on a device."""

    def __init__(
        self,
        settings: Settings,
        vocabulary: Vocabulary,
        weights: Mapping[str, NDArray[np.float32]],
        relations: int,
        device: str,
        encoder: Encoder | None = None,
    ) -> None:
        hinted = any(name.startswith("hints.") for name in weights)
        self._device = device
        self._network = Network(
            settings, vocabulary, hinted=hinted, relations=relations, encoder=encoder
        )
        load_state(self._network, {name: torch.from_numpy(w) for name, w in weights.items()})
        self._network.to(device).eval()

    @torch.inference_mode()
    def run(self, inputs: Inputs) -> Found:
        """Tag the words and score the edges of a batch."""
        found = self._network(Tensors.of(inputs, self._device))

        @torch.inference_mode()
        def relations(governors: Numbers, dependents: Numbers) -> NDArray[np.float32]:
            ends = (torch.from_numpy(rows).to(self._device) for rows in (governors, dependents))
            heads, tails = (rows[at] for rows, at in zip(found[2:], ends, strict=True))
            return self._network.relations(heads, tails).cpu().numpy()

        return Found(
            {column: logits.argmax(dim=1).cpu().numpy() for column, logits in found.tags.items()},
            found.edges.cpu().numpy(),
            relations,
        )
