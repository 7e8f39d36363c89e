"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "kernels.lstm_step": (
        "float32[:, ::1], float32[:, :, ::1], float32[:, ::1], int64[::1], int64, int64, "
        "out float32[:, :, ::1], out float32[:, :, ::1], out float32[:, ::1]"
    ),
    "kernels.rectify": "float32[:, ::1], int64, float64, int64[::1], out float32[:, ::1]",
    "kernels.score_pairs": (
        "float32[:, ::1], float32[:, ::1], float32[::1], int64, int64, out float32[:, ::1]"
    ),
    "kernels.score_relations": (
        "float32[:, :, ::1], int64[::1], float32[:, ::1], int64[::1], out float32[:, ::1]"
    ),
    "kernels.softmax": "out float32[:, ::1], int64[::1]",
    "kernels.spell": (
        "int64[:, ::1], float32[:, ::1], int64[::1], float32[::1], out float32[:, ::1]"
    ),
}
