"""What other parsers gain: the tables of docs/comparison.md and docs/integrations."""

from figures import number, rows, times, view

DECODING, CALLS = "earlier/integrations/decoding", "earlier/integrations/calls"
HEADER = ["its own decoder", "with this library", "times faster"]


@view("integrations/decoding")
def decoding():
    """Return decoding alone, of every tool."""
    return ["", *HEADER], [alone(row["tool"], row) for row in rows(DECODING)]


@view("integrations/both")
def both():
    """Return how many times faster decoding alone is, and the first whole call of each tool."""
    lines = []
    for row in rows(DECODING):
        [_, _, _, *gain] = next(map(call, rows(CALLS, tool=row["tool"])), 5 * ["not measured"])
        lines.append([row["tool"], times(row["times"]), *gain])
    return ["", "decoding alone", "a whole call", "what decoding took of that call before"], lines


@view("integrations/stanza")
def stanza():
    """Return the times of Stanza."""
    return one_tool("Stanza 1.15")


@view("integrations/stanza-trained")
def stanza_trained():
    """Return how many times as fast a call would be with the scores of a trained parser."""
    [decoder], [whole, _] = rows(DECODING, tool="Stanza 1.15"), rows(CALLS, tool="Stanza 1.15")
    return f"{(whole['ours'] + decoder['own'] - decoder['ours']) / whole['ours']:.1f} times"


@view("integrations/supar")
def supar():
    """Return the times of SuPar."""
    return one_tool("SuPar 1.1.4")


def one_tool(name):
    """Return decoding alone and whole calls of one tool."""
    lines = [[*alone("decoding alone", row), ""] for row in rows(DECODING, tool=name)]
    lines += map(call, rows(CALLS, tool=name))
    return ["", *HEADER, "what decoding took before"], lines


def alone(what, row):
    """Return the cells of decoding alone; the ratio is that of figures before rounding."""
    return [what, number(row["own"]), number(row["ours"]), times(row["times"])]


def call(row):
    """Return the cells of a whole call, and the share that decoding had: now next to nothing."""
    share = f"{100 * (1 - row['ours'] / row['own']):.0f} %"
    faster = times(row["own"] / row["ours"])
    return [row["call"], number(row["own"]), number(row["ours"]), faster, share]
