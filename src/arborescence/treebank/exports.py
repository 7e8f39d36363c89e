"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "alignment._align": (
        "const uint8[::1], int64[:, ::1], int64[::1], int64[::1], bool[::1], const uint8[::1], "
        "int64[:, ::1], int64[::1], int64[::1], bool[::1], int64[:, ::1], int64[:, ::1]"
    ),
    "annotating._write": (
        "const uint8[::1], int64[::1], int32[:, ::1], int64[::1], int64[::1], int64[::1], "
        "const uint8[::1], int64[::1], uint8[::1], int64[::1], int32[:, ::1]"
    ),
    "columns._count_trees": "int64[::1], int64[::1], int64[::1]",
    "columns._same": (
        "const uint8[::1], int64[:, ::1], int64[::1], const uint8[::1], int64[:, ::1], "
        "int64[::1], int64, bool[::1]"
    ),
    "columns._tokens": (
        "const uint8[::1], int64[:, ::1], int64[::1], int64[::1], uint8[::1], int64[::1], "
        "int64[::1], bool[::1]"
    ),
    "numbering._distinct": (
        "const uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1]"
    ),
    "scanner.scan": "const uint8[::1], int32[:, ::1], int64[:, ::1]",
    "sentence._rewrite": (
        "const uint8[::1], int32[:, ::1], bool[::1], const uint8[::1], uint8[::1], int32[:, ::1]"
    ),
    "sentence.read_head_vectors": (
        "const uint8[::1], int32[:, ::1], int64[::1], int64[::1]",
        "const uint8[::1], int64[:, ::1], int64[::1], int64[::1]",
    ),
}
