"""Tables of papers/reports/rules.md."""

from figures import rows, table, view

BY_SIZE = "experiment-rules/by-size-of-the-treebank"
TREEBANKS = "experiment-rules/treebanks-linear"
GROUPS = {"all": "all", "low": "below 1,000", "medium": "1,000 to 1,500"}


def chosen(found, *columns):
    """Return some columns of rows."""
    return list(columns), [[row[name] for name in columns] for row in found]


@view("experiment-rules/effect")
def effect():
    """Return what rules do, by the number of sentences to learn from."""
    learned = "sentences to learn from"
    found = [row | {learned: GROUPS[row[learned]]} for row in rows(BY_SIZE)]
    las = ("LAS without rules", "LAS with rules", "gain", "worst", "best")
    return chosen(found, learned, "treebanks", "broken sentences, %", "broken afterwards", *las)


@view("experiment-rules/effort")
def effort():
    """Return what the search takes."""
    return chosen(
        rows(BY_SIZE, **{"sentences to learn from": "all"}),
        *("broken sentences", "certified", "trees decoded a sentence"),
        *("ms a sentence without rules", "ms with rules"),
    )


@view("experiment-rules/losers")
def losers():
    """Return how many treebanks gain and lose, and which lose most."""
    found = {
        row["treebank"]: float(row["gain"]) for row in rows("experiment-rules/treebanks-linear")
    }
    less = sorted((name for name in found if found[name] < 0), key=found.get)
    gained = sum(gain > 0 for gain in found.values())
    named = ", ".join(f"{name} ({found[name]:.2f})" for name in less)
    return f"{gained} gain, and {len(less)} lose: {named}."


@view("experiment-rules/limit")
def limit():
    """Return the part of the time that goes into treebanks where a search ends at its limit."""
    times = {row["treebank"]: float(row["seconds with"]) for row in rows(TREEBANKS)}
    ended = [row["treebank"] for row in rows(TREEBANKS) if row["certified"] != row["broken"]]
    part = sum(map(times.get, ended)) / sum(times.values())
    return f"{100 * part:.0f} % of the time with rules went into {', '.join(ended)}"


@view("experiment-rules/most-broken")
def most_broken():
    """Return the ten rules that are broken most often."""
    (_, _), found = table("experiment-rules/rules-by-how-often")
    return ["rule", "words that break it"], found[:10]


@view("experiment-rules/small")
def small():
    """Return what rules do for each kind of parser."""
    table_of_small = "experiment-rules-small/by-size-of-the-treebank"
    return chosen(
        rows(table_of_small, **{"sentences to learn from": "all"}),
        *("parser", "treebanks", "broken sentences, %", "LAS without rules", "LAS with rules"),
        *("worst", "best", "broken sentences", "certified", "broken afterwards"),
        *("ms a sentence without rules", "ms with rules"),
    )
