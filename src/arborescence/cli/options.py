"""Options that several commands have in common."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Root(StrEnum):
    """How many words may have the root as their head."""

    single = "single"
    multi = "multi"


class Inference(StrEnum):
    """How a tree is found: the best of all, or one by way of an undirected tree."""

    exact = "exact"
    undirected = "undirected"


class System(StrEnum):
    """By what transitions a transition-based parser builds a tree."""

    arc_standard = "arc-standard"
    arc_eager = "arc-eager"
    arc_hybrid = "arc-hybrid"
    swap = "swap"


def hush(wanted: bool) -> bool:
    """Silence the note that kernels are being compiled, too."""
    if wanted:
        os.environ["ARBORESCENCE_QUIET"] = "1"
    return wanted


RootOption = Annotated[
    Root, typer.Option(help="Exactly one word hangs from the root, or one or more.")
]
ThreadsOption = Annotated[int, typer.Option(min=1, help="How many threads to use.")]
KBestOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=10**6, metavar="K", help="Find the K best trees of each sentence, not one."
    ),
]
SvgOption = Annotated[Path | None, typer.Option(help="Draw the trees into this SVG file.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", callback=hush, help="Say nothing but what goes wrong.")
]
SkipOption = Annotated[
    bool, typer.Option("--skip-invalid", help="Leave broken sentences out, and count them.")
]
