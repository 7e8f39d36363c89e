"""The tables of *undirected*: four parsers with first-order features, over many treebanks.

Levi, Reichart and Rappoport (2016), *Edge-Linear First-Order Dependency Parsing with Undirected
Minimum Spanning Tree Inference*, compare a directed parser with three that look for an undirected
spanning tree first.
"""

from arborescence.experiments.undirected.reproduce import reproduce

__all__ = ["reproduce"]
