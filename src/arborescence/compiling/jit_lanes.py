"""Lower the operations of `lanes` to LLVM's vectors of sixteen numbers."""

from __future__ import annotations

import operator
from inspect import Parameter, Signature
from itertools import product
from typing import TYPE_CHECKING, Any

import numba.extending
from llvmlite import ir
from llvmlite.binding import get_process_triple
from numba import types
from numba.core import cgutils as numba_cgutils
from numba.extending import models, register_model

from arborescence.compiling import lanes
from arborescence.compiling.lanes import LANES

if TYPE_CHECKING:
    from collections.abc import Callable

# Parts of Numba's low-level API, which has no type annotations.
cgutils: Any = numba_cgutils
extending: Any = numba.extending


class LanesType(types.Type):
    """The type of lanes: sixteen numbers of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(f"Lanes({dtype})")


class Places(types.Type):
    """The type of the result of `places`; compiled code stores only the first place."""


_PLACES = Places("Places")
_MASK = LanesType(types.boolean)
_NUMBERS = LanesType(types.int32)
_LONGS = LanesType(types.int64)
_DOUBLES = LanesType(types.float64)


@register_model(LanesType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: LanesType) -> None:
        if isinstance(kind.dtype, types.Complex):  # real and imaginary parts alternate
            vector = ir.VectorType(ir.DoubleType(), 2 * LANES)
        else:
            vector = ir.VectorType(manager.lookup(kind.dtype).get_value_type(), LANES)
        super().__init__(manager, kind, vector)  # type: ignore[no-untyped-call]


@register_model(Places)
class _First(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Places) -> None:
        super().__init__(manager, kind, manager.lookup(types.intp).get_value_type())  # type: ignore[no-untyped-call]


def _lower(
    function: Any, *kinds: Any
) -> Callable[[Callable[..., Any]], Callable[[Callable[..., Any]], None]]:
    """Register an operation of `lanes` for types of arguments; a tuple stands for any of its types.

    Call the result with the rule that gives the type of the operation's result. This call returns a
    decorator for the function that writes the operation's code.
    """

    def with_rule(rule: Callable[..., Any]) -> Callable[[Callable[..., Any]], None]:
        def result_of(*args: Any) -> Any:
            return rule(*args) if all(map(isinstance, args, kinds)) else None

        names = [f"x{place}" for place in range(len(kinds))]
        parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        vars(result_of)["__signature__"] = Signature(parameters)
        extending.type_callable(function)(lambda _context: result_of)

        def code(lowered: Callable[..., Any]) -> None:
            for each in product(*(kind if isinstance(kind, tuple) else (kind,) for kind in kinds)):
                extending.lower_builtin(function, *each)(lowered)

        return code

    return with_rule


def _same(*args: Any) -> Any:
    """Return the common type of the lanes, or None if there is none that can hold the numbers."""
    kinds = {each for each in args if isinstance(each, LanesType)}
    whole = all(isinstance(each, (LanesType, types.Integer)) for each in args)
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind and isinstance(kind.dtype, types.Integer) and not whole else kind


def _compared(*args: Any) -> LanesType | None:
    return _MASK if _same(*args) else None


def _widened(context: Any, builder: Any, sig: Any, args: Any) -> tuple[Any, list[Any]]:
    """Return the common type of lanes and numbers, and all of them as lanes of this type."""
    kind = _same(*sig.args)
    return kind, [
        value if given == kind else _splat_as(context, builder, value, given, kind)
        for given, value in zip(sig.args, args, strict=True)
    ]


def _splat_as(context: Any, builder: Any, value: Any, given: Any, kind: Any) -> Any:
    """Return lanes of a type that repeat one number."""
    number = context.cast(builder, value, given, kind.dtype)
    if not _is_complex(kind):
        return _splat(builder, number)
    parts = context.make_complex(builder, kind.dtype, value=number)
    return _splat(builder, parts.real, parts.imag)


def _splat(builder: Any, *numbers: Any) -> Any:
    """Return a vector that repeats one number, or alternates two numbers."""
    values = ir.Constant(ir.VectorType(numbers[0].type, LANES), ir.Undefined)
    for k, number in enumerate(numbers):
        values = builder.insert_element(values, number, cgutils.int32_t(k))
    many = len(numbers)
    return _shuffled(builder, values, [k % many for k in range(many * LANES)])


def _shuffled(builder: Any, values: Any, order: list[int], others: Any = None) -> Any:
    """Return a vector of some of the values, in this order; `others` follow the values."""
    order = ir.Constant(ir.VectorType(cgutils.int32_t, len(order)), order)
    return builder.shuffle_vector(values, values if others is None else others, order)


def _is_float(kind: LanesType) -> bool:
    return isinstance(kind.dtype, types.Float)


def _is_complex(kind: LanesType) -> bool:
    return isinstance(kind.dtype, types.Complex)


def _place(context: Any, builder: Any, array: Any, value: Any, at: Any, last: Any) -> Any:
    """Return a pointer to the number `at` of an array; check that `at` to `last` exist."""
    view = context.make_array(array)(context, builder, value)
    _check(context, builder, view, at, last)
    return builder.gep(view.data, [at])


def _check(context: Any, builder: Any, view: Any, *places: Any) -> None:
    """If bounds are checked, fail unless an array has numbers at these places."""
    if context.enable_boundscheck:
        for index in places:
            cgutils.do_boundscheck(context, builder, index, view.nitems, 0)


def _row_of_lanes(context: Any, builder: Any, array: Any, value: Any, at: Any) -> Any:
    """Return a pointer to the lanes of an array that begin at place `at`."""
    last = builder.add(at, context.get_constant(types.intp, LANES - 1))
    pointer = _place(context, builder, array, value, at, last)
    return builder.bitcast(pointer, context.get_value_type(LanesType(array.dtype)).as_pointer())


@_lower(lanes.places, types.Integer)(lambda _: _PLACES)
def _places(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.cast(builder, args[0], sig.args[0], types.intp)


@_lower(operator.getitem, types.Array, Places)(lambda array, _: LanesType(array.dtype))
def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer = _row_of_lanes(context, builder, sig.args[0], *args)
    return builder.load(pointer, align=context.get_abi_sizeof(pointer.type.pointee.element))


@_lower(lanes.gather, types.Array, types.Integer, types.Integer)(
    lambda array, *_: LanesType(array.dtype)
)
def _gather(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = sig.args[0]
    at, stride = (
        context.cast(builder, number, kind, types.intp)
        for number, kind in zip(args[1:], sig.args[1:], strict=True)
    )
    steps = [builder.mul(stride, context.get_constant(types.intp, k)) for k in range(LANES)]
    pointer = _place(context, builder, array, args[0], at, builder.add(at, steps[-1]))
    values = ir.Constant(context.get_value_type(LanesType(array.dtype)), ir.Undefined)
    for k, step in enumerate(steps):
        number = builder.load(builder.gep(pointer, [step]))
        values = builder.insert_element(values, number, cgutils.int32_t(k))
    return values


@_lower(operator.setitem, types.Array, Places, LanesType)(
    lambda array, _, values: types.none if array.mutable and array.dtype == values.dtype else None
)
def _store(context: Any, builder: Any, sig: Any, args: Any) -> None:
    _write(context, builder, sig.args[0], *args)


@_lower(operator.setitem, types.Array, Places, types.Number)(
    lambda array, *_: types.none if array.mutable else None
)
def _store_number(context: Any, builder: Any, sig: Any, args: Any) -> None:
    array, _, given = sig.args
    values = _splat_as(context, builder, args[2], given, LanesType(array.dtype))
    _write(context, builder, array, args[0], args[1], values)


def _write(context: Any, builder: Any, array: Any, value: Any, at: Any, values: Any) -> None:
    pointer = _row_of_lanes(context, builder, array, value, at)
    builder.store(values, pointer, align=context.get_abi_sizeof(values.type.element))


@_lower(lanes.turn, types.Array)(lambda tile: types.none if tile.mutable else None)
def _turn(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    start = context.get_constant(types.intp, 0)
    last = context.get_constant(types.intp, LANES * LANES - 1)
    pointer = _place(context, builder, sig.args[0], args[0], start, last)
    kind = context.get_value_type(LanesType(sig.args[0].dtype))
    pointer = builder.bitcast(pointer, kind.as_pointer())
    size = context.get_abi_sizeof(kind.element)
    places = [builder.gep(pointer, [context.get_constant(types.intp, k)]) for k in range(LANES)]
    rows = [builder.load(place, align=size) for place in places]
    # Exchange the two blocks beside the diagonal, then those within each quarter, and so on: blocks
    # of half the size, of a quarter of the size, down to single numbers.
    half = LANES // 2
    while half > 0:
        one = [k if k & half == 0 else LANES + k - half for k in range(LANES)]
        other = [k + half if k & half == 0 else LANES + k for k in range(LANES)]
        for k in range(LANES):
            if k & half == 0:
                pair = rows[k], rows[k + half]
                rows[k] = _shuffled(builder, pair[0], one, pair[1])
                rows[k + half] = _shuffled(builder, pair[0], other, pair[1])
        half //= 2
    for place, row in zip(places, rows, strict=True):
        builder.store(row, place, align=size)
    return context.get_dummy_value()


@_lower(lanes.numbers, types.Integer)(lambda _: _NUMBERS)
def _numbers(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    start = context.cast(builder, args[0], sig.args[0], types.int32)
    steps = ir.Constant(context.get_value_type(_NUMBERS), list(range(LANES)))
    return builder.add(_splat(builder, start), steps)


@_lower(lanes.fill, LanesType, types.Number)(lambda values, _: values)
def _fill(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _splat_as(context, builder, args[1], sig.args[1], sig.args[0])


@_lower(lanes.doubles, LanesType)(lambda values: _DOUBLES if _is_float(values) else None)
def _doubles(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if sig.args[0] == _DOUBLES:
        return args[0]
    return builder.fpext(args[0], context.get_value_type(_DOUBLES))


@_lower(lanes.longs, LanesType)(lambda values: _LONGS if values == _NUMBERS else None)
def _longs(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
    return builder.sext(args[0], context.get_value_type(_LONGS))


@_lower(lanes.plus_product, LanesType, LanesType, LanesType)(_same)
def _plus_product(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    total, one, other = args
    if not _is_float(sig.args[0]):
        return builder.fadd(total, _complex_product(builder, one, other))
    return builder.call(_intrinsic(context, builder, "fmuladd", sig.args), (one, other, total))


_ROW, _TUPLE = types.Array, types.UniTuple
_BYTES = (types.uint8, types.int8, types.int32)
_HALVES = (types.int16, types.int16, types.int32)


def _is_product(*dtypes: Any) -> bool:
    """Tell whether numbers of the first two types have products of the third type."""
    return dtypes in (_BYTES, _HALVES) or (
        isinstance(dtypes[0], types.Float) and len({*dtypes}) == 1
    )


@_lower(lanes.multiply, _ROW, _TUPLE, _ROW, _TUPLE, types.Integer, _ROW, _TUPLE)(
    lambda rows, starts, panels, _firsts, _depth, found, to: (
        types.none
        if _is_product(rows.dtype, panels.dtype, found.dtype)
        and found.mutable
        and len(starts) == len(to)
        else None
    )
)
def _multiply(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kinds = sig.args
    one, wide = (context.get_constant(types.intp, number) for number in (1, LANES))
    depth = context.cast(builder, args[4], kinds[4], types.intp)
    last = builder.sub(depth, one)

    def pointers(array: int, which: int, last: Any, used: Any = cgutils.true_bit) -> list[Any]:
        """Return pointers to places in an array; if `used`, check each place and place + `last`."""
        places = [
            context.cast(builder, place, kinds[which].dtype, types.intp)
            for place in cgutils.unpack_tuple(builder, args[which], len(kinds[which]))
        ]
        view = context.make_array(kinds[array])(context, builder, args[array])
        with builder.if_then(used):
            for at in places:
                _check(context, builder, view, at, builder.add(at, last))
        return [builder.gep(view.data, [at]) for at in places]

    some = builder.icmp_signed(">=", depth, one)  # if rows have no numbers, nothing is read
    row_of = pointers(0, 1, last, some)
    panel_of = pointers(2, 3, builder.sub(builder.mul(depth, wide), one), some)
    to = pointers(5, 6, context.get_constant(types.intp, len(panel_of) * LANES - 1))
    kind = LanesType(kinds[5].dtype)
    if _is_float(kind):
        _multiply_floats(context, builder, kind, row_of, panel_of, depth, to)
    elif kinds[0].dtype == types.int16:
        _multiply_groups(builder, _add_halves, row_of, panel_of, depth, to)
    elif _is_x86():
        _call_with_vnni(builder, row_of, panel_of, depth, to)
    else:
        _multiply_groups(builder, _add_bytes, row_of, panel_of, depth, to)
    return context.get_dummy_value()


def _multiply_floats(
    context: Any, builder: Any, kind: LanesType, row_of: Any, panel_of: Any, depth: Any, to: Any
) -> None:
    """Store the products of rows and panels of floats; no product is rounded with its sum."""
    _tile(
        builder,
        context.get_value_type(kind),
        lambda total, number, other: builder.fadd(
            total, builder.fmul(_splat(builder, number), other)
        ),
        (row_of, panel_of, depth, to),
    )


def _multiply_groups(
    builder: Any, add: Callable[..., Any], row_of: Any, panel_of: Any, depth: Any, to: Any
) -> None:
    """Store the products of rows and panels of small integers; four bytes are added at a time."""
    size = row_of[0].type.pointee.width // 8
    group = ir.IntType(32)

    def as_groups(pointers: list[Any]) -> list[Any]:
        return [builder.bitcast(pointer, group.as_pointer()) for pointer in pointers]

    _tile(
        builder,
        ir.VectorType(group, LANES),
        lambda total, number, other: add(builder, total, _splat(builder, number), other),
        (as_groups(row_of), as_groups(panel_of), builder.sdiv(depth, depth.type(4 // size)), to),
        align=size,
    )


def _tile(
    builder: Any, vector: Any, add: Callable[..., Any], given: Any, align: int | None = None
) -> None:
    """Store the products of each of some rows and each of some panels.

    All pointers are to the vector's elements. ``add(total, number, other)`` adds the product of a
    row's number and of lanes of a panel to a total.
    """
    row_of, panel_of, depth, to = given
    align = align or _size(vector.element)
    zero = ir.Constant(vector, None)
    sums = [[cgutils.alloca_once_value(builder, zero) for _ in panel_of] for _ in row_of]
    wide = depth.type(LANES)

    def lanes_at(pointer: Any, at: Any) -> Any:
        return builder.bitcast(builder.gep(pointer, [at]), vector.as_pointer())

    with cgutils.for_range(builder, depth) as loop:
        at = builder.mul(loop.index, wide)
        others = [builder.load(lanes_at(pointer, at), align=align) for pointer in panel_of]
        for pointer, of_row in zip(row_of, sums, strict=True):
            number = builder.load(builder.gep(pointer, [loop.index]), align=align)
            for other, total in zip(others, of_row, strict=True):
                builder.store(add(builder.load(total), number, other), total)
    for pointer, of_row in zip(to, sums, strict=True):
        for number, total in enumerate(of_row):
            place = lanes_at(pointer, depth.type(number * LANES))
            builder.store(builder.load(total), place, align=_size(vector.element))


def _size(element: Any) -> int:
    """Return the bytes of a number."""
    return {ir.FloatType(): 4, ir.DoubleType(): 8}.get(element) or element.width // 8


def _parts(builder: Any, groups: Any, width: int) -> list[Any]:
    """Return the first, second, ... integers of this width of each group, as groups."""
    many = 32 // width
    kind = ir.VectorType(ir.IntType(width), many * LANES)
    parts = builder.bitcast(groups, kind)
    return [_shuffled(builder, parts, [many * k + p for k in range(LANES)]) for p in range(many)]


def _add_halves(builder: Any, total: Any, one: Any, other: Any) -> Any:
    """Add the products of int16 and int16: LLVM makes one instruction of this (vpmaddwd)."""
    halves = ir.VectorType(ir.IntType(16), 2 * LANES)
    wide = ir.VectorType(ir.IntType(32), 2 * LANES)
    one, other = (builder.sext(builder.bitcast(each, halves), wide) for each in (one, other))
    products = builder.mul(one, other)
    even, odd = (_shuffled(builder, products, list(range(k, 2 * LANES, 2))) for k in range(2))
    return builder.add(total, builder.add(even, odd))


def _add_bytes(builder: Any, total: Any, one: Any, other: Any) -> Any:
    """Add the products of uint8 and int8 one by one: for processors without an instruction."""
    vector = total.type
    for x, y in zip(_parts(builder, one, 8), _parts(builder, other, 8), strict=True):
        product = builder.mul(builder.zext(x, vector), builder.sext(y, vector))
        total = builder.add(total, product)
    return total


def _is_x86() -> bool:
    """Tell whether the code is for processors that may have VNNI: native.compile says "generic"."""
    name = getattr(numba.config, "CPU_NAME", None)
    return bool(name != "generic" and get_process_triple().startswith("x86_64"))


def _call_with_vnni(builder: Any, row_of: Any, panel_of: Any, depth: Any, to: Any) -> None:
    """Call a function that multiplies by vpdpbusd, whatever the level of processor is."""
    given = [*row_of, *panel_of, depth, *to]
    name = f"arborescence.vnni.{len(row_of)}.{len(panel_of)}"
    function = builder.module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(ir.VoidType(), [each.type for each in given])
        function = ir.Function(builder.module, kind, name)
        function.linkage = "linkonce_odr"
        # llvmlite knows no attributes with values.
        set.add(function.attributes, '"target-features"="+avx512f,+avx512vnni"')
        inner = ir.IRBuilder(function.append_basic_block())
        groups = ir.VectorType(ir.IntType(32), LANES)
        step = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(groups, [groups] * 3),
            "llvm.x86.avx512.vpdpbusd.512",
        )

        def add(at: Any, *values: Any) -> Any:
            return at.call(step, values)

        rows, panels = len(row_of), len(row_of) + len(panel_of)
        parts = function.args[:rows], function.args[rows:panels], function.args[panels]
        _multiply_groups(inner, add, *parts, function.args[panels + 1 :])
        inner.ret_void()
    builder.call(function, given)


def _intrinsic(context: Any, builder: Any, name: str, kinds: Any) -> Any:
    """Return LLVM's function of this name for lanes of floats."""
    vectors = [context.get_value_type(kind) for kind in kinds]
    full = f"llvm.{name}.v{LANES}f{kinds[0].dtype.bitwidth}"
    function = ir.FunctionType(vectors[0], vectors)
    return cgutils.get_or_insert_function(builder.module, function, full)


