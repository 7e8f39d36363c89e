"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "decoders.greedy_pass": "float32[:, :, ::1], int64[:, ::1]",
    "decoders.reweight": "float32[:, :, ::1], float64[:, :, ::1]",
    "published.published_kernel": (
        "int32[:, :, ::1], int64[:, ::1], float64[:, :, ::1], float64[:, :, ::1], int32[:, ::1], "
        "score[:, :, ::1], int32[:, ::1], int64[:, ::1], score[:, ::1], bool, bool, int64, int64, "
        "int64[:, ::1], float64[::1]"
    ),
}
