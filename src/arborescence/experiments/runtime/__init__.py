"""How long decoding takes: Table 1 of *kbest*, and the complexities that *root* claims.

Zmigrod, Vieira and Cotterell (2021), *On Finding the K-best Non-projective Dependency Trees*, time
their algorithm beside that of Camerini, Fratta and Maffioli (1980). Zmigrod, Vieira and Cotterell
(2020), *Please Mind the Root*, find the best tree with one root edge in O(n²), where n runs of an
unconstrained decoder take a factor n more.
"""

from arborescence.experiments.runtime.reproduce import reproduce

__all__ = ["reproduce"]
