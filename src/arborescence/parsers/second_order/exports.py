"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "parts.list_kernel": (
        "int64[::1], uint64[:, ::1], int64[:, ::1], int64[:, ::1], int64, int64[::1], "
        "out int64[::1]"
    ),
    "parts.count_kernel": (
        "int64[::1], int64[::1], int64[::1], bool, out int64[::1], out int64[:, ::1]"
    ),
    "parts.score_list_kernel": (
        "int64[::1], int64[::1], int64[::1], float32[::1], uint64[:, ::1], int64[:, ::1], "
        "int64[:, ::1], weight[:, ::1], float64, bool, int64[:, ::1], int64[::1], out int64[::1], "
        "out float64[::1], out float64[::1], out float64[::1]"
    ),
    "parts.score_kernel": (
        "int64[::1], uint64[:, ::1], int64, int64[:, ::1], int64[:, ::1], weight[:, ::1], float64, "
        "float64[:, ::1], out float64[:, :, ::1], out float64[:, :, ::1]"
    ),
}
