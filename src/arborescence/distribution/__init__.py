"""Distributions over the trees of a sentence: sums, marginals and draws, in NumPy and PyTorch."""
