"""Minimum spanning trees of undirected graphs, and parsing with them (Levi et al. 2016).

>>> import numpy as np
>>> from arborescence.undirected import spanning_tree
>>> u, v = np.array([0, 0, 1, 1, 2]), np.array([1, 2, 2, 3, 3])
>>> spanning_tree(4, u, v, np.array([2.0, 7.0, 4.0, 1.0, 3.0]))
array([1, 2, 4])
"""

from arborescence.undirected.decoding import decode
from arborescence.undirected.encoding import encode, orient
from arborescence.undirected.enhancement import enhance
from arborescence.undirected.spanning_trees import spanning_tree
from arborescence.undirected.sparse import decode_sparse, encode_sparse, enhance_sparse

__all__ = [
    "decode",
    "decode_sparse",
    "encode",
    "encode_sparse",
    "enhance",
    "enhance_sparse",
    "orient",
    "spanning_tree",
]
