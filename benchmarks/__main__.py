"""All benchmarks, one after the other: ``python benchmarks``."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import decoding
import distributions
import evaluating
import growth
import kbest
import neural
import parsing
import sparse
import undirected

decoding.main()
growth.main()
kbest.main()
distributions.main()
parsing.main()
neural.main()
evaluating.main()
sparse.main()
undirected.main()
