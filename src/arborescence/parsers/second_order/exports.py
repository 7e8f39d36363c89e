"""The kernels of this family that Python calls, and the types of their arguments."""

from arborescence.parsers.linear.exports import KEPT
from arborescence.parsers.shared.exports import BATCH

_TEMPLATES = "parsers.second_order.parts.PartTemplates(int64[:, ::1], int64[:, ::1])"
_MODEL = f"parsers.second_order.parts.PartModel({_TEMPLATES}, weight[:, ::1])"
_LISTED = (
    "second_order.edges.Listed(int64[::1], out int64[::1], out float64[::1], out float64[::1], "
    "out float64[::1])"
)

EXPORTS = {
    "parts.list_kernel": f"{BATCH}, {_TEMPLATES}, int64, int64[::1], out int64[::1]",
    "parts.score_list_kernel": (
        f"{BATCH}, {KEPT}, {_MODEL}, float64, bool, int64[:, ::1], {_LISTED}"
    ),
    "parts.score_kernel": (
        f"{BATCH}, int64, {_MODEL}, float64, float64[:, ::1], out float64[:, :, ::1], "
        "out float64[:, :, ::1]"
    ),
}
