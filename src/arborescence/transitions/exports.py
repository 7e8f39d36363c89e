"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "systems.advance": "int64, out int32[:, ::1], int64, int64",
    "systems.arc": "int64, int32[:, ::1], int64",
    "systems.begin": "int64, out int32[:, ::1]",
    "systems.costs": "int64, out int32[:, ::1], int64[::1], bool, out int32[::1]",
    "systems.legal": "int64, int32[:, ::1], bool",
    "systems.oracle": "int64, int32[:, ::1], int64[::1], int32[:, ::1]",
    "systems.prepare": "int64, int64[::1], out int32[:, ::1]",
}
