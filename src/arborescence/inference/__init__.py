"""The best trees of either family: what callers use, over the kernels of each."""
