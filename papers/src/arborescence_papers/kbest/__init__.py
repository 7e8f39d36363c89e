"""Figure 1 and Appendix A of *kbest*: malformed trees among the k best trees; and oracle accuracy.

Zmigrod, Vieira and Cotterell (2021), *On Finding the K-best Non-projective Dependency Trees*,
count how many of the k best arborescences have more than one edge from the root.
"""

from arborescence_papers.kbest.reproduce import reproduce

__all__ = ["reproduce"]
