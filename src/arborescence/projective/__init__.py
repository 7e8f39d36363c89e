"""Projective trees (no crossing edges): 1-best, k-best, sums, samples, projectivization."""
