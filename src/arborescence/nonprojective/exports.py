"""The kernels of this family that Python calls, and the types of their arguments."""

#: `Blocks`.
BLOCKS = (
    "nonprojective.parts.Blocks("
    "out int32[:, :, ::1], out int64[:, ::1], out float64[:, :, ::1], out float64[:, :, ::1], "
    "out int32[:, ::1], out score[:, :, ::1], out int32[:, ::1], out int64[:, ::1])"
)

EXPORTS = {
    # The best tree.
    "decode.decode_kernel": (
        "score[:, :, ::1], bool, int64[::1], bool, out int64[::1]",
        "score[:, :, :], bool, int64[::1], bool, out int64[::1]",
    ),
    "sparse_kernels.sparse_kernel": (
        "int64, int64[::1], int64[::1], float64[::1], bool, out int64[::1]"
    ),
    # The marginals of one word's heads.
    "heads.weigh_heads": "float64[:, ::1], int64, int64, out float64[::1]",
    "heads.weigh_roots": "float64[:, ::1], int64, out float64[::1]",
    # The k best trees.
    "kbest.kbest_kernel": (
        f"{BLOCKS}, "
        "score[:, :, ::1], bool, int64[::1], bool, int64, core.best_first.Lists("
        "out int64[:, :, ::1], out float64[:, ::1], out int64[::1])"
    ),
    # Draws.
    "sample.walk": (
        "float64[:, ::1], float64[:, ::1], float64[::1], int64, bool, int64[::1], out int64[:, ::1]"
    ),
}
