"""The graph of an encoder in ONNX, read strictly: an unknown field is refused.

ONNX is a message of protocol buffers: pairs of a field's number and its value. A file may have no
code, no graph within a graph and no link to another file, and each name has one meaning.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    Fields = dict[int, list[Any]]

#: The types of elements in encoders: their numbers in ONNX, and their sizes in bytes.
FLOAT, UINT8, INT8, INT64, BOOL = 1, 2, 3, 7, 9
WIDTHS: Final = {FLOAT: 4, UINT8: 1, INT8: 1, INT64: 8, BOOL: 1}
#: The most numbers in a tensor of lengths, axes or indices: longer tensors are data.
_FEW: Final = 64
_MOST_NODES: Final = 4096
_MOST_AXES: Final = 8

# The fields of each kind of message, by number. A table stands for a message, a list for a field
# that may come more than once, and None for a field that is ignored (names, notes, stated shapes).
_OPERATORS: Final = {1: bytes, 2: int}
_TENSOR: Final = {1: [int], 2: int, 4: bytes, 5: bytes, 8: bytes, 9: bytes, 12: None, 14: int}
_ATTRIBUTE: Final = {1: bytes, 2: float, 3: int, 8: [int], 13: None, 20: int}
_NODE: Final = {1: [bytes], 2: [bytes], 3: None, 4: bytes, 5: [_ATTRIBUTE], 6: None, 7: bytes}
_VALUE: Final = {1: bytes, 2: None, 3: None, 4: [None]}
_GRAPH: Final = {
    1: [_NODE],
    2: None,
    5: [_TENSOR],
    10: None,
    11: [_VALUE],
    12: [_VALUE],
    13: [None],
    16: [None],
}
_MODEL: Final = {
    1: int,
    2: None,
    3: None,
    4: None,
    5: int,
    6: None,
    7: _GRAPH,
    8: [_OPERATORS],
    14: [None],
}
_KINDS: Final = {2: 1, 3: 2, 8: 7}  # the kind that an attribute must state, by its field
_VARINT, _LONG, _BYTES, _SHORT = 0, 1, 2, 5  # the codings of a value


class Tensor(NamedTuple):
    """A tensor of a graph."""

    #: The type of the elements: FLOAT, ...
    kind: int
    #: The length of each axis.
    shape: tuple[int, ...]
    #: The elements, if they are few whole numbers.
    values: tuple[int, ...] | None = None


class OnnxNode(NamedTuple):
    """A node of a graph: an operator, and the names of its input and output tensors."""

    #: The operator; the name of its set of operators stands before it, except for ONNX's own set.
    operator: str
    #: The names of the input tensors.
    inputs: tuple[str, ...]
    #: The name of the output tensor.
    output: str
    #: The attributes by name.
    attributes: dict[str, Any]


class OnnxGraph(NamedTuple):
    """A graph from one input to one output."""

    #: The name of the input.
    input: str
    #: The constants by name.
    tensors: dict[str, Tensor]
    #: The nodes; each stands after the nodes whose output it reads.
    nodes: tuple[OnnxNode, ...]
    #: The name of the output.
    output: str


def refused(fault: str) -> ModelError:
    """Return the error for an encoder that is refused."""
    return ModelError(f"the encoder cannot be read: {fault}")


def graph_of(data: memoryview) -> OnnxGraph:
    """Read a file of ONNX; ModelError or another exception if it is not ONNX or is refused."""
    [graph] = _message(data, _MODEL)[7]
    tensors: dict[str, Tensor] = {}
    for fields in graph.get(5, []):
        _check_new(_text(fields, 8), tensors)
        tensors[_text(fields, 8)] = _tensor(fields)
    [source], [result] = graph[11], graph[12]
    known = set(tensors)
    _check_new(_text(source, 1), known)
    known.add(_text(source, 1))
    messages = graph.get(1, [])
    if len(messages) > _MOST_NODES:
        raise refused(f"it has {len(messages)} nodes; at most {_MOST_NODES} are read")
    nodes = tuple(map(_node, messages))
    for node in nodes:
        missing = set(node.inputs) - known
        if missing:
            raise refused(f"a node reads {min(missing)!r}, which is missing or written later")
        _check_new(node.output, known)
        known.add(node.output)
    if not nodes or _text(result, 1) not in {node.output for node in nodes}:
        raise refused("it computes nothing")
    return OnnxGraph(_text(source, 1), tensors, nodes, _text(result, 1))


def _check_new(name: str, known: Collection[str]) -> None:
    if not name or name in known:
        raise refused(f"it has the name {name!r} twice")


def _node(fields: Fields) -> OnnxNode:
    attributes: dict[str, Any] = {}
    for each in fields.get(5, []):
        _check_new(_text(each, 1), attributes)
        [(number, value)] = [(number, each[number]) for number in _KINDS if number in each]
        if each.get(20) != [_KINDS[number]]:
            raise refused(f"it is damaged: the attribute {_text(each, 1)!r} has another kind")
        attributes[_text(each, 1)] = (
            tuple(value) if isinstance(_ATTRIBUTE[number], list) else value[0]
        )
    [output] = fields[2]
    operators = _text(fields, 7)
    return OnnxNode(
        f"{operators}.{_text(fields, 4)}" if operators else _text(fields, 4),
        tuple(bytes(each).decode() for each in fields.get(1, [])),
        bytes(output).decode(),
        attributes,
    )


def _tensor(fields: Fields) -> Tensor:
    shape, [kind] = tuple(fields.get(1, [])), fields[2]
    if kind not in WIDTHS or len(shape) > _MOST_AXES or min(shape, default=0) < 0:
        raise refused(f"it has a constant of the kind {kind} and the shape {shape}")
    if fields.get(14, [0]) != [0]:
        raise refused("it has constants in another file")
    [(number, [data])] = [(each, fields[each]) for each in (4, 5, 9) if each in fields]
    size = 1
    for length in shape:
        size *= length
    if number == 5:  # whole numbers, of as many bytes as each needs
        length, expected = int((np.frombuffer(data, np.uint8) < 0x80).sum()), size
    else:
        length, expected = len(data), size * WIDTHS[kind]
    if length != expected or (number == 4 and kind != FLOAT):
        raise refused(f"the data of a constant do not fit its shape {shape}")
    few = number == 9 and kind == INT64 and size <= _FEW
    values = np.frombuffer(data, "<i8").tolist() if few else None
    return Tensor(kind, shape, None if values is None else tuple(values))


def _text(fields: Fields, number: int) -> str:
    [value] = fields.get(number, [b""])
    return bytes(value).decode()


def _message(data: memoryview, known: dict[int, Any]) -> Fields:
    """Return the values of a message's fields, by number."""
    values: Fields = {}
    for number, wire, value in _fields(data):
        kind = known.get(number, ...)
        several = isinstance(kind, list)
        [kind] = kind if isinstance(kind, list) else [kind]
        if kind is ... or (number in values and not several):
            raise refused(f"it has an unknown part (field {number})")
        into = values.setdefault(number, [])
        if kind is None:
            continue
        if kind is int and several and wire == _BYTES:
            into += _packed(value)
            continue
        if wire != (_VARINT if kind is int else _SHORT if kind is float else _BYTES):
            raise refused(f"it is damaged (field {number})")
        into.append(_message(value, kind) if isinstance(kind, dict) else value)
    return values


def _fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """Yield the number, the coding and the value of each field of a message."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, place = _varint(data, place)
            yield number, wire, value
            continue
        if wire == _BYTES:
            length, place = _varint(data, place)
        else:
            length = {_LONG: 8, _SHORT: 4}[wire]
        end = place + length
        if not place <= end <= len(data):
            raise refused("its end is missing")
        part = data[place:end]
        yield number, wire, struct.unpack("<f", part)[0] if wire == _SHORT else part
        place = end


def _packed(data: memoryview) -> list[int]:
    if len(data) > 10 * _FEW:
        raise refused("it has a list that is too long")
    values, place = [], 0
    while place < len(data):
        value, place = _varint(data, place)
        values.append(value)
    return values


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    """Return a signed number of 64 bits, and the place after its end."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            value &= (1 << 64) - 1
            return value - (value >> 63 << 64), place
    raise refused("it is damaged: a number of more than 64 bits")
