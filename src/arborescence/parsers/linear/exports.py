"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "edges.move_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[:, ::1], int64[:, ::1], "
        "int64[:, ::1], bool, int64, int64, int64, out float32[::1], out float32[::1], "
        "float64[:, ::1], float64, float64, float64, out int64[::1]"
    ),
    "edges.score_kept_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[:, ::1], int64[:, ::1], "
        "int64[:, ::1], bool, int64, int64, int64, weight[::1], out sum[:, :, ::1], int64[::1], "
        "int64[::1], out float32[::1]"
    ),
    "edges.score_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[:, ::1], int64[:, ::1], "
        "int64[:, ::1], bool, int64, int64, int64, weight[::1], out sum[:, :, ::1], out sum[::1], "
        "out float32[::1], int64[::1]"
    ),
    "edges.update_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64, int64[::1], int64[:, ::1], int64[:, ::1], "
        "int64[:, ::1], bool, int64, int64, int64, out float32[::1], out float32[::1], int64[::1], "
        "int64[:, ::1], float64[::1], float64[:, ::1], float64, int64, out int64[::1], "
        "out float32[::1]"
    ),
    "joint.add_all_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[:, ::1], int64[:, ::1], weight[:, ::1], "
        "bool[:, ::1], float64, out sum[::1], out float32[:, :, ::1]"
    ),
    "joint.add_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[:, ::1], int64[:, ::1], weight[:, ::1], "
        "bool[:, ::1], float64, int64[::1], int64[::1], out sum[::1], out float32[::1], "
        "int64[::1], out int16[::1]"
    ),
    "joint.difference_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[:, ::1], int64[:, ::1], float32[:, ::1], "
        "bool[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64[:, ::1], out float64[::1], "
        "out float64[:, ::1]"
    ),
    "joint.update_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[:, ::1], int64[:, ::1], "
        "out float32[:, ::1], bool[:, ::1], out float32[:, ::1], int64[::1], int64[::1], "
        "int64[::1], int64[::1], float64, int64"
    ),
    "kept.fill_kernel": (
        "int64[::1], int64[::1], int64[::1], float32[::1], int64[::1], int64[::1], out float32[::1]"
    ),
    "pruning.keep_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[:, :, ::1], int8[:, ::1], "
        "int8[:, :, ::1], int64, bool, int64, out int64[::1], out int64[::1]"
    ),
    "pruning.learn_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[:, :, ::1], "
        "out float32[:, ::1], out float32[:, :, ::1], int64, out float32[:, ::1], "
        "out float32[:, :, ::1], int64[::1], int64[::1], int64"
    ),
    "pruning.margins_kernel": (
        "int64[::1], uint64[:, ::1], uint8[::1], int64[::1], int64[:, :, ::1], int8[:, ::1], "
        "int8[:, :, ::1], int64, int64[::1], out int64[::1]"
    ),
}
