"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "beam.learn_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64, int64, bool, int64, "
        "int64[:, ::1], int64[:, ::1], uint64[::1], int64[:, ::1], int64, int64[::1], int64, "
        "out float32[:, ::1], int64[:, ::1], int64[:, ::1], out float32[:, ::1], bool[:, ::1], "
        "out float32[:, ::1], out float32[:, ::1], out int64[::1], out uint64[::1], "
        "out int64[::1], out int64[::1], out int64[::1], out float32[::1], out float32[::1], "
        "out float64[::1], out int64[::1], out int64[::1], out bool[::1], int64[::1], int64[::1], "
        "bool"
    ),
    "beam.parse_kernel": (
        (
            "int64[::1], uint64[:, ::1], uint8[::1], int64, bool, int64, int64[:, ::1], "
            "int64[:, ::1], uint64[::1], int64[:, ::1], int64, int64[::1], int64, int8[:, ::1], "
            "int64[:, ::1], int64[:, ::1], int8[:, ::1], bool[:, ::1], out int64[::1], "
            "out uint64[::1], out int64[::1], out int64[::1], out int64[::1], out int64[::1], "
            "out int32[::1], out int64[::1], out int64[::1], out int64[::1], out bool[::1], "
            "out int64[:, ::1], out int64[:, ::1], out float64[:, ::1], out int64[:, ::1], "
            "out int64[:, ::1]"
        ),
        (
            "int64[::1], uint64[:, ::1], uint8[::1], int64, bool, int64, int64[:, ::1], "
            "int64[:, ::1], uint64[::1], int64[:, ::1], int64, int64[::1], int64, float32[:, ::1], "
            "int64[:, ::1], int64[:, ::1], float32[:, ::1], bool[:, ::1], out int64[::1], "
            "out uint64[::1], out int64[::1], out int64[::1], out int64[::1], out float32[::1], "
            "out float32[::1], out float64[::1], out int64[::1], out int64[::1], out bool[::1], "
            "out int64[:, ::1], out int64[:, ::1], out float64[:, ::1], out int64[:, ::1], "
            "out int64[:, ::1]"
        ),
    ),
    "beam.trace_back": "int64[:, ::1], int64[:, ::1], int64, int64, out int64[::1]",
    "greedy.learn_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64, int64, bool, int64, "
        "int64[:, ::1], int64[:, ::1], uint64[::1], int64[:, ::1], int64, int64[::1], int64, "
        "out float32[:, ::1], int64[:, ::1], int64[:, ::1], out float32[:, ::1], bool[:, ::1], "
        "out float32[:, ::1], out float32[:, ::1], out int64[::1], out uint64[::1], "
        "out int64[::1], out int64[::1], out int64[::1], out float32[::1], out float32[::1], "
        "int64[::1], int64[::1], bool, float64, float64[::1]"
    ),
    "greedy.parse_kernel": (
        (
            "int64[::1], uint64[:, ::1], uint8[::1], int64, bool, int64, int64[:, ::1], "
            "int64[:, ::1], uint64[::1], int64[:, ::1], int64, int64[::1], int64, int8[:, ::1], "
            "int64[:, ::1], int64[:, ::1], int8[:, ::1], bool[:, ::1], out int64[::1], "
            "out uint64[::1], out int64[::1], out int64[::1], out int64[::1], out int64[::1], "
            "out int32[::1], out int64[::1], out int64[::1], out float64[::1], out int64[::1]"
        ),
        (
            "int64[::1], uint64[:, ::1], uint8[::1], int64, bool, int64, int64[:, ::1], "
            "int64[:, ::1], uint64[::1], int64[:, ::1], int64, int64[::1], int64, float32[:, ::1], "
            "int64[:, ::1], int64[:, ::1], float32[:, ::1], bool[:, ::1], out int64[::1], "
            "out uint64[::1], out int64[::1], out int64[::1], out int64[::1], out float32[::1], "
            "out float32[::1], out int64[::1], out int64[::1], out float64[::1], out int64[::1]"
        ),
    ),
}
