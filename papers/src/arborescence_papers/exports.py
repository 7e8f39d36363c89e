"""The kernels beside this file that Python calls, and the types of their arguments."""

EXPORTS = {
    "bilexical_cky.bilexical_kernel": (
        "float64[:, :, ::1], bool, out float64[:, :, ::1], out int64[:, ::1], out int64[:, ::1]"
    ),
}
