"""Trained models as a package that anybody can install, with a card that describes the models.

The code of a package is one function for each model, which returns the model's file; `registry`
finds the package by its entry points. The code is the same in each package, and a serializer writes
the project file: no text of a treebank or a model can become code.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.errors import MissingExtraError, ModelError, OptionError
from arborescence.parsers import model_file, registry
from arborescence.parsers.calibrating import FEWEST, fitted, fitted_on, members
from arborescence.parsers.cards import NO_COMMERCE as NO_COMMERCE
from arborescence.parsers.cards import card_of, cards_of_languages, commercial, several_languages
from arborescence.parsers.folders import Treebank, joined, with_terms
from arborescence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arborescence.parsers.shared.options import Progress

    Name = str | os.PathLike[str]

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LICENCE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .+()-]*")
_VERSION: Final = re.compile(
    r"([0-9]+!)?[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?(\+[a-z0-9.]+)?"
)
#: The code of each package. Its imports have names that no model can have.
_MODULE: Final = '''\
"""Models for Arborescence, which finds them by entry points."""

from importlib.resources import files as _files


def __getattr__(model):
    """Return the function that returns the file of a model."""
    file = _files(__name__) / (model.replace("_", "-") + ".npz")
    if not file.is_file():
        raise AttributeError(model)
    return lambda: file
'''


class Package(NamedTuple):
    """A package of models that `package` has written."""

    #: The folder of the package.
    folder: Path
    #: The SPDX identifier of the licence.
    licence: str
    #: Whether the licence allows commercial use.
    commercial: bool
    #: The wheel, if it was built.
    wheel: Path | None = None


def package(
    models: Sequence[Name],
    treebank: Name | Sequence[Name],
    *,
    name: str,
    output: Name | None = None,
    licence: str | None = None,
    version: str = __version__,
    note: str = "",
    encoder: Name | None = None,
    words: int | None = None,
    wheel: bool = False,
    progress: Progress | None = None,
) -> Package:
    """Write a folder from which a package of models is built: ``python -m build FOLDER``.

    The folder has the models, their licence, and a card. `treebank` is the folder of Universal
    Dependencies that the models have learned from. On its test part, or the first `words` of it,
    the models are measured for the card: from raw text, from words, and with gold tags; also their
    calibration errors. For a model of several languages, `treebank` has several folders, and each
    language gets a card in the folder ``languages``. The package is ``arborescence-NAME``, which is
    also the default of `output`; that folder must not exist. One model is loaded by
    ``arborescence.load(NAME)``, several models by the names of their files. The licence is an SPDX
    identifier, by default that of the README, or those of the READMEs joined by AND; a model that
    was trained further from a model of several languages has no default. The card also has the
    `note`. Models with a fine-tuned encoder, which is found as by `arborescence.load`, are
    converted so that they need no PyTorch: see `BiaffineParser.standalone`. With `wheel`, the wheel
    is built into the folder ``dist``. After an error, there is no folder.

    Only plain files within the treebank's folder are read, since its author may be anybody.

    OptionError if `name`, `version` or `licence` is invalid, the folder exists, or the licence is
    not known; MissingExtraError for a wheel without hatchling; ModelError if a model has
    probabilities that were not fitted, although there are sentences to fit them on: see
    `arborescence.parsers.calibrating.calibrate`; TreebankError or ModelError for invalid input.
    """
    if wheel:
        _check_hatchling()
    folder = Path(output or f"arborescence-{_checked(name)}")
    if folder.exists() or folder.is_symlink():
        raise OptionError(f"{folder} exists: remove it, or name another folder (output=)")
    if not _VERSION.fullmatch(version):
        raise OptionError(f"version must be valid for Python packages, such as 1.0: {version!r}")
    folders = [treebank] if isinstance(treebank, str | os.PathLike) else treebank
    if not folders:
        raise OptionError("name the treebank that the models have learned from (treebank=)")
    data = with_terms([Treebank.of(each)._replace(most=words) for each in folders])
    terms = licence or joined(each.licence for each in data)
    if not _LICENCE.fullmatch(terms):
        raise OptionError(f"licence must be an SPDX identifier, such as MIT, not {terms!r}")
    parsers = _loaded(models, name, encoder)
    if not licence:
        _check_bases(parsers)
    kept = {each: _kept_apart(each, parser, data[0]) for each, parser in parsers.items()}
    module = f"arborescence_{name.replace('-', '_')}"
    project = _project(name, module, version, _language(data), terms, parsers)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}") as temporary:
        whole = Path(temporary) / folder.name
        inside = whole / "src" / module
        inside.mkdir(parents=True)
        _write(inside / "__init__.py", _MODULE)
        _write(whole / "pyproject.toml", project)
        _write(whole / "README.md", "")
        for of_treebank in data:
            if of_treebank.terms:
                of_file = of_treebank.terms.read_bytes()
                (whole / of_treebank.terms_in_package).write_bytes(of_file)
        if wheel:  # errors of building must come before the models are measured
            build_wheel(whole)
        for each, parser in parsers.items():
            header, arrays = parser.to_file()
            if "languages" in header:
                header["language"] = None  # whoever loads the model chooses
            model_file.save(inside / f"{each}.npz", header, arrays)
        for file, card in _cards(name, data, terms, parsers, kept, note, progress):
            (whole / file).parent.mkdir(exist_ok=True)
            _write(whole / file, card)
        built = folder / "dist" / build_wheel(whole).name if wheel else None
        whole.rename(folder)
    return Package(folder, terms, commercial(terms), built)


def _cards(
    name: str,
    data: Sequence[Treebank],
    licence: str,
    parsers: Mapping[str, Any],
    kept: Mapping[str, int],
    note: str,
    progress: Progress | None,
) -> Iterator[tuple[str, str]]:
    """Yield the names of the cards' files, and the cards."""
    package = f"arborescence-{name}"
    several = [each for each, parser in parsers.items() if several_languages(parser)]
    if not several:
        [of_all] = _only(data)
        yield (
            "README.md",
            card_of(package, of_all, licence, parsers, kept, note=note, progress=progress),
        )
        return
    if len(parsers) > 1:
        raise OptionError(f"{several[0]} has several languages: make a package of it alone")
    yield from cards_of_languages(
        package, data, licence, name, parsers[name], note=note, progress=progress
    )


