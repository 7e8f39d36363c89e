"""The parts of Numba that this package uses although they are not public.

They may change in any release of Numba, so the package uses them only with tested versions
(`plain.is_known`). With other versions, `plain` compiles: more slowly, with the same results. Each
docstring gives the purpose of its part. Numba's dispatcher calls compiled code fastest; the cache
is Numba's interface for code on disk; the lock and the events belong to Numba's compiler.
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


def ignore_constants(dispatcher: Any) -> None:
    """Prevent Numba from compiling a kernel again for each constant among its arguments."""
    fold = dispatcher._compiler.fold_argument_types

    def fold_without_constants(args: Any, kws: Any) -> Any:
        signature, folded = fold(args, kws)
        return signature, tuple(map(types.unliteral, folded))

    dispatcher._compiler.fold_argument_types = fold_without_constants


def is_memory_code(library: Any) -> bool:
    """Return whether a library is the code of Numba's functions that allocate and free arrays."""
    return library is rtsys.library


class EntryCode(JITCodeLibrary):
    """The code of a kernel, linked with the code of all kernels that it calls, directly or not."""

    def add_linking_library(self, library: Any) -> None:
        """Link with a library; if it is the code of a kernel, also with the libraries it needs."""
        super().add_linking_library(library)
        if isinstance(library, PartCode):
            for needed in library._linking_libraries:
                if needed not in self._linking_libraries:
                    super().add_linking_library(needed)

    def finalize(self) -> None:
        """Link and optimize. LLVM links only what earlier code calls: the memory code is last."""
        self._linking_libraries.sort(key=is_memory_code)
        super().finalize()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return the machine code for the disk. Of the LLVM code, Numba needs only the names."""
        self._ensure_finalized()
        names = [function.name for function in self.get_defined_functions()]
        text = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
        return self.name, "object", (self._get_compiled_object(), parse_assembly(text).as_bitcode())

    def _optimize_final_module(self) -> None:
        """Optimize the linked code. LLVM may inline or change functions that only it calls."""
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


class PartCode(EntryCode):
    """The code of a kernel that only kernels call; it is linked and optimized in its callers."""

    def finalize(self) -> None:
        """Mark the code as complete."""
        require_global_compiler_lock()
        self._raise_if_finalized()
        self._finalized = True


@contextmanager
def _index_lowering(state: Any) -> Iterator[None]:
    """Lower a `never_negative` kernel without code for negative indices: Numba has no option."""
    fix: Any = arrayobj.fix_integer_index
    if hasattr(state.func_id.func, "never_negative"):
        arrayobj.fix_integer_index = _unchanged_index
    try:
        yield
    finally:
        arrayobj.fix_integer_index = fix


def _unchanged_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:  # noqa: ARG001
    return context.cast(builder, index, kind, types.intp)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerEntry(NativeLowering):
    _name = "arborescence_lower_entry"

    def run_pass(self, state: Any) -> bool:
        state.library = EntryCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        with _index_lowering(state):
            done: bool = super().run_pass(state)
        return done


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    _name = "arborescence_lower_part"

    def run_pass(self, state: Any) -> bool:
        state.library = PartCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        with _index_lowering(state):
            super().run_pass(state)
        # Numba finds the code of a call by the object that the dispatcher returns for its types.
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
            (self.lowering if step is NativeLowering else step, description)
            for step, description in manager.passes
            if step not in (AnnotateTypes, DumpParforDiagnostics)
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


class EntryCompiler(_Pipeline):
    """The compiler of kernels that Python calls."""

    lowering = _LowerEntry


class PartCompiler(_Pipeline):
    """The compiler of kernels that only kernels call."""

    lowering = _LowerPart


def lock_is_free() -> bool:
    """Return whether the compiler's lock is free. After a fork, no thread releases a held lock."""
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
