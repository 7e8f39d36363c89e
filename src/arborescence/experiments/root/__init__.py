"""The tables and figures of *root*: trees with several roots, where nothing forbids them.

Zmigrod, Vieira and Cotterell (2020), *Please Mind the Root: Decoding Arborescences for Dependency
Parsing*, count the trees that are malformed when parsers decode without the root constraint, and
what the constraint does to accuracy.
"""

from arborescence.experiments.root.reproduce import reproduce

__all__ = ["reproduce"]
