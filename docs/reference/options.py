"""Tables of options and cards: what stands for them in the sources becomes them on the site.

A line with ``<!-- options: linear -->`` becomes the table of a kind of parsers, and a line with
nothing but a link to the card of a model becomes the card. Links of a card to its neighbours
become plain text, since the site has no page for them.

mkdocs calls `on_page_markdown` (it is a hook in mkdocs.yml).
"""

import re
from pathlib import Path

from arborescence.parsers.recipe import all_options

PLACE = re.compile(r"^.*<!-- options: (\S+) -->$", re.MULTILINE)


CARD = re.compile(r"^\[The card\]\(\.\./(models/\S+\.md)\)$", re.MULTILINE)
NEIGHBOUR = re.compile(r"\[([^]]+)\]\((?!https?:)[^)]+\)")
ROOT = Path(__file__).parents[2]


def on_page_markdown(markdown, **_):
    """Put each table and each card where its line is."""
    markdown = CARD.sub(lambda found: card(ROOT / found[1]), markdown)
    return PLACE.sub(lambda found: table(all_options(found[1]).values()), markdown)


def card(path):
    """Return the card of a model without its title."""
    return NEIGHBOUR.sub(r"\1", path.read_text(encoding="utf-8").split("\n", 2)[2])


def table(options):
    """Return the rows of a table: of each option its name, its values, its default, its help."""
    rows = ["| option | values | default | |", "| --- | --- | --- | --- |"]
    rows += [
        f"| `{each.name}` | {each.values.what} | {each.shown or repr(each.default)} | {each.help} |"
        for each in options
        if each.command
    ]
    return "\n".join(rows)
