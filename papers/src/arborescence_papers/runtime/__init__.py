"""Decoding times: Table 1 of *kbest*, and the complexity claims of *root*.

Zmigrod, Vieira and Cotterell (2021), *On Finding the K-best Non-projective Dependency Trees*,
compare the time of their algorithm with that of Camerini, Fratta and Maffioli (1980). Zmigrod,
Vieira and Cotterell (2020), *Please Mind the Root*, find the best tree with one root edge in O(n²);
n runs of an unconstrained decoder take n times as long.
"""

from arborescence_papers.runtime.reproduce import reproduce

__all__ = ["reproduce"]
