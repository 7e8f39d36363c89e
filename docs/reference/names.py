"""A page for each public name: the reference's pages list the names, and link to them.

In the sources of the reference, a name is an item of a list, which leads to its file. The site has
a page for the name instead. ``python docs/reference/names.py`` writes the items again, each with
the first line of its docstring. mkdocs calls the functions `on_...` (it is a hook in mkdocs.yml).
"""

import os
import re
from pathlib import Path

NAME = re.compile(r"^- \[`(arborescence\w*\.\S+)`\]\(\S+\)(.*)$", re.MULTILINE)
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: Names whose pages show inherited members, too.
WITH_INHERITED = {
    "arborescence.TreeDistribution",
    "arborescence.torch.TreeDistribution",
    *(f"arborescence.parsers.{kind}Parser" for kind in (
        "", "Graph", "SecondOrder", "Transition", "Biaffine", "Combined",
    )),
    "arborescence.parsers.Reranker",
    "arborescence.parsers.Tagger",
}  # fmt: skip
PAGE = """---
title: {title}
---

::: {name}
    options:
      heading_level: 1
      inherited_members: {inherited}
      show_root_full_path: {full}
"""


def page_of(name):
    """Return the file of a name's page."""
    return f"{name.removeprefix('arborescence.')}.md"


def on_files(files, config):
    """Add a page for each name."""
    from mkdocs.structure.files import File

    for source in sorted(HERE.glob("*.md")):
        for name, _ in NAME.findall(source.read_text(encoding="utf-8")):
            page = PAGE.format(
                title=name.rsplit(".", 1)[-1],
                name=name,
                inherited=str(name in WITH_INHERITED).lower(),
                full=str(name.endswith(".reproduce")).lower(),
            )
            files.append(File.generated(config, f"reference/{page_of(name)}", content=page))
    return files


def on_page_markdown(markdown, page, **_):
    """Let each name in the reference's own pages lead to its page."""
    if page.file.src_uri.startswith("reference/") and page.file.generated_by is None:

        def link(found):
            name, said = found.groups()
            shown = name if name.endswith(".reproduce") else name.rsplit(".", 1)[-1]
            return f"- [`{shown}`]({page_of(name)}){said}"

        return NAME.sub(link, markdown)
    return markdown


def written(text, packages):
    """Return a page of the reference with the items of names as the docstrings have them.

    A line ``::: arborescence.decode`` becomes an item, too.
    """

    def item(found):
        name = found[1]
        package, _, path = name.partition(".")
        known = packages[package][path]
        docstring, file = known.docstring, os.path.relpath(known.filepath, HERE)
        said = f": {docstring.value.splitlines()[0]}" if docstring else ""
        return f"- [`{name}`]({Path(file).as_posix()}){said}"

    return NAME.sub(item, re.sub(r"^::: (\S+)$", r"- [`\1`](.)", text, flags=re.MULTILINE))


def load():
    """Read the docstrings of both packages."""
    import griffe

    paths = {"arborescence": ROOT / "src", "arborescence_papers": ROOT / "papers" / "src"}
    return {name: griffe.load(name, search_paths=[str(path)]) for name, path in paths.items()}


if __name__ == "__main__":
    packages = load()
    for page in sorted(HERE.glob("*.md")):
        page.write_text(written(page.read_text("utf-8"), packages), encoding="utf-8")
