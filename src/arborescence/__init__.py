"""Dependency parsing with exact inference over spanning trees: the public names.

Each public name is imported on first use, so `import arborescence` takes almost no time.

>>> import numpy as np
>>> import arborescence as arb
>>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
>>> arb.decode(scores)
array([-1,  0,  1])
"""

from typing import TYPE_CHECKING

from arborescence.system.lazy import lazily
from arborescence.version import __version__ as __version__

if TYPE_CHECKING:
    from arborescence import drawing as drawing
    from arborescence import explaining as explaining
    from arborescence import integrations as integrations
    from arborescence import parsers as parsers
    from arborescence import rules as rules
    from arborescence import second_order as second_order
    from arborescence import torch as torch
    from arborescence import transitions as transitions
    from arborescence import treebank as treebank
    from arborescence import undirected as undirected
    from arborescence.compiling.ahead import warmup as warmup
    from arborescence.compiling.native import show_config as show_config
    from arborescence.core.budget import Budget as Budget
    from arborescence.core.tree import is_projective as is_projective
    from arborescence.core.tree import is_tree as is_tree
    from arborescence.core.tree import root_count as root_count
    from arborescence.core.tree import tree_weight as tree_weight
    from arborescence.distribution.arrays import TreeDistribution as TreeDistribution
    from arborescence.errors import ArborescenceError as ArborescenceError
    from arborescence.errors import ArborescenceWarning as ArborescenceWarning
    from arborescence.errors import MissingExtraError as MissingExtraError
    from arborescence.errors import ModelError as ModelError
    from arborescence.errors import NoTreeError as NoTreeError
    from arborescence.errors import OptionError as OptionError
    from arborescence.errors import ScoresError as ScoresError
    from arborescence.errors import StoppedError as StoppedError
    from arborescence.errors import TreebankError as TreebankError
    from arborescence.errors import TreeError as TreeError
    from arborescence.explaining.explanation import explain as explain
    from arborescence.inference.constraints import Constraints as Constraints
    from arborescence.inference.decode import decode as decode
    from arborescence.inference.decode import decode_labeled as decode_labeled
    from arborescence.inference.kbest import kbest as kbest
    from arborescence.inference.kbest import second_best as second_best
    from arborescence.inference.kbest import trees as trees
    from arborescence.inference.labeled import kbest_labeled as kbest_labeled
    from arborescence.inference.labeled import trees_labeled as trees_labeled
    from arborescence.inference.repairing import repair as repair
    from arborescence.inference.search import decode_where as decode_where
    from arborescence.inference.search import decode_where_labeled as decode_where_labeled
    from arborescence.inference.search import forbid as forbid
    from arborescence.inference.search import require as require
    from arborescence.inference.solver import decode_constrained as decode_constrained
    from arborescence.inference.solver import kbest_constrained as kbest_constrained
    from arborescence.inference.solver import solve as solve
    from arborescence.nonprojective.sparse import decode_sparse as decode_sparse
    from arborescence.parsers import load as load
    from arborescence.projective.pseudo import deprojectivize as deprojectivize
    from arborescence.projective.pseudo import projectivize as projectivize

__all__, __getattr__, __dir__ = lazily(__name__)
