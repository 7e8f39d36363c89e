"""`arborescence warmup`: compile the kernels ahead."""

from __future__ import annotations

from arborescence.cli.options import QuietOption
from arborescence.cli.progress import note, steps


def warmup(quiet: QuietOption = False) -> None:
    """Compile every kernel ahead, once for all later runs.

    Examples
    --------
    arborescence warmup
    arborescence warmup --quiet && arborescence demo
    """
    from arborescence.compiling import native
    from arborescence.compiling.ahead import warmup as compile_all

    if native.KERNELS is not None:
        note(f"nothing to compile: the kernels are {native.WHAT_RUNS}", quiet=quiet)
        return
    with steps(quiet=quiet) as step:
        compile_all(progress=step)
