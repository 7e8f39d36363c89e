"""The kernels of this family that Python calls, and the types of their arguments."""

_KERNELS = "parsers.tagger.kernels"

EXPORTS = {
    "kernels.look_at_words": "uint64[:, ::1], int64[::1], out uint32[:, ::1]",
    "kernels.spell": "uint8[::1], int64[:, ::1], out uint64[:, ::1]",
    "kernels.tag_words": (
        f"{_KERNELS}.Spelled(uint64[:, ::1], uint32[:, ::1], int64[::1]), int64[::1], "
        f"int64[::1], {_KERNELS}.Choices(int64, uint64[::1], int64[::1]), weight[::1], "
        f"out sum[::1], out int64[::1], float64, {_KERNELS}.Guesses("
        "out int64[:, ::1], out float32[:, ::1]), int64[::1], out float32[:, ::1]"
    ),
}
