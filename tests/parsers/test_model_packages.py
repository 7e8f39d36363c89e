"""Packages of models: what they hold, and that they are found where they are installed."""

import os
import shlex
import subprocess
import sys
import tomllib
import zipfile
from copy import copy
from urllib.parse import urlsplit

import pytest

from arborescence.errors import ModelError, OptionError, TreebankError, printable
from arborescence.parsers import CombinedParser, Tagger, packaging
from arborescence.parsers.calibrating import calibrate, calibration
from arborescence.parsers.linear.parser import LinearParser
from arborescence.parsers.packaging import build_wheel, package
from arborescence.parsers.shared.confidence import reliability
from arborescence.parsers.shared.given import untagged
from arborescence.parsers.shared.graph_parser import TEMPERATURES
from arborescence.parsers.text import Text
from arborescence.treebank import Sentence, write
from arborescence.version import __version__
from samples import treebank
from small_parsers import small_parser

MarkdownIt = pytest.importorskip("markdown_it", reason="needs rich").MarkdownIt

README = """# Summary

A treebank of birds.

<pre>
=== Machine-readable metadata (DO NOT REMOVE!) ================================
License: {licence}
Genre: news wiki
Contributors: Bird, Small; Bird, Old
===============================================================================
</pre>
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "best.npz"
    sentences = treebank()
    tagger, text = Tagger.train(sentences, epochs=1), Text.train(sentences)
    LinearParser.train(sentences, tagger=tagger, text=text, bits=10, epochs=2).save(path)
    return path


@pytest.fixture
def folder(tmp_path):
    return treebank_in(tmp_path / "UD_Old_Bird-Nest")


def treebank_in(folder, licence="CC BY-SA 4.0"):
    folder.mkdir()
    (folder / "README.md").write_text(README.format(licence=licence), encoding="utf-8")
    (folder / "LICENSE.txt").write_text("Share alike.", encoding="utf-8")
    for part in ("train", "test"):
        write(treebank(), folder / f"bd_nest-ud-{part}.conllu")
    return folder


def test_the_card_has_the_options_that_were_used(folder, tmp_path):
    path, columns = tmp_path / "best.npz", ("form", "upos")
    how = {"columns": columns, "projective": True, "bits": 10, "epochs": 1, "joint": True}
    LinearParser.train(treebank(), **how).save(path)
    card = (
        package([path], folder, name="bd", output=tmp_path / "bd").folder / "README.md"
    ).read_text()
    [command] = [line for line in card.splitlines() if line.startswith("$ arborescence train")]
    for option in ("--columns form,upos", "--projective yes", "--joint", "--bits 10"):
        assert f"{option} " in f"{command} "


def test_what_it_holds(model, folder, tmp_path):
    made = package([model], folder, name="bd", output=tmp_path / "bd")
    assert (made.licence, made.commercial) == ("CC-BY-SA-4.0", True)
    project = tomllib.loads((made.folder / "pyproject.toml").read_text())["project"]
    assert (project["name"], project["license"]) == ("arborescence-bd", "CC-BY-SA-4.0")
    assert project["entry-points"]["arborescence.models"] == {"bd": "arborescence_bd:bd"}
    assert (made.folder / "LICENSE").read_text() == "Share alike."
    card = (made.folder / "README.md").read_text()
    for said in (
        "Old Bird",
        "UD_Old_Bird-Nest",
        "Bird, Small; Bird, Old",
        "news wiki",
        "| raw text |",
    ):
        assert said in card
    assert "forbids" not in card
    assert "$ arborescence train linear UD_Old_Bird-Nest -o bd.npz --bits 10" in card


def test_it_is_found_where_it_is_installed(model, folder, tmp_path):
    made = package([model], folder, name="bd", output=tmp_path / "bd")
    wheel = build_wheel(made.folder)
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
    code = "import arborescence as arb; print(arb.load('bd')('Birds sing.')[0].heads)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "installed", capture_output=True, text=True
    )
    assert done.stdout, done.stderr


def test_several_have_the_names_of_their_files(model, folder, tmp_path):
    other = tmp_path / "bird-fast.npz"
    other.write_bytes(model.read_bytes())
    made = package([model, other], folder, name="bd", output=tmp_path / "bd")
    inside = made.folder / "src" / "arborescence_bd"
    assert {file.name for file in inside.iterdir()} == {"__init__.py", "best.npz", "bird-fast.npz"}
    project = tomllib.loads((made.folder / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["arborescence.models"]
    assert points == {"best": "arborescence_bd:best", "bird-fast": "arborescence_bd:bird_fast"}


def test_a_licence_that_forbids_commerce_is_said(model, tmp_path):
    folder = treebank_in(tmp_path / "UD_Bird-Nest", "CC BY-NC-SA 3.0")
    assert not package([model], folder, name="bd", output=tmp_path / "bd").commercial
    assert "forbids commercial use" in (tmp_path / "bd" / "README.md").read_text()


@pytest.mark.parametrize("licence", ["", "all rights reserved"])
def test_an_unknown_licence_must_be_named(model, tmp_path, licence):
    folder = treebank_in(tmp_path / "UD_Bird-Nest", licence)
    with pytest.raises(OptionError, match="licence"):
        package([model], folder, name="bd", output=tmp_path / "bd")
    assert not (tmp_path / "bd").exists()
    named = package([model], folder, name="bd", output=tmp_path / "bd", licence="MIT")
    assert named.licence == "MIT"


def test_what_is_refused(model, folder, tmp_path):
    with pytest.raises(OptionError, match="name must be of small letters"):
        package([model], folder, name="Bird!")
    with pytest.raises(OptionError, match="exists"):
        package([model], folder, name="bd", output=tmp_path)
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(OptionError, match="exists"):
        package([model], folder, name="bd", output=tmp_path / "link")
    with pytest.raises(TreebankError, match="no part of a treebank"):
        package([model], tmp_path, name="bd", output=tmp_path / "bd")
    assert not (tmp_path / "bd").exists()


# What follows may come from a stranger: a clone of a treebank, a model file.

CODE = '"""; import pathlib; pathlib.Path("run").write_text("x")  # """'


