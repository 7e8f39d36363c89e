"""Bidirectional LSTMs in PyTorch (Hochreiter and Schmidhuber 1997), with their gradient.

PyTorch's own LSTM adds up the gradient of its weights step by step, as long as the rest takes on a
CPU. Here one matrix product sums the kept gradients of all steps, of both directions.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class BiLSTM(nn.Module):
    """One bidirectional layer over sentences that are laid out as in `inputs.Layout`."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.input = nn.Parameter(torch.empty(2, size, 4 * hidden))
        self.recurrent = nn.Parameter(torch.empty(2, hidden, 4 * hidden))
        self.bias = nn.Parameter(torch.zeros(2, 1, 4 * hidden))
        for direction in range(2):
            nn.init.xavier_uniform_(self.input.data[direction])
            for gate in self.recurrent.data[direction].chunk(4, dim=1):
                nn.init.orthogonal_(gate)
        self.bias.data[:, :, hidden : 2 * hidden] = 1  # first, forget nothing

    def forward(self, rows: Tensor, sizes: list[int], mirrored: Tensor) -> Tensor:
        """Return the outputs of both directions side by side, (N, 2 hidden)."""
        both = torch.stack([rows, rows[mirrored]])
        gates = torch.baddbmm(self.bias, both, self.input)
        # Also under autocast, the recurrence is computed in float32.
        there, back = _Recurrence.apply(gates.float(), self.recurrent, sizes)
        return torch.cat([there, back[mirrored]], dim=1)


class _Recurrence(torch.autograd.Function):
    """The recurrent part of an LSTM: from the gates' inputs to the outputs."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, weights: Tensor, sizes: list[int]) -> Tensor:
        """Run D directions: gates (D, N, 4 hidden), weights (D, hidden, 4 hidden)."""
        directions, rows, wide = gates.shape
        hidden = wide // 4
        gates = gates.clone()
        cells, curved, outputs = gates.new_empty(3, directions, rows, hidden)
        start = before = 0
        for size in sizes:
            now = slice(start, start + size)
            gate = gates[:, now]
            if start:
                last = slice(before, before + size)
                gate.baddbmm_(outputs[:, last], weights)
            gate[..., : 3 * hidden].sigmoid_()
            gate[..., 3 * hidden :].tanh_()
            enter, forget, leave, new = gate.chunk(4, dim=2)
            cell = torch.mul(enter, new, out=cells[:, now])
            if start:
                cell.addcmul_(forget, cells[:, last])
            torch.mul(leave, torch.tanh(cell, out=curved[:, now]), out=outputs[:, now])
            before, start = start, start + size
        ctx.save_for_backward(gates, weights, cells, curved, outputs)
        ctx.sizes = sizes
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        """Return the gradients of the gates' inputs and of the weights."""
        gates, weights, cells, curved, outputs = ctx.saved_tensors
        sizes = ctx.sizes
        hidden = outputs.shape[2]
        starts = [0]
        for size in sizes:
            starts.append(starts[-1] + size)
        of_gates = torch.empty_like(gates)
        of_output = gradient.clone()
        of_cell = torch.zeros_like(cells[:, : sizes[0]])
        before = torch.zeros_like(outputs)
        transposed = weights.mT.contiguous()
        for step in range(len(sizes) - 1, -1, -1):
            size, now = sizes[step], slice(starts[step], starts[step + 1])
            last = slice(starts[step - 1], starts[step - 1] + size)
            enter, forget, leave, new = gates[:, now].chunk(4, dim=2)
            into_enter, into_forget, into_leave, into_new = of_gates[:, now].chunk(4, dim=2)
            of_out, tanh, cell = of_output[:, now], curved[:, now], of_cell[:, :size]
            torch.mul(of_out, tanh, out=into_leave)
            cell.addcmul_(of_out * leave, 1 - tanh * tanh)
            torch.mul(cell, new, out=into_enter)
            torch.mul(cell * enter, 1 - new * new, out=into_new)
            if step:
                torch.mul(cell, cells[:, last], out=into_forget)
                before[:, now] = outputs[:, last]
            else:
                into_forget.zero_()
            sigmoid = gates[:, now, : 3 * hidden]
            of_gates[:, now, : 3 * hidden].mul_(sigmoid - sigmoid * sigmoid)
            cell.mul_(forget)
            if step:
                of_output[:, last].baddbmm_(of_gates[:, now], transposed)
        return of_gates, before.mT @ of_gates, None
