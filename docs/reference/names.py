"""A page for each public name: the reference's pages list the names, and link to them.

mkdocs calls the functions `on_...` (it is a hook in mkdocs.yml). In the sources of the reference, a
line ``::: arborescence.decode`` stands for a name.
"""

import re
from pathlib import Path

import griffe

NAME = re.compile(r"^::: arborescence\.(\S+)$", re.MULTILINE)
HERE = Path(__file__).parent
PAGE = """---
title: {title}
---

::: arborescence.{name}
    options:
      heading_level: 1
"""


def on_files(files, config):
    """Add a page for each name."""
    from mkdocs.structure.files import File

    for source in sorted(HERE.glob("*.md")):
        for name in NAME.findall(source.read_text(encoding="utf-8")):
            page = PAGE.format(title=name.rsplit(".", 1)[-1], name=name)
            files.append(File.generated(config, f"reference/{name}.md", content=page))
    return files


def on_pre_build(config):
    """Read the docstrings once."""
    config.extra["names"] = griffe.load("arborescence", search_paths=[str(HERE.parents[1] / "src")])


def on_page_markdown(markdown, page, config, **_):
    """Make each name in the reference's own pages a link, with the first line of its docstring."""
    if page.file.src_uri.startswith("reference/") and page.file.generated_by is None:

        def link(found):
            name = found[1]
            docstring = config.extra["names"][name].docstring
            said = f": {docstring.value.splitlines()[0]}" if docstring else ""
            return f"- [`{name.rsplit('.', 1)[-1]}`]({name}.md){said}"

        return NAME.sub(link, markdown)
    return markdown
