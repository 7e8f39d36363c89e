"""The kernels of this family that Python calls, and the types of their arguments."""

_WORDS = "treebank.alignment._Words(uint8[::1], int64[:, ::1], int64[::1], int64[::1], bool[::1])"

EXPORTS = {
    "alignment._align": f"{_WORDS}, {_WORDS}, out int64[:, ::1], out int64[:, ::1]",
    "columns._count_trees": "int64[::1], int64[::1], out int64[::1]",
    "columns._tokens": (
        "uint8[::1], int64[:, ::1], int64[::1], int64[::1], out uint8[::1], out int64[::1], "
        "out int64[::1], out bool[::1]"
    ),
    "columns._distinct": (
        "uint8[::1], int64[::1], int64[::1], out int64[::1], out int64[::1], out int64[::1]"
    ),
    "scanner.scan": "uint8[::1], out int32[:, ::1], out int64[:, ::1]",
    "sentence._rewrite": (
        "uint8[::1], int64[::1], int64[::1], int32[:, ::1], bool[::1], uint8[::1], "
        "out uint8[::1], out int64[::1], out int32[:, ::1]"
    ),
    "sentence.read_head_vectors": (
        "uint8[::1], int32[:, ::1], int64[::1], out int64[::1]",
        "uint8[::1], int64[:, ::1], int64[::1], out int64[::1]",
    ),
}
