"""The kernels of rules that Python calls, and the types of their arguments."""

EXPORTS = {
    "crossings.find_faults": "int64[::1], int64[::1], int64[::1], bool, out int64[::1]",
}
