"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "decoders.greedy_pass": "float32[:, :, ::1], int64[:, ::1]",
    "decoders.reweight": "float32[:, :, ::1], float64[:, :, ::1]",
}
