"""The network of a neural parser, run by PyTorch on a device: see also `forward`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from arborescence.parsers.neural.devices import device_named, enough_memory, moved
from arborescence.parsers.neural.forward import Found
from arborescence.parsers.neural.network import Network, load_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.neural.inputs import Inputs, Numbers
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vocabulary import Vocabulary


class OnDevice:
    """The network on a device.

    Parameters
    ----------
    settings, vocabulary, relations, encoder
        As for `Network`.
    weights : dict of str to float32 array
        The parameters by name.
    device
        A name that PyTorch knows, such as ``"cpu"`` or ``"cuda"``.

    Raises
    ------
    OptionError
        If there is no such device.
    """

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
        self._device = device_named(device)
        self._network = Network(
            settings, vocabulary, hinted=hinted, relations=relations, encoder=encoder
        )
        load_state(self._network, {name: torch.from_numpy(w) for name, w in weights.items()})
        self._network.to(self._device).eval()

    def run(self, inputs: Inputs) -> Found:
        """Tag the words and score the edges of a batch."""
        with torch.inference_mode(), enough_memory("use fewer threads, or another device"):
            found = self._network(moved(inputs, self._device))
            tags = {column: logits.argmax(dim=1).cpu() for column, logits in found.tags.items()}
            edges = found.edges.cpu()

        def relations(governors: Numbers, dependents: Numbers) -> NDArray[np.float32]:
            with torch.inference_mode():
                heads = found.heads[torch.from_numpy(governors).to(self._device)]
                tails = found.dependents[torch.from_numpy(dependents).to(self._device)]
                scores: NDArray[np.float32] = self._network.relations(heads, tails).cpu().numpy()
                return scores

        return Found({c: each.numpy() for c, each in tags.items()}, edges.numpy(), relations)
