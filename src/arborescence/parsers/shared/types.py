"""Types of the named options of training, and of its progress."""
# No slow imports: the command line's

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

#: The kinds of parsers that the experiments train, by their names in model files.
AnyKind = Literal["linear", "transition", "biaffine"]
#: The loss of a linear graph-based parser.
Loss = Literal["mira", "perceptron", "tree", "head"]
#: The loss of a neural parser.
NeuralLoss = Literal["head", "tree", "margin"]
#: The loss of any of them: each kind of parser refuses those that it does not have.
AnyLoss = Literal["mira", "perceptron", "tree", "head", "margin"]
#: How a neural parser scores an edge: by a biaffine form, or by an MLP over pairs of words.
Scorer = Literal["biaffine", "mlp"]
#: How the weights of a neural parser are rounded in its file.
Precision = Literal["int8", "float16"]
#: The trees of a parser: all, projective ones, or all by pseudo-projective parsing.
Projective = bool | Literal["pseudo"]
#: How a parser decodes: the best tree exactly, or approximately through an undirected tree.
Inference = Literal["exact", "undirected"]
#: Whether the features of an edge depend on which of its two words is the head.
Features = Literal["directed", "undirected"]
#: The transition systems.
System = Literal["arc-standard", "arc-eager", "arc-hybrid", "swap"]
#: The oracle of a transition-based parser: one derivation of the gold tree, or the best transitions
#: in every state.
Oracle = Literal["static", "dynamic"]
#: What inference takes time: for the best tree, the k best trees, or the probability of each edge.
Effort = Literal["best", "kbest", "marginals"]
#: How the doubt of a parser about a sentence is measured: see `arborescence.parsers.ranking.rank`.
Doubt = Literal["loss", "entropy", "margin"]
#: Called as ``progress(phase, done, total)``.
Progress = Callable[[str, int, int], None]
