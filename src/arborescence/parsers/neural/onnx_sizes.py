"""The memory and the work that an encoder in ONNX needs, from the shapes of its tensors.

They are known before the encoder runs: only the operators of BERT and MPNet are allowed. So there
are no loops, and each shape is a function of the number of pieces; so are memory and work.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.parsers.neural.onnx_file import (
    BOOL,
    FLOAT,
    INT8,
    INT64,
    UINT8,
    WIDTHS,
    Tensor,
    refused,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from arborescence.parsers.neural.onnx_file import OnnxGraph, OnnxNode

    Shape = tuple[int, ...]

#: The most bytes of tensors in memory at once, without the weights.
ROOM: Final = 1 << 29
#: The most multiplications and additions for a window: a minute's work.
MOST_WORK: Final = 1 << 38
#: Smaller tensors are counted as if all of them were in memory at once.
_SMALL: Final = 1 << 16
_MOST_AXES: Final = 8
#: The operators whose output may share the memory of their input.
_VIEWS: Final = ("Reshape", "Unsqueeze", "Squeeze")


class Sizes:
    """The shapes of all tensors for windows of some length, and the memory and work they need.

    ModelError if there is an unknown operator.
    """

    def __init__(self, graph: OnnxGraph) -> None:
        for node in graph.nodes:
            if node.operator not in _OPERATORS:
                raise refused(
                    f"it has the operator {node.operator}, which BERT and MPNet do not need"
                )
        self._graph = graph
        self._checked: set[int] = set()

    def check(self, length: int) -> None:
        """Check that a window of `length` pieces needs neither too much memory nor time."""
        if length in self._checked:
            return
        known = {**self._graph.tensors, self._graph.input: Tensor(INT64, (1, length))}
        work = 0
        for node in self._graph.nodes:
            output, cost = _output_of(node, [known[name] for name in node.inputs])
            known[node.output], work = output, work + cost
            if _bytes(output) > ROOM or work > MOST_WORK:
                break
        if work > MOST_WORK or self._memory(known) > ROOM:
            raise refused(
                f"for {length} pieces it needs more than {ROOM >> 20} MB of memory, or more than "
                f"{MOST_WORK >> 30} billion multiplications"
            )
        self._checked.add(length)

    def _memory(self, known: dict[str, Tensor]) -> int:
        """Return a bound on the bytes that are needed at once, for any order of the nodes.

        A result that does not depend on the input may be computed once and kept. While a node runs,
        the result of another node counts as kept in memory, with two exceptions: the other node
        reads this node's result, or all readers of the other result have run before.
        """
        nodes = [node for node in self._graph.nodes if node.output in known]
        place = {node.output: n for n, node in enumerate(nodes)}
        before = np.zeros((len(nodes), len(nodes)), dtype=bool)
        varies = np.zeros(len(nodes), dtype=bool)
        readers: list[list[int]] = [[] for _ in nodes]
        for n, node in enumerate(nodes):
            varies[n] = self._graph.input in node.inputs
            for name in node.inputs:
                if (m := place.get(name)) is not None:
                    before[n] |= before[m]
                    before[n, m] = True
                    varies[n] |= varies[m]
                    readers[m].append(n)
        owner, least = list(range(len(nodes))), 0
        for n in reversed(range(len(nodes))):
            if nodes[n].operator in _VIEWS and (m := place.get(nodes[n].inputs[0])) is not None:
                owner[n] = m
                readers[m] += readers[n]
        in_memory = np.zeros(len(nodes), dtype=np.int64)  # bytes of other results, by running node
        for n, node in enumerate(nodes):
            size = _bytes(known[node.output])
            if size > ROOM:
                return size
            if owner[n] != n and varies[n]:
                continue
            if size <= _SMALL or not varies[n]:
                least += size
            elif node.output == self._graph.output:
                in_memory += np.where(before[n], 0, size)
            else:
                in_memory += np.where(before[n] | before[:, readers[n]].all(axis=1), 0, size)
        allocating = np.array([owner[n] == n for n in range(len(nodes))])
        return least + int(in_memory[allocating].max(initial=0))


def _bytes(tensor: Tensor) -> int:
    return math.prod(tensor.shape) * WIDTHS[tensor.kind]


def _output_of(node: OnnxNode, inputs: list[Tensor]) -> tuple[Tensor, int]:
    """Return the output of a node, and the number of its multiplications and additions."""
    operator, attributes = _OPERATORS[node.operator], dict(node.attributes)
    output = operator(inputs, attributes)
    if attributes or len(output.shape) > _MOST_AXES or min(output.shape, default=0) < 0:
        raise refused(
            f"its node {node.operator} has an output of shape {output.shape}, and these unknown "
            f"attributes: {', '.join(attributes) or 'none'}"
        )
    inner = inputs[0].shape[-1] if node.operator in _PRODUCTS else 1
    return output, math.prod(output.shape) * inner


def _demand(holds: bool, fault: str) -> None:
    if not holds:
        raise refused(f"it has a node with {fault}")


def _numbers(tensor: Tensor) -> tuple[int, ...]:
    """Return a tensor's elements, which are lengths, axes or indices."""
    if tensor.values is None:
        raise refused("it has shapes that depend on more than the number of pieces")
    return tensor.values


