"""The kernels of the core that Python calls, and the types of their arguments."""

EXPORTS = {
    # Head vectors.
    "tree.are_projective": "int64[:, ::1], out bool[::1]",
    "tree.are_trees": "int64[:, ::1], bool, out bool[::1]",
    "tree.projective_kernel": "int64[::1]",
    "tree.tree_kernel": "int64[::1], bool, out int64[::1]",
    # Labeled scores.
    "labels.highest_labels": "score[:, ::1], out score[::1]",
    "labels.labels_of": "score[:, ::1], score[::1], int64[:, ::1], out int64[:, ::1]",
    # Scores as weights.
    "weights.lower": (
        "float64[:, :, ::1], int64[::1], bool, out float64[:, :, ::1], out float64[::1]"
    ),
    "weights.normalize": (
        "core.weights.Weights(out float64[:, :, ::1], out float64[:, :, ::1], out float64[::1], "
        "out float64[::1]), int64[::1], bool"
    ),
}
