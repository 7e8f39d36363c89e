"""Other parsers and tools with the decoding of this library.

One line makes a parser decode exactly; another undoes it:

>>> from arborescence import integrations
>>> integrations.patch("stanza")  # doctest: +SKIP
>>> integrations.unpatch("stanza")  # doctest: +SKIP
>>> with integrations.patch("stanza"):  # doctest: +SKIP
...     document = pipeline("The letters she sent were lost.")
"""

from typing import TYPE_CHECKING

from arborescence.system.lazy import lazily

if TYPE_CHECKING:
    from arborescence.integrations.patching import TOOLS as TOOLS
    from arborescence.integrations.patching import Patched as Patched
    from arborescence.integrations.patching import patch as patch
    from arborescence.integrations.patching import unpatch as unpatch

__all__, __getattr__, __dir__ = lazily(__name__)
