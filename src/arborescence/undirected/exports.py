"""The kernels of this family that Python calls, and the types of their arguments."""

EXPORTS = {
    "boruvka.boruvka": (
        "int64, out int32[::1], out int32[::1], out float64[::1], out int32[::1], out bool[::1]"
    ),
    "decode.undirected_kernel": (
        "float64[:, :, ::1], int64[::1], bool, int64, int64, bool, out int64[:, ::1], int64"
    ),
    "edges.find_unusable": "float64[:, ::1], float64",
    "edges.take_edges": (
        "int64, int64[::1], int64[::1], float64[::1], int64, out int32[::1], out int32[::1], "
        "out float64[::1], out int32[::1]"
    ),
    "encode.encode_kernel": "float64[:, ::1], int64, int64, int64, out float64[:, ::1]",
    "enhance.enhance_kernel": (
        "float64[:, ::1], out int64[::1], int64, int64, bool, out float64[::1], out int64[::1]"
    ),
    "kkt.kkt": (
        "int64, out int32[::1], out int32[::1], out float64[::1], out int32[::1], out bool[::1], "
        "out uint64[::1]"
    ),
    "kruskal.kruskal": (
        "int64, out int32[::1], out int32[::1], out float64[::1], out int32[::1], out bool[::1]"
    ),
    "orient.forest_kernel": "int64[::1], int64[::1], out int64[::1]",
    "orient.orient_kernel": "int64[::1], int64[::1], int64, out int64[::1]",
    "pairs.direct_kernel": (
        "int32[::1], int32[::1], float64[::1], float64[::1], int64[::1], bool, out int64[::1]"
    ),
    "pairs.encode_pairs": "float64[::1], float64[::1], int64, out float64[::1]",
    "pairs.enhance_listed": (
        "int32[::1], int32[::1], float64[::1], float64[::1], int32[::1], out int64[::1], int64, "
        "bool"
    ),
    "pairs.fill_slots": "int32[::1], int32[::1], out int32[::1]",
    "pairs.find_pairs": (
        "int64, int64[::1], int64[::1], float64[::1], int64, out int32[::1], out int32[::1], "
        "out float64[::1], out float64[::1]"
    ),
    "prim.prim": "int64, int32[::1], int32[::1], float64[::1], int32[::1], out bool[::1]",
    "prim.prim_dense": "float64[:, ::1], int64, out int64[::1]",
}
