"""The tables of *undirected*: four first-order parsers, on many treebanks.

Levi, Reichart and Rappoport (2016), *Edge-Linear First-Order Dependency Parsing with Undirected
Minimum Spanning Tree Inference*, compare a directed parser with three parsers that first find an
undirected spanning tree.
"""

from arborescence_papers.undirected.reproduce import reproduce

__all__ = ["reproduce"]
