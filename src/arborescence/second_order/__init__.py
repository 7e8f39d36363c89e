"""Second-order parsing: edges, siblings and grandparents weigh (McDonald and Pereira 2006).

>>> import numpy as np
>>> from arborescence import second_order
>>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
>>> grandparents = np.zeros((3, 3, 3))
>>> grandparents[0, 2, 1] = 9.0  # the weight of 0 -> 2 -> 1 beside the scores of both edges
>>> decoding = second_order.decode(scores, grandparents=grandparents)
>>> decoding.heads, decoding.weight, decoding.exact
(array([-1,  2,  0]), 15.0, True)
"""

from arborescence.second_order.decoding import Decoding, decode
from arborescence.second_order.parts import tree_weight
from arborescence.second_order.sums import TreeSums, sum_trees

__all__ = ["Decoding", "TreeSums", "decode", "sum_trees", "tree_weight"]
