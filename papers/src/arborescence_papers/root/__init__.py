"""The tables and figures of *root*: trees with several root edges in unconstrained decoding.

Zmigrod, Vieira and Cotterell (2020), *Please Mind the Root: Decoding Arborescences for Dependency
Parsing*, count the malformed trees of parsers that decode without the root constraint, and measure
the effect of the constraint on accuracy.
"""

from arborescence_papers.root.reproduce import reproduce

__all__ = ["reproduce"]