@pytest.mark.parametrize(
    "name",
    [
        'UD_X" # """; import os; os.mkdir("run") #-Y',
        "UD_X'''-Y",
        "UD_X\n[project]-Y",
        "UD_X\\-Y",
        "UD_{0}-Y",
        "UD_X](evil)-Y",
        "UD_X\u202e-Y",
        "UD_X$(touch run)-Y",
    ],
)
def test_a_treebank_has_the_name_of_one(model, tmp_path, name):
    folder = treebank_in(tmp_path / name)
    with pytest.raises(TreebankError, match="letters, digits, blanks, hyphens") as caught:
        package([model], folder, name="bd", output=tmp_path / "bd")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "bd").exists()


HOSTILE = [
    CODE,
    "x'''\"\"\"",
    "<script>alert(1)</script>",
    "![x](http://evil.example/x.png) [y](javascript:alert(1)) www.evil.example",
    "a | b | c",
    "`code` **bold** _x_ ~~gone~~ &lt; $x$ @name",
    "\x1b[31m\x00\x85\u2028\u202e",
    "\\",
    "{name} {0} %s",
    "x" * 100_000,
]


def hostile_package(value, tmp_path, **options):
    """Make a package of a treebank and a model that are full of a value."""
    said = README.format(licence=value).replace("news wiki", value).replace("Bird, Old", value)
    folder = treebank_in(tmp_path / "UD_Old Bird.2-Nest_é")
    (folder / "README.md").write_text(said, encoding="utf-8")
    path = tmp_path / "best.npz"
    labels = ["".join(c for c in value if c.isprintable() and c != " ")[:99] or "x"] * 2
    birds = Sentence.from_words(["Birds", "sing"], heads=[2, 0], deprels=labels)
    parser = LinearParser.train([birds], bits=10, epochs=1, columns=["form"])
    parser.info |= {"bits": value, "loss": [value, value], "columns": value, value: value}
    parser.save(path)
    return package([path], folder, name="is", output=tmp_path / "made", licence="MIT", **options)


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_are_text_in_the_card(tmp_path, value):
    made = hostile_package(value, tmp_path)
    card = (made.folder / "README.md").read_text(encoding="utf-8")
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = reader.parse(card)
    inline = [each for token in tokens for each in token.children or ()]
    markup = {each.type for each in (*tokens, *inline)}
    assert not markup & {"html_inline", "html_block", "image", "strong_open", "s_open"}
    assert [each.type for each in inline].count("em_open") == 1  # *not fitted*
    links = [each.attrs["href"] for each in inline if each.type == "link_open"]
    assert [urlsplit(link).netloc for link in links] == ["github.com"]
    assert all(" " not in link for link in links)
    assert markup >= {"fence", "tr_open"}
    assert len([token for token in tokens if token.type == "tr_open"]) == 3 + 2 + 6
    _, commands = (token for token in tokens if token.type == "fence")
    [line] = commands.content.splitlines()
    words = shlex.split(line.removeprefix("$ "))
    assert words[:4] == ["arborescence", "train", "linear", "UD_Old Bird.2-Nest_é"]
    assert words[words.index("--bits") + 1] == printable(value)


