"""Kernels: Python functions that Numba compiles, at first use or ahead; knows nothing of trees."""
