"""The table of docs/index.md: decoding as it was recorded, and parsing as others published it."""

from figures import rows, view


@view("front")
def front():
    """Return a line for each thing that is compared."""
    lines = [list(row.values()) for row in rows("earlier/index/decoding")]
    las = {row[""]: row["raw text"] for row in rows("earlier/published/english-ewt")}
    vectors = [las[system] for system in ("Stanza 1.0", "Stanza 1.3", "Stanza 1.5.1")]
    encoders = [las[system] for system in ("Trankit, base", "Trankit, large", "UDPipe 2")]
    ours = f"{las['**`english`** (neural)']}: 6.5 MB, NumPy alone, nothing read but the treebank"
    theirs = (
        f"{las['UDPipe 1.2']} (UDPipe 1), {min(vectors)} to {max(vectors)} (Stanza: word vectors, "
        f"or a character model), {min(encoders)} to {max(encoders)} (Trankit, UDPipe 2: encoders)"
    )
    lines.append(["LAS on English-EWT, from raw text", ours, theirs])
    return ["", "Arborescence", "others"], lines
