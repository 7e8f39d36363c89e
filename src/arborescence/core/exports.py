"""The kernels of the core that Python calls, and the types of their arguments."""

EXPORTS = {
    "tree.are_projective": "int64[:, ::1], bool[::1]",
    "tree.are_trees": "int64[:, ::1], bool, bool[::1]",
    "tree.projective_kernel": "int64[::1]",
    "tree.tree_kernel": "int64[::1], bool, int64[::1]",
}
