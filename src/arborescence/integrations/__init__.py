"""The tools that people already use: other parsers with the decoding of this library.

One line makes a parser decode exactly; another undoes it:

>>> from arborescence import integrations
>>> integrations.install("stanza")  # doctest: +SKIP
>>> integrations.uninstall("stanza")  # doctest: +SKIP
>>> with integrations.install("stanza"):  # doctest: +SKIP
...     document = pipeline("The letters she sent were lost.")

Each tool is one module of this package, named after it.
"""

from typing import TYPE_CHECKING

from arborescence.core.lazy import lazily

if TYPE_CHECKING:
    from arborescence.integrations.patching import TOOLS as TOOLS
    from arborescence.integrations.patching import Installed as Installed
    from arborescence.integrations.patching import install as install
    from arborescence.integrations.patching import uninstall as uninstall

__all__, __getattr__, __dir__ = lazily(
    __name__, {"arborescence.integrations.patching": ("TOOLS", "Installed", "install", "uninstall")}
)