def test_a_package_of_hostile_values_is_installed_and_runs_no_code(tmp_path):
    made = hostile_package("".join(HOSTILE), tmp_path, wheel=True)
    with zipfile.ZipFile(made.wheel) as packed:
        packed.extractall(tmp_path / "installed")
    done = used(tmp_path / "installed", "is")
    [parsed] = LinearParser.load(tmp_path / "best.npz")([["Birds", "sing"]])
    assert done.stdout.strip() == str(parsed.heads), done.stderr
    left = {path.name for path in (tmp_path / "installed").iterdir()}
    assert left == {"arborescence_is", f"arborescence_is-{__version__}.dist-info"}
    names = {file.name for file in (tmp_path / "installed" / "arborescence_is").iterdir()}
    assert names - {"__pycache__"} == {"__init__.py", "is.npz"}


def used(folder, *names):
    """Load models in another process, where a package is installed, and parse."""
    parsed = f"[arb.load(name)(['Birds', 'sing'])[0].heads for name in {names}]"
    code = f"import arborescence as arb; print(*{parsed})"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_code_of_a_package_is_always_the_same(model, folder, tmp_path):
    """Whatever the models are called: words of Python, and names that the code has."""
    other = [tmp_path / f"{name}.npz" for name in ("import", "files", "model", "file")]
    for path in other:
        path.write_bytes(model.read_bytes())
    one = package([model], folder, name="is", output=tmp_path / "one").folder
    two = package([model, *other], folder, name="in", output=tmp_path / "two", wheel=True)
    [first] = one.glob("src/*/__init__.py")
    [second] = two.folder.glob("src/*/__init__.py")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(two.wheel) as packed:
        packed.extractall(tmp_path / "installed")
    names = [path.stem for path in (model, *other)]
    done = used(tmp_path / "installed", *names)
    assert done.stdout.split("]")[:-1] == ["[2 0", *[" [2 0"] * len(other)], done.stderr


def test_two_models_of_one_name(model, folder, tmp_path):
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / model.name
    twin.write_bytes(model.read_bytes())
    with pytest.raises(OptionError, match="two models have the name 'best'"):
        package([model, twin], folder, name="bd", output=tmp_path / "bd")


@pytest.mark.parametrize(
    ("option", "value"),
    [("version", '1"\nx = "'), ("version", "first"), ("licence", 'MIT"\n'), ("licence", "[x](y)")],
)
def test_what_is_no_version_and_no_licence(model, folder, tmp_path, option, value):
    with pytest.raises(OptionError, match=f"{option} must be"):
        package([model], folder, name="bd", output=tmp_path / "bd", **{option: value})


@pytest.mark.parametrize("name", ["LICENSE.txt", "README.md", "bd_nest-ud-test.conllu"])
@pytest.mark.parametrize("way", ["out", "up", "to itself", "nowhere", "pipe", "into a folder"])
def test_only_plain_files_of_the_folder_are_read(model, folder, tmp_path, name, way):
    secret = tmp_path / "private.txt"
    secret.write_text("License: CC BY-SA 4.0\nmy password\n", encoding="utf-8")
    file = folder / name
    file.unlink()
    if way == "pipe":
        os.mkfifo(file)
    elif way == "into a folder":
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / name).write_text("my password", encoding="utf-8")
        (folder / "inner").symlink_to(tmp_path / "elsewhere")
        file.symlink_to(folder / "inner" / name)
    else:
        place = {"out": secret, "up": "../private.txt", "to itself": name, "nowhere": "none"}[way]
        file.symlink_to(place)
    with pytest.raises(TreebankError, match=rf"{name}: only plain files within the folder"):
        package([model], folder, name="bd", output=tmp_path / "bd")
    assert not (tmp_path / "bd").exists()


def test_links_that_the_user_names_and_links_within_the_folder(model, folder, tmp_path):
    (folder / "LICENSE.txt").rename(folder / "terms")
    (folder / "LICENSE.txt").symlink_to("terms")
    (folder / "LICENSES").mkdir()
    (tmp_path / "here").symlink_to(folder)
    (tmp_path / "model.npz").symlink_to(model)
    made = package([tmp_path / "model.npz"], tmp_path / "here", name="bd", output=tmp_path / "bd")
    assert (made.folder / "LICENSE").read_text() == "Share alike."
    assert not (made.folder / "LICENSE").is_symlink()
    assert "UD_Old_Bird-Nest" in (made.folder / "README.md").read_text()


