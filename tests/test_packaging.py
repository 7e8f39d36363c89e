"""What goes to a package index: links that lead somewhere, extras, and whom to cite."""

from __future__ import annotations

import re
import runpy
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import arborescence

HERE = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))


def on_an_index(text: str, project: dict[str, Any] = PROJECT) -> str:
    """Do what the build does to the README of a package index."""
    for step in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(step["pattern"], step["replacement"], text)
    return text


def links_of(text: str) -> list[str]:
    """Return where links and pictures lead, in Markdown and in HTML."""
    found = re.findall(r"""\]\(([^)]+)\)|\b(?:href|src|srcset)=["']([^"']+)""", text)
    return [markdown or html for markdown, html in found]


def test_the_readme_of_a_package_index_leads_nowhere_else() -> None:
    text = (HERE / "README.md").read_text(encoding="utf-8")
    whole = [link for link in links_of(text) if "://" in link]
    assert len(links_of(text)) > len(whole) + 5
    assert links_of(on_an_index(text)) == whole


def test_the_readme_of_the_papers_leads_nowhere_else() -> None:
    text = (HERE / "papers" / "README.md").read_text(encoding="utf-8")
    project = tomllib.loads((HERE / "papers" / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["readme"]
    assert len(links_of(text)) >= 7
    assert links_of(on_an_index(text, project)) == []
    assert "[Several roots]" not in on_an_index(text, project)


def test_no_card_and_no_readme_names_a_package_index() -> None:
    """Until there is an address of the project, none stands where a user would follow it."""
    files = [
        *(HERE / "src" / "arborescence" / "parsers").glob("*.py"),
        *HERE.glob("models/*/README.md"),
        *HERE.glob("models/*/src/**/*.md"),
        *HERE.glob("models/*/pyproject.toml"),
        *HERE.glob("papers/*.md"),
        *HERE.glob("docs/**/*.md"),
        HERE / "README.md",
    ]
    assert len(files) > 60
    for file in files:
        text = file.read_text(encoding="utf-8")
        named = re.search(r"pypi\.|pythonhosted|//[\w.-]+/(?:[\w-]+/)*arborescence(?![\w.])", text)
        assert not named, (file, named)


def test_links_of_a_readme_become_text() -> None:
    picture = """<picture>
  <source media="(prefers-color-scheme: dark)" srcset="docs/dark.svg">
  <img alt="Times by length" src="docs/light.svg">
</picture>"""
    text = f'![A tree](a.svg), [how](a.md#so), [it](https://a.b/c)\n{picture} <img src="x" alt="X">'
    assert on_an_index(text) == "A tree, how, [it](https://a.b/c)\nTimes by length X"


def test_addresses_of_the_project_stand_once() -> None:
    """None stands anywhere, as there is no public repository; one may stand in pyproject.toml."""
    addresses = PROJECT["project"].get("urls", {}).values()
    assert len(addresses) == len(set(addresses))
    name = r"https?://(?:[\w.-]*github[\w.-]*/[\w-]+/arborescence|[\w.-]+/arborescence)\b"
    places = [
        HERE / "mkdocs.yml",
        HERE / "CITATION.cff",
        *HERE.glob("*.md"),
        *HERE.glob("docs/**/*.md"),
    ]
    for path in [*places, *HERE.glob("src/**/*.html"), *HERE.glob("src/**/*.py")]:
        assert not re.search(name, path.read_text(encoding="utf-8")), path


def test_the_version_to_cite() -> None:
    citation = (HERE / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {arborescence.__version__}\n" in citation


def test_the_extra_all_leaves_out_jit_torch_and_other_tools() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    [everything] = extras["all"]
    names = re.fullmatch(r"arborescence\[([\w,]+)\]", everything)
    assert names is not None
    assert set(names[1].split(",")) == set(extras) - {
        "all",
        "torch",
        "transformers",
        "encoder",
        "jit",
        "package",
        "serve",
        "stanza",
        "supar",
        "arrow",
        "ray",
        "spacy",
    }


@pytest.mark.parametrize(
    ("native", "system", "machine", "needs_numba"),
    [
        ("", "linux", "x86_64", True),
        ("0", "darwin", "arm64", True),
        ("1", "linux", "x86_64", False),
        ("1", "linux", "aarch64", False),
        ("aarch64", "linux", "x86_64", False),
        ("1", "linux", "ppc64le", True),
        ("1", "linux", "x86", True),
        ("1", "darwin", "x86_64", True),
        ("aarch64", "win32", "AMD64", True),
    ],
)
def test_numba_is_needed_where_no_kernels_are_compiled(
    monkeypatch, native, system, machine, needs_numba
) -> None:
    monkeypatch.setenv("ARBORESCENCE_NATIVE", native)
    build = runpy.run_path(str(HERE / "hatch_build.py"))
    config = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    metadata = {"optional-dependencies": PROJECT["project"]["optional-dependencies"]}
    build["Dependencies"](str(HERE), config).update(metadata)
    platform = {"sys_platform": system, "platform_machine": machine}
    wanted = [
        needed.name
        for needed in map(Requirement, metadata["dependencies"])
        if needed.marker is None or needed.marker.evaluate(platform)
    ]
    assert wanted == ["numpy", *["numba"] * needs_numba]


def test_the_models_are_under_the_licence_of_their_data() -> None:
    text = (HERE / "models" / "en" / "pyproject.toml").read_text(encoding="utf-8")
    english = tomllib.loads(text)["project"]
    assert english["version"] == arborescence.__version__
    assert english["license"] == "CC-BY-SA-4.0"
    files = [HERE / "models" / "en" / name for name in english["license-files"]]
    licence, notice = (path.read_text(encoding="utf-8") for path in files)
    assert licence.startswith("Attribution-ShareAlike 4.0 International\n")
    assert "https://creativecommons.org/licenses/by-sa/4.0/legalcode" in notice
    assert "UD English EWT" in notice


def test_the_papers_go_with_this_version() -> None:
    text = (HERE / "papers" / "pyproject.toml").read_text(encoding="utf-8")
    papers = tomllib.loads(text)["project"]
    version = arborescence.__version__
    assert papers["version"] == version
    assert f"arborescence[cli,jit]=={version}" in papers["dependencies"]
    licence = (HERE / "papers" / "LICENSE").read_text(encoding="utf-8")
    assert licence == (HERE / "LICENSE").read_text(encoding="utf-8")


def test_all_licences_are_told_and_shipped() -> None:
    told = set(PROJECT["project"]["license"].split(" AND "))
    shipped = {path for name in PROJECT["project"]["license-files"] for path in HERE.glob(name)}
    texts = {path.relative_to(HERE).as_posix(): path.read_text("utf-8") for path in shipped}
    assert set(texts) == {"LICENSE", "licenses/NOTICE.md", "licenses/Numba.txt"}
    notice = texts["licenses/NOTICE.md"]
    for licence in told:
        assert licence in notice.replace("MIT:", "MIT")
    assert told == {"MIT", "BSD-2-Clause"}
    # What the native modules are made of; the package holds nothing beside code.
    assert "nrt.cpp" in (HERE / "native" / "build.py").read_text("utf-8")
    assert not list(HERE.glob("src/**/*.npz"))
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {path.split("/")[0] for path in texts} <= set(included)


def test_the_licence_of_numba_is_that_of_the_installed_one() -> None:
    try:
        numba = distribution("numba")
    except PackageNotFoundError:
        pytest.skip("Numba is not installed")
    ours = (HERE / "licenses" / "Numba.txt").read_text("utf-8")
    theirs = [path for path in numba.files or () if path.name == "LICENSE"]
    assert [path.read_text("utf-8") for path in theirs] == [ours] * len(theirs)
