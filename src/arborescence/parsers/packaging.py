"""Trained models as a package that anybody can install, with a card that says what they are.

The package has no code but a function for each model, which returns its file; `registry` finds it
by its entry points.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.errors import MissingExtraError, OptionError, TreebankError
from arborescence.parsers import registry
from arborescence.parsers.recipe import all_options, parts_of
from arborescence.parsers.shared.given import untagged
from arborescence.treebank.conllu import read
from arborescence.treebank.evaluation import evaluate
from arborescence.treebank.spaces import raw_text
from arborescence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence

    Name = str | os.PathLike[str]

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
#: A field of what each treebank of UD says at the end of its README.
_FIELD: Final = re.compile(r"^(\w[\w ]*):[ \t]*(.+?)\s*$", re.MULTILINE)
#: SPDX has other names for these licences of treebanks.
_SPDX: Final = {
    "LGPL-LR": "LGPLLR",
    "GNU GPL 2.0": "GPL-2.0-only",
    "GNU GPL 3.0": "GPL-3.0-only",
    "PD": "CC0-1.0",
}
_TRAINED: Final = {"biaffine": "neural"}
_MEASURED: Final = ("sentence_spans", "words", "upos", "lemmas", "uas", "las")
_HEADER: Final = "| {} | sentences | words | UPOS | lemmas | UAS | LAS | words/s |\n" + (
    "| --- |" + 7 * " ---: |"
)

_PROJECT: Final = """\
[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "{package}"
version = "{version}"
description = "{language} for Arborescence: raw text, tags, lemmas and dependency trees."
readme = "README.md"
requires-python = ">=3.11"
license = "{licence}"
license-files = ["LICENSE*"]
{needs}

[project.entry-points."arborescence.models"]
{points}

[tool.hatch.build.targets.wheel]
packages = ["src/{module}"]
"""

_MODULE: Final = '''\
"""Models of {language} for Arborescence, which finds them by entry points."""

from importlib.resources import files
from importlib.resources.abc import Traversable
'''
_FUNCTION: Final = '''

def {function}() -> Traversable:
    """Return the file of this model."""
    return files(__name__) / "{name}.npz"
'''

_CARD: Final = """\
# {package}

{language} for [Arborescence](https://pypi.org/project/arborescence/): from raw text to sentences,
words, tags, lemmas and dependency trees.

```console
$ pip install "arborescence[cli,jit]" {package}
$ arborescence parse -m {first} --format text letter.txt
```

{models}
## How good it is

{test}

{scores}

## Data and licence

| | |
| --- | --- |
| Treebank | [{treebank}](https://github.com/UniversalDependencies/{treebank}), of UD |
| Contributors | {contributors} |
| Genre | {genre} |
| Learned from | {sizes} |
| Licence | {terms}, as the treebank: see `LICENSE`. The library itself is under the MIT licence |

{commerce}The models were computed from the treebank: they hold weights, and lists of its words,
lemmas and tags.{note}

## How it was made

```console
{commands}
```

To cite it, cite the treebank as its README asks, and the library Arborescence {version}.
"""


class Treebank(NamedTuple):
    """What a folder of Universal Dependencies says of itself."""

    name: str
    language: str
    licence: str
    contributors: str
    genre: str
    parts: dict[str, list[Path]]
    terms: Path | None

    @classmethod
    def of(cls, folder: Name) -> Treebank:
        """Read the README of a folder; TreebankError if it has no part of a treebank."""
        path = Path(folder)
        parts = parts_of(path)
        if not any(parts.values()):
            raise TreebankError(f"{path}: there is no part of a treebank: *-train.conllu or so")
        readme = next(iter(sorted(path.glob("README*"))), None)
        said = dict(_FIELD.findall(readme.read_text(encoding="utf-8"))) if readme else {}
        name = "UD_" + path.resolve().name.removeprefix("UD_")
        return cls(
            name,
            name.removeprefix("UD_").partition("-")[0].replace("_", " "),
            said.get("License", ""),
            said.get("Contributors", "see its README"),
            said.get("Genre", "see its README"),
            parts,
            next(iter(sorted(path.glob("LICENSE*"))), None),
        )

    def sentences(self, part: str) -> list[Sentence]:
        """Read a part; it may have no sentences."""
        return [sentence for file in self.parts[part] for sentence in read(file)]


class Package(NamedTuple):
    """What `package` made."""

    folder: Path
    licence: str  # its SPDX identifier
    commercial: bool  # whether the licence allows commercial use


def package(
    models: Sequence[Name],
    treebank: Name,
    *,
    name: str,
    output: Name | None = None,
    licence: str | None = None,
    version: str = __version__,
    note: str = "",
    encoder: Name | None = None,
    progress: Progress | None = None,
) -> Package:
    """Write a folder from which a package of models is built: ``python -m build FOLDER``.

    It has the models, their licence, and a card with what was measured on the test part of
    `treebank`, the folder that they learned from, as Universal Dependencies publishes it: from raw
    text, from words, and with gold tags. The package is ``arborescence-NAME``, also the default of
    `output`, which must not exist; one model is loaded by ``arborescence.load(NAME)``, several by
    the names of their files. The licence is an SPDX identifier, by default that in the treebank's
    README; the card also has the `note`. Models with a fine-tuned encoder, which is looked for as
    by `arborescence.load`, become ones that need no PyTorch: see `BiaffineParser.to_onnx`.

    OptionError if `name` is none for a package, the folder exists, or the licence is not known;
    TreebankError, ModelError for what is read.
    """
    folder = Path(output or f"arborescence-{_checked(name)}")
    if folder.exists():
        raise OptionError(f"{folder} exists: remove it, or name another folder (output=)")
    data = Treebank.of(treebank)
    terms = licence or spdx(data.licence)
    made = Package(folder, terms, "-NC" not in terms)
    names = [name] if len(models) == 1 else [_checked(Path(model).stem) for model in models]
    parsers = [
        _without_torch(registry.load(os.path.abspath(model), encoder))  # noqa: PTH100
        for model in models
    ]
    gold = data.sentences("test")
    said: dict[str, Any] = {
        "package": f"arborescence-{name}",
        "module": f"arborescence_{name.replace('-', '_')}",
        "version": version,
        "language": data.language,
        "licence": terms,
        "treebank": data.name,
        "terms": data.licence or terms,
        "needs": _needed(parsers),
    }
    card = _CARD.format(
        **said,
        first=names[0],
        models="".join(map(_described, names, parsers)),
        test=_tested(data.name, gold),
        scores="\n".join(_scores(gold, names, parsers, progress)),
        contributors=data.contributors,
        genre=data.genre,
        sizes=_sizes(data),
        commerce="" if made.commercial else f"{NO_COMMERCE}\n\n",
        note=f" {note}" if note else "",
        commands="\n".join(map(_command, names, parsers, [data.name] * len(names))),
    )
    _fill(folder, said, card, dict(zip(names, parsers, strict=True)), data.terms)
    return made


def _without_torch(parser: Any) -> Any:
    """Return a parser with its encoder in ONNX, if it has one that was fine-tuned."""
    encoder = getattr(parser, "encoder", None)
    return parser.to_onnx() if encoder and encoder.fine_tune else parser


def _needed(parsers: list[Any]) -> str:
    """Say what a package of models depends on."""
    extras = {each.encoder.extra for each in parsers if getattr(each, "encoder", None)}
    if not extras:
        return "# It depends on nothing: these are files, which the package arborescence reads."
    return f'dependencies = ["arborescence[{",".join(sorted(extras))}]"]'


def _checked(name: str) -> str:
    """Return the name of a package or a model if it can be one, or OptionError."""
    if not _NAME.fullmatch(name):
        raise OptionError(f"name must be of small letters, digits and hyphens, and is {name!r}")
    return name


def _fill(
    folder: Path, said: Mapping[str, Any], card: str, models: Mapping[str, Any], terms: Path | None
) -> None:
    """Write the folder of a package, whole or not at all: models by their names, card, licence."""
    functions = [each.replace("-", "_") for each in models]
    points = [f'{a} = "{said["module"]}:{b}"' for a, b in zip(models, functions, strict=True)]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}") as beside:
        whole = Path(beside) / folder.name
        inside = whole / "src" / said["module"]
        inside.mkdir(parents=True)
        for name, parser in models.items():
            parser.save(inside / f"{name}.npz")
        code = [_MODULE.format(**said)]
        code += [
            _FUNCTION.format(function=f, name=n) for f, n in zip(functions, models, strict=True)
        ]
        _write(inside / "__init__.py", "".join(code))
        _write(whole / "pyproject.toml", _PROJECT.format(**said, points="\n".join(points)))
        _write(whole / "README.md", card)
        if terms:
            shutil.copyfile(terms, whole / "LICENSE")
        whole.rename(folder)


def build_wheel(folder: Name) -> Path:
    """Build the wheel of a package into its folder ``dist``."""
    # MissingExtraError without hatchling. OptionError says what hatchling says if it cannot be
    # built
    if find_spec("hatchling") is None:
        raise MissingExtraError("a wheel needs hatchling: pip install 'arborescence[package]'")
    building = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    built = subprocess.run(  # noqa: S603
        building, cwd=folder, capture_output=True, text=True, check=False
    )
    wheels = sorted(Path(folder, "dist").glob("*.whl"))
    if built.returncode or not wheels:
        raise OptionError(f"{os.fspath(folder)} cannot be built: {built.stderr.strip()}")
    return wheels[-1]


def spdx(licence: str) -> str:
    """Return the SPDX identifier of a licence as treebanks name it, or OptionError."""
    if re.fullmatch(r"CC BY(-NC)?(-SA|-ND)? \d\.\d", licence):
        return licence.replace(" ", "-")
    if licence in _SPDX:
        return _SPDX[licence]
    told = repr(licence) if licence else "not said in its README"
    raise OptionError(f"the licence of the treebank is {told}: name it by licence=, as SPDX does")


#: What card and command say of a licence that allows no commercial use.
NO_COMMERCE: Final = "The licence of the treebank, and so of the models, forbids commercial use."


def _scores(
    gold: list[Sentence], names: list[str], parsers: list[Any], progress: Progress | None
) -> list[str]:
    """Return the rows of the table of figures; nothing if there is no test part."""
    if not gold:
        return []
    text = raw_text(gold)
    words = list(map(untagged, gold))
    inputs: dict[str, Any] = {"raw text": text, "words": words, "words, gold tags": gold}
    rows = []
    for name, parser in zip(names, parsers, strict=True):
        rows.append(_HEADER.format(f"`{name}`" if len(names) > 1 else "from"))
        given = {how: what for how, what in inputs.items() if parser.text or how != "raw text"}
        list(parser.parse(words[:50]))  # compiles
        for done, (how, what) in enumerate(given.items()):
            if progress:
                progress(f"measuring {name}: {how}", done, len(given))
            start = process_time()
            parsed = list(parser.parse(what))
            speed = f"{sum(map(len, parsed)) / (process_time() - start):,.0f}"
            found = evaluate(gold, parsed)
            figures = [f"{100 * getattr(found, each).f1:.2f}" for each in _MEASURED]
            shown = len(_MEASURED) - (2 if how == "words, gold tags" else 0)
            if how != "raw text":
                figures[:2] = "–", "–"
            if shown < len(_MEASURED):
                figures[2:4] = "–", "–"
            rows.append(f"| {how} | {' | '.join(figures)} | {speed} |")
        rows.append("")
    return rows


def _tested(name: str, gold: list[Sentence]) -> str:
    """Say what the table of figures is of."""
    if not gold:
        return "The folder of the treebank had no test part, so nothing was measured."
    return (
        f"On the test part of {name}, {len(gold):,} sentences, {sum(map(len, gold)):,} words: "
        "F1, as the CoNLL 2018 shared task counts (punctuation too; relations without subtypes). "
        "Words/s are in processor time on the machine that made it."
    )


def _sizes(data: Treebank) -> str:
    train, dev = data.sentences("train"), data.sentences("dev")
    chosen = f"; the epoch was chosen on {len(dev):,} sentences" if dev else ""
    return f"{len(train):,} sentences, {sum(map(len, train)):,} words{chosen}"


def _described(name: str, parser: Any) -> str:
    """Say what a model is: the first line of what its class says."""
    line = (type(parser).__doc__ or "").strip().partition("\n")[0]
    return f"`{name}`: {line[:1].lower()}{line[1:]}\n"


def _command(name: str, parser: Any, treebank: str) -> str:
    """Return the command that trains a model, with the options that are not as by default."""
    kind = _TRAINED.get(parser.kind, parser.kind)
    try:
        defaults = {option: each.default for option, each in all_options(kind).items()}
    except ValueError:
        defaults = {}  # a kind that is made of others
    encoder = getattr(parser, "encoder", None)
    info = parser.info | ({"encoder": encoder.name} if encoder else {})
    changed = [
        _written(option, value)
        for option, default in defaults.items()
        if _written(option, value := info.get(option, default)) != _written(option, default)
    ]
    return " ".join(["$ arborescence train", kind, treebank, "-o", f"{name}.npz", *changed])


def _written(option: str, value: Any) -> str:
    """Return an option as the command line takes it."""
    name = option.replace("_", "-")
    if isinstance(value, bool) and option != "projective":
        return f"--{name}" if value else f"--no-{name}"
    if isinstance(value, bool):
        value = "yes" if value else "no"
    return f"--{name} {','.join(value) if isinstance(value, (list, tuple)) else value}"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
