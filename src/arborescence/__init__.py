"""Dependency parsing with exact inference over spanning trees.

Every public name is loaded on first use, so that `import arborescence` costs next to nothing.

>>> import numpy as np
>>> import arborescence as arb
>>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
>>> arb.decode(scores)
array([-1,  0,  1])
"""

from typing import TYPE_CHECKING

from arborescence._lazy import lazily

if TYPE_CHECKING:
    from arborescence._warmup import warmup as warmup
    from arborescence.distribution import TreeDistribution as TreeDistribution
    from arborescence.errors import ArborescenceError as ArborescenceError
    from arborescence.errors import MissingExtraError as MissingExtraError
    from arborescence.errors import ModelError as ModelError
    from arborescence.errors import NoTreeError as NoTreeError
    from arborescence.errors import OptionError as OptionError
    from arborescence.errors import ScoresError as ScoresError
    from arborescence.errors import TreebankError as TreebankError
    from arborescence.errors import TreeError as TreeError
    from arborescence.graph import forbid as forbid
    from arborescence.graph import require as require
    from arborescence.inference.decode import decode as decode
    from arborescence.inference.decode import decode_labeled as decode_labeled
    from arborescence.inference.kbest import kbest as kbest
    from arborescence.inference.kbest import second_best as second_best
    from arborescence.inference.kbest import trees as trees
    from arborescence.inference.labeled import kbest_labeled as kbest_labeled
    from arborescence.inference.labeled import trees_labeled as trees_labeled
    from arborescence.inference.search import best_where as best_where
    from arborescence.inference.search import best_where_labeled as best_where_labeled
    from arborescence.inference.sparse import decode_sparse as decode_sparse
    from arborescence.parsers import load as load
    from arborescence.projective.lifting import deprojectivize as deprojectivize
    from arborescence.projective.lifting import projectivize as projectivize
    from arborescence.tree import is_projective as is_projective
    from arborescence.tree import is_tree as is_tree
    from arborescence.tree import root_count as root_count
    from arborescence.tree import tree_weight as tree_weight

__version__ = "0.1.0"

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "arborescence._warmup": ("warmup",),
        "arborescence.distribution": ("TreeDistribution",),
        "arborescence.errors": (
            "ArborescenceError",
            "MissingExtraError",
            "ModelError",
            "NoTreeError",
            "OptionError",
            "ScoresError",
            "TreeError",
            "TreebankError",
        ),
        "arborescence.graph": ("forbid", "require"),
        "arborescence.inference.decode": ("decode", "decode_labeled"),
        "arborescence.inference.kbest": ("kbest", "second_best", "trees"),
        "arborescence.inference.labeled": ("kbest_labeled", "trees_labeled"),
        "arborescence.inference.search": ("best_where", "best_where_labeled"),
        "arborescence.inference.sparse": ("decode_sparse",),
        "arborescence.parsers": ("load",),
        "arborescence.projective.lifting": ("deprojectivize", "projectivize"),
        "arborescence.tree": ("is_projective", "is_tree", "root_count", "tree_weight"),
    },
)
