"""Compile kernels ahead of time, to object files with functions that `module.c` can call.

Each kernel is lowered to LLVM code by Numba, as under the JIT, and then optimized for each level of
processor. `numba.pycc`, Numba's own way to compile ahead, is not used: it keeps the GIL, makes a
module for one version of Python only, and does not check the types of arrays.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

from llvmlite import binding, ir
from numba import types
from numba.core.runtime.nrtdynmod import create_nrt_module

from arborescence.compiling.numba_parts import cpu_target, global_compiler_lock, is_memory_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_BYTES = ir.IntType(8).as_pointer()
_WORD = ir.IntType(64)
# int32_t function(Value *const *arguments, Number *results, const Raised **raised)
_CALLED = ir.FunctionType(
    ir.IntType(32), [_BYTES.as_pointer(), _WORD.as_pointer(), _BYTES.as_pointer()]
)


class Overload(NamedTuple):
    """A kernel, compiled for one combination of types."""

    kernel: str
    symbol: str
    arguments: tuple[Any, ...]
    """Types of Numba."""
    results: tuple[Any, ...]
    """Types of numbers."""


def compile_kernels(
    kernels: Iterable[tuple[str, str, Sequence[tuple[Any, ...]]]],
    levels: Sequence[str],
    folder: Path,
    name: str,
    triple: str = "",
) -> list[Overload]:
    """Compile some kernels for some levels of processor.

    Parameters
    ----------
    kernels
        For each one, the module, the function, and the types of the arguments of each overload,
        where those in records follow each other.
    levels
        Names of processors, as LLVM knows them.
    folder
        Where the object files are written: ``<level>/<name>.o``.
    name
        The name of this group of kernels, part of all symbols.
    triple
        The kind of machine that runs them, as LLVM knows it; by default, this one's.
    """
    context = cpu_target.target_context
    wrappers = ir.Module(f"{name}.wrappers")
    codes: list[Any] = []
    overloads = []
    with global_compiler_lock:
        for module, function, signatures in kernels:
            part = importlib.import_module(module).__dict__[function].entry.part
            for arguments in signatures:
                part.compile(arguments)
                compiled = part.overloads[arguments]
                symbol = f"arborescence_{name}_{len(overloads)}"
                results = _wrap(context, wrappers, symbol, compiled)
                kernel = f"{module}.{function}".removeprefix("arborescence.")
                overloads.append(Overload(kernel, symbol, arguments, results))
                codes += [compiled.library, *compiled.library._linking_libraries]
        linked = _linked(wrappers, codes, {overload.symbol for overload in overloads})
        for level in levels:
            path = folder / level / f"{name}.o"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_object_code(linked, name, level, triple))
    return overloads


def _wrap(context: Any, module: ir.Module, symbol: str, compiled: Any) -> tuple[Any, ...]:
    """Add a function which takes pointers to the arguments; return the types of the results."""
    description = compiled.fndesc
    convention = context.call_conv
    callee = ir.Function(
        module,
        convention.get_function_type(description.restype, description.argtypes),
        description.llvm_func_name,
    )
    function = ir.Function(module, _CALLED, symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    given, written, raised = function.args
    arguments = [
        _read(context, builder, builder.load(builder.gep(given, [_WORD(place)])), wanted)
        for place, wanted in enumerate(description.argtypes)
    ]
    status, result = convention.call_function(
        builder, callee, description.restype, description.argtypes, arguments
    )
    with builder.if_then(status.is_error, likely=False):
        with builder.if_then(status.is_user_exc):
            builder.store(builder.bitcast(status.excinfoptr, _BYTES), raised)
        builder.ret(ir.IntType(32)(1))
    results = _results(description.restype)
    for place, what in enumerate(results):
        number = (
            result
            if results == (types.unliteral(description.restype),)
            else (builder.extract_value(result, place))
        )
        _write(builder, number, what, builder.gep(written, [_WORD(place)]))
    builder.ret(ir.IntType(32)(0))
    return results


def _read(context: Any, builder: ir.IRBuilder, place: Any, wanted: Any) -> Any:
    """Return the argument that lies at `place` (as `Value` in module.c), as Numba passes it on."""
    if isinstance(wanted, types.Array):
        layout = context.get_value_type(wanted)
        return builder.load(builder.bitcast(place, layout.as_pointer()))
    if wanted == types.float64:
        return builder.load(builder.bitcast(place, ir.DoubleType().as_pointer()))
    word = builder.load(builder.bitcast(place, _WORD.as_pointer()))
    return builder.trunc(word, ir.IntType(1)) if wanted == types.boolean else word


def _write(builder: ir.IRBuilder, number: Any, what: Any, place: Any) -> None:
    if what == types.float64:
        builder.store(number, builder.bitcast(place, ir.DoubleType().as_pointer()))
    else:
        builder.store(builder.zext(number, _WORD) if what == types.boolean else number, place)


def _results(returned: Any) -> tuple[Any, ...]:
    """Return the types of a kernel's results: none, one number, or a tuple of numbers."""
    if returned == types.none:
        return ()
    results = tuple(returned) if isinstance(returned, types.BaseTuple) else (returned,)
    results = tuple(map(types.unliteral, results))
    known = {types.int64, types.uint64, types.float64, types.boolean}
    if not known.issuperset(results):
        raise TypeError(f"a kernel that Python calls must return numbers, not {returned}")
    return results


def _linked(wrappers: ir.Module, codes: list[Any], exported: set[str]) -> bytes:
    """Return the code of wrappers and kernels as one module, in which all else is private."""
    codegen = cpu_target.target_context.codegen()
    wrappers.triple = codegen._create_empty_module("empty").triple
    module = binding.parse_assembly(str(wrappers))
    for code in dict.fromkeys(codes):
        if not is_memory_code(code):
            module.link_in(code._get_module_for_linking(), preserve=True)
    # Anew: what runs in this process was made for its processor.
    memory, _ = create_nrt_module(cpu_target.target_context)
    module.link_in(binding.parse_assembly(str(memory)))
    for function in module.functions:
        if not function.is_declaration and function.name not in exported:
            function.linkage = "internal"
    # What only Python's side of Numba sets; common symbols of two groups must not be one.
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.verify()
    bitcode: bytes = module.as_bitcode()
    return bitcode


def _object_code(linked: bytes, name: str, level: str, triple: str) -> bytes:
    codegen = cpu_target.target_context.with_aot_codegen(name, cpu_name=level).codegen()
    if triple:
        # Numba knows only this machine's kind. Before LLVM optimizes it, its code is the same for
        # all with 64 bits whose lowest byte comes first.
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        codegen._tm = binding.Target.from_triple(triple).create_target_machine(
            cpu=level, opt=3, reloc="pic", codemodel="default"
        )
        codegen._data_layout = str(codegen._tm.target_data)
    library = codegen.create_library(name)
    module = binding.parse_bitcode(linked)
    module.name = name
    module.triple = codegen._tm.triple
    module.data_layout = codegen._data_layout
    library._final_module = module
    library._optimize_final_module()
    for function in module.functions:
        if not function.is_declaration and function.linkage == binding.Linkage.external:
            function.visibility = "hidden"
    code: bytes = codegen._tm.emit_object(module)
    return code
