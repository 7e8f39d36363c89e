"""The kernels of this family that Python calls, and the types of their arguments."""

from arborescence.parsers.shared.exports import BATCH, LEARNED_RELATIONS, RELATIONS

#: `EdgeModel`, with weights as they are in a parser, or with those that training changes.
EDGES = (
    "parsers.linear.edges.EdgeModel(parsers.linear.edges.EdgeTemplates("
    "int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], bool), "
    "parsers.linear.edges.Layout(int64, int64, int64), weight[::1])"
)
LEARNED_EDGES = EDGES.replace("weight", "out float32")
#: `EdgeFilter`, likewise.
FILTER = (
    "parsers.linear.pruning.EdgeFilter(int64[:, ::1], int64[:, :, ::1], int8[:, ::1], "
    "int8[:, :, ::1], int64)"
)
LEARNED_FILTER = FILTER.replace("int8", "out float32")
#: `KeptEdges`.
KEPT = "parsers.linear.kept.KeptEdges(int64[::1], int64[::1], int64[::1], float32[::1])"

EXPORTS = {
    "edges.move_edges": (
        f"{BATCH}, {LEARNED_EDGES}, out float32[::1], float64[:, ::1], float64, float64, float64"
    ),
    "edges.score_edges": (f"{BATCH}, {EDGES}, out sum[:, :, ::1], out float32[::1], int64[::1]"),
    "edges.score_kept_edges": (
        f"{BATCH}, {EDGES}, out sum[:, :, ::1], int64[::1], int64[::1], out float32[::1]"
    ),
    "edges.update_edges": (
        f"{BATCH}, {LEARNED_EDGES}, out float32[::1], int64[::1], int64[::1], float64, float64, "
        "float64, int64"
    ),
    "joint.add_relations": (
        f"{BATCH}, {RELATIONS}, float64, int64[::1], int64[::1], out sum[::1], out float32[::1], "
        "int64[::1], out int16[::1]"
    ),
    "joint.difference": (
        f"{BATCH}, {RELATIONS.replace('weight', 'float32')}, int64[::1], int64[::1], "
        "int64[::1], int64[::1], out float64[::1]"
    ),
    "joint.update": (
        f"{BATCH}, {LEARNED_RELATIONS}, out float32[:, ::1], int64[::1], int64[::1], int64[::1], "
        "int64[::1], float64, int64"
    ),
    "joint.weigh_all_relations": (
        f"{BATCH}, {RELATIONS}, float64, int64[::1], out sum[::1], float32[:, ::1], "
        "out float32[:, :, ::1]"
    ),
    "kept.fill_kernel": f"{KEPT}, int64[::1], int64[::1], out float32[::1]",
    "pruning.keep_kernel": f"{BATCH}, {FILTER}, bool, int64, out int64[::1], out int64[::1]",
    "pruning.learn_kernel": (
        f"{BATCH}, {LEARNED_FILTER}, {LEARNED_FILTER}, int64[::1], int64[::1], int64"
    ),
    "pruning.margins_kernel": f"{BATCH}, {FILTER}, int64[::1], out int64[::1]",
}