def test_a_readme_that_is_no_utf_8_and_one_that_takes_long(model, folder, tmp_path):
    said = "Genre:" + " " * 300_000 + "x\n" + "a " * 300_000
    (folder / "README.md").write_bytes(b"\xff\xfe\nLicense: CC BY-SA 4.0\n" + said.encode())
    made = package([model], folder, name="bd", output=tmp_path / "bd")
    assert made.licence == "CC-BY-SA-4.0"


def test_what_cannot_be_built_is_said_before_anything_is_measured(
    model, folder, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(packaging, "card_of", None)  # it is not called
        with pytest.raises(OptionError, match="cannot be built"):
            package(
                [model], folder, name="bd", output=tmp_path / "bd", licence="NONE-1", wheel=True
            )
    assert set(tmp_path.iterdir()) == {folder}  # nothing is in the way of the next try
    package([model], folder, name="bd", output=tmp_path / "bd", wheel=True)


def test_models_are_in_the_wheel_though_git_ignores_them(model, folder, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.npz\n", encoding="utf-8")
    made = package([model], folder, name="bd", output=tmp_path / "bd", wheel=True)
    with zipfile.ZipFile(made.wheel) as packed:
        assert "arborescence_bd/bd.npz" in packed.namelist()


@pytest.fixture(scope="module")
def fitted():
    """A parser whose temperatures were fitted on 210 sentences, as training does."""
    how = {"bits": 10, "epochs": 1, "projective": False}
    parser = LinearParser.train(treebank(), dev=treebank() * 30, **how)
    assert parser.info["fitted"] == 210
    return parser


def packed(parser, folder, tmp_path, **options):
    parser.save(tmp_path / "model.npz")
    made = package([tmp_path / "model.npz"], folder, name="bd", output=tmp_path / "bd", **options)
    return (made.folder / "README.md").read_text(encoding="utf-8")


def test_the_card_says_how_sure_a_model_is(fitted, folder, tmp_path):
    card = packed(fitted, folder, tmp_path)
    errors = calibration(fitted, treebank())
    figures = " | ".join(f"{each:.1f}" for each in errors)
    assert f"| `bd` | {figures} | fitted on 210 sentences |" in card
    words = list(map(untagged, treebank()))
    parsed = list(fitted.parse(words, confidence=True))
    for error, of in zip(errors, ("edge", "relation", "tree"), strict=True):
        assert error == 100 * reliability(treebank(), parsed, of=of).error


@pytest.mark.parametrize("name", TEMPERATURES)
def test_a_model_that_is_not_fitted_is_refused(fitted, folder, tmp_path, name):
    parser = copy(fitted)
    setattr(parser, name, 1.0)
    with pytest.raises(ModelError, match=r"not fitted, .* 210 sentences .* arborescence calibrate"):
        packed(parser, folder, tmp_path)
    assert not (tmp_path / "bd").exists()
    inner = CombinedParser([parser, fitted])
    with pytest.raises(ModelError, match="not fitted"):
        packed(inner, folder, tmp_path)
    calibrate(inner, treebank() * 30)
    packed(inner, folder, tmp_path)


def test_a_model_from_before_is_refused_if_there_is_what_to_fit_it_on(fitted, folder, tmp_path):
    parser = copy(fitted)
    parser.info = {name: value for name, value in fitted.info.items() if name != "fitted"}
    write(treebank() * 30, folder / "bd_nest-ud-dev.conllu")
    with pytest.raises(ModelError, match="not fitted"):
        packed(parser, folder, tmp_path)
    calibrate(parser, folder)
    assert "fitted on 210 sentences" in packed(parser, folder, tmp_path)


@pytest.mark.parametrize("number", [0, 28, 199])
def test_with_few_sentences_kept_apart_the_card_says_not_fitted(folder, tmp_path, number):
    how = {"bits": 10, "epochs": 1, "projective": False}
    dev = (treebank() * 30)[:number]
    write(dev, folder / "bd_nest-ud-dev.conllu")
    card = packed(LinearParser.train(treebank(), dev=dev, **how), folder, tmp_path)
    [line] = [line for line in card.splitlines() if line.startswith("| `bd` |")]
    assert f"| *not fitted*: {number} sentences were kept apart, but 200 are needed |" in line


def test_a_model_without_probabilities_has_none_in_its_card(folder, tmp_path):
    card = packed(small_parser("greedy"), folder, tmp_path)
    assert "Calibration" not in card
    assert "| words |" in card
