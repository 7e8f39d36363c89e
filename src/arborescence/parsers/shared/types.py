"""What parsers are trained by and for: the choices that have names, as types.

The command line takes them as they are, so nothing is imported here that takes time.
"""

from __future__ import annotations

from typing import Literal

#: The kinds of parsers that one treebank trains: graph-based, and transition-based.
Kind = Literal["linear", "transition"]
#: What a graph-based parser is trained by: see `LinearParser.train`.
Loss = Literal["mira", "perceptron", "tree", "head"]
#: What trees a parser is for: any, those without crossing edges, or any by way of those.
Projective = bool | Literal["pseudo"]
#: How a parser finds the tree: the best one, or one by way of an undirected tree.
Inference = Literal["exact", "undirected"]
#: Whether the features of an edge know which of its two words is the head.
Features = Literal["directed", "undirected"]
#: The transitions that build a tree.
System = Literal["arc-standard", "arc-eager", "arc-hybrid", "swap"]
#: What a transition-based parser learns from: the one way to the gold tree, or the best way on
#: from anywhere.
Oracle = Literal["static", "dynamic"]
