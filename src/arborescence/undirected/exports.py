"""The kernels of this family that Python calls, and the types of their arguments."""

_EDGES = "undirected.edges.Edges(int32[::1], int32[::1], float64[::1], int32[::1])"
_OUT_EDGES = _EDGES.replace("int32", "out int32").replace("float64", "out float64")

EXPORTS = {
    "boruvka.boruvka": f"int64, {_OUT_EDGES}, out bool[::1]",
    "decoding.undirected_kernel": (
        "float64[:, :, ::1], int64[::1], bool, int64, int64, bool, out int64[:, ::1], int64"
    ),
    "edges.take_edges": f"int64, int64[::1], int64[::1], float64[::1], int64, {_OUT_EDGES}",
    "encoding.encode_kernel": "float64[:, ::1], int64, int64, int64, out float64[:, ::1]",
    "enhancement.enhance_kernel": (
        "float64[:, ::1], out int64[::1], int64, int64, bool, out float64[::1], out int64[::1]"
    ),
    "kkt.kkt": f"int64, {_OUT_EDGES}, out bool[::1], out uint64[::1]",
    "kruskal.kruskal": f"int64, {_OUT_EDGES}, out bool[::1]",
    "orientation.forest_kernel": "int64[::1], int64[::1], out int64[::1]",
    "orientation.orient_kernel": "int64[::1], int64[::1], int64, out int64[::1]",
    "sparse.direct_kernel": (
        "int32[::1], int32[::1], float64[::1], float64[::1], int64[::1], bool, out int64[::1]"
    ),
    "sparse.encode_pairs": "float64[::1], float64[::1], int64, out float64[::1]",
    "sparse.enhance_listed": (
        "int32[::1], int32[::1], float64[::1], float64[::1], int32[::1], out int64[::1], int64, "
        "bool"
    ),
    "sparse.fill_slots": "int32[::1], int32[::1], out int32[::1]",
    "sparse.find_pairs": (
        "int64, int64[::1], int64[::1], float64[::1], int64, out int32[::1], out int32[::1], "
        "out float64[::1], out float64[::1]"
    ),
    "prim.prim": f"int64, {_EDGES}, out bool[::1]",
    "prim.prim_dense": "float64[:, ::1], int64, out int64[::1]",
}
