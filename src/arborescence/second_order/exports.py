"""The kernels of this family that Python calls, and the types of their arguments."""

_PARTS = "float64[:, ::1], float64[:, :, ::1], float64[:, :, ::1], bool"
_UNITS = "int64[:, ::1], int64[:, :, ::1], int64[:, :, ::1]"
_LISTED = "second_order.edges.Listed(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"

EXPORTS = {
    # Parts, and what they weigh.
    "parts.fill_ceilings": f"{_PARTS}, float64, out float64[:, :, ::1]",
    "parts.find_bad": _PARTS,
    "parts.find_nearer": "int64[::1], out int64[::1]",
    "parts.remove_hopeless": (
        "out float64[:, ::1], out float64[:, :, ::1], out float64[:, :, ::1], bool, float64, "
        "float64[:, :, ::1], float64"
    ),
    "parts.size_of_parts": f"{_PARTS}, float64",
    "units.fill_units": (
        f"{_PARTS}, int64, out int64[:, ::1], out int64[:, :, ::1], out int64[:, :, ::1]"
    ),
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
