"""Compile kernels with Numba, each at its first call, for the types of its arguments.

A kernel that Python calls is compiled together with all kernels that it calls: those are lowered to
LLVM code once for each combination of types, and LLVM optimizes them where they are linked. (By
itself Numba optimizes each of them alone, and again in each of its callers; for `decode`, that
takes about as long as all the rest.) The result is kept in Numba's cache on disk. The first
compilation of a process prints a line on stderr.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llvmlite.binding import Linkage, parse_assembly
from numba.core import config, event, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock, require_global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.typed_passes import AnnotateTypes, DumpParforDiagnostics, NativeLowering
from numba.np import arrayobj

from arborescence.compiling import jit_lanes  # noqa: F401
from arborescence.compiling.kept import Kept
from arborescence.compiling.messages import Compiling
from arborescence.compiling.records import way
from arborescence.compiling.signatures import Record, arguments_of, as_declared, signatures_of
from arborescence.errors import ArborescenceError
from arborescence.system.remembered import remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Division as in NumPy. No kernel is called from C. The last two are what Numba has anyway, but if
# they are not given, a kernel takes them from the first kernel that calls it.
_OPTIONS = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "forceinline": False,
    "fastmath": False,
}


def compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return the kernel as a function that Python and other kernels can call.

    Parameters
    ----------
    function
        Plain Python, in Numba's subset.
    options
        More options of `numba.njit`.
    """
    settings: Any = config
    if settings.DISABLE_JIT:
        return function
    arguments = [each for text in signatures_of(function)[:1] for each in arguments_of(text)]
    if any(isinstance(each, Record) for each in arguments):
        return KernelOfRecords(function, _OPTIONS | options, arguments)
    return Kernel(function, _OPTIONS | options)


class Kernel(CPUDispatcher):
    """A kernel as a function that Python and other kernels can call."""

    locked_out = False  # whether nobody can release the compiler's lock: see `_look_at_lock`

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=_Whole)
        _look_at_no_constants(self)
        self.part = Part(function, options)
        self._cache = Kept(self)

    @property
    def entry(self) -> Kernel:
        """What is compiled for calls by Python: a kernel of arrays and numbers."""
        return self

    def compile(self, types: Any) -> Any:
        """Compile for these types of arguments, unless it is done or kept on disk."""
        if Kernel.locked_out:
            raise ArborescenceError(
                f"{self.py_func.__name__} cannot be compiled in this process, which was forked "
                "while a thread compiled: call what you need once before the fork, or start "
                "processes with the method 'spawn'"
            )
        wanted = as_declared(self.py_func, types)
        dispatcher: Any = super()
        with global_compiler_lock, self._cache.alone(wanted):
            code = dispatcher.compile(wanted)
            if wanted != types:  # Numba looks for code by the types as they are
                dispatcher._insert([kind._code for kind in types], code, False)
        return code

    def is_kept(self, types: Any) -> bool:
        """Return whether it is compiled for these types, on disk."""
        return self._cache.has(types)

    @property
    def is_compiling(self) -> Any:
        """Whether it is being compiled, so that a call of it is a recursive one."""
        return super().is_compiling or self.part.is_compiling

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the types of a call by another kernel."""
        return self.part.get_call_template(args, kws)

    def get_overload(self, types: Any) -> Any:
        """Return what another kernel calls."""
        return self.part.get_overload(types)


class KernelOfRecords(Kernel):
    """A kernel that takes records, as a function that Python and other kernels can call."""

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], arguments: list[Record | str]
    ) -> None:
        super().__init__(function, options)
        self._how = options, arguments
        self._call = self._first_call

    def __call__(self, *given: Any) -> Any:
        """Call it by Python."""
        return self._call(given)

    def _first_call(self, given: tuple[Any, ...]) -> Any:
        self._call = self._way[0]
        return self._call(given)

    @property
    @remembered
    def _way(self) -> tuple[Callable[..., Any], Kernel]:
        options, arguments = self._how
        return way(self, arguments, lambda function: Kernel(function, options))

    @property
    def entry(self) -> Kernel:
        """What is compiled for calls by Python: a kernel of arrays and numbers."""
        return self._way[1]


class Part(CPUDispatcher):
    """A kernel as a function that other kernels, but not Python, can call."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        options = options | {"no_cpython_wrapper": True}
        super().__init__(function, targetoptions=options, pipeline_class=_Part)
        _look_at_no_constants(self)

    def add_overload(self, result: Any) -> None:
        """Note that the kernel is there for one more combination of types."""
        self.overloads[tuple(result.signature.args)] = result


