"""The kernels of this family that Python calls, and the types of their arguments."""

from arborescence.parsers.shared.exports import BATCH, RELATIONS

#: `Scorer`, with weights as they are in a parser, or with those that training changes.
SCORER = (
    f"parsers.transition.scoring.Scorer({BATCH}, parsers.transition.scoring.Model("
    "int64, bool, int64, parsers.transition.features.StateTemplates("
    "int64[:, ::1], int64[:, ::1], uint64[::1], int64[:, ::1], int64, int64[::1]), "
    f"int64, weight[:, ::1], {RELATIONS}, parsers.transition.scoring.Masks("
    "bool[:, :, ::1], int64[::1], int64[::1])), parsers.transition.scoring.Scratch("
    "out int64[::1], out uint64[::1], out int64[::1], out int64[::1], out int64[::1], "
    "out sum[::1], out sum[::1]))"
)
LEARNED_SCORER = SCORER.replace("weight[", "out float32[").replace("sum[", "float32[")
LEARNER = (
    f"parsers.transition.learning.Learner({LEARNED_SCORER}, out float32[:, ::1], "
    "out float32[:, ::1], int64[::1], int64[::1], bool)"
)
AGENDA = (
    "parsers.transition.beam.Agenda(out float64[::1], out int64[::1], out int64[::1], "
    "out float64[::1])"
)
TRAIL = "parsers.transition.beam.Trail(int64[:, ::1], int64[:, ::1])"

EXPORTS = {
    "beam.parse": (
        f"{SCORER}, {AGENDA}, out int64[:, ::1], out int64[:, ::1], out float64[:, ::1], "
        + TRAIL.replace("int64", "out int64")
    ),
    "beam.trace_back": f"{TRAIL}, int64, int64, out int64[::1]",
    "learning.learn_greedily": f"{LEARNER}, int64[::1], int64, float64, float64[::1]",
    "learning.learn_with_beam": f"{LEARNER}, int64[::1], int64, {AGENDA}",
}
