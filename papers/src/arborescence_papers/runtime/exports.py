"""The kernels of this family that Python calls, and the types of their arguments."""

from arborescence.nonprojective.exports import BLOCKS

EXPORTS = {
    "decoders.greedy_pass": "float32[:, :, ::1], out int64[:, ::1]",
    "decoders.reweight": "float32[:, :, ::1], out float64[:, :, ::1]",
    "published.published_kernel": (
        f"{BLOCKS}, score[:, ::1], bool, bool, int64, int64, out int64[:, ::1], out float64[::1]"
    ),
}
