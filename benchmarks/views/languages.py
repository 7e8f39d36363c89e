"""The small models of other languages than English, for models/README.md."""

from figures import rows, view
from views.english import thousands


@view("languages/small")
def small():
    """Return LAS from raw text of each small model beside `multi` and UDPipe 1."""
    published = {row["treebank"]: row["UDPipe 1"] for row in rows("earlier/published/languages")}
    lines = []
    for row in rows("languages/las"):
        if row["model"] != row["language"]:
            continue
        [multi] = rows("languages/las", language=row["language"], model="multi")
        las = (f"{float(each):.1f}" for each in (row["raw text"], multi["raw text"]))
        speeds = (thousands(each["words/s"]) for each in (row, multi))
        package = f"[`arborescence-{row['model']}`]({row['model']}/README.md)"
        treebank = row["treebank"]
        lines.append(
            [package, treebank, row["size"], *las, published.get(treebank) or "–", *speeds]
        )
    return [
        "package", "test part of", "size", "LAS", "LAS, `multi`", "LAS, UDPipe 1", "words/s",
        "words/s, `multi`",
    ], lines  # fmt: skip
