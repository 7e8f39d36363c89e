"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    # The best tree.
    "decode.eisner_kernel": "float64[:, :, ::1], int64[::1], bool, out int64[:, ::1]",
    "decode.sum_sizes": "float64[:, ::1], int64",
    # Exact weights.
    "exact_chart.unit_of_scores": "float64[:, ::1], int64",
    "exact_chart.fill_exact_chart": (
        "float64[:, ::1], int64, bool, int64, out int64[:, :, ::1], out int64[:, :, ::1], "
        "out int64[:, :, :, ::1]"
    ),
    "exact_chart.fill_gaps": (
        "int64, int64[:, :, ::1], int64[:, :, :, ::1], int64, bool, out float64[:, :, :, ::1]"
    ),
    # The k best trees.
    "kbest.find_projective": (
        "projective.kbest.Derivations(out int64[:, ::1], out int64[:, ::1], out int64[::1], "
        "out int64[::1], out int64[::1], out int64[::1]), projective.exact_chart.ExactChart("
        "int64, int64[:, :, ::1], int64[:, :, ::1], int64[:, :, :, ::1]), bool, "
        "int64, out int64[:, ::1], out float64[::1]"
    ),
    # Draws.
    "sums.draw_down": (
        "float64[:, ::1], int64, bool, float64[:, :, :, ::1], int64[::1], out int64[:, ::1]"
    ),
    "sums.sum_projective": (
        "float64[:, ::1], int64, bool, float64[:, :, :, ::1], out float64[:, ::1]"
    ),
    # Trees with crossing edges.
    "pseudo.lift_kernel": "out int64[::1]",
}
