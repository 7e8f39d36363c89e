"""The kernels of this family that Python calls, and the types of their arguments."""

_UNITS = "int64[:, ::1], int64[:, :, ::1], int64[:, :, ::1]"
_LISTED = "second_order.edges.Listed(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"

EXPORTS = {
    "parts.find_nearer": "int64[::1], out int64[::1]",
    # Projective trees.
    "projective.fill_spans": f"{_UNITS}, bool, out int64[:, :, :, ::1]",
    "projective.read_spans": f"{_UNITS}, int64[:, :, :, ::1], out int64[:, ::1], out int64[::1]",
    "sums.share_outside": (
        "float64[:, ::1], float64[:, :, ::1], bool, float64[:, :, ::1], out float64[:, ::1]"
    ),
    "sums.sum_inside": "float64[:, ::1], float64[:, :, ::1], bool, out float64[:, :, ::1]",
    # All trees.
    "edges.count_parts": "int64[:, ::1], bool, bool, out int64[::1]",
    "edges.list_parts": (f"{_UNITS}, bool, " + _LISTED.replace(", int64", ", out int64")),
    "dual.solve": (
        f"int64[:, ::1], {_LISTED}, bool, int64, int64[:, ::1], int64, out int64[::1], "
        "out int64[:, ::1], out int64[:, ::1]"
    ),
    "units.list_units": (
        "int64[:, ::1], int64[::1], float64[::1], float64[::1], float64[::1], out int64[::1], "
        "out int64[::1], out int64[::1], out int64[:, ::1]"
    ),
}
