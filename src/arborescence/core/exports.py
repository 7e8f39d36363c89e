"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    # Scores as weights.
    "weights.lower": "float64[:, :, ::1], int64[::1], bool, float64[:, :, ::1], float64[::1]",
    "weights.normalize": (
        "float64[:, :, ::1], float64[:, :, ::1], float64[::1], float64[::1], int64[::1], bool"
    ),
}
