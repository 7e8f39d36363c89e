"""Undirected spanning trees, and parsing through them.

>>> import numpy as np
>>> from arborescence.undirected import spanning_tree
>>> u, v = np.array([0, 0, 1, 1, 2]), np.array([1, 2, 2, 3, 3])
>>> spanning_tree(4, u, v, np.array([2.0, 7.0, 4.0, 1.0, 3.0]))
array([1, 2, 4])
"""

from typing import TYPE_CHECKING

from arborescence._lazy import lazily

if TYPE_CHECKING:
    from arborescence.undirected.directing import orient as orient
    from arborescence.undirected.encoding import encode as encode
    from arborescence.undirected.enhancing import enhance as enhance
    from arborescence.undirected.spanning import spanning_tree as spanning_tree

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "arborescence.undirected.directing": ("orient",),
        "arborescence.undirected.encoding": ("encode",),
        "arborescence.undirected.enhancing": ("enhance",),
        "arborescence.undirected.spanning": ("spanning_tree",),
    },
)
