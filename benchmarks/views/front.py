"""The table of docs/index.md: decoding as it was measured, and parsing as others published it."""

from figures import number, rows, view
from views.english import published


@view("front")
def front():
    """Return a line for each thing that is compared."""
    [batch] = rows("decoding/batches", scores="model-like", type="float32", n=25)
    [call] = rows("decoding/calls", n=25)
    [lists] = rows("authors/fifty best trees", graphs="model-like, all weights above 0")
    wrong = {row["decoder"]: row["wrong trees"] + row["errors"] for row in rows("decoding/wrong")}
    ufal, stanza = (number(call[name]) for name in ("ufal.chu-liu-edmonds", "stanza"))
    others = f"{ufal} µs (`ufal.chu-liu-edmonds`, no root constraint), {stanza} µs (Stanza)"
    ours = f"**{number(batch['single'])} µs**"
    lines = [
        ["time to decode a sentence of 25 words, in a batch", ours, others],
        [
            "wrong trees in 150 graphs with masked edges",
            f"**{wrong['arborescence']}**",
            f"{wrong['stanza']} (Stanza), {wrong['reweighted']} (reweighting in double precision)",
        ],
        [
            "the 50 best trees of 25 words",
            f"**{lists['arborescence']:.2f} ms**",
            (
                f"{lists['rycolab/spanningtrees']:.0f} ms "
                "(rycolab/spanningtrees, the authors' library)"
            ),
        ],
    ]
    columns, parsers = published()
    las, sizes = (
        {row[0]: row[columns.index(name)] for row in parsers}
        for name in ("raw text", "size of the model")
    )
    vectors = [las[system] for system in ("Stanza 1.0", "Stanza 1.3", "Stanza 1.5.1")]
    encoders = [las[system] for system in ("Trankit, base", "Trankit, large", "UDPipe 2")]
    ours = "**`english`** (neural)"
    ours = f"{las[ours]}: {sizes[ours]}, NumPy alone"
    theirs = (
        f"{las['UDPipe 1.2']} (UDPipe 1), {min(vectors)} to {max(vectors)} (Stanza: word vectors, "
        f"or a character model), {min(encoders)} to {max(encoders)} (Trankit, UDPipe 2: encoders)"
    )
    lines.append(["LAS on English-EWT, from raw text", ours, theirs])
    return ["", "Arborescence", "others"], lines