def _only(data: Sequence[Treebank]) -> Sequence[Treebank]:
    """Return the only treebank; OptionError if there are several."""
    if len(data) > 1:
        raise OptionError("several treebanks go with a model of several languages only")
    return data


def _language(data: Sequence[Treebank]) -> str:
    """Name the language, or say how many there are."""
    names = {each.language for each in data}
    return f"{len(names)} languages" if len(names) > 1 else names.pop()


def _checked(name: str) -> str:
    """Return the name of a package or a model; OptionError if it is invalid."""
    if not _NAME.fullmatch(name):
        raise OptionError(f"name must be of small letters, digits and hyphens, but is {name!r}")
    return name


def _loaded(models: Sequence[Name], name: str, encoder: Name | None) -> dict[str, Any]:
    """Load models, and return them by their names in the package."""
    names = [name] if len(models) == 1 else [_checked(Path(model).stem) for model in models]
    if twice := next((each for each in names if names.count(each) > 1), None):
        raise OptionError(f"two models have the name {twice!r}: rename the file of one of them")
    return {
        each: _without_torch(
            registry.load(os.path.abspath(model), encoder, registry.FIRST)  # noqa: PTH100
        )
        for each, model in zip(names, models, strict=True)
    }


def _without_torch(parser: Any) -> Any:
    """Return a parser that contains its encoder, if it has a fine-tuned encoder."""
    encoder = getattr(parser, "encoder", None)
    return parser.standalone() if encoder and encoder.fine_tune else parser


def _check_bases(parsers: Mapping[str, Any]) -> None:
    """OptionError if a model has also learned from treebanks whose licences are not known here."""
    for each, parser in parsers.items():
        if base := parser.info.get("base"):
            raise OptionError(
                f"{each} was trained further from a model that has learned from {len(base)} "
                "treebanks, whose licences also hold: name all licences (licence='A AND B'). "
                "`arborescence models` has the licence of that model"
            )


def _kept_apart(name: str, parser: Any, data: Treebank) -> int:
    """Return the number of sentences that the temperatures of a model were fitted on, or 0.

    ModelError if they were not fitted, but could be.
    """
    recorded = fitted_on(parser)
    available = recorded or len(data.sentences("dev"))
    if members(parser) and not fitted(parser) and available >= FEWEST:
        raise ModelError(
            f"{name}: its probabilities are not fitted, but there are {available:,} sentences to "
            f"fit them on: arborescence calibrate {name}.npz DEV -o OTHER.npz"
        )
    return recorded if fitted(parser) else 0


def _project(
    name: str, module: str, version: str, language: str, licence: str, parsers: Mapping[str, Any]
) -> str:
    """Return the project file of a package."""
    extras = {each.encoder.extra for each in parsers.values() if getattr(each, "encoder", None)}
    return _toml(
        {
            "build-system": {
                "requires": ["hatchling>=1.26"],
                "build-backend": "hatchling.build",
            },
            "project": {
                "name": f"arborescence-{name}",
                "version": version,
                "description": (
                    f"{language} for Arborescence: raw text, tags, lemmas and dependency trees."
                ),
                "readme": "README.md",
                "requires-python": ">=3.11",
                "license": licence,
                "license-files": ["LICENSE*"],
                "dependencies": [f"arborescence[{','.join(sorted(extras))}]"] if extras else [],
            },
            'project.entry-points."arborescence.models"': {
                each: f"{module}:{each.replace('-', '_')}" for each in parsers
            },
            "tool.hatch.build": {"ignore-vcs": True},
            "tool.hatch.build.targets.wheel": {"packages": [f"src/{module}"]},
        }
    )


def _toml(tables: Mapping[str, Mapping[str, str | bool | Iterable[str]]]) -> str:
    """Return tables as TOML: strings and lists as in JSON, keys that are constant or checked."""
    parts = []
    for name, table in tables.items():
        lines = (f"{key} = {_value(value)}\n" for key, value in table.items())
        parts.append(f"[{name}]\n{''.join(lines)}")
    return "\n".join(parts)


def _value(value: str | bool | Iterable[str]) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def build_wheel(folder: Name) -> Path:
    """Build the wheel of a package into its folder ``dist``.

    MissingExtraError without hatchling; OptionError with hatchling's message if it fails.
    """
    _check_hatchling()
    # -P: nothing is imported from the folder
    building = [sys.executable, "-P", "-m", "hatchling", "build", "--target", "wheel"]
    built = subprocess.run(  # noqa: S603
        building, cwd=folder, capture_output=True, text=True, check=False
    )
    wheels = sorted(Path(folder, "dist").glob("*.whl"))
    if built.returncode or not wheels:
        raise OptionError(f"{os.fspath(folder)} cannot be built: {built.stderr.strip()}")
    return wheels[-1]


def _check_hatchling() -> None:
    if find_spec("hatchling") is None:
        raise MissingExtraError("a wheel needs hatchling: pip install 'arborescence[package]'")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
