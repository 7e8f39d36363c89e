"""Inference step by step: each algorithm as printed, slow and simple, as a list of states."""

from arborescence.explaining.cky import Grammar, Production
from arborescence.explaining.constrained import explain_constrained
from arborescence.explaining.explanation import explain
from arborescence.explaining.steps import Detail, Edge, Node, Step, as_json

__all__ = [
    "Detail",
    "Edge",
    "Grammar",
    "Node",
    "Production",
    "Step",
    "as_json",
    "explain",
    "explain_constrained",
]
