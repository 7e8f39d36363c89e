"""The kernels of this family that Python calls, and the types of their arguments."""

#: `Batch`: hashed sentences.
BATCH = (
    "parsers.shared.features.Batch(int64[::1], uint64[:, ::1], uint8[::1], bool[::1], bool[::1])"
)
RELATION_TEMPLATES = "parsers.shared.relations.RelationTemplates(int64[:, ::1], int64[:, ::1])"
#: `RelationModel`, with weights as they are in a parser, or with those that training changes.
RELATIONS = (
    f"parsers.shared.relations.RelationModel({RELATION_TEMPLATES}, weight[:, ::1], bool[:, ::1])"
)
LEARNED_RELATIONS = RELATIONS.replace("weight", "out float32")

EXPORTS = {
    "features.hash_sides": (
        "uint64[:, ::1], int64[::1], parsers.shared.features.Sides(uint64[::1], int64[:, :, ::1]), "
        "out uint64[:, ::1]"
    ),
    "features.hash_words": "uint8[::1], int64[::1], int32[:, ::1], int64[::1], out uint64[:, ::1]",
    "features.hash_bytes": "uint8[::1], int64, int64, bool",
    "relations.label_edges": (
        f"{BATCH}, {RELATIONS}, int64[:, ::1], out sum[::1], out int64[:, ::1]"
    ),
    "relations.weigh_relations": (
        f"{BATCH}, {RELATIONS}, float64, int64[::1], out sum[::1], out float32[:, ::1]"
    ),
    "relations.update_relations": (
        f"{BATCH}, {LEARNED_RELATIONS}, out float32[:, ::1], int64[::1], int64[::1], float64, int64"
    ),
}
