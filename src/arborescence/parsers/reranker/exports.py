"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "features.score_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[::1], int32[::1], uint64[::1], "
        "float64[::1], int64[:, ::1], int64[::1], uint64[::1], int64[:, :, ::1], int64[:, ::1], "
        "float32[::1], out int64[:, ::1], out int64[:, ::1], out uint64[:, ::1], "
        "out uint64[:, ::1], out int32[:, ::1], out int32[:, ::1], out float32[::1], "
        "out float64[::1]"
    ),
    "lists._hash_spans": "uint8[::1], int64[::1], out uint64[::1]",
    "lists.hash_relations": "uint8[::1], int64[:, ::1], out uint64[:, ::1]",
    "training.learn_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[::1], int32[::1], uint64[::1], "
        "float64[::1], int64[:, ::1], int64[::1], uint64[::1], int64[:, :, ::1], int64[:, ::1], "
        "int64[::1], float64, out float32[::1], out float32[::1], out float32[::1], "
        "out int32[::1], out float64[::1], out int64[:, ::1], out int64[:, ::1], "
        "out uint64[:, ::1], out uint64[:, ::1], out int32[:, ::1], out int32[:, ::1], "
        "out float32[::1]"
    ),
}
