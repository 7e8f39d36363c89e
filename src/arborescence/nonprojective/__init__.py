"""Non-projective trees (directed spanning trees): 1-best, k-best, sums and samples."""
