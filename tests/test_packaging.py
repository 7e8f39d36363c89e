"""What goes to a package index: links that lead somewhere, extras, and whom to cite."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import arborescence

HERE = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))
HOME = PROJECT["project"]["urls"]["Source"]


def test_the_readme_of_a_package_index_has_whole_links() -> None:
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = (HERE / "README.md").read_text(encoding="utf-8")
    before = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", text)
    for step in hook["substitutions"]:
        text = re.sub(step["pattern"], step["replacement"], text)
    after = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", text)
    assert len(after) == len(before) > 10
    raw = HOME.replace("github.com", "raw.githubusercontent.com")
    for (is_image, link), (still_image, whole) in zip(before, after, strict=True):
        assert is_image == still_image
        if "://" not in link:
            assert whole == (f"{raw}/main/{link}" if is_image else f"{HOME}/blob/main/{link}")
    assert any(is_image for is_image, _ in after)


def test_all_pages_name_the_same_home() -> None:
    settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"repo_url: {HOME}\n" in settings
    assert f"site_url: {PROJECT['project']['urls']['Documentation']}\n" in settings
    citation = (HERE / "CITATION.cff").read_text(encoding="utf-8")
    assert f"repository-code: {HOME}\n" in citation
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
        "jit",
        "stanza",
        "supar",
        "arrow",
        "ray",
        "spacy",
    }
