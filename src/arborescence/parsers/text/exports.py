"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "characters._lay_out": (
        "const uint32[::1], uint8[::1], uint32[::1], uint32[::1], uint8[::1], uint8[::1], "
        "int64[::1], int64[::1]"
    ),
    "multiwords.hash_neighbours": "uint64[:, ::1], int64[::1], uint64[:, ::1]",
    "rewriting.choose": (
        (
            "int64[::1], uint64[:, ::1], uint64[:, ::1], uint64[:, ::1], int64[::1], int8[::1], "
            "int64[::1], int64[::1], float32[::1]"
        ),
        (
            "int64[::1], uint64[:, ::1], uint64[:, ::1], uint64[:, ::1], int64[::1], "
            "float32[::1], int64[::1], int64[::1], float32[::1]"
        ),
    ),
    "sentences.end": (
        "uint64[:, ::1], int8[::1], float64[::1], bool[::1], bool[::1], float32[::1]",
        "uint64[:, ::1], float32[::1], float64[::1], bool[::1], bool[::1], float32[::1]",
    ),
    "sentences.spell": (
        "uint32[::1], uint8[::1], uint8[::1], int64[::1], int64[::1], uint64[:, ::1]"
    ),
    "words.cut": (
        (
            "uint32[::1], uint8[::1], uint8[::1], int64[::1], int64[::1], bool, int8[::1], "
            "bool[::1], bool[::1], float32[::1]"
        ),
        (
            "uint32[::1], uint8[::1], uint8[::1], int64[::1], int64[::1], bool, float32[::1], "
            "bool[::1], bool[::1], float32[::1]"
        ),
    ),
}
