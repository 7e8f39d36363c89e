"""Pages with many drawings: 50 at a time, by kind, and with decisions that can be downloaded."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.drawing.svg import MARKED, STYLE, WIDTH, Marks, draw_svg

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from arborescence.drawing.text import Drawable

#: The width of the page's drawings, in pixels.
_WIDTH: Final = min(WIDTH, 1080)


class Picture(NamedTuple):
    """A tree of an entry of a page.

    Attributes
    ----------
    sentence : Drawable
        The tree.
    marks : Marks
        The words and edges with another colour.
    title : str
        The text above the tree.
    kind : str
        The colour of its marks: ``"right"``, ``"wrong"`` or ``""``.
    """

    sentence: Drawable
    marks: Marks = Marks()
    title: str = ""
    kind: str = ""


class GalleryEntry(NamedTuple):
    """An entry of a page.

    Attributes
    ----------
    text : str
        The first lines.
    pictures : collection of Picture
        The trees, one below the other.
    keys : collection of str
        The kinds of the entry, by which a reader can choose; without spaces.
    change : mapping or None
        The data that are downloaded if the reader accepts or rejects the entry.
    words : collection of int
        The words that are marked in the line of the sentence above the first tree; without words,
        the page has no line.
    """

    text: str
    pictures: Collection[Picture]
    keys: Collection[str] = ()
    change: Mapping[str, Any] | None = None
    words: Collection[int] = ()


def gallery(title: str, intro: Iterable[str], entries: Iterable[GalleryEntry]) -> Iterator[str]:
    """Write a page of entries, each with drawings that open on demand.

    Parameters
    ----------
    title, intro
        The title of the page, and the paragraphs below it.
    entries
        The entries, which are drawn one by one.

    Yields
    ------
    str
        The parts of a complete HTML file, with one script and nothing from elsewhere.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> entry = GalleryEntry("Birds", [Picture(Sentence.from_words(["Birds"], heads=[0]))])
    >>> page = "".join(gallery("Trees", ["All trees."], [entry]))
    >>> page.startswith("<!DOCTYPE html>"), page.count("<svg")
    (True, 1)
    """
    page = resources.files(__package__).joinpath("gallery.html").read_text("utf-8")
    page = page.replace("<!--title-->", escape(title)).replace("<!--style-->", STYLE + MARKED)
    page = page.replace("<!--intro-->", "".join(f"<p>{escape(line)}</p>\n" for line in intro))
    before, _, after = page.partition("<!--items-->")
    yield before
    for entry in entries:
        yield _written(entry)
    yield after


def _written(entry: GalleryEntry) -> str:
    """Write an entry as text that the page's script shows."""
    data = ""
    if entry.change is not None:
        change = json.dumps(entry.change, ensure_ascii=False)
        data = f' id="{escape(change)}" data-change="{escape(change)}"'
    keys = escape(" ".join(sorted(entry.keys)))
    lines = "".join(f"<p>{escape(line)}</p>" for line in entry.text.split("\n"))
    if entry.words:
        lines += f"<p>{_line_of(entry)}</p>"
    pictures = "".join(map(_drawn, entry.pictures))
    start = f'<script type="text/html" class="item" data-keys="{keys}"{data}>'
    noun = "tree" if len(entry.pictures) == 1 else "trees"
    return f"{start}{lines}<details><summary>{noun}</summary>{pictures}</details></script>\n"


def _line_of(entry: GalleryEntry) -> str:
    """Write the words of the first tree in a line, with some of them marked."""
    forms = enumerate(next(iter(entry.pictures)).sentence.forms, 1)
    return " ".join(
        f"<mark>{escape(form)}</mark>" if word in entry.words else escape(form)
        for word, form in forms
    )


def _drawn(picture: Picture) -> str:
    drawing = draw_svg(picture.sentence, marks=[picture.marks], width=_WIDTH)
    style = drawing.index("<style>"), drawing.index("</style>") + len("</style>\n")
    drawing = drawing[: style[0]] + drawing[style[1] :]  # the page has the style once
    caption = f"<figcaption>{escape(picture.title)}</figcaption>" if picture.title else ""
    return f'<figure class="{picture.kind}">{caption}<div>{drawing}</div></figure>'
