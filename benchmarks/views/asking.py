"""What choosing words by doubt gains, and which errors are found, for docs/confidence.md."""

from figures import rows, view


@view("asking/gains")
def gains():
    """Return LAS with words chosen by doubt, and at random."""
    found = {}
    for row in rows("asking/curves", what="words"):
        found.setdefault(row["treebank"], {})[row["by"]] = float(row["2000"])
    return ", ".join(
        f"{las['loss']:.1f} instead of {las['random']:.1f} in {name}" for name, las in found.items()
    )


@view("auditing/first")
def first():
    """Return how many of the first 100 words listed are errors that were planted."""
    found = rows("auditing/found", evidence="all")
    return ", ".join(f"{row['P@100']:.0%} in {row['treebank']}" for row in found)
