"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "parts.list_kernel": (
        "int64[::1], uint64[:, ::1], int64[:, ::1], int64[:, ::1], int64, int64[::1], int64[::1]"
    ),
    "parts.count_kernel": ("int64[::1], int64[::1], int64[::1], bool, int64[::1], int64[:, ::1]"),
    "parts.score_list_kernel": tuple(
        "int64[::1], int64[::1], int64[::1], float32[::1], uint64[:, ::1], int64[:, ::1], "
        f"int64[:, ::1], {weights}[:, ::1], float64, bool, int64[:, ::1], int64[::1], int64[::1], "
        "float64[::1], float64[::1], float64[::1]"
        for weights in ("int8", "float32")
    ),
    "parts.score_kernel": (
        (
            "int64[::1], uint64[:, ::1], int64, int64[:, ::1], int64[:, ::1], int8[:, ::1], "
            "float64, float64[:, ::1], float64[:, :, ::1], float64[:, :, ::1]"
        ),
        (
            "int64[::1], uint64[:, ::1], int64, int64[:, ::1], int64[:, ::1], float32[:, ::1], "
            "float64, float64[:, ::1], float64[:, :, ::1], float64[:, :, ::1]"
        ),
    ),
}