def _look_at_no_constants(dispatcher: Any) -> None:
    """Prevent Numba from compiling a kernel once more for each constant that it is called with."""
    fold = dispatcher._compiler.fold_argument_types

    def fold_without_constants(args: Any, kws: Any) -> Any:
        signature, folded = fold(args, kws)
        return signature, tuple(map(types.unliteral, folded))

    dispatcher._compiler.fold_argument_types = fold_without_constants


def is_of_memory(library: Any) -> bool:
    """Tell whether this is the code of Numba's functions that allocate and free arrays."""
    return library is rtsys.library


class Code(JITCodeLibrary):
    """The code of a kernel, linked with that of all kernels which it calls, directly or not."""

    def add_linking_library(self, library: Any) -> None:
        """Note that this library's code is needed."""
        super().add_linking_library(library)
        if isinstance(library, CodeOfPart):
            for further in library._linking_libraries:
                if further not in self._linking_libraries:
                    super().add_linking_library(further)

    def finalize(self) -> None:
        """Link and optimize. LLVM links only what is needed so far, so what all need comes last."""
        self._linking_libraries.sort(key=is_of_memory)
        super().finalize()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return the code as it is kept: without LLVM's form, of which only the names are used."""
        self._ensure_finalized()
        names = [function.name for function in self.get_defined_functions()]
        text = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
        return self.name, "object", (self._get_compiled_object(), parse_assembly(text).as_bitcode())

    def _optimize_final_module(self) -> None:
        """Optimize the linked code; what only this code calls, LLVM may inline or change."""
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


class CodeOfPart(Code):
    """The code of a kernel that a kernel calls; it is neither linked nor optimized by itself."""

    def finalize(self) -> None:
        """Take no more code."""
        require_global_compiler_lock()
        self._raise_if_finalized()
        self._finalized = True


@contextmanager
def _indices_of(function: Callable[..., Any]) -> Iterator[None]:
    """Lower no code for negative indices, if the function has none. Under the compiler lock."""
    fix: Any = arrayobj.fix_integer_index
    if hasattr(function, "never_negative"):
        arrayobj.fix_integer_index = _as_it_is
    try:
        yield
    finally:
        arrayobj.fix_integer_index = fix


def _as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:  # noqa: ARG001
    return context.cast(builder, index, kind, types.intp)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerWhole(NativeLowering):
    _name = "arborescence_lower_whole"

    def run_pass(self, state: Any) -> bool:
        state.library = Code(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        with _indices_of(state.func_id.func):
            done: bool = super().run_pass(state)
        return done


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    _name = "arborescence_lower_part"

    def run_pass(self, state: Any) -> bool:
        state.library = CodeOfPart(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        with _indices_of(state.func_id.func):
            super().run_pass(state)
        # Numba finds the code of a call by the object that the dispatcher gives for its types.
        key = object()
        state["cr"] = state["cr"]._replace(cfunc=key)
        state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
        return True


class _Pipeline(CompilerBase):
    """Numba's passes, with another class to lower the code, and without those that only report."""

    lowering: type

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (self.lowering if step is NativeLowering else step, what)
            for step, what in manager.passes
            if step not in (AnnotateTypes, DumpParforDiagnostics)
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


class _Whole(_Pipeline):
    lowering = _LowerWhole


class _Part(_Pipeline):
    lowering = _LowerPart


def _look_at_lock() -> None:
    """After a fork: note whether a thread, which is not in this process, holds Numba's lock."""
    Kernel.locked_out = not global_compiler_lock._lock.acquire(blocking=False)
    if not Kernel.locked_out:
        global_compiler_lock._lock.release()


_register: Any = event.register
_register("numba:compile", Compiling(Kernel))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_look_at_lock)
