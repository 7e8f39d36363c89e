"""``arborescence models``: the models that are installed."""

from __future__ import annotations

from importlib import resources

from arborescence.cli.progress import note, say


def models() -> None:
    """List the models that are installed: name, size, and whose they are.

    Any distribution can bring some. `arborescence train` makes model files, which need not be
    installed.

    Examples
    --------
    arborescence models
    arborescence parse -m english-fast --format text letter.txt
    """
    from arborescence.parsers.registry import file_of, installed

    for name, point in installed().items():
        with resources.as_file(file_of(point)) as path:
            size = path.stat().st_size / 1e6
        whose = licence = "unknown"
        if point.dist:
            whose = f"{point.dist.name} {point.dist.version}"
            told = point.dist.metadata.get_all("License-Expression") or ()
            licence = next(iter(told), licence)
        say(f"{name}  {size:.1f} MB  {whose}  licence: {licence}")
    if not installed():
        note("none is installed; for English, pip install arborescence-en")
