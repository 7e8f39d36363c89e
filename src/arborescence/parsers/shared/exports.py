"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "adagrad.spread": "uint8[::1], int8[::1], int8[::1]",
    "features.hash_batch": (
        "const uint8[::1], int64[::1], int32[:, ::1], int64[::1], uint64[:, ::1]"
    ),
    "features.hash_sides": (
        "uint64[:, ::1], int64[::1], uint64[::1], int64[:, :, ::1], uint64[:, ::1]"
    ),
    "features.number_tags": "uint64[:, ::1], uint64[::1], uint8[::1]",
    "hashing.hash_bytes": "const uint8[::1], int64, int64, bool",
    "hashing.hash_columns": "const uint8[::1], int32[:, ::1], uint64[:, ::1]",
    "relations.label_kernel": (
        (
            "int64[::1], uint64[:, ::1], uint8[::1], int64[:, ::1], int64[:, ::1], int8[:, ::1], "
            "bool[:, ::1], int64[:, ::1], int32[::1], int64[:, ::1]"
        ),
        (
            "int64[::1], uint64[:, ::1], uint8[::1], int64[:, ::1], int64[:, ::1], "
            "float32[:, ::1], bool[:, ::1], int64[:, ::1], float32[::1], int64[:, ::1]"
        ),
    ),
    "relations.update_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64, int64[:, ::1], int64[:, ::1], "
        "float32[:, ::1], bool[:, ::1], float32[:, ::1], int64[::1], int64[::1], float64, int64"
    ),
}
