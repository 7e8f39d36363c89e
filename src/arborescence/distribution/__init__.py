"""Distributions over the trees of a sentence: log-partition, marginals, samples."""
