"""English by genre and by construction, for docs/models.md."""

from statistics import fmean

from figures import rows, view

#: The fewest cases of a construction in the table.
FEWEST = 20


def of_models(table, *keys):
    """Return the rows of a table of ``kinds.json``: for each key, the row of each model."""
    found = {}
    for row in rows(f"kinds/{table}"):
        found.setdefault(tuple(row[key] for key in keys), {})[row["model"]] = row
    return found


def header(table, *first):
    """Return a header with the models of a table."""
    models = dict.fromkeys(row["model"] for row in rows(f"kinds/{table}"))
    return [*first, *(f"`{model}`" for model in models)]


@view("kinds/genres")
def genres():
    """Return LAS from words and from raw text, of each genre, and means of both treebanks."""

    def both(some):
        return "/".join(
            f"{fmean(row[column] for row in some):.1f}" for column in ("LAS, words", "LAS, raw")
        )

    lines, of = [], {}
    for (treebank, genre), models in of_models("genres", "treebank", "genre").items():
        lines.append([f"{treebank}, {genre}", *(both([row]) for row in models.values())])
        for model, row in models.items():
            of.setdefault(treebank, {}).setdefault(model, []).append(row)
    for treebank, models in of.items():
        lines.append([f"{treebank}, mean", *map(both, models.values())])
    return header("genres", "LAS: words/raw"), lines


@view("kinds/constructions")
def constructions():
    """Return the share of cases that each model has right, in percent."""
    lines = []
    for (name,), models in of_models("constructions", "construction").items():
        cases = next(iter(models.values()))["cases"]
        if cases >= FEWEST:
            shares = (f"{row['right'] / cases:.0%}" for row in models.values())
            lines.append([name, cases, *shares])
    return header("constructions", "share right", "cases"), lines
