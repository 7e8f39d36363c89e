"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "kernels.look_at_words": "uint64[:, ::1], int64[::1], out uint32[:, ::1]",
    "kernels.spell": "uint8[::1], int64[:, ::1], out uint64[:, ::1]",
    "kernels.tag_words": (
        "uint64[:, ::1], uint32[:, ::1], int64[::1], int64[::1], int64, int64[::1], uint64[::1], "
        "int64[::1], weight[::1], out sum[::1], out int64[::1], float64, out int64[:, ::1], "
        "out float32[:, ::1], int64[::1], out float32[:, ::1]"
    ),
}
