"""The parts of Numba that are used but not public: they may change in any release.

They are used only with tested versions of Numba (`plain.is_known`). Other versions compile by
`plain`: more slowly, with the same results. Each docstring says what its part is for. Numba's
dispatcher is used because it calls compiled code fastest; the cache is Numba's interface for code
on disk; the lock and the events belong to Numba's compiler.
"""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llvmlite.binding import Linkage, parse_assembly
from numba.core import event, types
from numba.core.caching import NullCache as NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock as global_compiler_lock
from numba.core.compiler_lock import require_global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher as CPUDispatcher
from numba.core.registry import cpu_target as cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.core.typed_passes import AnnotateTypes, DumpParforDiagnostics, NativeLowering
from numba.misc.appdirs import AppDirs
from numba.np import arrayobj

if TYPE_CHECKING:
    from collections.abc import Iterator

Listener = event.Listener


def look_at_no_constants(dispatcher: Any) -> None:
    """Prevent Numba from compiling a kernel again for each constant among its arguments."""
    fold = dispatcher._compiler.fold_argument_types

    def fold_without_constants(args: Any, kws: Any) -> Any:
        signature, folded = fold(args, kws)
        return signature, tuple(map(types.unliteral, folded))

    dispatcher._compiler.fold_argument_types = fold_without_constants


def is_of_memory(library: Any) -> bool:
    """Tell whether this is the code of Numba's functions that allocate and free arrays."""
    return library is rtsys.library


class Code(JITCodeLibrary):
    """The code of a kernel, linked with the code of all kernels that it calls, directly or not."""

    def add_linking_library(self, library: Any) -> None:
        """Note that this library's code is needed."""
        super().add_linking_library(library)
        if isinstance(library, CodeOfPart):
            for further in library._linking_libraries:
                if further not in self._linking_libraries:
                    super().add_linking_library(further)

    def finalize(self) -> None:
        """Link and optimize. LLVM links only code needed so far, so shared code comes last."""
        self._linking_libraries.sort(key=is_of_memory)
        super().finalize()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return the code for the disk: without LLVM's form, of which only the names are used."""
        self._ensure_finalized()
        names = [function.name for function in self.get_defined_functions()]
        text = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
        return self.name, "object", (self._get_compiled_object(), parse_assembly(text).as_bitcode())

    def _optimize_final_module(self) -> None:
        """Optimize the linked code; LLVM may inline or change functions that only it calls."""
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


class CodeOfPart(Code):
    """The code of a kernel that a kernel calls; it is neither linked nor optimized alone."""

    def finalize(self) -> None:
        """Take no more code."""
        require_global_compiler_lock()
        self._raise_if_finalized()
        self._finalized = True


@contextmanager
def _indices_of(state: Any) -> Iterator[None]:
    """Lower no code for negative indices if a kernel has none: Numba has no option for this."""
    fix: Any = arrayobj.fix_integer_index
    if hasattr(state.func_id.func, "never_negative"):
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
        with _indices_of(state):
            done: bool = super().run_pass(state)
        return done


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    _name = "arborescence_lower_part"

    def run_pass(self, state: Any) -> bool:
        state.library = CodeOfPart(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        with _indices_of(state):
            super().run_pass(state)
        # Numba finds the code of a call by the object that the dispatcher gives for its types.
        key = object()
        state["cr"] = state["cr"]._replace(cfunc=key)
        state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
        return True


class _Pipeline(CompilerBase):
    """Numba's passes, with our class to lower the code, and without passes that only report."""

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


class Whole(_Pipeline):
    """The compiler of kernels that Python calls."""

    lowering = _LowerWhole


class PartOfWhole(_Pipeline):
    """The compiler of kernels that a kernel calls."""

    lowering = _LowerPart


def lock_can_be_taken() -> bool:
    """Tell whether no thread holds the compiler's lock: after a fork, none would release it."""
    free: bool = global_compiler_lock._lock.acquire(blocking=False)
    if free:
        global_compiler_lock._lock.release()
    return free


def listen(listener: event.Listener) -> None:
    """Register a listener for all compilations."""
    register: Any = event.register
    register("numba:compile", listener)


def packed(result: Any) -> bytes:
    """Return compiled code as bytes for the disk."""
    content: bytes = dumps(result._reduce())
    return content


def unpacked(context: Any, content: bytes) -> Any:
    """Return compiled code from the bytes of `packed`."""
    # Numba would first load everything that it can compile, in half a second. To call the code,
    # only the functions that count references are needed.
    rtsys.initialize(context)
    return CompileResult._rebuild(context, *pickle.loads(content))  # noqa: S301


def user_folder() -> Path:
    """Return the folder of Numba for a user's compiled code."""
    return Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