def _axis(axis: int, rank: int) -> int:
    _demand(-rank <= axis < rank, f"axis {axis} of {rank}")
    return axis % rank


def _broadcast(*shapes: Shape) -> Shape:
    """Return the shape that broadcasting makes from the shapes of tensors."""
    broadcast = []
    for axis in range(-max(map(len, shapes)), 0):
        lengths = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        _demand(len(lengths) <= 1, f"shapes {shapes} that do not fit")
        broadcast.append(lengths.pop() if lengths else 1)
    return tuple(broadcast)


def _element_by_element(kind: int | None = None) -> Callable[[list[Tensor], Any], Tensor]:
    def output(inputs: list[Tensor], attributes: Any) -> Tensor:  # noqa: ARG001
        shape = _broadcast(*(each.shape for each in inputs))
        return Tensor(kind or inputs[-1].kind, shape)

    return output


def _concat(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    first = inputs[0].shape
    axis = _axis(attributes.pop("axis"), len(first))
    for each in inputs:
        rest = (*each.shape[:axis], *first[axis : axis + 1], *each.shape[axis + 1 :])
        _demand(rest == first, "parts that do not fit")
    length = sum(each.shape[axis] for each in inputs)
    values = None
    if len(first) == 1 and all(each.values is not None for each in inputs):
        values = tuple(number for each in inputs for number in each.values or ())
    return Tensor(inputs[0].kind, (*first[:axis], length, *first[axis + 1 :]), values)


def _dequantize(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:  # noqa: ARG001
    values, *factors = inputs
    _demand(values.kind in (INT8, UINT8), "numbers that are not rounded")
    _demand(all(not each.shape for each in factors), "several scales")
    return Tensor(FLOAT, values.shape)


def _expand(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:  # noqa: ARG001
    given, shape = inputs
    return Tensor(given.kind, _broadcast(given.shape, _numbers(shape)))


def _gather(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    given, places = inputs
    _demand(
        attributes.pop("axis", 0) == 0 and len(given.shape) > 0, "an axis that is not the first"
    )
    values = None
    if given.values is not None and places.values is not None and len(given.shape) == 1:
        values = tuple(given.values[place] for place in places.values)
    return Tensor(given.kind, (*places.shape, *given.shape[1:]), values)


def _gather_elements(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    given, places = inputs
    _axis(attributes.pop("axis", 0), len(given.shape))
    _demand(len(places.shape) == len(given.shape), "places of another rank")
    return Tensor(given.kind, places.shape)


def _layer_normalization(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    given, *factors = inputs
    _demand(attributes.pop("axis", -1) == -1 and attributes.pop("stash_type", 1) == 1, "its sums")
    attributes.pop("epsilon", None)
    _demand(all(each.shape == given.shape[-1:] for each in factors), "factors that do not fit")
    return given


def _matmul(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:  # noqa: ARG001
    left, right = (each.shape for each in inputs)
    _demand(min(len(left), len(right)) > 1 and left[-1] == right[-2], f"{left} times {right}")
    return Tensor(FLOAT, (*_broadcast(left[:-2], right[:-2]), left[-2], right[-1]))


def _matmul_of_bits(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    # The operator reads the weights by the sizes in its attributes: these must be the true sizes.
    given, weights, scales, *zeros = inputs
    rows, columns, block = (attributes.pop(name) for name in ("N", "K", "block_size"))
    _demand(attributes.pop("accuracy_level", 0) in (0, 4), "bits")
    bits = _bits(attributes, block)
    blocks = -(-columns // block)
    _demand(min(rows, columns) > 0, "its blocks")
    _demand(given.kind == FLOAT and given.shape[-1:] == (columns,), "sizes that do not fit")
    _demand(weights[:2] == (UINT8, (rows, blocks, block * bits // 8)), "weights that do not fit")
    _demand(scales.kind == FLOAT and scales.shape in ((rows * blocks,), (rows, blocks)), "scales")
    expected = Tensor(UINT8, (rows, -(-blocks * bits // 8)))
    _demand(all(each == expected for each in zeros) and len(zeros) < 2, "zeros that do not fit")
    return Tensor(FLOAT, (*given.shape[:-1], rows))


def _gather_of_bits(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    table, places, scales, zeros = inputs
    axes = attributes.pop("gather_axis", 0), attributes.pop("quantize_axis", 1)
    block = attributes.pop("block_size")
    bits = _bits(attributes, block)
    _demand(axes == (0, 1) and len(table.shape) == 2, "other axes")
    rows, width = table.shape[0], table.shape[1] * 8 // bits
    blocks = width // block
    _demand(table.kind == UINT8 and blocks * block == width, "weights that do not fit")
    _demand(scales[:2] == (FLOAT, (rows, blocks)), "scales")
    _demand(zeros[:2] == (UINT8, (rows, -(-blocks * bits // 8))), "zeros that do not fit")
    _demand(places.kind == INT64, "places")
    return Tensor(FLOAT, (*places.shape, width))


def _bits(attributes: dict[str, Any], block: int) -> int:
    """Return the bits of a rounded weight; `block` of them share a scale."""
    bits: int = attributes.pop("bits")
    _demand(bits in (4, 8), "bits")
    _demand(block in (16, 32, 64, 128, 256), "its blocks")
    return bits


def _range(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:  # noqa: ARG001
    [start], [end], [step] = map(_numbers, inputs)
    return Tensor(INT64, (len(range(start, end, step)),))


def _reshape(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    given, target = inputs
    kept = not attributes.pop("allowzero", 0)
    shape = [
        given.shape[axis] if kept and length == 0 else length
        for axis, length in enumerate(_numbers(target))
    ]
    size = math.prod(given.shape)
    if -1 in shape:
        shape[shape.index(-1)] = size // max(-math.prod(shape), 1)
    _demand(math.prod(shape) == size, f"{given.shape} as {shape}")
    return Tensor(given.kind, tuple(shape), given.values)


def _shape(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    [given] = inputs
    lengths = given.shape[attributes.pop("start", 0) : attributes.pop("end", None)]
    return Tensor(INT64, (len(lengths),), lengths)


def _slice(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:  # noqa: ARG001
    given, *rest = inputs
    starts, ends, *more = map(_numbers, rest)
    axes = more[0] if more else tuple(range(len(starts)))
    steps = more[1] if len(more) > 1 else (1,) * len(starts)
    shape, values = list(given.shape), given.values
    _demand(len(set(axes)) == len(axes), "an axis twice")
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        _demand(step > 0, "steps back")
        axis = _axis(axis, len(shape))
        part = slice(start, end, step)
        shape[axis] = len(range(*part.indices(shape[axis])))
        values = values[part] if values is not None and len(shape) == 1 else None
    return Tensor(given.kind, tuple(shape), values)


def _softmax(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    [given] = inputs
    _demand(attributes.pop("axis", -1) == -1, "an axis that is not the last")
    return given


def _squeeze(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:  # noqa: ARG001
    given, *axes = inputs
    chosen = _numbers(axes[0]) if axes else [n for n, size in enumerate(given.shape) if size == 1]
    gone = {_axis(axis, len(given.shape)) for axis in chosen}
    _demand(all(given.shape[axis] == 1 for axis in gone), "an axis that is not empty")
    shape = tuple(length for axis, length in enumerate(given.shape) if axis not in gone)
    return Tensor(given.kind, shape, given.values)


def _transpose(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    [given] = inputs
    order = attributes.pop("perm")
    _demand(sorted(order) == list(range(len(given.shape))), f"an order {order}")
    return Tensor(given.kind, tuple(given.shape[axis] for axis in order))


def _unsqueeze(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:  # noqa: ARG001
    given, axes = inputs
    rank = len(given.shape) + len(_numbers(axes))
    new = {_axis(axis, rank) for axis in _numbers(axes)}
    _demand(len(new) == len(_numbers(axes)), "an axis twice")
    lengths = iter(given.shape)
    shape = tuple(1 if axis in new else next(lengths) for axis in range(rank))
    return Tensor(given.kind, shape, given.values)


_PRODUCTS: Final = ("MatMul", "com.microsoft.MatMulNBits")
#: Each function returns the output of a node, and removes the attributes that it knows.
_OPERATORS: Final[dict[str, Callable[[list[Tensor], dict[str, Any]], Tensor]]] = {
    **dict.fromkeys(("Add", "Div", "Erf", "Mul", "Sub", "Where"), _element_by_element()),
    **dict.fromkeys(("GreaterOrEqual", "IsNaN"), _element_by_element(BOOL)),
    "Concat": _concat,
    "DequantizeLinear": _dequantize,
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "LayerNormalization": _layer_normalization,
    "MatMul": _matmul,
    "com.microsoft.GatherBlockQuantized": _gather_of_bits,
    "com.microsoft.MatMulNBits": _matmul_of_bits,
    "Range": _range,
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Softmax": _softmax,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
