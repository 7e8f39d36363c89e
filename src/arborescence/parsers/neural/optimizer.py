"""The optimizer of neural parsers: AdamW (Loshchilov and Hutter 2019), and batches for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

_BETAS: Final = (0.9, 0.95)
_DECAY: Final = 1e-4
_CLIP: Final = 5.0
#: The values that Adam keeps for a parameter; a checkpoint has them and the parameter itself.
_KEPT: Final = ("step", "exp_avg", "exp_avg_sq")


class Optimizer:
    """AdamW over named parameters, in groups with rates of their own; `state` can be stored."""

    def __init__(
        self,
        named: Iterable[tuple[str, torch.Tensor]],
        groups: list[dict[str, Any]],
        rate: float,
    ) -> None:
        self._named = list(named)
        self._adam = torch.optim.AdamW(
            groups,
            lr=rate,
            betas=_BETAS,
            weight_decay=_DECAY,
            fused=True,  # in one pass: with small batches, many passes took a fifth of the time
        )
        self._rates = [group["lr"] for group in self._adam.param_groups]
        self._trained = [each for group in self._adam.param_groups for each in group["params"]]

    def slow_down(self, share: float) -> None:
        """Choose the share of each group's highest rate for the next steps."""
        for group, highest in zip(self._adam.param_groups, self._rates, strict=True):
            group["lr"] = highest * share

    def step(self, loss: torch.Tensor) -> None:
        """Take one step down the loss."""
        self._adam.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self._trained, _CLIP)
        self._adam.step()

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of all parameters, and Adam's averages for the trained parameters."""
        arrays = {}
        for name, parameter in self._named:
            # Adam keeps nothing for a parameter on which no loss depends, as in some encoders.
            kept = {each: torch.zeros(shape) for each, shape in _kept_of(parameter).items()}
            kept |= self._adam.state.get(parameter, {})
            for part, value in {"": parameter, **kept}.items():
                arrays[f"{part}/{name}"] = value.detach().cpu().numpy()
        return arrays

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a state."""
        for name, parameter in self._named:
            parameter.data.copy_(torch.from_numpy(state[f"/{name}"]))
            for part in _kept_of(parameter):
                kept = torch.from_numpy(state[f"{part}/{name}"]).to(parameter.device)
                self._adam.state[parameter][part] = kept


def _kept_of(parameter: torch.Tensor) -> dict[str, tuple[int, ...]]:
    """Return the shapes of Adam's averages for a parameter; empty if it is frozen."""
    shapes = ((), parameter.shape, parameter.shape)
    return dict(zip(_KEPT, shapes, strict=True)) if parameter.requires_grad else {}


def similar(
    lengths: NDArray[np.int64],
    sizes: NDArray[np.int64],
    nodes: NDArray[np.int64],
    most: int,
    most_edges: int,
    generator: np.random.Generator,
) -> Iterator[list[int]]:
    """Yield batches of sentences of similar length, in random order.

    A batch has at most `most` in the sum of sizes, and at most `most_edges` edges between nodes,
    with padding; a single sentence may have more.
    """
    order = np.argsort(lengths + generator.random(len(lengths)) * (2 + lengths * 0.2))
    batches: list[list[int]] = []
    size = longest = 0
    for b in order.tolist():
        size += sizes[b]
        longest = max(longest, nodes[b])
        if not batches or size > most or (len(batches[-1]) + 1) * longest**2 > most_edges:
            batches.append([])
            size, longest = sizes[b], nodes[b]
        batches[-1].append(b)
    for i in generator.permutation(len(batches)).tolist():
        yield batches[i]
