"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "features.score_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[::1], int32[::1], uint64[::1], "
        "float64[::1], int64[:, ::1], int64[::1], uint64[::1], int64[:, :, ::1], int64[:, ::1], "
        "float32[::1], int64[:, ::1], int64[:, ::1], uint64[:, ::1], uint64[:, ::1], "
        "int32[:, ::1], int32[:, ::1], float32[::1], float64[::1]"
    ),
    "lists._hash_spans": "const uint8[::1], int64[::1], uint64[::1]",
    "lists.hash_relations": "const uint8[::1], int64[:, ::1], uint64[:, ::1]",
    "training.learn_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[::1], int32[::1], uint64[::1], "
        "float64[::1], int64[:, ::1], int64[::1], uint64[::1], int64[:, :, ::1], int64[:, ::1], "
        "int64[::1], float64, float32[::1], float32[::1], float32[::1], int32[::1], float64[::1], "
        "int64[:, ::1], int64[:, ::1], uint64[:, ::1], uint64[:, ::1], int32[:, ::1], "
        "int32[:, ::1], float32[::1]"
    ),
}
