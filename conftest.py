"""What tests share with the examples in the sources: compiled kernels."""

import gc
import os

from kernel_cache import cache_kernels, compile_once

if "PYTEST_XDIST_WORKER" in os.environ:
    compile_once()
else:
    cache_kernels()

# Compiling makes millions of objects that live for a while: looking for garbage among them less
# often saves a fourteenth of the time.
gc.set_threshold(50_000, 20, 20)


def pytest_xdist_auto_num_workers():
    """One worker more than cores, as some wait for what others compile; each may take 2 GB."""
    return min(os.cpu_count() or 1, 8) + 1
