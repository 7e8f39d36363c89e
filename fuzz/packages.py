"""Hostile treebanks and models in `package`: refused in a line, or values that are text only."""

from __future__ import annotations

import os
import shlex
import shutil
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

import small_treebanks
from arborescence import treebank
from arborescence.parsers import load, packaging
from cases import Case, WrongError, examine
from command import refused_or_done
from damage import damaged
from treebanks import model

SECRET = "what nobody else may read"
PIECES = [
    '"', "'", '"""', "'''", "\\", "`", "```", "$(touch run)", "; touch run; ", "#", "\n", "\r",
    "[x](http://evil.example)", "<script>", "<!--", "|", "{0}", "{name}", "%s", "../", "/", "=",
    '"\nx = "', "\x1b[31m", "\u202e", "\u2028", "\x7f", "é", "e\u0301", "𝕏", "Bird", "CC BY-SA 4.0",
    "www.evil.example", "\n```\n# x\n", "import os", "\udc80", "*", "_", "~~", "&lt;", ":", "@",
]  # fmt: skip
FIELDS = ("License", "Contributors", "Genre", "Summary", "")
README = "=== Machine-readable metadata ===\nLicense: CC BY-SA 4.0\nContributors: Bird, Old\n"


def attack(rng):
    for _ in range(10):
        yield from examine(pack, Case((), {"seed": int(rng.integers(2**31))}))


def text_of(rng, most=5):
    """Return a text of hostile pieces."""
    return "".join(str(rng.choice(PIECES)) for _ in range(int(rng.integers(1, most))))


@cache
def hostile_markup():
    """Return what finds markup in Markdown; None without the package markdown-it-py."""
    with suppress(ImportError):
        from markdown_it import MarkdownIt

        return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return None


def folder_of(rng):
    """Make the folder of a treebank in which something is not as it should be."""
    folder = Path("UD_Old_Bird-Nest")
    if rng.random() < 0.4:
        with suppress(OSError, ValueError):
            named = Path(f"UD_{text_of(rng)}-Nest".replace("/", ""))
            named.mkdir()
            folder = named
    folder.mkdir(exist_ok=True)
    treebank.write(small_treebanks.sentences(), folder / "test.conllu")
    said = README
    for _ in range(int(rng.integers(4))):
        said += f"{rng.choice(FIELDS)}: {text_of(rng, 9)}\n"
    data = said.encode("utf-8", "surrogateescape")
    data = damaged(rng, data) if rng.random() < 0.3 else data
    (folder / "README.md").write_bytes(data)
    (folder / "LICENSE.txt").write_text("Share alike.", encoding="utf-8")
    if rng.random() < 0.3:
        name = str(rng.choice(["README.md", "LICENSE.txt", "test.conllu", "dev.conllu"]))
        (folder / name).unlink(missing_ok=True)
        way = int(rng.integers(4))
        if way == 3:
            os.mkfifo(folder / name)
        else:
            (folder / name).symlink_to((Path("secret").resolve(), "../secret", name)[way])
    return folder


def pack(case):
    """Package a model; check what is there then."""
    rng = np.random.default_rng(case.options["seed"])
    Path("secret").write_text(f"License: MIT\nGenre: {SECRET}\n", encoding="utf-8")
    for place in ("made", "run", *Path().glob("UD_*")):
        shutil.rmtree(place, ignore_errors=True)
    folder = folder_of(rng)
    parser = load(model())
    if rng.random() < 0.5:
        keys = ["bits", "columns", "loss", text_of(rng)]
        values = [text_of(rng), [text_of(rng), 3], {"a": text_of(rng)}, None, 10**400, True]
        parser.info[str(rng.choice(keys))] = values[int(rng.integers(len(values)))]
    parser.save("some.npz")
    licence = ["--licence", text_of(rng)] if rng.random() < 0.2 else []
    given = ("some.npz", "--name", "bd", "--treebank", folder, "-o", "made", "--no-wheel")
    status, _ = refused_or_done("package", *given, *licence)
    made = Path("made")
    if Path("run").exists():
        raise WrongError("a command was run", folder)
    if status:
        if made.exists():
            raise WrongError("a package that is not whole", folder)
        return
    check(made)


def check(made):
    """Check that a package has our code, a project file of our keys, and a card without markup."""
    for file in made.rglob("*"):
        if file.is_symlink() or (file.is_file() and SECRET.encode() in file.read_bytes()):
            raise WrongError("a file of another folder is in the package", file)
    code = (made / "src" / "arborescence_bd" / "__init__.py").read_text(encoding="utf-8")
    if code != packaging._MODULE:
        raise WrongError("other code", code)
    project = tomllib.loads((made / "pyproject.toml").read_text(encoding="utf-8"))
    points = project["project"]["entry-points"]
    if set(project) != {"build-system", "project", "tool"} or points != {
        "arborescence.models": {"bd": "arborescence_bd:bd"}
    }:
        raise WrongError("another project file", project)
    card = (made / "README.md").read_text(encoding="utf-8")
    [line] = [line for line in card.splitlines() if line.startswith("$ arborescence train")]
    shlex.split(line)
    if not (reader := hostile_markup()):
        return
    tokens = reader.parse(card)
    inline = [each for token in tokens for each in token.children or ()]
    kinds = {each.type for each in (*tokens, *inline)}
    if kinds & {"html_inline", "html_block", "image"}:
        raise WrongError("markup in the card", card)
    links = [each.attrs["href"] for each in inline if each.type == "link_open"]
    ours = "https://github.com/UniversalDependencies/"
    if len(links) != 1 or not links[0].startswith(ours):
        raise WrongError("a link in the card", links)
