"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "partition.partition": (
        "core.weights.Weights(out float64[:, :, ::1], float64[:, :, ::1], float64[::1], "
        "float64[::1]), int64[::1], bool, bool, distribution.partition.Sums(out float64[::1], "
        "out float64[::1], out float64[::1], out float64[:, :, ::1]), float64[:, :, :, ::1]"
    ),
    "partition.derivatives": (
        "float64[:, :, ::1], float64[:, :, ::1], int64[::1], bool, bool, float64[:, :, ::1], "
        "out float64[:, :, ::1], float64[:, :, :, ::1]"
    ),
    "partition.weigh": (
        "int64[:, :, ::1], float64[:, :, ::1], float64[:, :, ::1], int64[::1], bool, bool, "
        "out float64[:, ::1]"
    ),
}
