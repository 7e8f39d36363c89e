"""The kernels of this family that Python calls, and the types of their arguments."""

from arborescence.parsers.shared.exports import BATCH, RELATION_TEMPLATES

#: Sentences, their k-best lists, and the templates of features.
_LISTS = (
    f"{BATCH}, parsers.reranker.lists.Lists("
    "int64[::1], int64[::1], int32[::1], uint64[::1], float64[::1], int64[:, ::1]), "
    f"parsers.reranker.features.TreeTemplates({RELATION_TEMPLATES}, int64[:, ::1])"
)
_WORKSPACE = (
    "parsers.reranker.features.Workspace(out int64[:, ::1], out int64[:, ::1], "
    "out uint64[:, ::1], out uint64[:, ::1], out int32[:, ::1], out int32[:, ::1], "
    "out float32[::1])"
)

EXPORTS = {
    "features.score_lists": f"{_LISTS}, float32[::1], {_WORKSPACE}, out float64[::1]",
    "lists.hash_relations": "uint8[::1], int64[:, ::1], out uint64[:, ::1]",
    "training.learn_lists": (f"{_LISTS}, int64[::1], float64, out float32[:, ::1], {_WORKSPACE}"),
}
