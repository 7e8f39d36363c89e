"""The decorators of kernels, of which only Numba compiles those here: no wheel brings them.

They call kernels of the library, so these must be Numba's, too.
"""

from arborescence.compiling import native
from arborescence.compiling.kernels import inlined_kernel, kernel, uncounted_kernel
from arborescence.errors import MissingExtraError

__all__ = ["inlined_kernel", "kernel", "uncounted_kernel"]

if native.KERNELS is not None:
    raise MissingExtraError(
        "what is compared here is compiled by Numba: set ARBORESCENCE_JIT=1 before Python starts"
    )
