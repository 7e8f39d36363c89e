"""GrapeTree's tree of genomes: distances of allelic profiles, and the lightest arborescence.

Zhou and others 2018, *GrapeTree: visualization of core genomic relationships among 100,000
bacterial pathogens* (MSTreeV2). Their package runs another program for this step, or NetworkX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.core.conversion import as_array
from arborescence.errors import ScoresError
from arborescence.inference.decode import decode

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def allelic_tree(profiles: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the lightest tree that derives each genome from another genome, exactly.

    The distance from h to d is the number of loci of d that h lacks, or where h has another allele,
    times the number of all loci, divided by the number of loci of d: so a complete genome is a more
    likely ancestor than a genome with gaps. Distances are rounded to whole numbers. Among equally
    light trees, the function prefers edges from genomes that are close to all genomes: with a low
    harmonic mean of distances. Unlike GrapeTree, it does not join almost equal genomes before this
    step, and does not move branches after it. O(S² L) time and O(S² + S L) memory.

    Parameters
    ----------
    profiles : (S, L) array of int
        The number of the allele of each of S genomes at each of L loci; 0 or less where an allele
        is missing.

    Returns
    -------
    heads : (S,) array of int64
        The genome that each genome derives from; -1 for the root.
    distances : (S,) array of float64
        The distance of each genome from its head, not rounded; 0 for the root.

    Raises
    ------
    ScoresError
        If `profiles` is not a matrix of whole numbers, or a genome has no locus at all.

    Examples
    --------
    >>> from arborescence.integrations.grapetree import allelic_tree
    >>> allelic_tree([[1, 1, 1, 2], [1, 1, 1, 1], [2, 1, 0, 1]])
    (array([ 1, -1,  1]), array([1.        , 0.        , 1.33333333]))
    """
    alleles, _ = as_array(profiles)
    if alleles.ndim != 2 or alleles.dtype.kind not in "iu":
        raise ScoresError(
            f"profiles must be an (S, L) matrix of whole numbers, not {alleles.dtype} of shape "
            f"{alleles.shape}"
        )
    present = alleles > 0
    if not present.any(axis=1).all():
        raise ScoresError(f"profiles[{present.any(axis=1).argmin()}] has no allele: leave it out")
    count, loci = alleles.shape
    distances = np.empty((count, count))
    for d, of_genome in enumerate(present):
        other = (alleles[:, of_genome] != alleles[d, of_genome]).sum(axis=1)
        distances[:, d] = other * (loci / of_genome.sum())
    means = count / (1 / (distances + 0.1)).sum(axis=1)
    rank = np.argsort(np.argsort(means, kind="stable"))
    scores = np.zeros((count + 1, count + 1))
    scores[1:, 1:] = -(np.round(distances) + rank[:, None] / max(count, 1))
    heads = decode(scores)[1:] - 1
    return heads, np.where(heads < 0, 0.0, distances[heads, np.arange(count)])
