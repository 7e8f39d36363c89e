"""The English models, for their cards and for docs/comparison.md."""

from figures import results, rows, view


def figures(model):
    """Return the rows of a model in ``english.json`` by what it read, and what else is known."""
    of_input = {row["input"]: row for row in rows("english/accuracy", model=model)}
    [whole] = rows("english/whole", model=model)
    return of_input, whole


def accuracy(model):
    """Return UPOS, UAS and LAS of a model from each input."""
    of_input, _ = figures(model)
    raw = of_input["raw text"]
    cut = ", ".join(f"{name} {raw[name]}" for name in ("sentences", "words", "lemmas"))
    inputs = {
        "gold tags": "English-EWT test, gold tags",
        "words only": "English-EWT test, words only",
        "raw text": f"English-EWT test, raw text: {cut}",
        "the 100 sentences": "the 100 sentences, words only",
    }
    lines = [
        [title, "–" if name == "gold tags" else of_input[name]["UPOS"]]
        + [of_input[name][column] for column in ("UAS", "LAS")]
        for name, title in inputs.items()
    ]
    return ["sentences and input", "UPOS", "UAS", "LAS"], lines


def groups(model):
    """Return the scores of a model on each kind of the hundred sentences."""
    columns = ("words", "UPOS", "UAS", "LAS")
    lines = [
        [row["group"], *(row[column] for column in columns)]
        for row in rows("english/groups", model=model)
    ]
    return ["", *columns], lines


def short(value):
    """Return a score with one digit after the point."""
    return f"{float(value):.1f}"


def thousands(speed):
    """Return a speed with two digits."""
    digits = 1000 if speed >= 10_000 else 100 if speed >= 1000 else 10
    return f"{round(speed / digits) * digits:,}"


def beside(model, other):
    """Return the most important figures of two models."""
    both = [figures(each) for each in (model, other)]
    lines = [
        ["English-EWT test, words only: UPOS, LAS"]
        + [", ".join(short(of["words only"][name]) for name in ("UPOS", "LAS")) for of, _ in both],
        ["English-EWT test, gold tags: LAS", *(short(of["gold tags"]["LAS"]) for of, _ in both)],
        ["English-EWT test, raw text: LAS", *(short(of["raw text"]["LAS"]) for of, _ in both)],
        ["of the 100 sentences, trees with every head right", *(each["right"] for _, each in both)],
        ["words a second of processor time, one core: words only"]
        + [thousands(each["words/s"]) for _, each in both],
        ["size", *(each["size"] for _, each in both)],
    ]
    return ["", f"`{model}`", f"`{other}`"], lines


@view("english/published")
def published():
    """Return the figures of our models, and the figures that authors of other parsers published."""
    content = results("earlier/published")["tables"]["english-ewt"]
    lines = []
    for row in content["rows"]:
        name = row[0].partition("`")[2].partition("`")[0]
        if name:
            of_input, whole = figures(name)
            inputs = ("raw text", "words only", "gold tags")
            row = [*row[:3], *(f"**{short(of_input[each]['LAS'])}**" for each in inputs)]
            row += [whole["size"], thousands(whole["words/s"]), f"[its card](models.md#{name})"]
        lines.append(row)
    return content["columns"], lines


for _model, _other in {
    "english": "english-fast",
    "english-fast": "english",
    "english-large": "english",
    "english-xl": "english",
}.items():
    view(f"english/{_model}")(lambda model=_model: accuracy(model))
    view(f"english/{_model}/groups")(lambda model=_model: groups(model))
    view(f"english/{_model}/beside")(lambda model=_model, other=_other: beside(model, other))