@_lower(lanes.magnitude, LanesType)(lambda values: values if _is_float(values) else None)
def _magnitude(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.call(_intrinsic(context, builder, "fabs", sig.args), args)


@_lower(lanes.where, LanesType, (LanesType, types.Number), (LanesType, types.Number))(
    lambda condition, *both: _same(*both) if condition == _MASK else None
)
def _where(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    condition = args[0]
    kind, (one, other) = _widened(context, builder, sig.replace(args=sig.args[1:]), args[1:])
    if _is_complex(kind):
        condition = _shuffled(builder, condition, [k // 2 for k in range(2 * LANES)])
    return builder.select(condition, one, other)


@_lower(lanes.top, LanesType)(lambda values: values.dtype)
def _top(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
    values, half = args[0], LANES
    while half > 1:
        half //= 2
        low = _shuffled(builder, values, list(range(half)))
        high = _shuffled(builder, values, list(range(half, 2 * half)))
        values = builder.select(_compare(builder, sig.args[0], ">", high, low), high, low)
    return builder.extract_element(values, cgutils.int32_t(0))


def _bits(builder: Any, condition: Any) -> Any:
    return builder.zext(builder.bitcast(condition, ir.IntType(LANES)), ir.IntType(64))


@_lower(lanes.count, LanesType)(lambda condition: types.intp if condition == _MASK else None)
def _count(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
    return builder.ctpop(_bits(builder, args[0]))


@_lower(lanes.lowest, LanesType)(lambda condition: types.intp if condition == _MASK else None)
def _lowest(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
    end = ir.Constant(ir.IntType(64), 1 << LANES)
    return builder.cttz(builder.or_(_bits(builder, args[0]), end), ir.IntType(1)(1))


@_lower(operator.getitem, LanesType, types.Integer)(lambda values, _: values.dtype)
def _element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    lane = context.cast(builder, args[1], sig.args[1], types.int32)
    return builder.extract_element(args[0], lane)


@_lower(lanes.is_row, types.Array)(lambda _: types.boolean)
def _is_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
    return cgutils.true_bit if sig.args[0].layout == "C" else cgutils.false_bit


@_lower(lanes.as_row, types.Array)(lambda array: array.copy(ndim=1, layout="C"))
def _as_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = context.make_array(sig.args[0])(context, builder, args[0])
    row = context.make_array(sig.return_type)(context, builder)
    row.data, row.nitems, row.itemsize = view.data, view.nitems, view.itemsize
    row.shape = cgutils.pack_array(builder, [view.nitems])
    row.strides = cgutils.pack_array(builder, [view.itemsize])
    row.meminfo = context.get_constant_null(types.voidptr)
    return row._getvalue()


def _compare(builder: Any, kind: LanesType, sign: str, one: Any, other: Any) -> Any:
    if not _is_float(kind):
        return builder.icmp_signed(sign, one, other)
    return (builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered)(sign, one, other)


for _operator, _sign in (
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.eq, "=="),
    (operator.ne, "!="),
):

    @_lower(_operator, (LanesType, types.Number), (LanesType, types.Number))(_compared)
    def _comparison(context: Any, builder: Any, sig: Any, args: Any, sign: str = _sign) -> Any:
        kind, both = _widened(context, builder, sig, args)
        return _compare(builder, kind, sign, *both)


for _operator, _of_floats, _of_ints in (
    (operator.add, "fadd", "add"),
    (operator.sub, "fsub", "sub"),
    (operator.mul, "fmul", "mul"),
):

    @_lower(_operator, (LanesType, types.Number), (LanesType, types.Number))(_same)
    def _arithmetic(
        context: Any,
        builder: Any,
        sig: Any,
        args: Any,
        names: tuple[str, str] = (_of_floats, _of_ints),
    ) -> Any:
        kind, both = _widened(context, builder, sig, args)
        if _is_complex(kind) and names[0] == "fmul":
            return _complex_product(builder, *both)
        return getattr(builder, names[isinstance(kind.dtype, types.Integer)])(*both)


def _complex_product(builder: Any, one: Any, other: Any) -> Any:
    places = range(2 * LANES)
    real = _shuffled(builder, other, [k // 2 * 2 for k in places])
    imaginary = _shuffled(builder, other, [k // 2 * 2 + 1 for k in places])
    turned = _shuffled(builder, one, [k ^ 1 for k in places])
    signs = ir.Constant(one.type, [-1.0, 1.0] * LANES)
    rest = builder.fmul(signs, builder.fmul(turned, imaginary))
    return builder.fadd(builder.fmul(one, real), rest)


for _operator, _name in ((operator.and_, "and_"), (operator.or_, "or_")):

    @_lower(_operator, LanesType, LanesType)(_same)
    def _logic(context: Any, builder: Any, sig: Any, args: Any, name: str = _name) -> Any:  # noqa: ARG001
        return getattr(builder, name)(*args)


@_lower(operator.invert, LanesType)(_same)
def _invert(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
    return builder.not_(args[0])
