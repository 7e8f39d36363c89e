"""The kernels of this family that Python calls, and the types of their arguments."""

_CHARACTERS = (
    "parsers.text.characters.Characters("
    "uint32[::1], uint8[::1], uint8[::1], int64[::1], int64[::1])"
)
_TEXTS = "parsers.text.candidates.Texts(uint8[::1], int64[::1], int64[:, ::1])"

EXPORTS = {
    "characters._lay_out": (
        "uint32[::1], uint8[::1], uint32[::1], parsers.text.characters.Characters("
        "out uint32[::1], out uint8[::1], out uint8[::1], out int64[::1], out int64[::1])"
    ),
    "multiwords.hash_neighbours": "uint64[:, ::1], out uint64[:, ::1]",
    "rewriting.choose": (
        f"int64[::1], int64[:, ::1], {_TEXTS}, int64[:, ::1], int64[:, ::1], uint64[:, ::1], "
        "weight[::1], out int64[:, ::1], out float32[:, ::1]"
    ),
    "sentences.end": (
        "uint64[:, ::1], weight[::1], out float64[::1], bool[::1], out float32[:, ::1]"
    ),
    "sentences.spell": f"{_CHARACTERS}, int64[::1], int64[::1], out uint64[:, ::1]",
    "words.cut": (
        f"{_CHARACTERS}, bool, weight[::1], out bool[::1], bool[::1], out float32[:, ::1]"
    ),
}
