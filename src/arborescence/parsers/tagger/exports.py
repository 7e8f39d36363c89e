"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "kernels.look_at_words": "uint64[:, ::1], int64[::1], uint32[:, ::1]",
    "kernels.spell": "const uint8[::1], int64[:, ::1], uint64[:, ::1]",
    "kernels.tag_words": (
        (
            "uint64[:, ::1], uint32[:, ::1], int64[::1], int64[::1], int64, int64[::1], "
            "uint64[::1], int64[::1], int8[::1], int32[::1], int64[::1], float64, int64[:, ::1], "
            "float32[:, ::1], int64[::1], float32[::1]"
        ),
        (
            "uint64[:, ::1], uint32[:, ::1], int64[::1], int64[::1], int64, int64[::1], "
            "uint64[::1], int64[::1], float32[::1], float32[::1], int64[::1], float64, "
            "int64[:, ::1], float32[:, ::1], int64[::1], float32[::1]"
        ),
    ),
}
