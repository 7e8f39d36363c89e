"""The tables of options: a line ``<!-- options: linear -->`` in a page stands for that of a kind.

mkdocs calls `on_page_markdown` (it is a hook in mkdocs.yml).
"""

import re

from arborescence.parsers.recipe import all_options

PLACE = re.compile(r"^<!-- options: (\S+) -->$", re.MULTILINE)


def on_page_markdown(markdown, **_):
    """Put each table where its line is."""
    return PLACE.sub(lambda found: table(all_options(found[1]).values()), markdown)


def table(options):
    """Return the rows of a table: of each option its name, its values, its default, its help."""
    rows = ["| option | values | default | |", "| --- | --- | --- | --- |"]
    rows += [
        f"| `{each.name}` | {each.values.what} | {each.shown or repr(each.default)} | {each.help} |"
        for each in options
        if each.command
    ]
    return "\n".join(rows)
