"""What other parsers gain: the tables of docs/integrations.md."""

from figures import number, rows, times, view

DECODING, CALLS = "earlier/integrations/decoding", "earlier/integrations/calls"
HEADER = ["its own decoder", "with this library", "times faster"]


@view("integrations/decoding")
def decoding():
    """Return decoding alone, of every tool."""
    return ["", *HEADER], [alone(row["tool"], row) for row in rows(DECODING)]


@view("integrations/calls")
def calls():
    """Return the times of whole calls."""
    lines = [[row["tool"], *call(row)] for row in rows(CALLS)]
    return ["", "call", *HEADER, "share of decoding before"], lines


@view("integrations/stanza-trained")
def stanza_trained():
    """Return how many times as fast a call would be with the scores of a trained parser."""
    [decoder], [whole, _] = rows(DECODING, tool="Stanza 1.15"), rows(CALLS, tool="Stanza 1.15")
    return f"{(whole['ours'] + decoder['own'] - decoder['ours']) / whole['ours']:.1f} times"


def alone(what, row):
    """Return the cells of decoding alone; the ratio is that of figures before rounding."""
    return [what, number(row["own"]), number(row["ours"]), times(row["times"])]


def call(row):
    """Return the cells of a whole call, and the share that decoding had: now next to nothing."""
    share = f"{100 * (1 - row['ours'] / row['own']):.0f} %"
    faster = times(row["own"] / row["ours"])
    return [row["call"], number(row["own"]), number(row["ours"]), faster, share]
