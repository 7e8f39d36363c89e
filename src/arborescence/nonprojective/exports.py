"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    # Draws.
    "sample.walk": (
        "float64[:, ::1], float64[:, ::1], float64[::1], int64, bool, int64[::1], int64[:, ::1]"
    ),
}
